"""Visible checks of the four DistilBERT notebooks: ``from course.check import distilbert as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer. ``calls`` says
how exercises are called whose checks are made of packs.
"""

from course.check.discover import checks
from course.check.distilbert import calls as calls

globals().update(checks(__name__, __path__))
