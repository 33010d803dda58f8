"""Rules of this assignment's exercises, and the mistakes that they name."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .._rules import (
    READY,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    MistakenAnswers,
    Rule,
    compare_case,
    compare_value,
    dropout_at_work,
    in_float32,
    named,
    pure,
    put_together,
    right,
    whole,
    without_side_effects,
)

Array = np.ndarray

SIZES = Mistake(
    "sizes", "{part} is made with other sizes than the assignment asks for, or in another order{sizes}.",
    "Which number goes in, which comes out? The class that you call says in which order it takes its arguments.",
)  # fmt: skip
DROPPED = dropout_at_work("Numbers of the output")
NORM = Mistake(
    "norm-plain", "A layer norm has no scale, or no shift, that could be learned.",
    "nn.LayerNorm(d_model) has both, unless it is told otherwise.",
)  # fmt: skip

#: Answers of a class come from several attempts: with stand-ins for its parts, made in at most a few ways. Those
#: without such a prefix belong to all attempts; other prefixes are none.
ATTEMPTS = ("stand_in", *(f"stand_in_{number}" for number in range(1, 8)))
#: Looked at where they are known: how parts were asked for, and which a class has under their names. A part made under
#: another name leaves no trace.
OPTIONAL = ("_arguments", "_parts", "_norms")
#: What the head's method is given: looked at where forward calls it.
HANDED = ("q", "k", "v")


def with_names(rule: Rule, **parts: str) -> Rule:
    """``rule``; where it knows no name, wrong sizes, wrong norms and numbers dropped in eval mode get theirs.

    parts: answers about sizes -> what feedback calls the part. The catalogue must hold what can be said.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        failed = [check for check in judgement.checks if not check.passed]
        if judgement.earned == 1 or any(check.mistake for check in failed):
            return judgement
        right = [check for check in judgement.checks if check.passed]
        for check in failed:
            if check.name in parts and check.name in answers.arrays:
                sizes = _sizes(answers.arrays[check.name], case.expected.get(check.name))
                return exercise.mistake("sizes").judgement(*right, part=parts[check.name], sizes=sizes)
            if check.name == "own_norms":
                return exercise.mistake("norm-plain").judgement(*right)
        return exercise.mistake("M16").judgement(*right) if _dropped(case, answers) else judgement

    return judge


def _sizes(got: Array, want: Array | None) -> str:
    """Of a single layer both, so that nobody has to guess which one is meant."""
    if want is None or want.ndim != 1 or got.ndim != 1 or got.dtype.kind not in "iu" or got.size > 4:
        return ""
    return f": {tuple(map(int, got))}, not {tuple(map(int, want))}"


def _dropped(case: Case, answers: Answers) -> bool:
    """True where an output is the right one but for zeros, and enlarged by one common factor, as after a dropout."""
    for name, want in case.expected.items():
        kind = name.rpartition("/")[2]
        if kind not in ("output", "logits"):
            continue
        for got in (array for key, array in answers.arrays.items() if key.rpartition("/")[2] == kind):
            if got.shape == want.shape and _is_dropped(got, want):
                return True
    return False


def _is_dropped(got: Array, want: Array) -> bool:
    kept = (got != 0) & (np.abs(want) > 1e-3)
    if not (got == 0).any() or not kept.any():
        return False
    ratio = got[kept] / want[kept]
    return bool(np.ptp(ratio) < 1e-2 and ratio.mean() > 1.01)


