"""Visible checks of the encoder lab: ``from course.check import encoder_lab as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer.
``check.load("AttentionHead")`` gives the class of that name from the ``models.py`` beside the notebook.
"""

from course.check.discover import checks
from course.check.encoder_lab._loading import load as _load
from course.check.limits import limited

globals().update(checks(__name__, __path__))
load = limited(_load)
