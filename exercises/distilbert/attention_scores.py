"""Part 2 of the attention block: the scores."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._block_cases import heads, sizes
from ._rules import part


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, *sizes) for sizes in ((2, 3, 5, 7, 4), (1, 4, 6, 4, 2))]


def _case(generator: np.random.Generator, batch: int, n_heads: int, queries: int, keys: int, size: int) -> Case:
    q, k = heads(generator, batch, n_heads, queries, size), heads(generator, batch, n_heads, keys, size)
    scores = np.einsum("bhqd,bhkd->bhqk", q.astype(np.float64), k.astype(np.float64))
    return Case(sizes(n_heads, size), {"q": q, "k": k}, expected={"attention_scores": scores})


# The line of the solution that mistakes change.
SCORES = "return q @ k.transpose(-2, -1)"
DIVIDED = "Your scores are divided once more; q comes divided by √d_k already."
GIVEN = "forward divides q; the scores need no further division."
SWAPPED = "Query and key are swapped: entry (i, j) is how token j asks for token i."
ROWS = "Rows are queries, columns are keys: which of the two is transposed?"
BOTH_WAYS = "DistilBERT reads in both directions, and each token may look at every token: nothing is masked here."


def masked(where: str) -> tuple[str, str]:
    return SCORES, f"s = q @ k.transpose(-2, -1)\n        return s.masked_fill(torch.{where} == 1, -math.inf)"


MISTAKES = [
    Mistake("M3", DIVIDED, GIVEN, (SCORES, f"{SCORES} / math.sqrt(q.shape[-1])")),
    Mistake("M3", DIVIDED, GIVEN, (SCORES, f"{SCORES} / q.shape[-1]")),
    Mistake("M4-swap", SWAPPED, ROWS, (SCORES, "return k @ q.transpose(-2, -1)")),
    Mistake("M4-swap", SWAPPED, ROWS, (SCORES, 'return torch.einsum("bhqd,bhkd->bhkq", q, k)')),
    Mistake("M10-causal", "No token sees the tokens after it: a causal mask was applied.", BOTH_WAYS,
            masked("ones_like(s).triu(1)")),
    Mistake("M10-diagonal", "No token sees itself: the diagonal was masked.", BOTH_WAYS, masked("eye(*s.shape[-2:])")),
    Mistake("M3-softmax", "These are weights already: the softmax is the next part.", "Return the products themselves.",
            (SCORES, "return (q @ k.transpose(-2, -1)).softmax(-1)")),
    DTYPE.by((SCORES, "return q.double() @ k.double().transpose(-2, -1)")),
    dropout_at_work("The scores").by((SCORES, "return nn.functional.dropout(q @ k.transpose(-2, -1), 0.5)")),
    CHANGED.by((SCORES, "return q.mul_(2) @ k.transpose(-2, -1) / 2")),
    Mistake("", "key not transposed", "", (SCORES, "return q @ k")),
    Mistake("", "all axes of the key flipped", "", (SCORES, "return q @ k.T")),
    Mistake("", "distances in place of products", "", (SCORES, "return -torch.cdist(q, k)")),
]  # fmt: skip

RIGHT = {
    name: [(SCORES, code)]
    for name, code in {
        "einsum": 'return torch.einsum("bhqd,bhkd->bhqk", q, k)',
        "matmul and permute": "return torch.matmul(q, k.permute(0, 1, 3, 2).contiguous())",
        "query by query": "rows = [[(q[:, :, i] * k[:, :, j]).sum(-1) for j in range(k.shape[2])]\n"
                          "                for i in range(q.shape[2])]\n"
                          "        return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=2)",
        "baddbmm over batch times heads": "a, b = q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2)\n"
                                          "        zeros = torch.zeros(1, a.shape[1], b.shape[2])\n"
                                          "        return torch.baddbmm(zeros, a, b).unflatten(0, q.shape[:2])",
        "keys times queries, turned back": "return (k @ q.mT).mT",
        "broadcast and summed": "return (q[:, :, :, None] * k[:, :, None]).sum(dim=-1)",
        "vmap over the heads": "return torch.vmap(lambda a, b: a @ b.mT, in_dims=1, out_dims=1)(q, k)",
        "float64 inside, then back": "return (q.double() @ k.double().mT).float()",
        "a method of one's own": "return self.products(q, k)\n\n    def products(self, q, k):\n        return q @ k.mT",
    }.items()
}  # fmt: skip

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    method="attention_scores", given=("q", "k"),
    shows=("every query meets every key", "rows are queries, columns are keys"),
    axes={"attention_scores": "batch, heads, queries, keys"},
)  # fmt: skip
