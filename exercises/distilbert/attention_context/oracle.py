"""Part 4 of the attention block: its output, compared with what follows from the submission's own weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    better_of_own_and_ready,
    compare_value,
    dropout_at_work,
    named,
    not_charged_twice,
    right,
    unsteady,
    wrong,
)
from autograder.exercise.likeness import likeness

from ..._attention import Array, is_mixture
from .._block import BlockVariant, attention_context, attention_tail
from .._block_cases import low_inner_variance_case, low_variance_case, ordinary_cases
from .._layers import LAYER_MISTAKES, with_layers
from .._scores import made_of, scores_of

#: The exercises in which wrong weights lose points.
EARLIER = ("distilbert/attention_scores", "distilbert/attention_weights")
NORMS = {"both": "In both places the", "first": "The first", "second": "The second"}

MISTAKES = [
    Mistake(
        "M4-transposed",
        "The weights were transposed before they met the values: each key collected from the queries.",
        "Row i of the weights belongs to query i and mixes the values of all keys.",
        variant=BlockVariant(transposed_weights=True),
    ),
    Mistake(
        "M4-keys",
        "The weights met the keys; what they should mix are the values.",
        "A key says what a token offers, its value is what is collected.",
        variant=BlockVariant(context="keys"),
    ),
    Mistake(
        "M9",
        "The sum runs over the queries: each token's own value, times what all queries give it.",
        "A query's context sums over the keys, the last axis of its weights.",
        variant=BlockVariant(context="columns"),
    ),
    Mistake(
        "M9-late",
        "The scores met the values before the softmax.",
        "First the weights, then the mixture: the weights meet the values.",
        variant=BlockVariant(context="late"),
    ),
    Mistake(
        "M5-values",
        "The values' heads are cut out of the wrong axis.",
        "Split the last axis into (heads, size) first, then exchange axes.",
        variant=BlockVariant(split="untransposed"),
    ),
    Mistake(
        "M6",
        "The heads were merged without being moved back behind the tokens: numbers of different tokens are mixed.",
        "Exchange the head axis and the token axis before the last two axes become one.",
        variant=BlockVariant(merge="untransposed"),
    ),
    Mistake(
        "M7",
        "The residual connection around the attention is missing.",
        "The block adds its own input to what the attention gives, then normalises.",
        variant=BlockVariant(attention_skip="none"),
    ),
    Mistake(
        "M7-ffn",
        "The residual connection around the feed-forward network is missing.",
        "Add what went into the feed-forward network to what came out, then normalise.",
        variant=BlockVariant(ffn_skip="none"),
    ),
    Mistake(
        "M7-place",
        "The second residual comes from the wrong place: from the block's input.",
        "It is the output of the first LayerNorm that goes around the feed-forward network.",
        variant=BlockVariant(ffn_skip="hidden"),
    ),
    *(
        Mistake(
            "M8",
            f"{words} LayerNorm comes before the addition.",
            "Post-LN: add first, then normalise the sum.",
            variant=BlockVariant(norm="before_sum", norm_at=place),
        )
        for place, words in NORMS.items()
    ),
    *(
        Mistake(
            "M8-none",
            f"{words} LayerNorm is missing.",
            "Post-LN: the sum of input and output is normalised.",
            variant=BlockVariant(norm="none", norm_at=place),
        )
        for place, words in NORMS.items()
    ),
    Mistake(
        "M8-pre",
        "The LayerNorms stand before the attention and before the feed-forward network: that is pre-LN.",
        "DistilBERT is post-LN: each sublayer takes its input as it is, and the sum is normalised.",
        variant=BlockVariant(norm="pre"),
    ),
    Mistake(
        "M12",
        "The feed-forward network uses ReLU; DistilBERT uses GELU.",
        "See the given line.",
        variant=BlockVariant(activation="relu"),
    ),
    Mistake(
        "M12-tanh",
        "This is GELU's tanh approximation; DistilBERT uses the exact one.",
        "nn.functional.gelu without further arguments is exact.",
        variant=BlockVariant(activation="tanh"),
    ),
    Mistake(
        "M12-none",
        "The feed-forward network has no activation: two linear layers are one.",
        "A GELU stands between lin1 and lin2.",
        variant=BlockVariant(activation="none"),
    ),
    Mistake(
        "M12-silu",
        "The feed-forward network uses SiLU; DistilBERT uses GELU.",
        "See the given line.",
        variant=BlockVariant(activation="silu"),
    ),
    *(
        Mistake(
            "M13",
            f"{words} LayerNorm's eps is not the config's.",
            "nn.LayerNorm takes eps=config.eps; its default is larger.",
            variant=BlockVariant(eps=eps, norm_at=place),
        )
        for place, words in NORMS.items()
        for eps in (1e-5, 1e-6, 1e-3, 0.1)
    ),
    *(
        Mistake(
            "M13-unbiased",
            f"{words} LayerNorm's variance is the unbiased one (divided by n - 1).",
            "LayerNorm divides by n.",
            variant=BlockVariant(unbiased=True, norm_at=place),
        )
        for place, words in NORMS.items()
    ),
    dropout_at_work("The block's outputs"),
    *LAYER_MISTAKES,
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    output, want = answers.arrays.get("output"), case.expected["output"]
    first = compare_value("output", output, want, exercise)
    if output is None or not _has_right_form(case, output):
        return Judgement([first])
    weights = _own_weights(case, answers)
    splits = _splits(case, weights)
    checks = [
        compare_value("output", output, _tail(case, weights, BlockVariant(split=way)), exercise) for way in splits
    ]
    weights_are_right = compare_value("weights", weights, case.expected["weights"], exercise).passed
    if weights_are_right and any(check.passed for check in checks):
        return right("context")
    if mistake := _explanation(exercise, case, output, weights, splits):
        return mistake.judgement()
    if unsteady(answers, "output"):
        return named(exercise, "M16")
    return _unknown(case, answers.arrays.get("context"), weights, splits, checks[0].hint)


def _unknown(case: Case, context: Array | None, weights: Array, splits: list[str], hint: str) -> Judgement:
    """No mistake explains the output: which half of the way is wrong? context: what reached out_lin, if it did."""
    hint = hint or "context is the weights times the values, head by head."
    if context is None or context.shape != case.inputs["hidden_states"].shape or context.dtype.kind != "f":
        return wrong("context", "The block's output does not follow from its own attention weights.", hint)
    wanted = [_merged(case, weights, way) for way in splits]
    if any(np.allclose(context, want, atol=1e-4, rtol=1e-3) for want in wanted):
        message = "The context is right, but what becomes of it is not: out_lin, skip, LayerNorm, feed-forward network."
        return wrong("context", message, "Are the given lines behind context as they were?")
    like = likeness(context, wanted[0], EXERCISE.atol, EXERCISE.rtol)
    message = "What reaches out_lin is not the weights times the values, with the heads merged behind the tokens"
    return wrong("context", f"{message}: {like}" if like else f"{message}.", hint)


def follows_from_wrong_weights(case: Case, answers: Answers) -> bool:
    """True where the output is computed from the submission's own weights, which mix several values."""
    output, weights = answers.arrays.get("output"), _own_weights(case, answers)
    tiny = bool(np.abs(case.inputs["hidden_states"]).max() < 0.1)  # there all weights are nearly equal
    if output is None or not _has_right_form(case, output) or not (tiny or is_mixture(weights)):
        return False
    tails = (_tail(case, weights, BlockVariant(split=way)) for way in _splits(case, weights))
    return any(compare_value("output", output, tail, EXERCISE).passed for tail in tails)


