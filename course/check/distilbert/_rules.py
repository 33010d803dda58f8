"""Rules of this assignment's exercises, and the mistakes that they name. The library for students gets a copy.

Each part of the attention block is judged by itself, with every other part ready-made; or, where the student's code
cannot be taken apart, in the block as it stands. The answers ``ready_…`` are those of a part by itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course.check._rules import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    Rule,
    better_of_own_and_ready,
    compare_case,
    named,
    unsteady,
    without_side_effects,
    wrong,
)
from course.check._rules.likeness import likeness

#: The other parts of the block, which the part that runs the whole block does not pay for.
OTHER_PARTS = tuple(f"distilbert/attention_{part}" for part in ("init", "scores", "weights"))
PROJECTIONS = ("q_lin", "k_lin", "v_lin")
#: Begins the name of an answer of the last part with ready-made values as well.
VALUES = "values_"
FACTOR = Mistake(
    "M3-factor", "Your scores are {factor:.3g} times what they should be.",
    "The only factor is one over the square root of a head's size, and the given code applies it.",
)  # fmt: skip
DTYPE = Mistake(
    "DTYPE", "The values are right, but they are no float32: the rest of the model cannot go on with them.",
    "Print the dtype after every step; x.to(y.dtype) gives x the dtype of y.",
)  # fmt: skip
WHOLE = Mistake(
    "WHOLE", "With ready-made parts before it this one is right; your block as it stands gives something else.",
    "Do the parts before it pass? Then: does every line use what the line before it made, under the same name?",
)  # fmt: skip
STOPS = Mistake(
    "WHOLE-stops", "With ready-made parts before it this one is right; your block as it stands does not run.",
    "Make a block and give it hidden_states: the last line of the error says where it stops.",
)  # fmt: skip
LAYER_MISTAKES = (
    Mistake("L-missing", "__init__ makes no layer self.{layer}.",
            "Names count: the trained weights find their layers by them."),
    Mistake("L-bias", "self.{layer} has no bias.",
            "A layer of torch has one unless told otherwise, and the trained weights bring one."),
    Mistake("L-weight", "self.{layer} has no weight.",
            "A LayerNorm scales and shifts unless told otherwise; the trained weights bring a weight and a bias."),
    Mistake("L-size", "self.{layer} has other sizes than the config says.",
            "Every size comes from the config; which of the two comes first?"),
    Mistake("L-alone", "With ready-made layers the class works; with those that its own __init__ makes it stops.",
            "Did a line of __init__ get lost, self.config = config, say?"),
)  # fmt: skip
L_MISSING, L_BIAS, L_WEIGHT, L_SIZE, L_ALONE = LAYER_MISTAKES


def only(rule: Rule, *names: str) -> Rule:
    """``rule``, for these of the expected answers alone."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        known = {key: {n: a for n, a in wrong.items() if n in names} for key, wrong in case.mistakes.items()}
        expected = {name: array for name, array in case.expected.items() if name in names}
        return rule(exercise, replace(case, expected=expected, mistakes=known), answers)

    return judge


