"""Rules of the exercises on attention, and the mistakes that they name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._rules import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    compare_case,
    compare_value,
    find_mistake,
    named,
    right,
    without_side_effects,
    wrong,
)

Array = np.ndarray


#: The other exercises on the class: they have their own points.
OTHER_STEPS = tuple(f"transformer_tutorial/attention_{part}" for part in ("scores", "output", "dropout", "heads"))
WHOLE = Mistake(
    "WHOLE", "With ready-made steps beside it this one is right; your class as it stands gives something else.",
    "Do the other checks pass? Then: does every step use what the one before it made, under the same name?",
)  # fmt: skip
STOPS = Mistake(
    "WHOLE-stops", "With ready-made steps beside it this one is right; your class as it stands does not run.",
    "Give it queries, keys, values and a mask: the last line of the error says where it stops.",
)  # fmt: skip


def best_of(rule: Rule, *beginnings: str) -> Rule:
    """The best of several ways to run the answer, the first of equals: what each gives begins with its own word."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        def run(beginning: str) -> Judgement:
            own, expected = (
                {name.removeprefix(beginning): array for name, array in arrays.items() if name.startswith(beginning)}
                for arrays in (answers.arrays, case.expected)
            )
            return rule(exercise, replace(case, expected={**case.expected, **expected}), replace(answers, arrays=own))

        judged = [run(beginning) for beginning in beginnings]
        return max(judged, key=lambda one: (one.earned, any(check.mistake for check in one.checks)))

    return judge


def _in_words(message: str, hint: str) -> Rule:
    """The default rule; where numbers of the right shape are wrong in no known way, these words."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = compare_case(exercise, case, answers)
        got, want = answers.arrays.get("output"), case.expected["output"]
        if judgement.earned == 1 or got is None or got.shape != want.shape or got.dtype.kind != "f":
            return judgement
        if not np.isfinite(got).all() and any(mistake.id == "M1-overflow" for mistake in exercise.mistakes):
            return named(exercise, "M1-overflow")
        return judgement if any(check.mistake for check in judgement.checks) else wrong("output", message, hint)

    return judge


_mixed = _in_words(
    "The output is not the values, mixed by the weights of each query.",
    "Which axis of the weights runs over the keys, and which axis of the values does?",
)
_folded = _in_words(
    "With several heads the output is not what each head gives by itself.",
    "Fold, attend, unfold: follow one number of head 1 through every step.",
)


def _masked(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The numbers of real tokens count; what comes out for a padded query must be a number, and no more."""
    got, want, real = answers.arrays.get("output"), case.expected["output"], case.inputs["mask"][..., None]
    check = compare_value("output", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape or got.dtype.kind != "f":
        return Judgement([check])
    shown = np.where(real, got, want)
    if np.allclose(shown, want, rtol=exercise.rtol, atol=exercise.atol):
        return right("output") if np.isfinite(got).all() else named(exercise, "M10-rows")
    if not np.isfinite(got[case.inputs["mask"]]).any():
        return named(exercise, "M10-nan")
    known = {key: {"output": np.where(real, made["output"], want)} for key, made in case.mistakes.items() if made}
    if mistake := find_mistake(exercise, replace(case, mistakes=known), replace(answers, arrays={"output": shown})):
        return mistake.judgement()
    message = "What a real token collects still depends on the padding."
    return wrong("output", message, "A key that is padding must get the weight 0; the other weights must sum to 1.")


def _mask_and_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The mask by itself; then the class as it stands, unless another step lost points: that had its price."""
    judgement = best_of(_masked, "", "ready_", "ready_2_")(exercise, case, answers)
    if judgement.earned < 1 or answers.charged(*OTHER_STEPS):
        return judgement
    output = answers.arrays.get("output")
    if output is None:
        return named(exercise, "WHOLE-stops")
    if _masked(exercise, case, answers).earned < 1:
        return named(exercise, "WHOLE")
    return judgement if output.dtype == np.float32 else named(exercise, "DTYPE")


def _dropped(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Value j is a 1 at place j, and a 1 at place t: so outputs are the weights as they were used, and their sum."""
    want = case.expected["evaluated"]
    for name in ("trained", "evaluated", "again", "undropped"):
        got = answers.arrays.get(name)
        if got is None or got.shape != want.shape or got.dtype.kind != "f":
            return Judgement([compare_value(name, got, want, exercise)])
    trained, evaluated = (answers.arrays[name].astype(np.float64) for name in ("trained", "evaluated"))
    if not np.allclose(evaluated, answers.arrays["again"], atol=1e-6):
        return named(exercise, "M16")
    if not evaluated.any():
        message = "Every output is 0, so that nothing shows whether weights are dropped."
        return wrong("evaluated", message, "First the weights mix the values; only then does dropout show.")
    check = compare_value("evaluated", evaluated, answers.arrays["undropped"], exercise)  # wrong weights have a price
    mistake = _dropout(trained, evaluated, case) if check.passed else None
    return named(exercise, mistake) if mistake else Judgement([check])


def _dropout(trained: Array, evaluated: Array, case: Case) -> str | None:
    """The id of the mistake that the outputs in train and in eval mode, (b, t, k), show; None where all is right."""
    t = case.inputs["queries"].shape[1]
    used, weights = trained[..., :t], evaluated[..., :t]
    dropped = used == 0
    by_key = dropped.all(1) | ~dropped.any(1)  # (b, keys)
    kept = used[~dropped] / np.where(weights == 0, np.inf, weights)[~dropped]
    made = {
        "none": np.allclose(used, weights, atol=1e-6), "scores": not dropped.any(), "values": by_key.all(),
        "output": not np.allclose(trained[..., t], used.sum(-1), atol=1e-4),
        "unscaled": np.allclose(kept, 1, atol=1e-3),
        "rate": not np.allclose(kept, 1 / (1 - case.config["rate"]), atol=1e-2),
    }  # fmt: skip
    return next((f"DROPOUT-{mistake}" for mistake, is_made in made.items() if is_made), None)


mixed = without_side_effects(best_of(_mixed, "", "ready_"))
folded = without_side_effects(best_of(_folded, "", "ready_"))
masked = without_side_effects(_mask_and_whole)
dropped = best_of(_dropped, "", "ready_")
