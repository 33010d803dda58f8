"""Right and wrong choices of the k likeliest words."""

from __future__ import annotations

from .._answers import functions, wrong

HEAD = "def top_k(probabilities, k):"
LEAST = "probabilities.topk(k, dim=-1).values[..., -1:]"
KEPT = "probabilities.masked_fill(probabilities < least, 0)"
DIVIDED = "kept / kept.sum(dim=-1, keepdim=True)"
ACCEPTED = {"top_k-03ded60d": "A list of the same numbers is as right."}

RIGHT = functions(HEAD, {
    "sorted, then where": """
        ordered = probabilities.sort(dim=1, descending=True).values
        least = ordered[:, min(k, ordered.shape[1]) - 1].unsqueeze(1)
        kept = torch.where(probabilities >= least, probabilities, torch.zeros_like(probabilities))
        return kept / kept.sum(1, keepdim=True)
    """,
    "row by row": """
        rows = []
        for row in probabilities:
            least = sorted(row.tolist(), reverse=True)[:k][-1]
            row = row * (row >= torch.tensor(least))
            rows.append(row / row.sum())
        return torch.stack(rows)
    """,
    "by counting likelier words": """
        likelier = (probabilities[:, None, :] > probabilities[:, :, None]).sum(-1)
        kept = probabilities * (likelier < k)
        return kept / kept.sum(-1, keepdim=True)
    """,
    "logits and a softmax": """
        size = min(k, probabilities.shape[-1])
        least = torch.topk(probabilities, size)[0][:, -1, None]
        return probabilities.log().masked_fill(probabilities < least, float("-inf")).softmax(-1)
    """,
    "kthvalue": """
        size = probabilities.shape[-1]
        least = probabilities.kthvalue(max(size - k + 1, 1), dim=-1, keepdim=True).values
        kept = probabilities.clone()
        kept[kept < least] = 0
        return F.normalize(kept, p=1, dim=-1)
    """,
})  # fmt: skip

WRONG = [
    wrong("not divided", "TOPK-sum", (DIVIDED, "kept")),
    wrong("a softmax of what is left", "TOPK-softmax",
          (DIVIDED, 'kept.masked_fill(probabilities < least, float("-inf")).softmax(-1)')),
    wrong("a softmax with zeros", "TOPK-softmax-zero", (DIVIDED, "kept.softmax(-1)")),
    wrong("the least likely", "TOPK-least", (LEAST, "(-probabilities).topk(k, dim=-1).values[..., -1:]"),
          (KEPT, "probabilities.masked_fill(-probabilities < least, 0)")),
    wrong("the first words", "TOPK-first", (KEPT, "probabilities * (torch.arange(probabilities.shape[1]) < k)")),
    wrong("sorted", "TOPK-order", (DIVIDED, f"({DIVIDED}).sort(dim=-1, descending=True).values")),
    wrong("one word more", "TOPK-more", (LEAST, LEAST.replace("topk(k,", "topk(min(k + 1, probabilities.shape[-1]),"))),
    wrong("the k-th word removed", "TOPK-strict", ("probabilities < least", "probabilities <= least")),
    wrong("one threshold", "TOPK-batch", (LEAST, LEAST + ".min()")),
    wrong("all alike", "TOPK-equal", (DIVIDED, "(kept > 0) / (kept > 0).sum(dim=-1, keepdim=True)")),
    wrong("ties removed", "TOPK-ties",
          (KEPT, "probabilities * (probabilities.argsort(dim=-1, descending=True, stable=True).argsort(-1) < k)"),
          points=1),
    wrong("nothing removed", "TOPK-none", (KEPT, "probabilities")),
    wrong("k above the vocabulary fails", "", ("min(k, probabilities.shape[-1])", "k")),
    wrong("changed in place", "CHANGED", (KEPT, "probabilities.masked_fill_(probabilities < least, 0)")),
]  # fmt: skip
