"""Visible checks of the decoder: ``from course.check import decoder as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer. ``modern`` is
for hidden cells.
"""

from course.check.decoder import _modern
from course.check.discover import checks

globals().update(checks(__name__, __path__))
modern = _modern
