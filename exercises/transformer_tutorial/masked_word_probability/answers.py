"""Right and wrong probabilities of words at the masked place."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import body


def probability(name: str, lines: str) -> SampleAnswer:
    return SampleAnswer(name, "def P(logits, position, word_ids):\n" + body(lines))


def wrong(name: str, mistake: str, returned: str) -> SampleAnswer:
    text = f"def P(logits, position, word_ids):\n    return {returned}"
    return SampleAnswer(name, text, points=0, mistake=mistake)


RIGHT = [
    probability("exponential of log_softmax", "return logits.log_softmax(1)[position, word_ids].exp()"),
    probability("number by number", """
        row = logits[position].double()
        total = (row - row.max()).exp().sum()
        return torch.tensor([((row[i] - row.max()).exp() / total).item() for i in word_ids])
    """),
    probability("in NumPy", """
        import numpy as np
        row = logits[position].detach().numpy().astype(np.float64)
        shares = np.exp(row - row.max())
        return shares[word_ids] / shares.sum()
    """),
    probability("softmax of all rows, then picked", """
        probabilities = torch.nn.functional.softmax(logits, dim=-1)
        return torch.stack([probabilities[position][word] for word in word_ids])
    """),
    probability("logsumexp", "return torch.exp(logits[position][word_ids] - torch.logsumexp(logits[position], 0))"),
]  # fmt: skip

WRONG = [
    wrong("the logits", "P-logits", "logits[position, word_ids]"),
    wrong("among the given words", "P-words", "torch.softmax(logits[position, word_ids], dim=0)"),
    wrong("over the places", "P-positions", "torch.softmax(logits, dim=0)[position, word_ids]"),
    wrong("at the first place", "P-first", "torch.softmax(logits[0], dim=0)[word_ids]"),
    wrong("one place too early", "P-before", "torch.softmax(logits[position - 1], dim=0)[word_ids]"),
    wrong("logarithms", "P-logarithm", "torch.log_softmax(logits[position], dim=0)[word_ids]"),
    wrong("each by itself", "P-sigmoid", "torch.sigmoid(logits[position, word_ids])"),
    wrong("averaged over the places", "P-mean", "torch.softmax(logits, dim=1).mean(0)[word_ids]"),
    wrong("over everything", "P-all", "torch.softmax(logits.flatten(), 0).view_as(logits)[position, word_ids]"),
    wrong("percent", "P-percent", "100 * torch.softmax(logits[position], dim=0)[word_ids]"),
    wrong("exponential by hand", "P-overflow", "(logits[position].exp() / logits[position].exp().sum())[word_ids]"),
    wrong("the other way round", "P-order", "torch.softmax(logits[position], dim=0)[word_ids].flip(0)"),
    wrong("a list", "P-list", "[torch.softmax(logits[position], dim=0)[i].item() for i in word_ids]"),
    wrong("rounded", "", "torch.softmax(logits[position], dim=0)[word_ids].round(decimals=3)"),
]

#: Mutants that may pass, with the reason.
ACCEPTED = {"detach": "Nobody trains on these probabilities: the chapter reads them off a trained model."}
