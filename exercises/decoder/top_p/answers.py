"""Right and wrong nuclei."""

from __future__ import annotations

from .._answers import functions, wrong

HEAD = "def top_p(probabilities, p):"
SORT = "probabilities.sort(dim=-1, descending=True)"
BEFORE = "ordered.cumsum(dim=-1) - ordered"
CUT = "ordered.masked_fill(before >= p, 0)"
BACK = "torch.zeros_like(probabilities).scatter(-1, order, ordered)"
DIVIDED = "kept / kept.sum(dim=-1, keepdim=True)"
ACCEPTED = {"detach": "Words are drawn from these probabilities; nobody trains through them."}

RIGHT = functions(HEAD, {
    "a mask, moved by one": """
        ordered, order = torch.sort(probabilities, descending=True)
        gone = ordered.cumsum(-1) >= p
        gone[:, 1:] = gone[:, :-1].clone()
        gone[:, 0] = False
        kept = probabilities.masked_fill(torch.zeros_like(gone).scatter(1, order, gone), 0)
        return kept / kept.sum(-1, keepdim=True)
    """,
    "the order sorted back": """
        ordered, order = torch.sort(probabilities, dim=1, descending=True)
        ordered = ordered * (ordered.cumsum(1) - ordered < p)
        kept = ordered.gather(1, order.argsort(1))
        return kept / kept.sum(1, keepdim=True)
    """,
    "row by row": """
        result = torch.zeros_like(probabilities)
        for row, own in enumerate(probabilities.tolist()):
            total = 0.0
            for word in sorted(range(len(own)), key=lambda word: -own[word]):
                if total >= p:
                    break
                result[row, word] = own[word]
                total += own[word]
        return result / result.sum(-1, keepdim=True)
    """,
    "from the least likely word on": """
        ordered, order = probabilities.double().sort(dim=-1)
        ordered = ordered.masked_fill(ordered.cumsum(-1) <= 1 - p + 1e-7, 0)
        ordered[:, -1] = probabilities.double().amax(-1)
        kept = torch.zeros_like(ordered).scatter(-1, order, ordered)
        return kept / kept.sum(-1, keepdim=True)
    """,
    "logits and a softmax": """
        ordered, order = probabilities.sort(dim=-1, descending=True)
        logs = ordered.log().masked_fill(ordered.cumsum(-1) - ordered >= p, float("-inf"))
        return torch.empty_like(logs).scatter_(-1, order, logs.softmax(-1))
    """,
    "a threshold for each row": """
        ordered = probabilities.sort(dim=-1, descending=True).values
        size = (ordered.cumsum(-1) - ordered < p).sum(-1, keepdim=True)
        kept = probabilities * (probabilities >= ordered.gather(-1, size - 1))
        return F.normalize(kept, p=1, dim=-1)
    """,
})  # fmt: skip

WRONG = [
    wrong("not divided", "TOPP-sum", (DIVIDED, "kept")),
    wrong("a softmax of what is left", "TOPP-softmax",
          (DIVIDED, 'kept.masked_fill(kept == 0, float("-inf")).softmax(-1)')),
    wrong("without the crossing word", "TOPP-crossing",
          (CUT, "ordered.masked_fill((before + ordered > p) & (before > 0), 0)")),
    wrong("without the crossing word, even the first", "TOPP-empty",
          (CUT, "ordered.masked_fill(before + ordered > p, 0)")),
    wrong("one word more where p is met", "TOPP-more", ("before >= p", "before > p"), points=1.5),
    wrong("the least likely first", "TOPP-least", (SORT, SORT.replace("True", "False"))),
    wrong("not sorted", "TOPP-unsorted",
          (SORT, "probabilities, torch.arange(probabilities.shape[1]).expand_as(probabilities)")),
    wrong("not taken back", "TOPP-places", (BACK, "probabilities.masked_fill(before >= p, 0)")),
    wrong("sorted", "TOPP-order", (BACK, "ordered")),
    wrong("a threshold of p", "TOPP-threshold", (CUT, "ordered.masked_fill(ordered < p, 0)")),
    wrong("all alike", "TOPP-equal", (DIVIDED, "(kept > 0) / (kept > 0).sum(dim=-1, keepdim=True)")),
    wrong("nothing removed", "TOPP-none", (CUT, "ordered")),
    wrong("changed in place", "CHANGED", (BACK, "probabilities.scatter_(-1, order, ordered)")),
]  # fmt: skip
