"""Visible checks of the decoder: ``from course.check import decoder as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer. ``modern``,
``looking``, ``generation`` and ``caches`` are for hidden cells, and so is ``calls``: how each exercise is called.
"""

from course.check.decoder import _caches, _generation, _looking, _modern
from course.check.decoder import calls as calls
from course.check.discover import checks

globals().update(checks(__name__, __path__))
modern, looking, generation, caches = _modern, _looking, _generation, _caches
