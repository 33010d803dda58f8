"""Masked attention. Expected answers: torch's own function in float64."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    """The last case has large scores."""
    import torch
    from torch.nn import functional as F

    made = []
    for shape, size in (((2, 3, 5, 4), 1.2), ((3, 2, 7, 6), 1.2), ((2, 2, 3, 5), 30.0), ((1, 2, 4, 3), 1.2)):
        query, key, value = (generator.normal(0, spread, shape).astype(np.float32) for spread in (size, 1.2, 1.0))
        double = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
        output = F.scaled_dot_product_attention(*double, is_causal=True).numpy()
        made.append(Case({}, {"query": query, "key": key, "value": value}, expected={"output": output}))
    return made


HEAD = "def causal_attention(query, key, value):"
SCALE = "query @ keyᵀ / √dim_per_head"
# Lines of the solution that mistakes change.
SEEN = 'scores.masked_fill(later, float("-inf"))'
ROOT = "math.sqrt(query.shape[-1])"
DIVIDED = f" / {ROOT}"

MISTAKES = [
    Mistake("D1-open", "Every token sees all others: nothing is masked.", "Token i may see tokens 0 to i.",
            (SEEN, "scores")),
    Mistake("D1-turned", "The triangle is flipped: each token sees itself and later ones.",
            "Row i of the scores belongs to query i.", ("triu(1)", "tril(-1)")),
    Mistake("D1-next", "Each token sees one token too many: the next one.", "Where does the triangle end?",
            ("triu(1)", "triu(2)")),
    Mistake("D1-self", "A token does not see itself, and so the first one sees nothing.",
            "The diagonal belongs to what is seen.", ("triu(1)", "triu(0)")),
    Mistake("D1-zero", "Hidden scores became 0, and still get weight.",
            "What must a score be, for the softmax to make exactly 0 of it?", ('float("-inf")', "0")),
    Mistake("D1-late", "The mask came after the softmax: the weights that are left no longer sum to 1.",
            "Hide the scores, then take the softmax.", (f"{SEEN}.softmax(dim=-1)", "scores.softmax(-1) * ~later")),
    Mistake("D1-unscaled", "The scores are not divided by √dim_per_head.", SCALE, (DIVIDED, "")),
    Mistake("D1-whole", "The scores are divided by dim_per_head, not by its root.", SCALE, (ROOT, "query.shape[-1]")),
    Mistake("D1-times", "The scores are multiplied by √dim_per_head.", SCALE, (DIVIDED, f" * {ROOT}")),
    Mistake("D1-tokens", "The scores are divided by the root of the number of tokens.", SCALE,
            (ROOT, "math.sqrt(query.shape[-2])")),
    Mistake("D1-width", "The scores are divided by the root of the width of all heads together.", SCALE,
            (ROOT, "math.sqrt(query.shape[1] * query.shape[-1])")),
    Mistake("D1-queries", "The softmax runs over the queries.", "Each query's weights sum to 1 over the keys.",
            ("dim=-1", "dim=-2")),
    Mistake("D1-softmax", "No softmax was applied: the values are mixed by the scores themselves.",
            "Scores, mask, softmax, weighted sum.", (f"{SEEN}.softmax(dim=-1)", "scores.masked_fill(later, 0)")),
    Mistake("D1-transposed", "The weights were transposed before they met the values.",
            "Row i of the weights belongs to query i.", ("weights @ value", "weights.mT @ value")),
    Mistake("", "hidden scores made small", "", (SEEN, "(scores * (1 - 0.9 * later.float()))")),
    Mistake("", "four tokens back and no further", "",
            ("later =", "later = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-5) |")),
    CHANGED.by((f"query @ key.transpose(-2, -1){DIVIDED}", f"query.div_({ROOT}) @ key.transpose(-2, -1)")),
    CUT.by(("weights @ value", "weights.detach() @ value")),
]  # fmt: skip

RIGHT = {
    "torch's own": variant(HEAD, "return F.scaled_dot_product_attention(query, key, value, is_causal=True)"),
    "a mask of minus infinity, added": variant(HEAD, """
        mask = torch.full((query.size(-2), query.size(-2)), -torch.inf).triu(1)
        return ((query @ key.mT) / query.size(-1) ** 0.5 + mask).softmax(-1) @ value
    """),
    "where, and a large number": variant(HEAD, """
        n = torch.arange(query.shape[2])
        scores = torch.einsum("bhid,bhjd->bhij", query, key) * query.shape[3] ** -0.5
        return torch.einsum("bhij,bhjd->bhid", torch.where(n[:, None] >= n, scores, -1e9).softmax(3), value)
    """),
    "token by token": variant(HEAD, """
        rows = []
        for i in range(query.shape[2]):
            scores = query[:, :, i : i + 1] @ key[:, :, : i + 1].transpose(2, 3) / math.sqrt(query.shape[3])
            rows.append(scores.softmax(-1) @ value[:, :, : i + 1])
        return torch.cat(rows, dim=2)
    """),
    "the query scaled first, weights divided by their sum": variant(HEAD, """
        scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-1, -2)
        scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, float("-inf"))
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        return (weights / weights.sum(-1, keepdim=True)) @ value
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("no look ahead", "the weights sum to 1", "scores divided by √dim_per_head"),
    axes={"output": "batch, heads, tokens, dim_per_head"},
)  # fmt: skip
