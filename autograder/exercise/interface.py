"""The public interface for those who write exercises: cases, rules, known mistakes, and answers to try them with.

An exercise is a file ``exercises/<assignment>/<exercise>.py`` of the course that defines ``EXERCISE``, an
:class:`Exercise`.
"""

from .choices import all_choices, choices
from .compare import PROPERTY, compare_case, compare_value, find_mistake, matches, merged
from .likeness import likeness
from .model import (
    Answers,
    Case,
    Check,
    ChoiceQuestion,
    Exercise,
    Judgement,
    Mistake,
    MistakenAnswers,
    Patch,
    Rule,
)
from .rules import (
    CHANGED,
    CUT,
    DTYPE,
    READY,
    SIDE_EFFECTS,
    UNSTEADY,
    dropout_at_work,
    in_float32,
    named,
    named_or,
    pure,
    put_together,
    right,
    shared_equally,
    unsteady,
    whole,
    with_properties,
    without_side_effects,
    wrong,
)
from .sample_answer import SampleAnswer, variant
from .text import TEXT, read_text, text_array

__all__ = [
    "CHANGED",
    "CUT",
    "DTYPE",
    "PROPERTY",
    "READY",
    "SIDE_EFFECTS",
    "TEXT",
    "UNSTEADY",
    "Answers",
    "Case",
    "Check",
    "ChoiceQuestion",
    "Exercise",
    "Judgement",
    "Mistake",
    "MistakenAnswers",
    "Patch",
    "Rule",
    "SampleAnswer",
    "all_choices",
    "choices",
    "compare_case",
    "compare_value",
    "dropout_at_work",
    "find_mistake",
    "in_float32",
    "likeness",
    "matches",
    "merged",
    "named",
    "named_or",
    "pure",
    "put_together",
    "read_text",
    "right",
    "shared_equally",
    "text_array",
    "unsteady",
    "variant",
    "whole",
    "with_properties",
    "without_side_effects",
    "wrong",
]
