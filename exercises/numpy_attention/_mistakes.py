"""The known mistakes in single-head and multi-head attention, and what a student reads about each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from autograder.exercise import Case, Mistake

from ._layers import AttentionVariant

Array = np.ndarray
Layer = Callable[[Mapping[str, Array], AttentionVariant], Array]

#: Share of the points that is left where one of these is the only mistake.
ONE_MISTAKE = 0.6


def made_in(layer: Layer, mistakes: Sequence[Mistake]) -> list[Mistake]:
    """The mistakes as somebody makes them who writes ``layer``; each leaves a share of the points."""
    return [
        replace(mistake, answers=partial(_answers, layer, mistake.variant), share=ONE_MISTAKE) for mistake in mistakes
    ]


def _answers(layer: Layer, variant: AttentionVariant, case: Case) -> dict[str, Array]:
    if variant.only_square and len(case.inputs["x"]) != case.inputs["W_q"].shape[-1]:
        return {}  # the shapes do not fit: the code stops with an error
    return {"y": layer(case.inputs, variant)}


MISTAKES = [
    Mistake(
        "M1",
        "The attention weights sum to 1 over the queries; each query's weights must sum to 1 over the keys.",
        "Which axis of the scores are the keys? The softmax runs along it.",
        variant=AttentionVariant(softmax="queries"),
    ),
    Mistake(
        "M1-all",
        "All attention weights together sum to 1; it is each query's that must.",
        "Tell the softmax which axis to use.",
        variant=AttentionVariant(softmax="all"),
    ),
    Mistake(
        "M1-none",
        "The scores mix the values as they are: the softmax is missing.",
        "Scores become weights by the softmax, then the weights meet the values.",
        variant=AttentionVariant(softmax="none"),
    ),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.", variant=AttentionVariant(softmax="twice")),
    Mistake(
        "M2",
        "The scores are √d_qkv times too large: they were not divided.",
        "The formula divides each dot product before the softmax.",
        variant=AttentionVariant(scale="never"),
    ),
    Mistake(
        "M3",
        "The scores are divided by d_qkv, not by its square root (or by the root twice).",
        "Compare your divisor with the formula, symbol by symbol.",
        variant=AttentionVariant(scale="twice"),
    ),
    Mistake(
        "M3-up",
        "The scores are multiplied by √d_qkv; they should be divided by it.",
        "Is the exponent's sign right?",
        variant=AttentionVariant(scale="up"),
    ),
    Mistake(
        "M3-model",
        "The scores are divided by √d_model, the width of a token's vector.",
        "The dot product runs over fewer numbers than that: which size has a query?",
        variant=AttentionVariant(scale="model"),
    ),
    Mistake(
        "M3-tokens",
        "The scores are divided by the root of the number of tokens.",
        "The dot product runs over the numbers of a query, not over the tokens.",
        variant=AttentionVariant(scale="tokens"),
    ),
    Mistake(
        "M3-late",
        "The division by √d_qkv comes after the softmax.",
        "There it no longer changes how the weights compare, it only shrinks the result.",
        variant=AttentionVariant(scale="late"),
    ),
    Mistake(
        "M4",
        "K was not transposed: numbers of different dimensions were multiplied.",
        "It runs only because n = d_qkv here; write the shapes down with n = 20.",
        variant=AttentionVariant(untransposed=True),
    ),
    Mistake(
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys: which of the two is transposed?",
        variant=AttentionVariant(swapped=True),
    ),
    Mistake(
        "M4-transposed",
        "The weights were transposed before they met the values.",
        "Row i of the weights belongs to token i and mixes the values of all tokens j.",
        variant=AttentionVariant(transposed=True),
    ),
    Mistake(
        "M9",
        "The sum runs over the wrong axis: token i's own value is multiplied by a sum of weights.",
        "Sum over j, the token that is attended to. Which axis of your array is j?",
        variant=AttentionVariant(mix="wrong_axis"),
    ),
    Mistake(
        "M9-late",
        "The softmax comes after the weighted sum, not before it.",
        "The weights must sum to 1; the result need not.",
        variant=AttentionVariant(mix="late_softmax"),
    ),
    Mistake(
        "V-query",
        "The weights mix the queries; they should mix the values.",
        "V belongs behind the weights.",
        variant=AttentionVariant(mix="queries"),
    ),
    Mistake(
        "V-key",
        "The weights mix the keys; they should mix the values.",
        "V belongs behind the weights.",
        variant=AttentionVariant(mix="keys"),
    ),
    Mistake(
        "MASK",
        "Each token attends only to itself and to earlier tokens: a mask that was not asked for.",
        "Here every token may look at every token.",
        variant=AttentionVariant(masked=True),
    ),
    Mistake(
        "SKIP",
        "x was added to the result.",
        "A transformer block does so later; this function does not.",
        variant=AttentionVariant(skip=True),
    ),
    Mistake(
        "W_o",
        "The final projection is missing.",
        "W_o brings the result back to the width of the model.",
        variant=AttentionVariant(project=False),
    ),
    *(
        Mistake(
            "MAPS",
            f"Queries, keys and values come from W_{q}, W_{k} and W_{v}.",
            "W_q makes the queries, W_k the keys, W_v the values.",
            variant=AttentionVariant(maps=q + k + v),
        )
        for q, k, v in product("qkv", repeat=3)
        if q + k + v not in ("qkv", "kqv", "qkq", "qkk")  # right, or named above
    ),
    Mistake(
        "M3-inverted",
        "The root was divided by the dot products; they should be divided by it.",
        "What stands above the fraction bar of the formula?",
        variant=AttentionVariant(scores="inverted"),
    ),
    *(
        Mistake(id, message, "It runs only because n = d_qkv here; write the shapes down with n = 20.", variant=variant)
        for id, message, variant in (
            ("S-queries", "The scores are the queries alone.", AttentionVariant(scores="queries")),
            ("S-keys", "The scores are the keys alone.", AttentionVariant(scores="keys")),
            ("S-elementwise", "Queries and keys were multiplied number by number: @ makes dot products.",
             AttentionVariant(scores="elementwise")),
            ("S-dimensions", "Keys were multiplied with queries from the wrong side.",
             AttentionVariant(scores="dimensions")),
            ("W-elementwise", "Weights and values were multiplied number by number: @ makes weighted sums.",
             AttentionVariant(mix="elementwise")),
            ("W-turned", "Values and weights have changed places.", AttentionVariant(mix="turned")),
            ("W-alone", "The weights never meet the values.", AttentionVariant(mix="weights")),
            ("W-scores", "The scores never meet the values.", AttentionVariant(mix="scores")),
        )
    ),
]  # fmt: skip

#: What can go wrong only where there are several heads.
HEAD_MISTAKES = [
    Mistake(
        "M1-heads",
        "The weights sum to 1 over the heads; in each head, each query's weights must sum to 1 over the keys.",
        "The scores are (heads, queries, keys): which axis does your softmax run along?",
        variant=AttentionVariant(softmax="heads"),
    ),
    Mistake(
        "M3-heads",
        "The scores are divided by the root of all heads' widths together.",
        "Each head has its own, smaller width: the last axis of its queries.",
        variant=AttentionVariant(scale="all_heads"),
    ),
    Mistake(
        "M5",
        "The stack of matrices was reshaped into one without moving its axes: each head got numbers of the others.",
        "Before (heads, d_model, d_qkv) becomes two axes, the head axis must stand beside d_qkv.",
        variant=AttentionVariant(stack="reshaped"),
    ),
    Mistake(
        "M6",
        "The heads were merged without moving the head axis behind the tokens: numbers of different tokens are mixed.",
        "From (heads, n, d_qkv) to (n, heads, d_qkv) first, and only then to (n, heads · d_qkv).",
        variant=AttentionVariant(merge="untransposed"),
    ),
    Mistake(
        "HEADS-interleaved",
        "The heads' outputs are interleaved, number by number.",
        "They are laid end to end: all of head 0, then all of head 1, and so on.",
        variant=AttentionVariant(merge="interleaved"),
    ),
    Mistake(
        "HEADS-reversed",
        "The heads' outputs stand in reverse order.",
        "Head 0 comes first.",
        variant=AttentionVariant(merge="reversed"),
    ),
    Mistake(
        "HEADS-first",
        "All heads give the output of head 0.",
        "Does each head take its own matrices?",
        variant=AttentionVariant(merge="first"),
    ),
]
