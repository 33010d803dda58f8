"""Temperature. Expected answers: transformers' own TemperatureLogitsWarper; 0 is the greedy choice, by hand."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    """Hot, cold, 1 and 0; large logits; ties of the two largest where the temperature is 0."""
    drawn = [
        (generator.normal(0, 2, (3, 5)), 0.5),
        (generator.normal(0, 2, (2, 7)), 2.5),
        (generator.normal(0, 2, (4, 3)), 1.0),
        (generator.normal(0, 1, (2, 6)) + 300, 0.5),
        (generator.normal(0, 2, (3, 8)), 0.0),
        (generator.permuted([[1, 4, 2, 4, 0], [3, 3, 3, 1, 3], [-2, -1, -1, -5, -1]], axis=1), 0.0),
    ]
    made = []
    for logits, value in drawn:
        logits = logits.astype(np.float32)
        expected = {"probabilities": _expected(logits, value)}
        made.append(Case({"temperature": value}, {"logits": logits}, expected=expected))
    return made


def _expected(logits: np.ndarray, value: float) -> np.ndarray:
    if value == 0:
        return np.eye(logits.shape[1])[logits.argmax(-1)]  # NumPy's argmax is the first of the largest
    import torch
    from transformers import TemperatureLogitsWarper

    scores = torch.from_numpy(logits.astype(np.float64))
    result: np.ndarray = TemperatureLogitsWarper(value)(None, scores).softmax(-1).numpy()
    return result


# Lines of the solution that mistakes change.
HEAD = "def temperature(logits, value):"
WARM = "(logits / value).softmax(dim=-1)"
COLD = "F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)"

MISTAKES = [
    Mistake("TEMP-times", "The logits were multiplied by the temperature.",
            "Divide by it: a low temperature makes differences larger.", (WARM, WARM.replace("/", "*"))),
    Mistake("TEMP-none", "The temperature changes nothing.", "The logits are divided by it.",
            (WARM, "logits.softmax(dim=-1)")),
    Mistake("TEMP-behind", "The probabilities were divided by the temperature, and no longer sum to 1.",
            "Divide the logits, before the softmax.", (WARM, "logits.softmax(dim=-1) / value")),
    Mistake("TEMP-twice", "The softmax was applied twice.", "Logits, divided, then one softmax.",
            (WARM, "(logits.softmax(dim=-1) / value).softmax(dim=-1)")),
    Mistake("TEMP-batch", "The softmax runs over the batch.", "Each row sums to 1 over its words: dim=-1.",
            (WARM, WARM.replace("-1", "0"))),
    Mistake("TEMP-logits", "These are logits.", "A softmax makes probabilities of them.", (WARM, "logits / value")),
    Mistake("TEMP-root", "The logits were divided by the root of the temperature.", "By the temperature itself.",
            (WARM, WARM.replace("value", "value**0.5"))),
    Mistake("TEMP-overflow", "Large logits give nan.", "torch's softmax can deal with them.",
            (WARM, "(logits / value).exp() / (logits / value).exp().sum(-1, keepdim=True)"), share=0.5),
    Mistake("TEMP-ties", "At temperature 0, several words that are equally likely share the probability.",
            "The first of them gets all of it.",
            (COLD, "(w := (logits == logits.amax(-1, keepdim=True)).float()) / w.sum(-1, keepdim=True)"), share=0.5),
    Mistake("TEMP-last", "At temperature 0, the last of the largest logits is chosen.", "The first of them.",
            (COLD, "F.one_hot(logits.shape[-1] - 1 - logits.flip(-1).argmax(dim=-1), logits.shape[-1]).float()"),
            share=0.5),
    Mistake("TEMP-zero", "At temperature 0 there is no number: you divide by 0.",
            "Treat 0 by itself: probability 1 for the largest logit.", ("if value == 0:", "if value < 0:"), share=0.5),
    Mistake("TEMP-plain", "At temperature 0 you give the probabilities as they are.",
            "All of the probability belongs to the largest logit.", (COLD, "logits.softmax(-1)"), share=0.5),
    CHANGED.by((WARM, "logits.div_(value).softmax(dim=-1)")),
]  # fmt: skip

RIGHT = {
    "F.softmax and zeros": variant(HEAD, """
        if value > 0:
            return F.softmax(logits / value, dim=1)
        result = torch.zeros_like(logits)
        result[torch.arange(len(logits)), logits.argmax(1)] = 1
        return result
    """),
    "row by row": variant(HEAD, """
        rows = []
        for row in logits:
            if value == 0:
                best = torch.zeros(len(row))
                best[int(row.argmax())] = 1
                rows.append(best)
            else:
                rows.append(torch.softmax(row / value, 0))
        return torch.stack(rows)
    """),
    "by hand, the largest subtracted": variant(HEAD, """
        if not value:
            return torch.eye(logits.shape[1])[logits.argmax(-1)]
        e = torch.exp((logits - logits.amax(-1, keepdim=True)) / value)
        return e / e.sum(-1, keepdim=True)
    """),
    "log_softmax": variant(HEAD, """
        if value == 0:
            return torch.zeros_like(logits).scatter(1, logits.argmax(1, keepdim=True), 1.0)
        return (logits / value).log_softmax(1).exp()
    """),
    "in double precision": variant(HEAD, """
        x = logits.double()
        if value == 0:
            return F.one_hot(x.argmax(-1), x.shape[-1]).double()
        return (x * (1 / value)).softmax(-1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch", atol=1e-6,
    shows=("1 is the softmax", "lower is sharper", "0 is the likeliest word"),
    accepted={"detach": "Words are drawn from these probabilities; nobody trains through them."},
    axes={"probabilities": "batch, vocabulary"},
)  # fmt: skip