def _steady(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule for weights; two calls that differ are dropout, and right numbers must be float32."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned < 1:
        return named(exercise, "M16") if unsteady(answers, "weights") else judgement
    return judgement if answers.arrays["weights"].dtype == np.float32 else named(exercise, "DTYPE")


def _scores(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Scores are read off the softmax of them: a factor too many shows in its logarithms."""
    judgement = _steady(exercise, case, answers)
    given, want = answers.arrays.get("weights"), case.expected["weights"]
    if judgement.earned == 1 or any(check.mistake for check in judgement.checks) or given is None:
        return judgement
    if given.shape != want.shape or given.dtype.kind != "f" or not (np.isfinite(given) & (given > 0)).all():
        return judgement
    x, y = (logs - logs.mean(-1, keepdims=True) for logs in map(np.log, (want, given.astype(np.float64))))
    factor = float((x * y).sum() / (x * x).sum())
    if abs(factor) > 1e-2 and np.abs(y - factor * x).max() < 2e-3 * max(1.0, abs(factor)):
        return named(exercise, "M3-factor", factor=factor)
    message = "The attention scores are not the dot products of queries and keys."
    return wrong("scores", message, "Which axis of k must meet which axis of q? Write both shapes down.")


def _context(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The output; where no mistake explains it, which half of the way is wrong: before ``out_lin``, or after it."""
    judgement = only(compare_case, "output")(exercise, case, answers)
    output, context, want = (*map(answers.arrays.get, ("output", "context")), case.expected["context"])
    if judgement.earned == 1 or any(check.mistake for check in judgement.checks) or output is None:
        return judgement
    if output.shape != case.expected["output"].shape or output.dtype.kind != "f":
        return judgement
    if unsteady(answers, "output"):
        return named(exercise, "M16")
    hint = "context is the weights times the values, head by head."
    if context is None or context.shape != want.shape or context.dtype.kind != "f":
        return wrong("context", "The block's output does not follow from its own attention weights.", hint)
    if np.allclose(context, want, atol=1e-4, rtol=1e-3):
        message = "The context is right, but what becomes of it is not: out_lin, skip, LayerNorm, feed-forward network."
        return wrong("context", message, "Are the given lines after context unchanged?")
    like = likeness(context, want, exercise.atol, exercise.rtol)
    message = "What reaches out_lin is not the weights times the values, with each token's heads merged"
    return wrong("context", f"{message}: {like}" if like else f"{message}.", hint)


def _and_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The part by itself; then the block as it stands, unless another part lost points: that had its price."""
    judgement = better_of_own_and_ready(_context)(exercise, case, answers)
    values = {name: array for name, array in answers.arrays.items() if name.startswith(VALUES)}
    if judgement.earned < 1 and values:  # with ready-made values, too
        arrays = {**answers.arrays, **{name.removeprefix(VALUES): array for name, array in values.items()}}
        other = _context(exercise, case, replace(answers, arrays=arrays))
        judgement = other if other.earned == 1 else judgement
    if judgement.earned == 1 and _stops_as_made(answers):
        return named(exercise, "L-alone")
    if judgement.earned < 1 or answers.charged(*OTHER_PARTS):
        return judgement
    names = ("output", "weights")
    if not all(name in answers.arrays for name in names):
        return named(exercise, "WHOLE-stops")
    whole = only(compare_case, *names)(exercise, case, answers)
    if whole.earned < 1:
        return whole if any(check.mistake for check in whole.checks) else named(exercise, "WHOLE")
    return judgement if answers.arrays["output"].dtype == np.float32 else named(exercise, "DTYPE")


def with_layers(rule: Rule, others: tuple[str, ...] = ()) -> Rule:
    """``rule``, for an answer whose layers are as they should be: loading weights would put a missing one right.

    others: layers that another exercise judges
    The answer ``made`` has a line for each layer and parameter; ``runs`` tells whether the class works as it is made.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        if found := _wrong_layer(exercise, case, answers.text("made"), others):
            return found
        judgement = rule(exercise, case, answers)
        return named(exercise, "L-alone") if judgement.earned == 1 and _stops_as_made(answers) else judgement

    return judge


def _stops_as_made(answers: Answers) -> bool:
    """Whether it works with ready-made layers alone. Where the part that makes them lost points, it was charged."""
    runs = answers.arrays.get("runs")
    return runs is not None and not runs.any() and not answers.charged(OTHER_PARTS[0])


def _wrong_layer(exercise: Exercise, case: Case, made: object, others: tuple[str, ...]) -> Judgement | None:
    if not isinstance(made, list) or not all(isinstance(line, str) for line in made):
        return None
    found = {name: sizes for name, _, sizes in (line.partition(" ") for line in made)}
    for name, weight in sorted(case.weights.items(), key=lambda pair: not pair[0].endswith("weight")):
        layer, _, part = name.rpartition(".")
        if layer in others:
            continue
        if name not in found:
            return named(exercise, f"L-{part}" if layer in found else "L-missing", layer=layer)
        if found[name] != " ".join(map(str, weight.shape)):
            return named(exercise, "L-size", layer=layer)
    return None


weights_alone = better_of_own_and_ready(_steady)
scores_alone = better_of_own_and_ready(_scores)
context_and_whole = without_side_effects(with_layers(_and_whole, PROJECTIONS))
