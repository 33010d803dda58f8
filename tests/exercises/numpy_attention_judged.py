"""What the rules of numpy_attention say of answers, without a kernel."""

import numpy as np

from autograder.exercise import TEXT, Answers, Case, Judgement, text_array
from tests.grading import REFERENCES

ASSIGNMENT = "numpy_attention"


def judged(exercise: str, case: Case, **said: object) -> Judgement:
    """The judgement on an answer; text and lists of text as a hidden cell hands them over."""
    known = REFERENCES.exercise(f"{ASSIGNMENT}/{exercise}")
    arrays = {
        **{name: value for name, value in said.items() if isinstance(value, np.ndarray)},
        **{TEXT + name: text_array(value) for name, value in said.items() if isinstance(value, str | list | tuple)},
    }
    assert known.rule is not None
    return known.rule(known, case, Answers(arrays))


def answered(exercise: str, **said: object) -> Judgement:
    (case,) = REFERENCES.cases(f"{ASSIGNMENT}/{exercise}")
    return judged(exercise, case, **said)


def words(judgement: Judgement) -> str:
    return " ".join(one.message for one in judgement.checks if not one.passed)


def mistakes(judgement: Judgement) -> set[str]:
    return {one.mistake for one in judgement.checks if one.mistake and not one.passed}
