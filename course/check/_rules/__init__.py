"""The public interface for those who write exercises: cases, rules, known mistakes, and answers to try them with.

An exercise is a file ``exercises/<assignment>/<exercise>.py`` of the course that defines ``EXERCISE``, an
:class:`Exercise`; or a folder of that name, whose ``oracle.py`` defines it, and whose ``answers.py`` defines ``RIGHT``
and ``WRONG``, lists of :class:`SampleAnswer`.
"""

from course.check._rules.compare import PROPERTY, compare_case, compare_value, find_mistake, matches, merged
from course.check._rules.model import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    MistakenAnswers,
    Patch,
    Rule,
)
from course.check._rules.rules import (
    CHANGED,
    CUT,
    READY,
    SIDE_EFFECTS,
    UNSTEADY,
    better_of_own_and_ready,
    dropout_at_work,
    named,
    not_charged_twice,
    pure,
    right,
    same_twice,
    shared_equally,
    unsteady,
    with_properties,
    without_side_effects,
    wrong,
)
from course.check._rules.sample_answer import SampleAnswer, variant
from course.check._rules.text import TEXT, read_text, text_array

__all__ = [
    "CHANGED",
    "CUT",
    "PROPERTY",
    "READY",
    "SIDE_EFFECTS",
    "TEXT",
    "UNSTEADY",
    "Answers",
    "Case",
    "Check",
    "Exercise",
    "Judgement",
    "Mistake",
    "MistakenAnswers",
    "Patch",
    "Rule",
    "SampleAnswer",
    "better_of_own_and_ready",
    "compare_case",
    "compare_value",
    "dropout_at_work",
    "find_mistake",
    "matches",
    "merged",
    "named",
    "not_charged_twice",
    "pure",
    "read_text",
    "right",
    "same_twice",
    "shared_equally",
    "text_array",
    "unsteady",
    "variant",
    "with_properties",
    "without_side_effects",
    "wrong",
]
