"""What ``apply_self_attention`` and ``apply_multihead_attention`` share: cases and mistakes.

Expected answers: ``torch``'s own attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations

import numpy as np

from autograder.exercise import Case, Mistake, Patch

from ._rules import CHANGED

Array = np.ndarray

#: The assignment's constants: a solution that uses them in place of ``W_q.shape`` is right in its notebook, and here.
N_HEADS, D_QKV = 8, 32


def moderate(
    generator: np.random.Generator, n: int, d_model: int, heads: int | None, size: float = 1.0
) -> dict[str, Array]:
    """Inputs whose scores are of order 1 where ``size`` is 1. heads: None for a single head, without that axis."""
    stack = () if heads is None else (heads,)
    drawn = {name: generator.normal(0, 1.2 * d_model**-0.5, (*stack, d_model, D_QKV)) for name in ("W_q", "W_k", "W_v")}
    rows = D_QKV * (heads or 1)
    drawn |= {"W_o": generator.normal(0, rows**-0.5, (rows, d_model)), "x": size * generator.normal(0, 1, (n, d_model))}
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def _huge(generator: np.random.Generator, n: int, d_model: int, heads: int | None) -> dict[str, Array]:
    """Inputs with scores of several hundred. Each query's best key is so far ahead that float32 gives the same result.

    In float64, so that what overflows here overflows in the submission too.
    """
    while True:
        drawn = moderate(generator, n, d_model, heads, size=40.0)
        q, k = (drawn["x"].astype(np.float64) @ drawn[name] for name in ("W_q", "W_k"))
        best = np.sort(q @ k.swapaxes(-1, -2), axis=-1)[..., -2:] * D_QKV**-0.5
        if np.diff(best).min() > 25:
            return {name: array.astype(np.float64) for name, array in drawn.items()}


def oracle(inputs: Mapping[str, Array]) -> Array:
    """``torch``'s own attention in float64: -> y (n, d_model)."""
    import torch  # needed only to draw cases: notebooks and judging run without it
    from torch.nn.functional import scaled_dot_product_attention

    x, w_q, w_k, w_v, w_o = (
        torch.from_numpy(inputs[name].astype(np.float64)) for name in ("x", "W_q", "W_k", "W_v", "W_o")
    )
    if w_q.ndim == 2:
        return (scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v) @ w_o).numpy()
    heads = [scaled_dot_product_attention(x @ q, x @ k, x @ v) for q, k, v in zip(w_q, w_k, w_v, strict=True)]
    return (torch.cat(heads, dim=-1) @ w_o).numpy()


def cases(heads: int | None) -> Callable[[np.random.Generator], list[Case]]:
    def make(generator: np.random.Generator) -> list[Case]:
        # the square one first: some mistakes run only there; in float64, because one divides by dot products near 0,
        # where float32 gives other numbers on another processor
        drawn = [
            {name: array.astype(np.float64) for name, array in moderate(generator, D_QKV, 24, heads).items()},
            moderate(generator, 20, 27, heads),
            moderate(generator, 7, 12, heads),
            _huge(generator, 5, 14, heads),
        ]
        return [Case({}, inputs, expected={"y": oracle(inputs)}) for inputs in drawn]

    return make


