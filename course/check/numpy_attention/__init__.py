"""Visible checks of the NumPy sheet: ``from course.check import numpy_attention as check``. They import no torch."""

from course.check.limits import limited
from course.check.numpy_attention.answers import choice, letters, name
from course.check.numpy_attention.loops import no_loops
from course.check.numpy_attention.multi_head import multihead_attention
from course.check.numpy_attention.recorded import practice_inputs, rejections, try_out, written_tests
from course.check.numpy_attention.single_head import self_attention
from course.check.numpy_attention.weights import softmax

__all__ = [
    "choice",
    "letters",
    "multihead_attention",
    "name",
    "no_loops",
    "practice_inputs",
    "rejections",
    "self_attention",
    "softmax",
    "try_out",
    "written_tests",
]

# each of them stops code that never ends
globals().update({each: limited(globals()[each]) for each in __all__})
