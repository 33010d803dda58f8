"""Questions with answers to choose from. Each has its share of the points; a wrong choice is told why it is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.exercise import (
    TEXT,
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    SampleAnswer,
    shared_equally,
    text_array,
)


@dataclass(frozen=True)
class Question:
    """One statement: the right answer, and for each other one why it is wrong."""

    about: str
    right: str
    reasons: Mapping[str, str]


def questions_exercise(name: str, questions: Sequence[Question]) -> Exercise:
    """name: of the exercise, and of the list in the solution's cell."""
    right = [question.right for question in questions]

    def make(generator: np.random.Generator) -> list[Case]:
        return [Case(expected={TEXT + "choices": text_array(right)})]

    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        given = answers.text("choices")
        if not isinstance(given, list) or len(given) != len(questions):
            message = f"Expected a list of {len(questions)} answers."
            return Judgement([Check("choices", False, message, "One for each statement.")])
        return shared_equally([_judge(i, *pair) for i, pair in enumerate(zip(questions, given, strict=True), start=1)])

    styles = {
        "a tuple": tuple(right),
        "capitals": [word.capitalize() for word in right],
        "spaces": [f" {word} " for word in right],
    }
    return Exercise(
        make, rule, right={style: f"{name} = {written!r}\n" for style, written in styles.items()},
        wrong=_wrong(name, questions),
    )  # fmt: skip


def _judge(number: int, question: Question, given: object) -> Check:
    answer = str(given).strip().lower()
    if answer == question.right:
        return Check(f"statement {number}", True)
    reason = question.reasons.get(answer, f"{answer!r:.40} is none of the answers to choose from.")
    return Check(f"statement {number}", False, f"Statement {number} ({question.about}): {reason}")


def _wrong(name: str, questions: Sequence[Question]) -> list[SampleAnswer]:
    right = [question.right for question in questions]
    found = []
    for place, question in enumerate(questions):
        for choice in question.reasons:
            answer = [*right[:place], choice, *right[place + 1 :]]
            text = f"{name} = {answer!r}\n"
            share = 1 - 1 / len(questions)
            found.append(SampleAnswer(f"{place + 1}: {choice}", text, share=share, passes_check=True))
    return [*found, SampleAnswer("too short", f"{name} = {right[:-1]!r}\n", points=0)]