#: Share of the points that is left where one mistake is the only one.
ONE_MISTAKE = 0.6
SQUARE = "It runs only because n = d_qkv here; write the shapes down with n = 20."
BEHIND = "V belongs after the weights."
TOLD = {
    "M1": ("The attention weights sum to 1 over the queries; each query's weights must sum to 1 over the keys.",
           "Which axis of the scores are the keys? The softmax runs along it."),
    "M1-all": ("All attention weights together sum to 1; it is each query's that must.",
               "Tell the softmax which axis to use."),
    "M1-none": ("The scores mix the values as they are: the softmax is missing.",
                "Scores become weights by the softmax, then the weights meet the values."),
    "M1-twice": ("The softmax was applied twice.", "Once is enough."),
    "M1-heads": (
        "The weights sum to 1 over the heads; in each head, each query's weights must sum to 1 over the keys.",
        "The scores are (heads, queries, keys): which axis does your softmax run along?"),
    "M2": ("The scores are √d_qkv times too large: they were not divided.",
           "The formula divides each dot product before the softmax."),
    "M3": ("The scores are divided by d_qkv, not by its square root (or by the root twice).",
           "Compare your divisor with the formula, symbol by symbol."),
    "M3-up": ("The scores are multiplied by √d_qkv; they should be divided by it.", "Is the exponent's sign right?"),
    "M3-model": ("The scores are divided by √d_model, the width of a token's vector.",
                 "The dot product runs over fewer numbers than that: which size has a query?"),
    "M3-tokens": ("The scores are divided by the root of the number of tokens.",
                  "The dot product runs over the numbers of a query, not over the tokens."),
    "M3-late": ("The division by √d_qkv comes after the softmax.",
                "There it no longer changes how the weights compare, it only shrinks the result."),
    "M3-heads": ("The scores are divided by the root of all heads' widths together.",
                 "Each head has its own, smaller width: the last axis of its queries."),
    "M3-inverted": ("The root was divided by the dot products; they should be divided by it.",
                    "What stands above the fraction bar of the formula?"),
    "M4": ("K was not transposed: numbers of different dimensions were multiplied.", SQUARE),
    "M4-swap": ("Query and key are swapped: entry (i, j) is how token j asks for token i.",
                "Rows are queries, columns are keys: which of the two is transposed?"),
    "M4-transposed": ("The weights were transposed before they met the values.",
                      "Row i of the weights belongs to token i and mixes the values of all tokens j."),
    "M5": ("The stack of matrices was reshaped into one without moving its axes: each head got numbers of the others.",
           "Before (heads, d_model, d_qkv) becomes two axes, the head axis must stand beside d_qkv."),
    "M6": ("The heads were merged without moving the head axis after the tokens: numbers of different tokens are "
           "mixed.", "From (heads, n, d_qkv) to (n, heads, d_qkv) first, and only then to (n, heads · d_qkv)."),
    "HEADS-interleaved": ("The heads' outputs are interleaved, number by number.",
                          "They are laid end to end: all of head 0, then all of head 1, and so on."),
    "HEADS-reversed": ("The heads' outputs stand in reverse order.", "Head 0 comes first."),
    "HEADS-first": ("All heads give the output of head 0.", "Does each head take its own matrices?"),
    "M9": ("The sum runs over the wrong axis: token i's own value is multiplied by a sum of weights.",
           "Sum over j, the token that is attended to. Which axis of your array is j?"),
    "M9-late": ("The softmax comes after the weighted sum, not before it.",
                "The weights must sum to 1; the result need not."),
    "V-query": ("The weights mix the queries; they should mix the values.", BEHIND),
    "V-key": ("The weights mix the keys; they should mix the values.", BEHIND),
    "MASK": ("Each token attends only to itself and to earlier tokens: a mask that was not asked for.",
             "Here every token may look at every token."),
    "SKIP": ("x was added to the result.", "A transformer block does so later; this function does not."),
    "W_o": ("The final projection is missing.", "W_o brings the result back to the width of the model."),
    "S-queries": ("The scores are the queries alone.", SQUARE),
    "S-keys": ("The scores are the keys alone.", SQUARE),
    "S-elementwise": ("Queries and keys were multiplied number by number: @ makes dot products.", SQUARE),
    "S-dimensions": ("Keys were multiplied with queries from the wrong side.", SQUARE),
    "W-elementwise": ("Weights and values were multiplied number by number: @ makes weighted sums.", SQUARE),
    "W-turned": ("Values and weights are swapped.", SQUARE),
    "W-alone": ("The weights never meet the values.", SQUARE),
    "W-scores": ("The scores never meet the values.", SQUARE),
}  # fmt: skip
PROJECTED = "x @ W_q, x @ W_k, x @ W_v"


#: They run only where as many tokens as dimensions come.
STOPPING = {
    "M4", "S-queries", "S-keys", "S-elementwise", "S-dimensions", "W-elementwise", "W-turned", "W-alone", "W-scores",
}  # fmt: skip


def mistakes(made: Mapping[str, Iterable[Patch]]) -> list[Mistake]:
    """Mistakes of ``TOLD``, each by its patches, and wrong projections; what runs leaves a share of the points."""
    known = [
        Mistake(id, *TOLD[id], *patches, share=0 if id in STOPPING else ONE_MISTAKE) for id, patches in made.items()
    ]
    exchanged = set(permutations("qkv")) - {tuple("qkv"), tuple("kqv")}  # the last is called M4-swap
    for q, k, v in sorted(exchanged | set(map(tuple, ("qqv", "kkv", "qqq")))):
        message = f"Queries, keys and values come from W_{q}, W_{k} and W_{v}."
        taken = f"x @ W_{q}, x @ W_{k}, x @ W_{v}"
        known.append(Mistake("MAPS", message, "W_q makes the queries, W_k the keys, W_v the values.",
                             (PROJECTED, taken), share=ONE_MISTAKE))  # fmt: skip
    return [*known, CHANGED.by((PROJECTED, f"{PROJECTED}\n    W_q /= 2"))]
