"""Judging answers that are chosen: each question by itself, and a wrong choice is told why it is wrong.

The questions are data of the exercise (``Exercise.questions``). No message says which choice is right.
"""

import re
from collections.abc import Iterator

from .model import Answers, Case, Check, ChoiceQuestion, Exercise, Judgement
from .rules import shared_equally

#: Characters of a text in which a word is looked for.
MAX_WORDS = 200


def choices(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Each question has the same share of the points."""
    return _judged(exercise, answers, shared=True)


def all_choices(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """All of the points where every choice is right, else none."""
    return _judged(exercise, answers, shared=False)


def _judged(exercise: Exercise, answers: Answers, shared: bool) -> Judgement:
    checks = [check for name in _names(exercise) for check in _of_answer(exercise, name, answers)]
    if len(checks) < max(1, len(exercise.questions)):  # a list that cannot be read, or nothing was asked
        return Judgement(checks, 0.0)
    return shared_equally(checks) if shared else Judgement(checks)


def _names(exercise: Exercise) -> list[str]:
    return list(dict.fromkeys(question.answer for question in exercise.questions))


def _of_answer(exercise: Exercise, name: str, answers: Answers) -> Iterator[Check]:
    """A check for each question that this answer is about; of a list of the wrong length one in all."""
    asked = [question for question in exercise.questions if question.answer == name]
    given = answers.text(name)
    if len(asked) == 1:
        given = [given]
    elif not isinstance(given, list) or len(given) != len(asked):
        yield Check(name, False, f"Expected a list of {len(asked)} answers.", "One for each statement.")
        return
    for question, answer in zip(asked, given, strict=True):
        yield _check(exercise, question, answer)


def _check(exercise: Exercise, question: ChoiceQuestion, given: object) -> Check:
    chosen = _chosen(question, given)
    if chosen in question.right:
        return Check(question.label, True)
    known = question.wrong.get(chosen)
    if known is None:
        return Check(question.label, False, question.otherwise.format(chosen=f"{chosen!r:.40}"), question.hint)
    mistakes = {mistake.id: mistake for mistake in exercise.mistakes if mistake.id}
    return mistakes[known].check() if known in mistakes else Check(question.label, False, known)


def _chosen(question: ChoiceQuestion, given: object) -> str:
    """A choice however it is written: ``A``, ``(a)``, ``a.``"""
    if not question.in_words:
        return "" if given is None else str(given).strip().strip("().").lower()
    words = re.findall("[a-z_]+", given.lower()) if isinstance(given, str) and len(given) <= MAX_WORDS else []
    return next((word for known in (question.wrong, question.right) for word in words if word in known), "")
