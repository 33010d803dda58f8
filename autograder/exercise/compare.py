"""Comparing an answer with what was expected: kind, then shape, then values, then known mistakes.

No message quotes an expected value: feedback may show every word of it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .likeness import likeness, likeness_of_texts
from .model import Answers, Case, Check, Exercise, Judgement, Mistake
from .values import KEYS, TEXT, read_text

#: Begins the name of an answer that tells more about wrong numbers; no points depend on it.
PROPERTY = "property/"
#: Parts of messages that say no more than that numbers or texts are wrong.
NO_MORE = (
    "the values are not (", "the values are wrong; ", "differ from what was expected", "differs from what was expected"
)  # fmt: skip


def compare_case(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule: every expected answer is there and right; a known mistake is named."""
    checks = [_compared(name, answers.arrays, want, exercise) for name, want in case.expected.items()]
    if not checks:  # all of nothing would be right
        return Judgement([Check("answer", False, "Nothing is expected under these names.")])
    if all(check.passed for check in checks):
        return Judgement(checks)
    mistake = find_mistake(exercise, case, answers)
    if mistake is None:
        return Judgement([_beside(check, checks) for check in checks])
    return mistake.judgement(*(check for check in checks if check.passed))


def _compared(name: str, arrays: Mapping[str, np.ndarray], want: np.ndarray, exercise: Exercise) -> Check:
    if name not in arrays and f"{TEXT}{KEYS}{name}" in arrays:
        return Check(name, False, f"{name}: expected a tensor or array of numbers, but it is a dictionary.")
    return compare_value(name, arrays.get(name), want, exercise)


def _beside(check: Check, checks: Sequence[Check]) -> Check:
    """Of numbers that are wrong, and nobody knows how: what is right beside them, which says where to look."""
    good = [other.name for other in checks if other.passed]
    if check.passed or not good or not is_bare(check):
        return check
    others = f"{', '.join(good[:-1])} and {good[-1]} are" if len(good) > 1 else f"{good[0]} is"
    return replace(check, message=f"{check.name}: the values are wrong; {others} right.")


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
        known = [replace(mistake, patches=()) if mistake.id in refuted else mistake for mistake in exercise.mistakes]
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
        if known is None or (not check.passed and (known.passed or (is_bare(known) and not is_bare(check)))):
            found[check.name] = check
    ordered = sorted(found.values(), key=lambda check: (check.passed, not check.mistake))
    return tuple(check if not check.passed else Check(check.name, True) for check in ordered)


def is_bare(check: Check) -> bool:
    """Whether a check says no more than that something is wrong."""
    return not check.mistake and any(words in check.message for words in NO_MORE)


def compare_value(name: str, got: np.ndarray | None, want: np.ndarray, exercise: Exercise) -> Check:
    label = name.removeprefix(TEXT)
    if got is None:
        return Check(label, False, f"{label}: nothing came.", "Does your code return it?")
    if same_value(name, got, want, exercise):
        return Check(label, True)
    if name.startswith(TEXT):
        words = likeness_of_texts(read_text(got), read_text(want))
        return Check(label, False, f"{label}: {words or 'the text differs from what was expected.'}")
    if not _same_kind(got, want):
        kinds = {"f": "floating-point numbers", "i": "whole numbers", "u": "whole numbers", "b": "true/false"}
        expected, came = kinds[want.dtype.kind], kinds.get(got.dtype.kind, str(got.dtype))
        return Check(label, False, f"{label}: expected {expected}, but {came} came.")
    if got.shape != want.shape:
        axes = exercise.axes.get(name) or exercise.axes.get(name.rpartition("/")[2], "")
        return _compare_shapes(label, got.shape, want.shape, axes)
    return _compare_numbers(label, got, want, exercise)


def _compare_shapes(label: str, got: tuple[int, ...], want: tuple[int, ...], axes: str) -> Check:
    """axes: the names of the expected axes, as in ``batch, tokens, dim``; or nothing."""
    if not want:
        came = f"{label}: expected one number, but yours has the shape {got}."
        return Check(label, False, came, "Does a mean or a sum leave an axis?")
    yours = f"yours is {got}" if got else "yours is a single number"
    message = f"{label}: expected shape {want}{axes and f' = ({axes})'}, but {yours}."
    return Check(label, False, message, _which_axis(got, want, axes))


