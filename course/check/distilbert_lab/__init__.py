"""Visible checks of the DistilBERT lab: ``from course.check import distilbert_lab as check``.

Most are made of packs: they judge public cases by the rule of grading. ``calls`` says how each exercise is called,
here and in hidden cells.
"""

from course.check.discover import checks
from course.check.distilbert_lab import calls as calls

globals().update(checks(__name__, __path__))
