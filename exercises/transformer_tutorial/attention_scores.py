"""``calculate_score``: every query with every key, divided by √k."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from ._attention_rules import scored


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    made = []
    for b, t, k in ((2, 5, 7), (3, 4, 6), (1, 3, 5)):
        inputs = {name: generator.normal(0, 1.3, (b, t, k)).astype(np.float32) for name in ("queries", "keys")}
        queries, keys = (x.astype(np.float64) for x in inputs.values())
        made.append(Case({}, inputs, expected={"score": np.einsum("bqk,bmk->bqm", queries, keys) / k**0.5}))
    return made


# The lines of the solution that mistakes change.
SCORE = "return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])"
PRODUCTS = "torch.bmm(queries, keys.transpose(1, 2))"
ROOT = "math.sqrt(queries.shape[-1])"
BY_K = "The scores are divided by k; by its square root they should be.", "Or was the division by √k done twice?"

MISTAKES = [
    Mistake("M2", "The scores are √k times too large: they were not divided.",
            "k is the length of one query or key: the last axis.", (f" / {ROOT}", "")),
    Mistake("M3", *BY_K, (ROOT, "queries.shape[-1]")),
    Mistake("M3", *BY_K, (ROOT, f"{ROOT} / keys.shape[-1] ** 0.5")),
    Mistake("M3-tokens", "The scores are divided by the root of the number of tokens.",
            "Dot products grow with the length of the vectors: the last axis.",
            ("queries.shape[-1]", "queries.shape[1]")),
    Mistake("M3-up", "The scores are multiplied by √k.", "Large dot products are what has to be tamed.",
            (" / math.sqrt", " * math.sqrt")),
    Mistake("M4-swap", "Row i shows how token i is found by the others; it must show what token i's query finds.",
            "Rows are queries, columns are keys: which of the two is transposed?",
            (PRODUCTS, "torch.bmm(keys, queries.transpose(1, 2))")),
    Mistake("M2-half", "The scores are nearly right: something computes them with too few digits.",
            "Scores keep the precision of queries and keys: no half, no round.",
            (PRODUCTS, f"{PRODUCTS}.half().float()")),
    Mistake("M1-scores", "calculate_score gives weights: there is a softmax in it, and mix applies another.",
            "calculate_score ends with the division; the softmax is in mix.",
            (SCORE, f"return F.softmax({PRODUCTS} / {ROOT}, dim=-1)")),
    DTYPE.by((PRODUCTS, "torch.bmm(queries.double(), keys.double().transpose(1, 2))")),
    CHANGED.by((SCORE, f"queries /= {ROOT}\n        return {PRODUCTS}")),
    CUT.by((PRODUCTS, f"{PRODUCTS}.detach()")),
    Mistake("", "keys not transposed", "", (PRODUCTS, "torch.bmm(queries, keys)")),
    Mistake("", "nothing returned", "", (SCORE, SCORE.replace("return", "score ="))),
    Mistake("", "distances in place of products", "", (PRODUCTS, "-torch.cdist(queries, keys)")),
]  # fmt: skip

RIGHT = {
    "einsum": [(SCORE, 'return torch.einsum("bqk,bmk->bqm", queries, keys) / keys.shape[-1] ** 0.5')],
    "queries divided first": [(SCORE, "return (queries / math.sqrt(queries.size(2))) @ keys.mT")],
    "products summed by hand": [
        (SCORE, "return (queries.unsqueeze(2) * keys.unsqueeze(1)).sum(-1) * keys.shape[2] ** -0.5"),
    ],
    "a comprehension over the sentences": [
        (SCORE, "return torch.stack([q @ k.mT for q, k in zip(queries, keys)]) / math.sqrt(queries.shape[-1])"),
    ],
    "torch.vmap": [
        (SCORE, "return torch.vmap(lambda q, k: q @ k.T)(queries, keys) / math.sqrt(keys.shape[-1])"),
    ],
    "in float64, and back": [
        (SCORE, "return (queries.double() @ keys.double().mT / queries.shape[-1] ** 0.5).to(queries.dtype)"),
    ],
    "keyword arguments alone": [
        (SCORE, "return torch.baddbmm(input=queries.new_zeros(1, 1, 1), batch1=queries, batch2=keys.mT, beta=0, "
                "alpha=queries.shape[-1] ** -0.5)"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, scored, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    method="calculate_score", atol=3e-6, rtol=1e-5, shows=("every query meets every key", "divided by √k"),
    axes={"score": "b * h, t, t"},
)  # fmt: skip
