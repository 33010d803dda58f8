"""The public interface for those who write exercises: cases, rules, known mistakes, and answers to try them with.

An exercise is a folder ``exercises/<assignment>/<exercise>/`` of the course. Its ``oracle.py`` defines ``EXERCISE``, an
:class:`Exercise`; its ``answers.py`` defines ``RIGHT`` and ``WRONG``, lists of :class:`SampleAnswer`.
"""

from autograder.exercise.compare import compare_case, compare_value, find_mistake, matches
from autograder.exercise.model import Answers, Case, Exercise, Judgement, Mistake, Rule
from autograder.exercise.rules import (
    READY,
    SIDE_EFFECTS,
    better_of_own_and_ready,
    dropout_at_work,
    named,
    not_charged_twice,
    right,
    same_twice,
    shared_equally,
    unsteady,
    without_side_effects,
    wrong,
)
from autograder.exercise.sample_answer import SampleAnswer
from autograder.exercise.text import TEXT, read_text, text_array
from autograder.model.verdict import Check

__all__ = [
    "READY",
    "SIDE_EFFECTS",
    "TEXT",
    "Answers",
    "Case",
    "Check",
    "Exercise",
    "Judgement",
    "Mistake",
    "Rule",
    "SampleAnswer",
    "better_of_own_and_ready",
    "compare_case",
    "compare_value",
    "dropout_at_work",
    "find_mistake",
    "matches",
    "named",
    "not_charged_twice",
    "read_text",
    "right",
    "same_twice",
    "shared_equally",
    "text_array",
    "unsteady",
    "without_side_effects",
    "wrong",
]
