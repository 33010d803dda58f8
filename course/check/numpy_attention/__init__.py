"""Visible checks of the NumPy notebooks: ``from course.check import numpy_attention as check``. No torch needed.

Those of the functions are made of packs; ``calls`` says how each exercise is called, here and in hidden cells.
"""

from course.check import choice_questions
from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.limits import limited
from course.check.numpy_attention import _properties as _properties
from course.check.numpy_attention import _recorded
from course.check.numpy_attention import calls as calls
from course.check.numpy_attention._written_tests import slips_through, written_tests

choice, letters = limited(choice_questions.choice), limited(choice_questions.letters)
name, rejections = limited(choice_questions.name), limited(_recorded.rejections)
practice_inputs, try_out = limited(_recorded.practice_inputs), limited(_recorded.try_out)

globals().update(checks(__name__, __path__, written_tests, slips_through))
questions = OwnCodeQuestions(__name__, limited)
