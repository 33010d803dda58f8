"""What each head writes. Right: everything but one head set to 0, through the whole layer, in float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, pure, variant

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for tokens, heads, size in ((5, 3, 4), (2, 4, 3), (7, 2, 5)):
        dim = heads * size
        context = generator.normal(0, 1, (tokens, dim)).astype(np.float32)
        weight = generator.normal(0, dim**-0.5, (dim, dim)).astype(np.float32)
        bias = generator.normal(0, 1, dim).astype(np.float32)
        inputs = {"context": context, "weight": weight, "bias": bias}
        made.append(Case({"heads": heads}, inputs, expected={"parts": _parts(context, weight, heads)}))
    return made


def _parts(context: Array, weight: Array, heads: int) -> Array:
    own = np.repeat(np.arange(heads), context.shape[1] // heads)
    return np.stack([np.where(own == head, context.astype(np.float64), 0) @ weight.T for head in range(heads)])


HEAD = "def head_parts(context, out_lin, heads):"
# Lines of the solution that mistakes change.
CONTEXT = "context.unflatten(-1, (heads, -1))"
WEIGHT = "out_lin.weight.unflatten(1, (heads, -1))"
RESULT = 'torch.einsum("ths,dhs->htd", by_head, columns)'

MISTAKES = [
    Mistake(
        "HP-bias",
        "The bias is in every head's part: added up, it counts once per head.",
        "The bias belongs to no head.",
        (RESULT, RESULT + " + out_lin.bias"),
    ),
    Mistake(
        "HP-share",
        "Each head has a share of the bias.",
        "The bias belongs to no head: leave it out.",
        (RESULT, RESULT + " + out_lin.bias / heads"),
    ),
    Mistake(
        "HP-rows",
        "The rows of the weight were given to the heads, not its columns.",
        "out_lin computes context @ weight.T: a head's numbers meet columns.",
        (WEIGHT, "out_lin.weight.T.unflatten(1, (heads, -1))"),
    ),
    Mistake(
        "HP-between",
        "Heads are cut with a gap: head h has the numbers h, h + heads, ….",
        "A head's numbers stand side by side.",
        (CONTEXT, "context.unflatten(-1, (-1, heads)).mT"),
        (WEIGHT, "out_lin.weight.unflatten(1, (-1, heads)).mT"),
    ),
    Mistake(
        "HP-context",
        "The context is cut in another way than the weight.",
        "A head's numbers stand side by side, in both.",
        (CONTEXT, "context.unflatten(-1, (-1, heads)).mT"),
    ),
    Mistake("HP-order", "The heads are in reverse order.", "Head 0 first.", (RESULT, RESULT + ".flip(0)")),
    Mistake(
        "HP-whole",
        "Every head has the same: the whole output.",
        "Only the head's own numbers and columns.",
        (RESULT, RESULT + ".sum(0, keepdim=True).expand(heads, -1, -1)"),
    ),
    Mistake("HP-turned", "Tokens stand before heads.", "(heads, tokens, dim)", (RESULT, RESULT.replace("htd", "thd"))),
    CHANGED.by((RESULT, f"[{RESULT}, context.zero_()][0]")),
    CUT.by((RESULT, RESULT + ".detach()")),
]

RIGHT = {
    "a loop over heads": variant(
        HEAD,
        """
        size = context.shape[-1] // heads
        parts = []
        for head in range(heads):
            own = slice(head * size, (head + 1) * size)
            parts.append(context[:, own] @ out_lin.weight[:, own].T)
        return torch.stack(parts)
    """,
    ),
    "other heads set to 0": variant(
        HEAD,
        """
        own = torch.arange(context.shape[1]) // (context.shape[1] // heads)
        kept = torch.stack([context * (own == head) for head in range(heads)])
        return F.linear(kept, out_lin.weight)
    """,
    ),
    "the bias taken off again": variant(
        HEAD,
        """
        parts = []
        for head, numbers in enumerate(context.chunk(heads, dim=-1)):
            only = torch.zeros_like(context)
            only[:, head * numbers.shape[1] : (head + 1) * numbers.shape[1]] = numbers
            parts.append(out_lin(only) - out_lin.bias)
        return torch.stack(parts)
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    pure,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    shows=("one part per head", "they sum to the output without its bias"),
    axes={"parts": "heads, tokens, dim"},
)
