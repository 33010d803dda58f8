"""The catalogue of wrong turns in single and multi-head attention, and what a student reads about each."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.oracles.numpy_attention_layers import Knobs


@dataclass(frozen=True)
class Slip:
    """One wrong turn: its name, what a student reads, and the knobs that take it."""

    id: str
    message: str
    hint: str
    knobs: Knobs


SLIPS = [
    Slip(
        "M1",
        "The attention weights sum to 1 over the queries; each query's weights must sum to 1 over the keys.",
        "Which axis of the scores are the keys? The softmax runs along it.",
        Knobs(softmax="queries"),
    ),
    Slip(
        "M1-all",
        "All attention weights together sum to 1; it is each query's that must.",
        "Tell the softmax which axis to use.",
        Knobs(softmax="all"),
    ),
    Slip(
        "M1-none",
        "The scores mix the values as they are: the softmax is missing.",
        "Scores become weights by the softmax, then the weights meet the values.",
        Knobs(softmax="none"),
    ),
    Slip("M1-twice", "The softmax was applied twice.", "Once is enough.", Knobs(softmax="twice")),
    Slip(
        "M2",
        "The scores are √d_qkv times too large: they were not divided.",
        "The formula divides each dot product before the softmax.",
        Knobs(scale="never"),
    ),
    Slip(
        "M3",
        "The scores are divided by d_qkv, not by its square root (or by the root twice).",
        "Compare your divisor with the formula, symbol by symbol.",
        Knobs(scale="twice"),
    ),
    Slip(
        "M3-up",
        "The scores are multiplied by √d_qkv; they should be divided by it.",
        "Is the exponent's sign right?",
        Knobs(scale="up"),
    ),
    Slip(
        "M3-model",
        "The scores are divided by √d_model, the width of a token's vector.",
        "The dot product runs over fewer numbers than that: which size has a query?",
        Knobs(scale="model"),
    ),
    Slip(
        "M3-tokens",
        "The scores are divided by the root of the number of tokens.",
        "The dot product runs over the numbers of a query, not over the tokens.",
        Knobs(scale="tokens"),
    ),
    Slip(
        "M3-late",
        "The division by √d_qkv comes after the softmax.",
        "There it no longer changes how the weights compare, it only shrinks the result.",
        Knobs(scale="late"),
    ),
    Slip(
        "M4",
        "K was not transposed: numbers of different dimensions were multiplied.",
        "It runs only because n = d_qkv here; write the shapes down with n = 20.",
        Knobs(untransposed=True),
    ),
    Slip(
        "M4-swap",
        "Query and key have changed places: entry (i, j) is how token j asks for token i.",
        "Rows are queries, columns are keys: which of the two is transposed?",
        Knobs(swapped=True),
    ),
    Slip(
        "M4-transposed",
        "The weights were transposed before they met the values.",
        "Row i of the weights belongs to token i and mixes the values of all tokens j.",
        Knobs(transposed=True),
    ),
    Slip(
        "M9",
        "The sum runs over the wrong axis: token i's own value is multiplied by a sum of weights.",
        "Sum over j, the token that is attended to. Which axis of your array is j?",
        Knobs(mix="wrong_axis"),
    ),
    Slip(
        "M9-late",
        "The softmax comes after the weighted sum, not before it.",
        "The weights must sum to 1; the result need not.",
        Knobs(mix="late_softmax"),
    ),
    Slip(
        "V-query",
        "The weights mix the queries; they should mix the values.",
        "V belongs behind the weights.",
        Knobs(mix="queries"),
    ),
    Slip(
        "V-key",
        "The weights mix the keys; they should mix the values.",
        "V belongs behind the weights.",
        Knobs(mix="keys"),
    ),
    Slip(
        "MASK",
        "Each token attends only to itself and to earlier tokens: a mask that was not asked for.",
        "Here every token may look at every token.",
        Knobs(masked=True),
    ),
    Slip(
        "SKIP",
        "x was added to the result.",
        "A transformer block does so later; this function does not.",
        Knobs(skip=True),
    ),
    Slip(
        "W_o",
        "The final projection is missing.",
        "W_o brings the result back to the width of the model.",
        Knobs(project=False),
    ),
]

HEAD_SLIPS = [
    Slip(
        "M1-heads",
        "The weights sum to 1 over the heads; in each head, each query's weights must sum to 1 over the keys.",
        "The scores are (heads, queries, keys): which axis does your softmax run along?",
        Knobs(softmax="heads"),
    ),
    Slip(
        "M3-heads",
        "The scores are divided by the root of all heads' widths together.",
        "Each head has its own, smaller width: the last axis of its queries.",
        Knobs(scale="all_heads"),
    ),
    Slip(
        "M5",
        "The stack of matrices was reshaped into one without moving its axes: each head got numbers of the others.",
        "Before (heads, d_model, d_qkv) becomes two axes, the head axis must stand beside d_qkv.",
        Knobs(stack="reshaped"),
    ),
    Slip(
        "M6",
        "The heads were merged without moving the head axis behind the tokens: numbers of different tokens are mixed.",
        "From (heads, n, d_qkv) to (n, heads, d_qkv) first, and only then to (n, heads · d_qkv).",
        Knobs(merge="untransposed"),
    ),
    Slip(
        "HEADS-interleaved",
        "The heads' outputs are interleaved, number by number.",
        "They are laid end to end: all of head 0, then all of head 1, and so on.",
        Knobs(merge="interleaved"),
    ),
    Slip(
        "HEADS-reversed", "The heads' outputs stand in reverse order.", "Head 0 comes first.", Knobs(merge="reversed")
    ),
    Slip(
        "HEADS-first",
        "All heads give the output of head 0.",
        "Does each head take its own matrices?",
        Knobs(merge="first"),
    ),
]
