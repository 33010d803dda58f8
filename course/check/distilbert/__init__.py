"""Visible checks of the four DistilBERT notebooks: ``from course.check import distilbert as check``.

Those of position ids and of the attention block are made of packs: they judge public cases by the rule of grading, and
``calls`` says how each part is called, here and in hidden cells. The others test what must be true of any right answer.
"""

from course.check.discover import checks
from course.check.distilbert import calls as calls

globals().update(checks(__name__, __path__))
