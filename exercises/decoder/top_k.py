"""Top-k: the k likeliest words are left. Expected answers: transformers' own TopKLogitsWarper."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant

from ._generation import distributions, warped

TIES = np.array([[4, 2, 1, 2, 2, 1], [1, 1, 1, 1, 1, 7], [1, 3, 3, 1, 2, 2]]) / 12


def cases(generator: np.random.Generator) -> list[Case]:
    """k from 1 to beyond the vocabulary, and ties for the last position."""
    from transformers import TopKLogitsWarper

    drawn = [
        (distributions(generator, 3, 8), 3), (distributions(generator, 2, 5), 1), (distributions(generator, 4, 6), 6),
        (distributions(generator, 2, 4), 9), (generator.permuted(TIES, axis=1).astype(np.float32), 2),
        (distributions(generator, 2, 7, spread=4.0), 2),
    ]  # fmt: skip
    return [Case({"k": k}, {"probabilities": p}, expected={"output": warped(TopKLogitsWarper(k), p)}) for p, k in drawn]


# The lines of the solution that mistakes change.
LEAST = "probabilities.topk(k, dim=-1).values[..., -1:]"
KEPT = "probabilities.masked_fill(probabilities < least, 0)"
DIVIDED = "kept / kept.sum(dim=-1, keepdim=True)"
RANKS = "probabilities.argsort(dim=-1, descending=True, stable=True).argsort(-1)"
FLIPPED = RANKS.replace("probabilities", "probabilities.flip(-1)") + ".flip(-1)"
TIED = ("Of several words that are as likely as the k-th, some were removed.",
        "All of them stay: compare with the k-th probability.")  # fmt: skip

MISTAKES = [
    Mistake("TOPK-sum", "The rest was not divided by its sum.", "Each row must sum to 1 again.", (DIVIDED, "kept")),
    Mistake("TOPK-softmax", "A softmax was applied to the probabilities.", "Divide by the sum.",
            (DIVIDED, 'kept.masked_fill(probabilities < least, float("-inf")).softmax(-1)')),
    Mistake("TOPK-softmax-zero", "A softmax gives words that were removed some probability again.",
            "Divide by the sum.", (DIVIDED, "kept.softmax(-1)")),
    Mistake("TOPK-least", "The least likely words were kept.", "The largest probabilities.",
            (LEAST, LEAST.replace("probabilities", "(-probabilities)")), (KEPT, KEPT.replace("(prob", "(-prob"))),
    Mistake("TOPK-first", "The first k words of the vocabulary were kept.", "The k likeliest.",
            (KEPT, "probabilities * (torch.arange(probabilities.shape[1]) < k)")),
    Mistake("TOPK-order", "The probabilities were sorted, and belong to other words now.",
            "Each word keeps its position.", (DIVIDED, f"({DIVIDED}).sort(dim=-1, descending=True).values")),
    Mistake("TOPK-more", "One word too many was kept.", "Exactly k, where there are no ties.",
            (LEAST, LEAST.replace("topk(k,", "topk(min(k + 1, probabilities.shape[-1]),"))),
    Mistake("TOPK-strict", "The k-th word itself was removed.", "At least as likely as the k-th: >=.",
            ("probabilities < least", "probabilities <= least")),
    Mistake("TOPK-batch", "All rows have one threshold.", "Each row has its own k likeliest words.",
            (LEAST, LEAST + ".min()")),
    Mistake("TOPK-equal", "All words that are left have the same probability.", "They keep their proportions.",
            (DIVIDED, "(kept > 0) / (kept > 0).sum(dim=-1, keepdim=True)")),
    Mistake("TOPK-ties", *TIED, (KEPT, f"probabilities * ({RANKS} < k)"), share=0.5),
    Mistake("TOPK-ties-last", *TIED, (KEPT, f"probabilities * ({FLIPPED} < k)"), share=0.5),
    Mistake("TOPK-none", "Nothing was removed.", "All but the k likeliest words get 0.", (KEPT, "probabilities")),
    Mistake("", "k above the vocabulary fails", "", ("min(k, probabilities.shape[-1])", "k")),
    CHANGED.by((KEPT, KEPT.replace("fill", "fill_"))),
]  # fmt: skip

HEAD = "def top_k(probabilities, k):"
RIGHT = {
    "sorted, then where": variant(HEAD, """
        ordered = probabilities.sort(dim=1, descending=True).values
        least = ordered[:, min(k, ordered.shape[1]) - 1].unsqueeze(1)
        kept = torch.where(probabilities >= least, probabilities, torch.zeros_like(probabilities))
        return kept / kept.sum(1, keepdim=True)
    """),
    "row by row": variant(HEAD, """
        rows = []
        for row in probabilities:
            least = sorted(row.tolist(), reverse=True)[:k][-1]
            row = row * (row >= torch.tensor(least))
            rows.append(row / row.sum())
        return torch.stack(rows)
    """),
    "by counting likelier words": variant(HEAD, """
        likelier = (probabilities[:, None, :] > probabilities[:, :, None]).sum(-1)
        kept = probabilities * (likelier < k)
        return kept / kept.sum(-1, keepdim=True)
    """),
    "logits and a softmax": variant(HEAD, """
        size = min(k, probabilities.shape[-1])
        least = torch.topk(probabilities, size)[0][:, -1, None]
        return probabilities.log().masked_fill(probabilities < least, float("-inf")).softmax(-1)
    """),
    "kthvalue": variant(HEAD, """
        size = probabilities.shape[-1]
        least = probabilities.kthvalue(max(size - k + 1, 1), dim=-1, keepdim=True).values
        kept = probabilities.clone()
        kept[kept < least] = 0
        return F.normalize(kept, p=1, dim=-1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch", atol=1e-6,
    accepted={"top_k-03ded60d": "A list of the same numbers is as right."},
    shows=("the likeliest words of each row", "ties stay", "k may be larger than the vocabulary"),
    axes={"output": "batch, vocabulary"},
)  # fmt: skip
