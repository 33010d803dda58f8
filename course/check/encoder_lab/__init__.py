"""Visible checks of the encoder lab: ``from course.check import encoder_lab as check``.

Most are made of packs: they judge public cases by the rule of grading; ``calls`` says how each exercise is called.
``check.load("AttentionHead")`` gives the class of that name from the ``models.py`` beside the notebook.
"""

from course.check._rules.asking import OwnCodeQuestions
from course.check.choice_questions import choices
from course.check.discover import checks
from course.check.encoder_lab import _properties as _properties
from course.check.encoder_lab import calls as calls
from course.check.encoder_lab._by_hand import separator_heads, whole_model
from course.check.encoder_lab._models_file import load as _load
from course.check.encoder_lab._stretch import attention_rollout, by_hand
from course.check.limits import limited

by_hand_too = whole_model, separator_heads, attention_rollout, by_hand
globals().update(checks(__name__, __path__, *by_hand_too))
decoder_parts = choices("decoder_parts", [("masked", "cross", "both", "neither")] * 5)
position_kinds = choices("position_kinds", [("learned", "sinusoidal", "relative")] * 4)
readings = choices("readings", [("previous", "next", "same word", "separator")] * 4 + [("kept", "lost")] * 2)
load = limited(_load)
questions = OwnCodeQuestions(__name__, limited)
