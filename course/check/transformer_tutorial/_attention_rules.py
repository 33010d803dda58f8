"""Rules of the exercises on attention, and the mistakes that they name."""

from dataclasses import replace

import numpy as np

from .._rules import (
    READY,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    compare_case,
    compare_value,
    find_mistake,
    in_float32,
    named,
    right,
    without_side_effects,
    wrong,
)

Array = np.ndarray


WHOLE = Mistake(
    "WHOLE", "Each method is right by itself; your class as it stands gives something else.",
    "Are the given lines as they were?",
)  # fmt: skip
STOPS = Mistake(
    "WHOLE-stops", "Each method is right by itself; your class as it stands does not run.",
    "Give it queries, keys, values and a mask: the last line of the error says where it stops.",
)  # fmt: skip


def _in_words(message: str, hint: str) -> Rule:
    """The same rule; where numbers of the right shape are wrong in no known way, these words."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement, name = compare_case(exercise, case, answers), next(iter(case.expected))
        got, want = answers.arrays.get(name), case.expected[name]
        if judgement.earned == 1 or got is None or got.shape != want.shape or got.dtype.kind != "f":
            return judgement
        if not np.isfinite(got).all() and any(mistake.id == "M1-overflow" for mistake in exercise.mistakes):
            return named(exercise, "M1-overflow")
        return judgement if any(check.mistake for check in judgement.checks) else wrong(name, message, hint)

    return judge


_scored = _in_words(
    "The scores are not the dot products of queries and keys, divided by √k.",
    "Write both shapes down: which axis of the keys must meet which axis of the queries?",
)
_mixed = _in_words(
    "The output is not the values, mixed by the weights of each query.",
    "Which axis of the weights runs over the keys, and which axis of the values does?",
)


def _hidden(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The weights that a softmax makes of what ``hide`` gives; of a padded query they must be numbers, and no more."""
    got, want = answers.arrays.get("weights"), case.expected["weights"]
    if got is None:
        return wrong("hide", "There is no right hide yet, and your class as it stands is not right.", "Write hide.")
    check = compare_value("weights", got, want, exercise)
    if check.passed or got.shape != want.shape or got.dtype.kind != "f":
        return Judgement([check])
    real = np.repeat(case.inputs["mask"], len(want) // len(case.inputs["mask"]), axis=0)
    shown = np.where(real[..., None], got, want)
    if np.allclose(shown, want, rtol=exercise.rtol, atol=exercise.atol):
        return right("weights") if np.isfinite(got).all() else named(exercise, "M10-rows")
    if not np.isfinite(got[real]).any():
        return named(exercise, "M10-nan")
    known = {
        key: {"weights": np.where(real[..., None], made["weights"], want)}
        for key, made in case.mistakes.items()
        if "weights" in made
    }
    if mistake := find_mistake(exercise, replace(case, mistakes=known), replace(answers, arrays={"weights": shown})):
        return mistake.judgement()
    message = "What a real token collects still depends on the padding."
    return wrong("weights", message, "A key that is padding must get the weight 0; the other weights must sum to 1.")


def _attended(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The numbers of real tokens count; what comes out for a padded query must be a number, and no more."""
    got, want, real = answers.arrays.get("output"), case.expected["output"], case.inputs["mask"][..., None]
    if got is None or got.shape != want.shape or got.dtype.kind != "f" or not np.isfinite(got).all():
        return named(exercise, "WHOLE")
    if not np.allclose(np.where(real, got, want), want, rtol=exercise.rtol, atol=exercise.atol):
        return named(exercise, "WHOLE")
    return right("output")


_as_it_stands = without_side_effects(in_float32(_attended))

_alone = in_float32(_hidden, "weights")


def masked(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The class as it stands, with a mask; else ``hide`` alone, and the class with it and other steps ready-made where
    one of those lost points.
    """
    own = _as_it_stands(exercise, case, answers)
    if own.earned == 1:
        return own
    alone = _alone(exercise, case, answers)
    if alone.earned < 1:
        return alone
    if answers.charged(*exercise.slugs_of_parts):
        arrays = {name.removeprefix(READY): x for name, x in answers.arrays.items() if name.startswith(READY)}
        return _as_it_stands(exercise, case, replace(answers, arrays=arrays))
    return own if "output" in answers.arrays else named(exercise, "WHOLE-stops")


def dropped(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Value j is a 1 at place j, and a 1 at place t: so outputs are the weights as they were used, and their sum."""
    want = case.expected["evaluated"]
    shape = answers.arrays.get("evaluated", want).shape  # another one has its price
    for name in ("trained", "evaluated", "again", "undropped"):
        got = answers.arrays.get(name)
        if got is None or got.shape != shape or got.dtype.kind != "f":
            return Judgement([compare_value(name, got, want, exercise)])
    trained, evaluated = (answers.arrays[name].astype(np.float64) for name in ("trained", "evaluated"))
    if not np.allclose(evaluated, answers.arrays["again"], atol=1e-6):
        return named(exercise, "M16")
    check = compare_value("evaluated", evaluated, answers.arrays["undropped"], exercise)
    if check.passed and not np.allclose(evaluated, want, atol=1e-4):
        if "within" in answers.arrays:
            return wrong("mix", "There is no right mix yet, and your class as it stands is not right.", "Write mix.")
        # wrong weights have their price: all that can be seen of them is whether something is dropped
        return named(exercise, "DROPOUT-none") if np.allclose(trained, evaluated, atol=1e-6) else Judgement([check])
    mistake = _dropout(trained, evaluated, case) if check.passed else None
    return named(exercise, mistake) if mistake else Judgement([check])


def _dropout(trained: Array, evaluated: Array, case: Case) -> str | None:
    """The id of the mistake that the outputs in train and in eval mode, (b, t, k), show; None where all is right."""
    t = case.inputs["queries"].shape[1]
    used, weights = trained[..., :t], evaluated[..., :t]
    gone = used == 0
    by_key = gone.all(1) | ~gone.any(1)  # (b, keys)
    kept = used[~gone] / np.where(weights == 0, np.inf, weights)[~gone]
    made = {
        "none": np.allclose(used, weights, atol=1e-6), "scores": not gone.any(), "values": by_key.all(),
        "output": not np.allclose(trained[..., t], used.sum(-1), atol=1e-4),
        "unscaled": np.allclose(kept, 1, atol=1e-3),
        "rate": not np.allclose(kept, 1 / (1 - case.config["rate"]), atol=1e-2),
    }  # fmt: skip
    return next((f"DROPOUT-{mistake}" for mistake, is_made in made.items() if is_made), None)


scored = without_side_effects(in_float32(_scored))
mixed = without_side_effects(in_float32(_mixed))
part = without_side_effects(in_float32(compare_case))