def _which_axis(got: tuple[int, ...], want: tuple[int, ...], axes: str) -> str:
    wrong = [axis for axis, sizes in enumerate(zip(got, want, strict=False)) if len(set(sizes)) > 1]
    if not axes:
        return "Print the shape after every step and compare it with the comment after the line."
    if not got:
        return f"There should be {len(want)} axes: {axes}."
    if len(got) != len(want):
        return f"An axis {'is missing' if len(got) < len(want) else 'too many'}. There should be {len(want)}: {axes}."
    if len(wrong) == 1:
        name = axes.split(", ")[wrong[0]]
        return f"Axis {wrong[0]}, {name}, should have the size {want[wrong[0]]}; yours has {got[wrong[0]]}."
    return f"{'The axes are in another order' if sorted(got) == sorted(want) else 'Several axes are wrong'}: {axes}."


def _compare_numbers(label: str, got: np.ndarray, want: np.ndarray, exercise: Exercise) -> Check:
    if want.dtype.kind != "f":
        words = likeness(got, want, 0, 0) or "the values differ from what was expected."
        return Check(label, False, f"{label}: {words}")
    bad = ~np.isfinite(got) & np.isfinite(want)
    if bad.any():
        return Check(
            label,
            False,
            f"{label}: {bad.sum()} of {bad.size} numbers are not finite (nan or inf).",
            "A division by zero, or an exponential of a large number?",
        )
    if words := likeness(got, want, exercise.atol, exercise.rtol):
        return Check(label, False, f"{label}: {words}")
    share = 100 * (1 - np.isclose(got, want, atol=exercise.atol, rtol=exercise.rtol).mean())
    return Check(label, False, f"{label}: the shape is right, the values are not ({share:.0f} % of them are off).")


def same_value(name: str, got: np.ndarray, want: np.ndarray, exercise: Exercise) -> bool:
    """Whether an answer is right."""
    if name.startswith(TEXT):
        return same_text(got, want)
    if not _same_kind(got, want) or got.shape != want.shape:
        return False
    if want.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    return bool(np.isclose(got, want, atol=exercise.atol, rtol=exercise.rtol).all())


def _same_kind(got: np.ndarray, want: np.ndarray) -> bool:
    kinds = {got.dtype.kind, want.dtype.kind}
    return len(kinds) == 1 or kinds <= set("iub")


def same_text(got: np.ndarray, want: np.ndarray) -> bool:
    said = read_text(got)
    return said is not None and bool(said == read_text(want))


def find_mistake(exercise: Exercise, case: Case, answers: Answers) -> Mistake | None:
    """The mistake of the catalogue whose wrong answer is this very answer; of several the nearest, then the first."""
    found: list[tuple[float, Mistake]] = []
    for mistake in exercise.mistakes:
        wrong = _made(mistake, case, exercise)
        if wrong and matches(answers.arrays, wrong, exercise) and _is_wrong(wrong, case, exercise):
            found.append((_distance(answers.arrays, wrong), mistake))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _wrong_answer(mistake: Mistake, case: Case, exercise: Exercise) -> Mapping[str, np.ndarray]:
    """What somebody who makes the mistake hands over; empty where this case cannot show it."""
    wrong = _made(mistake, case, exercise)
    return wrong if wrong and _is_wrong(wrong, case, exercise) else {}


def _made(mistake: Mistake, case: Case, exercise: Exercise) -> Mapping[str, np.ndarray]:
    """The same, whether the case shows it or not."""
    try:
        made = exercise.made_by(mistake, case)
        return {name: array for name, array in made.items() if not name.startswith(PROPERTY)}
    except Exception as error:  # a name is a help; without it the answer is as wrong as before
        logging.getLogger(__name__).warning("%s: mistake %s: %r", exercise.slug, mistake.id, error)
        return {}


def _is_wrong(answer: Mapping[str, np.ndarray], case: Case, exercise: Exercise) -> bool:
    """False where this case cannot show the mistake: its answer is the right one, but for a rounding."""
    pairs = [(name, array, case.expected[name]) for name, array in answer.items() if name in case.expected]
    return not pairs or not all(same_value(*pair, exercise) for pair in pairs)


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
