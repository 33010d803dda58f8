"""The scores of ``DotProductAttention``: every query with every key, divided by √k.

Judged by what the output shows of them; where it shows nothing, by what ``calculate_score`` itself gives.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake

from ._answers import attention
from ._attention_cases import draw, torch_attention
from ._scores import attention_scores


def cases(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, so that the output *is* the attention weights, (b, t, k) with k > t."""
    made = []
    for b, t, k in ((2, 5, 7), (3, 4, 6)):
        case = draw(generator, b, t, 1, k)
        values = np.broadcast_to(np.eye(t, k, dtype=np.float32)[None, :, None], (b, t, 1, k)).copy()
        inputs = {**case.inputs, "values": values}
        queries, keys = (inputs[name][:, :, 0].astype(np.float64) for name in ("queries", "keys"))
        score = np.einsum("bqk,bmk->bqm", queries, keys) / k**0.5
        made.append(Case({}, inputs, expected={"output": torch_attention(**inputs), "score": score}))
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
            (PRODUCTS, f"{PRODUCTS}.half().float()"), by_rule=True),
    Mistake("M1-scores", "calculate_score gives weights: there is a softmax in it, and forward applies another.",
            "calculate_score ends with the division; the softmax is in step 4, after the mask.",
            (SCORE, f"return F.softmax({PRODUCTS} / {ROOT}, dim=-1)"), by_rule=True),
    Mistake("M2-double", "calculate_score gives double-precision numbers: the product with the values stops.",
            "The scores keep the precision of queries and keys.",
            (PRODUCTS, "torch.bmm(queries.double(), keys.double().transpose(1, 2))"), by_rule=True),
    CHANGED.by((SCORE, f"queries /= {ROOT}\n        return {PRODUCTS}")),
    CUT.by((PRODUCTS, f"{PRODUCTS}.detach()")),
    Mistake("", "keys not transposed", "", (PRODUCTS, "torch.bmm(queries, keys)")),
    Mistake("", "nothing returned", "", (SCORE, SCORE.replace("return", "score ="))),
    Mistake("", "distances in place of products", "", (PRODUCTS, "-torch.cdist(queries, keys)")),
]  # fmt: skip

RIGHT = {
    "permute and matmul, mask added": attention("""
        q, v = queries.permute(0, 2, 1, 3), values.permute(0, 2, 1, 3)
        scores = torch.matmul(q / math.sqrt(k), keys.permute(0, 2, 3, 1))
        if mask is not None:
            scores = scores + torch.zeros(b, 1, 1, t).masked_fill(~mask.view(b, 1, 1, t), float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        return torch.matmul(self.dropout(weights), v).permute(0, 2, 1, 3).reshape(b, t, h * k)
    """),
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
    cases, attention_scores, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    axes={"output": "b, t, k"},
)  # fmt: skip
