"""Comparing an answer with what was expected: kind, then shape, then values, then known mistakes.

No message quotes an expected value: feedback may show every word of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from autograder.exercise.likeness import likeness, likeness_of_texts
from autograder.exercise.model import Answers, Case, Check, Exercise, Judgement, Mistake
from autograder.exercise.text import TEXT, read_text

#: Parts of messages that say no more than that numbers or texts are wrong.
NO_MORE = ("the values are not (", "differ from what was expected", "differs from what was expected")


def compare_case(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule: every expected answer is there and right; a known mistake is named."""
    checks = [compare_value(name, answers.arrays.get(name), want, exercise) for name, want in case.expected.items()]
    if not checks:  # all of nothing would be right
        return Judgement([Check("answer", False, "Nothing is expected under these names.")])
    if all(check.passed for check in checks):
        return Judgement(checks)
    mistake = find_mistake(exercise, case, answers)
    if mistake is None:
        return Judgement(checks)
    return mistake.judgement(*(check for check in checks if check.passed))


def judge_cases(
    exercise: Exercise,
    given: Sequence[tuple[Case, Answers]],
    judge: Callable[[Exercise, Case, Answers], Judgement] | None = None,
) -> list[Judgement]:
    """The judgement on each case. A mistake is named only where it explains every case that can show it.

    What a case earns stays. Where no name is left, it says how its numbers look. judge: default, the exercise's rule.
    """
    judge = judge or exercise.rule or compare_case
    first = [judge(exercise, *one) for one in given]
    judgements = list(first)
    while refuted := {id for id in _named(judgements) if _is_refuted(id, exercise, given, judgements)}:
        known = [
            replace(mistake, patches=(), answers=None) if mistake.id in refuted else mistake
            for mistake in exercise.mistakes
        ]
        exercise = replace(exercise, mistakes=known)
        judgements = [
            judge(exercise, *one) if refuted & _named([old]) else old
            for one, old in zip(given, judgements, strict=True)
        ]
        if refuted & _named(judgements):  # a rule that needs no numbers names it
            break
    is_named = bool(_named(judgements))
    return [
        old
        if new is old
        else Judgement([one for one in new.checks if one.passed or one.mistake or not is_named], old.earned)
        for new, old in zip(judgements, first, strict=True)
    ]


def _named(judgements: Iterable[Judgement]) -> set[str]:
    return {check.mistake for judgement in judgements for check in judgement.checks if check.mistake}


def _is_refuted(
    id: str, exercise: Exercise, given: Sequence[tuple[Case, Answers]], judgements: Sequence[Judgement]
) -> bool:
    """Whether a case, right or wrong, gives other numbers than somebody who makes this mistake, in whichever way.

    Where there is nan or inf, what overflowed hides everything else.
    """
    ways = [mistake for mistake in exercise.mistakes if mistake.id == id]
    for (case, answers), judgement in zip(given, judgements, strict=True):
        if id in _named([judgement]) or not all(map(_finite, answers.arrays.values())):
            continue
        shown = [wrong for wrong in (_wrong_answer(way, case, exercise) for way in ways) if wrong]
        if judgement.earned == 1 and len(shown) < len(ways):
            continue  # right, as somebody is who makes it in a way that this case cannot show
        if shown and not any(matches(answers.arrays, wrong, exercise) for wrong in shown):
            return True
    return False


def _finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def merged(judgements: Iterable[Judgement]) -> tuple[Check, ...]:
    """Each check of several cases once; of one that fails more than once the first, a named mistake before others.

    Where the first says no more than that the values are wrong, the first that does.
    """
    found: dict[str, Check] = {}
    for check in (check for judgement in judgements for check in judgement.checks):
        known = found.get(check.name)
        if known is None or (not check.passed and (known.passed or (_is_bare(known) and not _is_bare(check)))):
            found[check.name] = check
    ordered = sorted(found.values(), key=lambda check: (check.passed, not check.mistake))
    return tuple(check if not check.passed else Check(check.name, True) for check in ordered)


def _is_bare(check: Check) -> bool:
    return not check.mistake and any(words in check.message for words in NO_MORE)


