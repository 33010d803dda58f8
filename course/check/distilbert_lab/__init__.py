"""Visible checks of the DistilBERT lab: ``from course.check import distilbert_lab as check``.

Most are made of packs: they judge public cases by the rule of grading. ``calls`` says how each exercise is called,
here and in hidden cells.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.choice_questions import choices
from course.check.discover import checks
from course.check.distilbert_lab import calls as calls
from course.check.limits import limited

globals().update(checks(__name__, __path__))
rates = choices("rates", [("too small", "good", "too large", "no zero_grad")] * 4)
reading = choices("reading", [("differ", "noise")] * 4)
disagree = choices("disagree", [("agree", "indirect", "redundant", "idle")] * 4 + [("shown", "not shown")] * 2)
questions = OwnCodeQuestions(__name__, limited)
