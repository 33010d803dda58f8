"""Visible checks of the DistilBERT lab: ``from course.check import distilbert_lab as check``.

Most are made of packs: they judge public cases by the rule of grading. ``calls`` says how each exercise is called,
here and in hidden cells.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.distilbert_lab import calls as calls
from course.check.limits import limited

globals().update(checks(__name__, __path__))
questions = OwnCodeQuestions(__name__, limited)
