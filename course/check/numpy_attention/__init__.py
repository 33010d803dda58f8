"""Visible checks of the NumPy notebooks: ``from course.check import numpy_attention as check``. No torch needed.

Those of the functions are made of packs; ``calls`` says how each exercise is called, here and in hidden cells.
"""

from course.check import choice_questions
from course.check._rules.asking import OwnCodeQuestions
from course.check.discover import checks
from course.check.limits import limited
from course.check.numpy_attention import _properties as _properties
from course.check.numpy_attention import _recorded, _written_tests
from course.check.numpy_attention import calls as calls

choice, letters = limited(choice_questions.choice), limited(choice_questions.letters)
name = limited(choice_questions.name)
practice_inputs, try_out = limited(_recorded.practice_inputs), limited(_recorded.try_out)
rejections = limited(_recorded.rejections)

globals().update(checks(__name__, __path__, _written_tests.written_tests, _written_tests.slips_through))
questions = OwnCodeQuestions(__name__, limited)
