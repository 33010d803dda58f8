"""Visible checks of the transformer tutorial: ``from course.check import transformer_tutorial as check``.

Some are made of packs: they judge public cases by the rule of grading. The others test what must be true of any right
answer, and say which mistake they see. ``calls`` says how each exercise of the first kind is called, here and in hidden
cells; ``hand_over``, ``inside`` and ``whole`` are for hidden cells.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.limits import limited
from course.check.transformer_tutorial import _given_lines, _positions, _run_student_classes, _whole, _whole_classes
from course.check.transformer_tutorial import _properties as _properties
from course.check.transformer_tutorial import calls as calls

globals().update(
    checks(
        __name__, __path__, _positions.positional_values, _positions.positional_forward,
        _whole_classes.dot_product_attention, _whole_classes.self_attention, _whole_classes.transformer_block,
        _whole_classes.positional_encoding, _whole_classes.classifier_whole,
    )
)  # fmt: skip
hand_over, inside, whole = _run_student_classes, _given_lines, _whole
questions = OwnCodeQuestions(__name__, limited)
