"""Visible checks of the transformer tutorial: ``from course.check import transformer_tutorial as check``.

Some are made of packs: they judge public cases by the rule of grading. The others test what must be true of any right
answer, and say which mistake they see. ``calls`` says how each exercise of the first kind is called, here and in hidden
cells; ``inside`` and ``whole`` are for hidden cells.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.limits import limited
from course.check.transformer_tutorial import _properties as _properties
from course.check.transformer_tutorial import _stand_ins, _whole
from course.check.transformer_tutorial import calls as calls
from course.check.transformer_tutorial._positions import positional_forward, positional_values
from course.check.transformer_tutorial._whole_classes import (
    classifier_whole,
    dot_product_attention,
    positional_encoding,
    self_attention,
    transformer_block,
)

classes = dot_product_attention, self_attention, transformer_block, positional_encoding, classifier_whole
globals().update(checks(__name__, __path__, positional_values, positional_forward, *classes))
inside, whole = _stand_ins, _whole
questions = OwnCodeQuestions(__name__, limited)
