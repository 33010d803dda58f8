"""Visible checks of the four DistilBERT notebooks: ``from course.check import distilbert as check``.

They are made of packs: they judge public cases by the rule of grading, and ``calls`` says how each part is called, here
and in hidden cells. Those of pretrained logits and of the stretch goals are written by hand.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.distilbert import _properties as _properties
from course.check.distilbert import _whole_classes
from course.check.distilbert import calls as calls
from course.check.limits import limited

globals().update(checks(__name__, __path__))
embedding_layer = limited(_whole_classes.embedding_layer)
encoder_block = limited(_whole_classes.encoder_block)
classifier_model = limited(_whole_classes.classifier_model)
questions = OwnCodeQuestions(__name__, limited)
