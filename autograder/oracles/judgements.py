"""Short words for the judgements that rules give: right, wrong, or wrong in a way that has a name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Rule, compare_case
from autograder.oracles.attention import Knobs

#: Begins the name of an answer that was given with ready-made parts in place of the submission's own earlier ones.
READY = "ready_"


@dataclass(frozen=True)
class TurnedKnobs:
    """A known mistake of the attention block: how a student is told of it, and which knobs it turns."""

    id: str
    message: str
    hint: str
    knobs: Knobs


def right(name: str) -> Judgement:
    return Judgement([Check(name, True)])


def wrong(name: str, message: str, hint: str = "") -> Judgement:
    """Wrong in a way that the catalogue does not know."""
    return Judgement([Check(name, False, message, hint)])


def named(mistake: str, message: str, hint: str) -> Judgement:
    """Wrong in a way that has a name."""
    return Judgement([Check(mistake, False, message, hint, mistake)])


def dropout(what: str) -> Judgement:
    """Wrong because something was dropped in eval mode. ``what``: whose numbers show it, as the sentence's subject."""
    return named(
        "M16",
        f"{what} are drawn anew with every call: dropout is still at work.",
        "Grading runs in eval mode. A layer nn.Dropout knows the mode; a function must be told of it.",
    )


def unsteady(answers: Answers, name: str) -> bool:
    """True where a second call with the same input (the answer ``again``) gave something else than the first."""
    first, again = answers.arrays.get(name), answers.arrays.get("again")
    if first is None or again is None or first.shape != again.shape or first.dtype.kind != "f":
        return False
    return not np.allclose(first, again, atol=1e-5, rtol=1e-4, equal_nan=True)


def either_way(rule: Rule) -> Rule:
    """The better of two answers: with the submission's own earlier parts, and (``ready_…``) with ready-made ones."""

    def better(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        own = rule(exercise, case, answers)
        ready = {name: array for name, array in answers.arrays.items() if name.startswith(READY)}
        if own.earned == 1 or not ready:
            return own
        arrays = {**answers.arrays, **{name.removeprefix(READY): array for name, array in ready.items()}}
        other = rule(exercise, case, replace(answers, arrays=arrays))
        return max(other, own, key=lambda judged: (judged.earned, any(check.mistake for check in judged.checks)))

    return better


def is_mixture(weights: np.ndarray) -> bool:
    """True where most attention weights (…, queries, keys) are not 0: what comes out shows whether they met the values.

    With zeros, or a single key for each query, nothing has to be mixed.
    """
    if weights.dtype.kind != "f" or not weights.size:
        return False
    return bool(np.isfinite(weights).all()) and float((np.abs(weights) > 1e-6).mean()) > 0.5


def steady(name: str, what: str) -> Rule:
    """The default rule for a module's one answer ``name``, where two calls that differ are named first."""

    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        return dropout(what) if unsteady(answers, name) else compare_case(exercise, case, answers)

    return rule