def _best_attempt(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule for each attempt; of several judgements the right one counts, else the first with a name."""
    came = {name.partition("/")[0] for name in answers.arrays if "/" in name}
    tried = [name for name in ATTEMPTS if name in came] or ["stand_in"]
    judgements = [_judge_attempt(exercise, case, answers, name) for name in tried]
    return next((judged for judged in judgements if judged.earned == 1), None) or next(
        (judged for judged in judgements if any(check.mistake for check in judged.checks)), judgements[0]
    )


_compared = in_float32(compare_case, "output", "logits")


def _judge_attempt(exercise: Exercise, case: Case, answers: Answers, attempt: str) -> Judgement:
    given = _of(answers.arrays, attempt)

    def known(wrong: Mapping[str, Array]) -> dict[str, Array]:
        optional = {name for name in wrong if name.endswith(OPTIONAL) or name in HANDED} - given.keys()
        return {name: array for name, array in _of(wrong, "stand_in").items() if name not in optional}

    case = replace(case, expected=known(case.expected), mistakes=MistakenAnswers(case.mistakes, known))
    return _compared(exercise, case, replace(answers, arrays=given))


def _of(arrays: Mapping[str, Array], attempt: str) -> dict[str, Array]:
    common = {name: array for name, array in arrays.items() if "/" not in name}
    return common | {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{attempt}/")}


def finite_weights(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule, but nan and inf have a name where the scores are so large that exp alone overflows."""
    weights, want = answers.arrays.get("weights"), case.expected["weights"]
    large = float(np.abs(case.inputs["scores"]).max()) > 90
    if large and weights is not None and weights.shape == want.shape and not np.isfinite(weights).all():
        return named(exercise, "M1-overflow")
    return pure(exercise, case, answers)


def _whole_sizes(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule, but sizes that are no whole numbers have a name."""
    given = answers.arrays.get("head_arguments")
    if given is not None and given.dtype.kind == "f":
        return named(exercise, "heads-float")
    return compare_case(exercise, case, answers)


def _embedded(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; what is dropped in eval mode, or before the norm in training, has a name."""
    judgement = compare_case(exercise, case, answers)
    output, training = answers.arrays.get("output"), answers.arrays.get("in_training")
    if output is None or output.shape != case.expected["output"].shape:
        return judgement
    if judgement.earned < 1 and float(np.mean(output == 0)) > 0.02:
        return named(exercise, "M16")
    if judgement.earned == 1 and training is not None and not _dropped_last(output, training):
        return exercise.mistake("M16-order").judgement(*judgement.checks)
    return judgement


def _dropped_last(output: Array, training: Array) -> bool:
    """In training every number is what it is in eval mode, or 0, or larger by one common factor."""
    if training.shape != output.shape or not np.isfinite(training).all():
        return False
    kept = (training != 0) & (np.abs(output) > 1e-3)
    ratio = training[kept] / output[kept]
    return bool(len(ratio)) and float(np.ptp(ratio)) < 1e-3


def _classified(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; a dropout that is missing or in the wrong position, or a missing bias, costs half."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned < 1:
        return judgement
    if not bool(np.all(answers.arrays.get("has_bias", np.array(True)))):
        return named(exercise, "head-bias")
    # in training, with the weights at zero: the bias alone is left, unless the logits themselves are dropped
    bias = np.broadcast_to(case.weights["linear.bias"], case.expected["logits"].shape)
    training = answers.arrays.get("in_training")
    if training is None or not compare_value("in_training", training, bias, exercise).passed:
        return named(exercise, "M16-late")
    if not bool(np.any(answers.arrays.get("drops", np.array(False)))):
        return named(exercise, "M16-none")
    factor = answers.arrays.get("factor")
    if factor is not None and not np.isclose(factor * (1 - case.config["dropout_prob"]), 1, atol=1e-3):
        return named(exercise, "head-dropout")
    return judgement


def steps_together(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The rule for a whole; a mistake that a part has lost its points by, written again, is paid for there."""
    judgement = put_together(exercise, case, answers)
    paid = [slug for slug in exercise.slugs_of_parts if answers.charged(slug)]
    known = {check.mistake for slug in paid for check in getattr(answers.earlier[slug], "checks", ())} - {""}
    return right("written again") if known & {check.mistake for check in judgement.checks} else judgement


def _logits(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule, in the shape's words where the shape is wrong; otherwise nobody knows what it is."""
    judgement, given = compare_case(exercise, case, answers), answers.arrays.get("logits")
    known = judgement.earned == 1 or given is None or given.shape != case.expected["logits"].shape
    return judgement if known else named(exercise, "whole")


_model = whole(in_float32(_logits))


def whole_model(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The rule for a whole. Every class is a part: with all of them ready-made, the expected logits come."""
    ready = {f"{READY}{name}": array.astype(np.float32) for name, array in case.expected.items()}
    return _model(exercise, case, replace(answers, arrays={**answers.arrays, **ready}))


def separator_heads(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; the heads with the largest of the student's own shares count where these lost points."""
    judgement = compare_case(exercise, case, answers)
    follows = answers.charged("encoder_lab/separator_share") and _largest_own(case, answers)
    return right("separator_heads") if follows else judgement


def _largest_own(case: Case, answers: Answers) -> bool:
    """Whether these are the heads with the largest of the student's own wrong shares, (layers, heads)."""
    heads, own = answers.arrays.get("heads"), answers.arrays.get("own_share")
    if heads is None or own is None or own.ndim != 2 or not own.size or len(own) != len(case.expected["heads"]):
        return False
    told_apart = bool(np.isfinite(own).all()) and float(np.ptp(own, axis=-1).min()) > 0
    return told_apart and np.array_equal(heads, own.argmax(-1))


class_with_parts = with_names(without_side_effects(_best_attempt))
attention_head = with_names(without_side_effects(_best_attempt), wq="wq", wk="wk", wv="wv")
encoder_layer = with_names(
    without_side_effects(_best_attempt),
    attention_arguments="MultiHeadAttention",
    feed_forward_arguments="FeedForward",
)
encoder = with_names(
    without_side_effects(_best_attempt),
    embeddings_arguments="Embeddings",
    layer_arguments="A TransformerEncoderLayer",
)
classifier = with_names(
    without_side_effects(_best_attempt),
    encoder_arguments="TransformerEncoder",
    head_arguments="ClassificationHead",
)
multi_head_init = with_names(_whole_sizes, head_arguments="A head", output_linear="output_linear")
feed_forward = with_names(pure, linear_1="linear_1", linear_2="linear_2")
embeddings = with_names(
    without_side_effects(_embedded),
    token_embeddings="token_embeddings",
    position_embeddings="position_embeddings",
)
classification_head = with_names(without_side_effects(in_float32(_classified, "logits")), linear="linear")
