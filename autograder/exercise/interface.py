"""The public interface for those who write exercises: cases, rules, known mistakes, and answers to try them with.

An exercise is a file ``exercises/<assignment>/<exercise>.py`` of the course that defines ``EXERCISE``, an
:class:`Exercise`. What is imported here is the interface.
"""

# ruff: noqa: F401
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
    SampleAnswer,
    variant,
)
from .rules import (
    CHANGED,
    CUT,
    DTYPE,
    READY,
    SIDE_EFFECTS,
    UNSTEADY,
    all_choices,
    choices,
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
from .values import TEXT, read_text, text_array
