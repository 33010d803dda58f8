"""Visible checks of the decoder: ``from course.check import decoder as check``.

Most are made of packs: they judge public cases by the rule of grading. ``calls`` says how each exercise is called,
here and in hidden cells.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.decoder import _properties as _properties
from course.check.decoder import calls as calls
from course.check.decoder._stretch import accept_guesses, beam_search, complex_rotation, mean_knock_out
from course.check.discover import checks
from course.check.limits import limited

globals().update(checks(__name__, __path__, beam_search, accept_guesses, complex_rotation, mean_knock_out))
questions = OwnCodeQuestions(__name__, limited)
