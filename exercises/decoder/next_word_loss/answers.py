"""Right and wrong losses of a language model."""

from __future__ import annotations

from .._answers import functions, wrong_functions

HEAD = "def next_word_loss(logits, ids):"
RIGHT = functions(HEAD, {
    "cross_entropy of two flat tensors": "return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())",
    "classes moved to axis 1": "return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])",
    "gather": "return -logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).mean()",
    "nll_loss": """
        logs = F.log_softmax(logits, dim=2)[:, :-1]
        return F.nll_loss(logs.permute(0, 2, 1), ids[:, 1:], reduction="sum") / ids[:, 1:].numel()
    """,
    "row by row": """
        losses = [F.cross_entropy(row[:-1], words[1:]) for row, words in zip(logits, ids)]
        return torch.stack(losses).mean()
    """,
    "logsumexp and one-hot": """
        before, after = logits[:, :-1], F.one_hot(ids[:, 1:], logits.shape[-1])
        return (before.logsumexp(-1) - (before * after).sum(-1)).mean()
    """,
})  # fmt: skip

WRONG = wrong_functions(
    HEAD,
    ("not shifted", "F.cross_entropy(logits.flatten(0, 1), ids.flatten())", "D4-same"),
    ("shifted by two", "F.cross_entropy(logits[:, :-2].flatten(0, 1), ids[:, 2:].flatten())", "D4-two"),
    ("shifted backwards", "F.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten())", "D4-before"),
    ("rolled", "F.cross_entropy(logits.flatten(0, 1), ids.roll(-1, 1).flatten())", "D4-round"),
    ("the sum", 'F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="sum")', "D4-sum"),
    ("summed over a row", "-logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).sum(1).mean()", "D4-rows"),
    ("divided by all", "-logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).sum() / ids.numel()", "D4-all"),
    ("softmax twice", "F.cross_entropy(logits.softmax(-1)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())", "D4-twice"),
    ("no softmax", "F.nll_loss(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())", "D4-raw"),
    ("no minus", "logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).mean()", "D4-sign"),
    ("in bits", "F.cross_entropy(logits[:, :-1].mT, ids[:, 1:]) / math.log(2)", "D4-base"),
    ("the perplexity", "F.cross_entropy(logits[:, :-1].mT, ids[:, 1:]).exp()", "D4-perplexity"),
    ("no logarithm", "1 - logits[:, :-1].softmax(-1).gather(2, ids[:, 1:, None]).mean()", "D4-probability"),
    ("the last word alone", "F.cross_entropy(logits[:, -2], ids[:, -1])", "D4-last"),
    ("no reduction", 'F.cross_entropy(logits[:, :-1].mT, ids[:, 1:], reduction="none")', ""),
    ("cut off", "F.cross_entropy(logits[:, :-1].mT, ids[:, 1:]).detach()", "CUT"),
)
