"""Visible checks of the four DistilBERT notebooks: ``from course.check import distilbert as check``.

They test what must be true of any right answer, and say which mistake they see. None holds the answer.
"""

from course.check.discover import checks

globals().update(checks(__name__, __path__))