def compare_value(name: str, got: np.ndarray | None, want: np.ndarray, exercise: Exercise) -> Check:
    label = name.removeprefix(TEXT)
    if got is None:
        return Check(
            label, False, f"{label}: nothing came.", "Does your code return it, under the name that was asked for?"
        )
    if name.startswith(TEXT):
        if same_text(got, want):
            return Check(label, True)
        words = likeness_of_texts(read_text(got), read_text(want))
        return Check(label, False, f"{label}: {words or 'the text differs from what was expected.'}")
    if got.dtype.kind != want.dtype.kind and not {got.dtype.kind, want.dtype.kind} <= set("iub"):
        kinds = {"f": "floating-point numbers", "i": "whole numbers", "u": "whole numbers", "b": "true/false"}
        expected, came = kinds[want.dtype.kind], kinds.get(got.dtype.kind, str(got.dtype))
        return Check(label, False, f"{label}: expected {expected}, but {came} came.")
    if got.shape != want.shape:
        return Check(
            label,
            False,
            f"{label}: expected shape {want.shape}, but yours is {got.shape}.",
            "Print the shape after every step and compare it with the comment after the line.",
        )
    return _compare_numbers(label, got, want, exercise)


def _compare_numbers(label: str, got: np.ndarray, want: np.ndarray, exercise: Exercise) -> Check:
    if want.dtype.kind != "f":
        same = bool(np.array_equal(got, want))
        words = "" if same else likeness(got, want, 0, 0)
        return Check(label, same, f"{label}: {words or 'the values differ from what was expected.'}")
    bad = ~np.isfinite(got) & np.isfinite(want)
    if bad.any():
        return Check(
            label,
            False,
            f"{label}: {bad.sum()} of {bad.size} numbers are not finite (nan or inf).",
            "A division by zero, or an exponential of a large number?",
        )
    close = np.isclose(got, want, atol=exercise.atol, rtol=exercise.rtol)
    if close.all():
        return Check(label, True)
    if words := likeness(got, want, exercise.atol, exercise.rtol):
        return Check(label, False, f"{label}: {words}")
    share = 100 * (1 - close.mean())
    return Check(label, False, f"{label}: the shape is right, the values are not ({share:.0f} % of them are off).")


def same_text(got: np.ndarray, want: np.ndarray) -> bool:
    said = read_text(got)
    return said is not None and bool(said == read_text(want))


def find_mistake(exercise: Exercise, case: Case, answers: Answers) -> Mistake | None:
    """The mistake of the catalogue whose wrong answer is this very answer; of several the nearest, then the first."""
    found: list[tuple[float, Mistake]] = []
    for mistake in exercise.mistakes:
        wrong = _wrong_answer(mistake, case, exercise)
        if wrong and matches(answers.arrays, wrong, exercise):
            found.append((_distance(answers.arrays, wrong), mistake))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _wrong_answer(mistake: Mistake, case: Case, exercise: Exercise) -> Mapping[str, np.ndarray]:
    """What somebody who makes the mistake hands over; empty where this case cannot show it."""
    try:
        wrong = exercise.made_by(mistake, case)
        return wrong if wrong and _is_wrong(wrong, case, exercise) else {}
    except Exception as error:  # a name is a help; without it the answer is as wrong as before
        logging.getLogger(__name__).warning("%s: mistake %s: %r", exercise.slug, mistake.id, error)
        return {}


def _is_wrong(answer: Mapping[str, np.ndarray], case: Case, exercise: Exercise) -> bool:
    """False where this case cannot show the mistake: its answer is the right one, but for a rounding."""
    pairs = [(name, array, case.expected[name]) for name, array in answer.items() if name in case.expected]
    return not pairs or not all(compare_value(*pair, exercise).passed for pair in pairs)


def _distance(got: Mapping[str, np.ndarray], wrong: Mapping[str, np.ndarray]) -> float:
    """The largest difference of two answers that match; where several numbers agree, it tells which agree best."""
    with np.errstate(invalid="ignore"):  # inf in both: no difference
        apart = [np.abs(got[name].astype(np.float64) - want.astype(np.float64)) for name, want in wrong.items()]
    return max((float(np.nan_to_num(difference).max(initial=0.0)) for difference in apart), default=0.0)


def matches(got: Mapping[str, np.ndarray], wrong: Mapping[str, np.ndarray], exercise: Exercise) -> bool:
    for name, want in wrong.items():
        array = got.get(name)
        if array is None or array.shape != want.shape:
            return False
        if not np.allclose(array, want, atol=10 * exercise.atol, rtol=10 * exercise.rtol, equal_nan=True):
            return False
    return True