def _has_right_form(case: Case, output: Array) -> bool:
    return output.shape == case.expected["output"].shape and output.dtype.kind == "f"


def _own_weights(case: Case, answers: Answers) -> Array:
    """The submission's weights; the right ones in place of weights of a wrong shape, which lost their points before."""
    weights, want = answers.arrays.get("weights"), case.expected["weights"]
    return want if weights is None or weights.shape != want.shape or weights.dtype.kind != "f" else weights


def _splits(case: Case, weights: Array) -> list[str]:
    """The right way to cut out the heads, and any other that the scores show, which lost its points there."""
    given, others = weights.astype(np.float64), ("untransposed", "interleaved")
    if not np.isfinite(given).all():
        return ["right"]
    return ["right", *(way for way in others if made_of(given, scores_of(case, BlockVariant(split=way))))]


def _explanation(exercise: Exercise, case: Case, output: Array, weights: Array, splits: list[str]) -> Mistake | None:
    """The mistake that gives this output: within the exercise's tolerance if there is one, else nearly.

    Where the inputs are tiny, all weights are nearly equal: transposed ones nearly give the output of a wrong eps too.
    """
    variants = [(mistake, mistake.variant) for mistake in exercise.mistakes if mistake.variant is not None]
    tails = [
        (mistake, _tail(case, weights, replace(variant, split=way)))
        for mistake, variant in variants
        for way in (splits if variant.split == "right" else [variant.split])
    ]
    for atol, rtol in ((exercise.atol, exercise.rtol), (1e-4, 1e-3)):
        for mistake, tail in tails:
            if np.allclose(output, tail, atol=atol, rtol=rtol):
                return mistake
    return None


def _merged(case: Case, weights: Array, way: str) -> Array:
    """The context with the heads merged: (batch, tokens, dim)"""
    given = case.inputs["hidden_states"].astype(np.float64)
    heads, eps = int(case.config["n_heads"]), float(case.config["eps"])
    return attention_context(weights.astype(np.float64), given, case.weights, heads, eps, BlockVariant(split=way))


def _tail(case: Case, weights: Array, variant: BlockVariant) -> Array:
    return attention_tail(
        weights.astype(np.float64),
        case.inputs["hidden_states"].astype(np.float64),
        case.weights,
        int(case.config["n_heads"]),
        float(case.config["eps"]),
        variant,
    )


def make(generator: np.random.Generator) -> list[Case]:
    return [*ordinary_cases(generator), low_variance_case(generator), low_inner_variance_case(generator)]


RULE = better_of_own_and_ready(not_charged_twice(judge, EARLIER, follows_from_wrong_weights, "context"))
RULE = with_layers(RULE, others=("q_lin", "k_lin", "v_lin"))  # these are judged in attention_init
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")
