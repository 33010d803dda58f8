"""The probability of a word at the masked place, from made-up logits of a masked language model."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import OVERFLOW, P_LIST, probabilities


def cases(generator: np.random.Generator) -> list[Case]:
    """Logits (tokens, vocabulary), twice ordinary ones, and once so large that their exponentials overflow."""
    import torch

    drawn = []
    for tokens, vocabulary, position, words, shift in (
        (7, 19, 3, [4, 11], 0.0),
        (5, 23, 4, [2, 17, 8], 0.0),
        (6, 13, 2, [9, 5], 800.0),
    ):
        logits = (generator.normal(0, 2, (tokens, vocabulary)) + shift).astype(np.float32)
        row = torch.from_numpy(logits[position].astype(np.float64)).softmax(0).numpy()
        inputs = {"logits": logits, "word_ids": np.array(words)}
        drawn.append(Case({"position": position}, inputs, expected={"probabilities": row[words]}))
    return drawn


# The lines of the solution that mistakes change.
SOFTMAX, PICKED = "torch.softmax(logits[position], dim=-1)", "probabilities[word_ids]"

MISTAKES = [
    OVERFLOW.by((SOFTMAX, "logits[position].exp() / logits[position].exp().sum()")),
    P_LIST.by((PICKED, "[probabilities[i].item() for i in word_ids]")),
    Mistake("P-order", "The probabilities come in another order than the words.",
            "The first one belongs to the first word.", (PICKED, f"{PICKED}.flip(0)")),
    Mistake("P-logits", "These are the logits themselves.", "A softmax makes them probabilities.",
            (SOFTMAX, "logits[position]")),
    Mistake("P-words", "The softmax ran over the given words alone, so that they sum to 1.",
            "All words of the vocabulary compete for the place.",
            (PICKED, "torch.softmax(logits[position, word_ids], dim=0)")),
    Mistake("P-positions", "The softmax ran over the positions of the sentence.",
            "For the masked place, the words of the vocabulary compete.",
            (SOFTMAX, "torch.softmax(logits, dim=0)[position]")),
    Mistake("P-first", "These are the probabilities at the first position.", "Which row belongs to the mask?",
            ("[position]", "[0]")),
    Mistake("P-before", "These are the probabilities one position before the mask.", "Which row belongs to the mask?",
            ("[position]", "[position - 1]")),
    Mistake("P-logarithm", "These are logarithms of probabilities.", "Leave the logarithm out.",
            ("torch.softmax", "torch.log_softmax")),
    Mistake("P-sigmoid", "Each logit went through a sigmoid by itself.", "The words compete: their sum is 1.",
            (SOFTMAX, "torch.sigmoid(logits[position])")),
    Mistake("P-mean", "The probabilities of all places were averaged.", "One row belongs to the mask.",
            (SOFTMAX, "torch.softmax(logits, dim=1).mean(0)")),
    Mistake("P-all", "The softmax ran over all places and words together.", "Choose the mask's row first.",
            (SOFTMAX, "torch.softmax(logits.flatten(), 0).view_as(logits)[position]")),
    Mistake("P-percent", "These are percentages.", "Probabilities lie between 0 and 1.", (SOFTMAX, f"100 * {SOFTMAX}")),
    Mistake("P-rounded", "The probabilities are rounded.", "Return them as they are.",
            (PICKED, f"{PICKED}.round(decimals=3)")),
]  # fmt: skip

HEAD = "def P(logits, position, word_ids):"
RIGHT = {
    "exponential of log_softmax": variant(HEAD, "return logits.log_softmax(1)[position, word_ids].exp()"),
    "number by number": variant(HEAD, """
        row = logits[position].double()
        total = (row - row.max()).exp().sum()
        return torch.tensor([((row[i] - row.max()).exp() / total).item() for i in word_ids])
    """),
    "in NumPy": variant(HEAD, """
        import numpy as np
        row = logits[position].detach().numpy().astype(np.float64)
        shares = np.exp(row - row.max())
        return shares[word_ids] / shares.sum()
    """),
    "softmax of all rows, then picked": variant(HEAD, """
        probabilities = torch.nn.functional.softmax(logits, dim=-1)
        return torch.stack([probabilities[position][word] for word in word_ids])
    """),
    "logsumexp": variant(HEAD, "return torch.exp(logits[position][word_ids] - torch.logsumexp(logits[position], 0))"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, probabilities, MISTAKES, right=RIGHT, framework="torch",
    accepted={"detach": "Nobody trains on these probabilities: the chapter reads them off a trained model."},
    shows=("a softmax over the vocabulary", "read at the mask", "large logits do no harm"),
)  # fmt: skip
