"""Right and wrong bigram baselines."""

from __future__ import annotations

from .._answers import functions, wrong_functions

HEAD = "def bigram(ids, vocabulary):"
RIGHT = functions(HEAD, {
    "a loop over pairs": """
        counts = torch.ones(vocabulary, vocabulary)
        for first, then in zip(ids[:-1], ids[1:]):
            counts[first, then] += 1
        return (counts / counts.sum(dim=1, keepdim=True)).log()
    """,
    "bincount": """
        pairs = torch.bincount(ids[:-1] * vocabulary + ids[1:], minlength=vocabulary**2)
        counts = pairs.view(vocabulary, vocabulary) + 1.0
        return counts.log() - counts.sum(1, keepdim=True).log()
    """,
    "one-hot vectors": """
        hot = F.one_hot(ids, vocabulary).float()
        counts = hot[:-1].T @ hot[1:] + 1
        return torch.log(counts / counts.sum(-1)[:, None])
    """,
    "index_put": """
        counts = torch.zeros(vocabulary, vocabulary).index_put((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
        return F.normalize(counts + 1, p=1, dim=1).log()
    """,
    "a dictionary": """
        from collections import Counter
        words = ids.tolist()
        seen, before = Counter(zip(words, words[1:])), Counter(words[:-1])
        return torch.tensor([[math.log((seen[i, j] + 1) / (before[i] + vocabulary)) for j in range(vocabulary)]
                             for i in range(vocabulary)])
    """,
})  # fmt: skip

COUNTED = """
    counts = torch.zeros(vocabulary, vocabulary)
    for first, then in zip(ids[:-1].tolist(), ids[1:].tolist()):
        counts[first, then] += 1
    return {code}
"""
PAIRED = """
    counts = torch.ones(vocabulary, vocabulary)
    for first, then in {code}:
        counts[first, then] += 1
    return (counts / counts.sum(1, keepdim=True)).log()
"""
PUT = """
    counts = torch.ones(vocabulary, vocabulary)
    {code}
    return (counts / counts.sum(1, keepdim=True)).log()
"""
WRONG = [
    *wrong_functions(
        HEAD,
        ("turned", "((counts.T + 1) / (counts.T + 1).sum(1, keepdim=True)).log()", "D5-turned"),
        ("columns", "((counts + 1) / (counts + 1).sum(0)).log()", "D5-columns"),
        ("the whole table", "((counts + 1) / (counts + 1).sum()).log()", "D5-whole"),
        ("nothing added", "(counts / counts.sum(1, keepdim=True)).log()", "D5-zero"),
        ("at least one", "(counts.clamp(min=1) / counts.clamp(min=1).sum(1, keepdim=True)).log()", "D5-seen"),
        ("added above alone", "((counts + 1) / counts.sum(1, keepdim=True)).log()", "D5-divided"),
        ("one added below", "((counts + 1) / (counts.sum(1, keepdim=True) + 1)).log()", "D5-plus-one"),
        ("probabilities", "(counts + 1) / (counts + 1).sum(1, keepdim=True)", "D5-exp"),
        ("counts", "counts + 1", "D5-counts"),
        ("softmax", "counts.log_softmax(1)", "D5-softmax"),
        ("bits", "((counts + 1) / (counts + 1).sum(1, keepdim=True)).log2()", "D5-base"),
        body=COUNTED,
    ),
    *wrong_functions(
        HEAD,
        ("round the end", "zip(ids.tolist(), ids.roll(-1).tolist())", "D5-round"),
        ("a word between", "zip(ids[:-2].tolist(), ids[2:].tolist())", "D5-gap"),
        ("each with itself", "zip(ids.tolist(), ids.tolist())", "D5-same"),
        body=PAIRED,
    ),
    *wrong_functions(HEAD, ("counted once", "counts[ids[:-1], ids[1:]] += 1", "D5-once"), body=PUT),
    *wrong_functions(HEAD, ("the text is changed", """while len(ids) > 1:
        counts[ids[0], ids[1]] += 1
        ids[0], ids = -1, ids[1:]""", "CHANGED"), body=PUT),
]  # fmt: skip
