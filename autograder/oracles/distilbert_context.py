"""References for the block's output, held against what the submission's own weights give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_value
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import low_variance, ordinary
from autograder.oracles.distilbert_scores import made_of, scores_of
from autograder.oracles.judgements import TurnedKnobs, dropout, either_way, is_mixture, named, right, unsteady, wrong

Array = np.ndarray

#: The exercises in which wrong weights are charged.
STEPS_BEFORE = ("distilbert/attention_scores", "distilbert/attention_weights")
NORMS = {"both": "In both places the", "first": "The first", "second": "The second"}

CONTEXT_MISTAKES = [
    TurnedKnobs(
        "M4-transposed",
        "The weights were transposed before they met the values: each key collected from the queries.",
        "Row i of the weights belongs to query i and mixes the values of all keys.",
        Knobs(transposed_weights=True),
    ),
    TurnedKnobs(
        "M4-keys",
        "The weights met the keys; what they should mix are the values.",
        "A key says what a token offers, its value is what is collected.",
        Knobs(context="keys"),
    ),
    TurnedKnobs(
        "M9",
        "The sum runs over the queries: each token's own value, times what all queries give it.",
        "A query's context sums over the keys, the last axis of its weights.",
        Knobs(context="columns"),
    ),
    TurnedKnobs(
        "M9-late",
        "The scores met the values before the softmax.",
        "First the weights, then the mixture: the weights meet the values.",
        Knobs(context="late"),
    ),
    TurnedKnobs(
        "M5-values",
        "The values' heads are cut out of the wrong axis.",
        "Split the last axis into (heads, size) first, then exchange axes.",
        Knobs(split="untransposed"),
    ),
    TurnedKnobs(
        "M6",
        "The heads were merged without being moved back behind the tokens: numbers of different tokens are mixed.",
        "Exchange the head axis and the token axis before the last two axes become one.",
        Knobs(merge="untransposed"),
    ),
    TurnedKnobs(
        "M7",
        "The residual connection around the attention is missing.",
        "The block adds its own input to what the attention gives, then normalises.",
        Knobs(attention_skip="none"),
    ),
    TurnedKnobs(
        "M7-ffn",
        "The residual connection around the feed-forward network is missing.",
        "Add what went into the feed-forward network to what came out, then normalise.",
        Knobs(ffn_skip="none"),
    ),
    TurnedKnobs(
        "M7-place",
        "The second residual comes from the wrong place: from the block's input.",
        "It is the output of the first LayerNorm that goes around the feed-forward network.",
        Knobs(ffn_skip="hidden"),
    ),
    *(
        TurnedKnobs(
            "M8",
            f"{words} LayerNorm comes before the addition.",
            "Post-LN: add first, then normalise the sum.",
            Knobs(norm="before_sum", norm_at=place),
        )
        for place, words in NORMS.items()
    ),
    *(
        TurnedKnobs(
            "M8-none",
            f"{words} LayerNorm is missing.",
            "Post-LN: the sum of input and output is normalised.",
            Knobs(norm="none", norm_at=place),
        )
        for place, words in NORMS.items()
    ),
    TurnedKnobs(
        "M8-pre",
        "The LayerNorms stand before the attention and before the feed-forward network: that is pre-LN.",
        "DistilBERT is post-LN: each sublayer takes its input as it is, and the sum is normalised.",
        Knobs(norm="pre"),
    ),
    TurnedKnobs(
        "M12",
        "The feed-forward network uses ReLU; DistilBERT uses GELU.",
        "See the given line.",
        Knobs(activation="relu"),
    ),
    TurnedKnobs(
        "M12-tanh",
        "This is GELU's tanh approximation; DistilBERT uses the exact one.",
        "nn.functional.gelu without further arguments is exact.",
        Knobs(activation="tanh"),
    ),
    TurnedKnobs(
        "M12-none",
        "The feed-forward network has no activation: two linear layers are one.",
        "A GELU stands between lin1 and lin2.",
        Knobs(activation="none"),
    ),
    TurnedKnobs(
        "M13",
        "The LayerNorm's eps is not the config's.",
        "nn.LayerNorm takes eps=config.eps; its default is larger.",
        Knobs(eps=1e-5),
    ),
    *(
        TurnedKnobs(
            "M13-unbiased",
            f"{words} LayerNorm's variance is the unbiased one (divided by n - 1).",
            "LayerNorm divides by n.",
            Knobs(unbiased=True, norm_at=place),
        )
        for place, words in NORMS.items()
    ),
]


def judge_context(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    output, weights = answers.arrays.get("output"), answers.arrays.get("weights")
    want = case.expected["output"]
    first = compare_value("output", output, want, exercise)
    if output is None or output.shape != want.shape or output.dtype.kind != "f":
        return Judgement([first])
    if weights is None or weights.shape != case.expected["weights"].shape or weights.dtype.kind != "f":
        weights = case.expected["weights"]  # weights of a wrong shape have cost their points already
    splits = _paid_splits(case, weights)
    checks = [compare_value("output", output, _tail(case, weights, Knobs(split=split)), exercise) for split in splits]
    if any(check.passed for check in checks) and _may_be_used(case, weights, answers, exercise):
        return right("context")
    for known in CONTEXT_MISTAKES:
        ways = splits if known.knobs.split == "right" else [known.knobs.split]
        for knobs in (replace(known.knobs, split=way) for way in ways):
            if np.allclose(output, _tail(case, weights, knobs), atol=1e-4, rtol=1e-3):
                return named(known.id, known.message, known.hint)
    if unsteady(answers, "output"):
        return dropout("The block's outputs")
    return wrong(
        "context",
        "The block's output does not follow from its own attention weights. " + checks[0].message,
        checks[0].hint or "context is the weights times the values, head by head.",
    )


def _may_be_used(case: Case, weights: Array, answers: Answers, exercise: Exercise) -> bool:
    """True for right weights; for wrong ones where they were charged, and are a mixture that has to be computed."""
    if compare_value("weights", weights, case.expected["weights"], exercise).passed:
        return True
    tiny = bool(np.abs(case.inputs["hidden_states"]).max() < 0.1)  # there all weights are nearly equal
    return answers.charged(*STEPS_BEFORE) and (tiny or is_mixture(weights))


def _paid_splits(case: Case, weights: Array) -> list[str]:
    """The right way to cut out the heads, and any other that the scores show, and so have paid for already."""
    given, others = weights.astype(np.float64), ("untransposed", "interleaved")
    if not np.isfinite(given).all():
        return ["right"]
    return ["right", *(way for way in others if made_of(given, scores_of(case, Knobs(split=way))))]


def _tail(case: Case, weights: Array, knobs: Knobs) -> Array:
    return attention.attention_tail(
        weights.astype(np.float64),
        case.inputs["hidden_states"].astype(np.float64),
        case.weights,
        int(case.config["n_heads"]),
        float(case.config["eps"]),
        knobs,
    )


def _make(generator: np.random.Generator) -> list[Case]:
    return [*ordinary(generator), low_variance(generator)]


EXERCISE = Exercise(_make, either_way(judge_context), framework="torch", slug="distilbert/attention_context")
