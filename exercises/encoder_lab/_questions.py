"""Questions with fixed answers: each is right or wrong by itself, and a wrong one is told its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.exercise import TEXT, Answers, Case, Check, Exercise, Judgement, Rule, shared_equally, text_array


@dataclass(frozen=True)
class Question:
    """One statement: the right answer, and for each other one why it is not."""

    about: str
    right: str
    reasons: Mapping[str, str]


def choices(questions: Sequence[Question], shared: bool = False) -> Rule:
    """All answers right, or no points; or, where they are shared, a part for each. A wrong one is told its reason."""

    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        given = answers.text("choices")
        if not isinstance(given, list) or len(given) != len(questions):
            return Judgement(
                [Check("choices", False, f"Expected a list of {len(questions)} answers.", "One for each statement.")]
            )
        checks = [_judge(i, question, given[i - 1]) for i, question in enumerate(questions, start=1)]
        return shared_equally(checks) if shared else Judgement(checks)

    return rule


def _judge(number: int, question: Question, given: object) -> Check:
    answer = str(given).strip().lower()
    if answer == question.right:
        return Check(f"statement {number}", True)
    reason = question.reasons.get(answer, f"{answer!r:.40} is none of the answers to choose from.")
    return Check(f"statement {number}", False, f"Statement {number} ({question.about}): {reason}")


def questions_exercise(questions: Sequence[Question], shared: bool = False) -> Exercise:
    """An exercise that consists of these questions; its one case holds their right answers."""

    def make(generator: np.random.Generator) -> list[Case]:
        return [Case(expected={TEXT + "choices": text_array([question.right for question in questions])})]

    return Exercise(make, choices(questions, shared), framework="torch")
