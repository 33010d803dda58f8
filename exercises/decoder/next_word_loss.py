"""The mean cross-entropy of the next words, in float64 NumPy; logsumexp by hand."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, pure, variant

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for (b, t, v), size, shift in (((3, 5, 7), 1.5, 0.0), ((2, 6, 11), 1.5, 0.0), ((4, 3, 5), 1.0, 200.0)):
        logits = (generator.normal(0, size, (b, t, v)) + shift).astype(np.float32)
        ids = generator.integers(0, v, (b, t))
        ids[0] = np.arange(t) % v
        made.append(Case({}, {"logits": logits, "input_ids": ids}, expected={"loss": _losses(logits, ids).mean()}))
    return made


def _losses(logits: Array, ids: Array) -> Array:
    """(batch, tokens - 1)"""
    x = logits.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return -np.take_along_axis(logs[:, :-1], ids[:, 1:, None], 2)[..., 0]


HEAD = "def next_word_loss(logits, ids):"
SHIFT = "The logits at position i predict the word at position i + 1."
WORDS = "The mean over all words."
# Lines of the solution that mistakes change.
SHIFTED = "logits[:, :-1], ids[:, 1:]"
FLAT = "predictions.flatten(0, 1), targets.flatten()"
LOSS = f"F.cross_entropy({FLAT})"
LOSSES = 'F.cross_entropy(predictions.mT, targets, reduction="none")'
PROBABILITIES = "predictions.softmax(-1).gather(2, targets[..., None])"

MISTAKES = [
    Mistake("D4-same", "The logits are compared with the word that they stand at.", SHIFT, (SHIFTED, "logits, ids")),
    Mistake("D4-two", "The logits are compared with the word after the next.", SHIFT,
            (SHIFTED, "logits[:, :-2], ids[:, 2:]")),
    Mistake("D4-before", "The logits are compared with the word before.", SHIFT,
            (SHIFTED, "logits[:, 1:], ids[:, :-1]")),
    Mistake("D4-round", "The last position predicts the first word.", "After the last word nothing is known.",
            (SHIFTED, "logits, ids.roll(-1, 1)")),
    Mistake("D4-flat", "Rows were joined before the shift: the end of a row predicts the next row's first word.",
            "Cut [:, :-1] and [:, 1:] before you flatten.", (SHIFTED, "logits, ids"),
            (FLAT, "predictions.flatten(0, 1)[:-1], targets.flatten()[1:]")),
    Mistake("D4-sum", "This is the sum of the losses, not their mean.", "One number that does not grow with the text.",
            (FLAT, FLAT + ', reduction="sum"')),
    Mistake("D4-rows", "The losses of a row were added, and only the rows averaged.", WORDS,
            (LOSS, LOSSES + ".sum(1).mean()")),
    Mistake("D4-all", "The sum was divided by all words, the first ones included.", "T words: T - 1 predictions.",
            (LOSS, LOSSES + ".sum() / ids.numel()")),
    Mistake("D4-twice", "The softmax was applied twice.", "F.cross_entropy takes logits.",
            (FLAT, FLAT.replace(".flatten(0", ".softmax(-1).flatten(0"))),
    Mistake("D4-raw", "The logits themselves were averaged, without a softmax.", "F.cross_entropy takes logits.",
            (LOSS, LOSS.replace("cross_entropy", "nll_loss"))),
    Mistake("D4-sign", "The loss is negative.", "Minus the logarithm of the probability.", (LOSS, "-" + LOSS)),
    Mistake("D4-base", "The logarithm has base 2.", "The natural one.", (LOSS, LOSS + " / math.log(2)")),
    Mistake("D4-perplexity", "This is the perplexity.", "The loss is its logarithm.", (LOSS, LOSS + ".exp()")),
    Mistake("D4-probability", "This is one minus the probability, without a logarithm.", "Cross-entropy.",
            (LOSS, f"1 - {PROBABILITIES}.mean()")),
    Mistake("D4-last", "Only the last prediction counts.", WORDS, (LOSS, LOSSES + "[:, -1].mean()")),
    Mistake("D4-each", "The loss of every single word came back.", "The mean of all of them is one number.",
            (LOSS, LOSSES)),
    CHANGED.by((LOSS, LOSS.replace("predictions", "predictions.mul_(1.5).div_(1.5)"))),
    CUT.by((LOSS, LOSS + ".detach()")),
]  # fmt: skip

RIGHT = {
    "cross_entropy of two flat tensors":
        variant(HEAD, "return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())"),
    "classes moved to axis 1": variant(HEAD, "return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])"),
    "gather": variant(HEAD, "return -logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None]).mean()"),
    "nll_loss": variant(HEAD, """
        logs = F.log_softmax(logits, dim=2)[:, :-1]
        return F.nll_loss(logs.permute(0, 2, 1), ids[:, 1:], reduction="sum") / ids[:, 1:].numel()
    """),
    "row by row": variant(HEAD, """
        losses = [F.cross_entropy(row[:-1], words[1:]) for row, words in zip(logits, ids)]
        return torch.stack(losses).mean()
    """),
    "logsumexp and one-hot": variant(HEAD, """
        before, after = logits[:, :-1], F.one_hot(ids[:, 1:], logits.shape[-1])
        return (before.logsumexp(-1) - (before * after).sum(-1)).mean()
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("the mean over all words", "the logits at a position predict the next word", "large logits"),
)  # fmt: skip
