"""Epochs of a model that notes how it is called. Right: plain Python over the same batches."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._rules import EVAL_MODE, GRADIENTS, GRADIENTS_OFF, MODE, flagged


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for epochs, sizes, tested in ((3, (4, 4, 1), (5, 2)), (2, (3, 3), (4, 4, 3))):
        losses = generator.uniform(0.2, 2, (epochs, len(sizes)))
        # right[e, i]: whether test sentence i is classified rightly after epoch e
        right = generator.integers(0, 2, (epochs, sum(tested)))
        right[0, : tested[0]], right[0, tested[0] :] = 1, 0  # batches of different sizes have different accuracies
        labels = generator.integers(0, 2, sum(tested))
        history = [
            (float(np.dot(row, sizes) / sum(sizes)), float(hits.mean()))
            for row, hits in zip(losses, right, strict=True)
        ]
        config = {"epochs": epochs, "sizes": list(sizes), "tested": list(tested)}
        inputs = {"losses": losses, "right": right, "labels": labels}
        expected = {"history": np.array(history), "steps": np.array(epochs * len(sizes))}
        made.append(Case(config, inputs, expected=expected))
    return made


HEAD = "def fit(model, optimizer, train, test, epochs, step):"
# Lines of the solution that mistakes change.
TRAIN, EVAL, NO_GRAD = "model.train()", "model.eval()", "with torch.no_grad():"
ADD, MEAN = "step(model, optimizer, inputs, labels) * len(labels)", "total / seen"
HITS = "(model(inputs).argmax(dim=1) == labels).sum().item()"

MISTAKES = [
    Mistake(
        "FIT-batches",
        "The mean over batches was taken: a short last batch counts as much as a whole one.",
        "Times len(labels), and divided by the number of sentences.",
        (ADD, ADD.replace(" * len(labels)", "")),
        ("seen += len(labels)", "seen += 1"),
    ),
    Mistake(
        "FIT-accuracy",
        "The accuracy is a mean over batches of different sizes.",
        "Hits over sentences.",
        (HITS, HITS.replace(".sum()", ".double().mean()")),
        ("hits / tested", "hits / len(test)"),
    ),
    Mistake(
        "FIT-last",
        "Only the last batch's loss is kept.",
        "The mean over the whole epoch.",
        ("total += " + ADD, "total, seen = " + ADD + ", 0"),
    ),
    Mistake(
        "FIT-running",
        "The sums go on from one epoch to the next.",
        "Begin at 0 in every epoch.",
        ("    for _ in range(epochs):", "    total, seen = 0.0, 0\n    for _ in range(epochs):"),
        ("        total, seen = 0.0, 0\n", ""),
    ),
    Mistake(
        "FIT-one",
        "Only one epoch is in the history.",
        "A pair for every epoch.",
        ("range(epochs)", "range(min(epochs, 1))"),
    ),
    Mistake("FIT-sum", "The loss is a sum.", "Divide it by the number of sentences.", (MEAN, "total")),
    Mistake(
        "FIT-percent", "The accuracy is in per cent.", "A share, from 0 to 1.", ("hits / tested", "100 * hits / tested")
    ),
    Mistake(
        "FIT-before",
        "The accuracy is measured before the epoch's steps.",
        "Train first, then measure.",
        variant(
            HEAD,
            """
        history = []
        for _ in range(epochs):
            model.eval()
            with torch.no_grad():
                right = [(model(inputs).argmax(dim=1) == labels).double() for inputs, labels in test]
            model.train()
            losses = [(step(model, optimizer, inputs, labels), len(labels)) for inputs, labels in train]
            loss = sum(one * size for one, size in losses) / sum(size for _, size in losses)
            history.append((loss, torch.cat(right).mean().item()))
        return history
    """,
        ),
    ),
    MODE.by((TRAIN, "pass")),
    EVAL_MODE.by((EVAL, "pass")),
    GRADIENTS.by((NO_GRAD, "if True:")),
    GRADIENTS_OFF.by(("    return history", "    torch.set_grad_enabled(False)\n    return history")),
    CHANGED.by(("    return history", "    train.clear()\n    return history")),
    Mistake(
        "FIT-threshold",
        "Which of two logits is larger was read off one of them.",
        "A logit has no fixed zero: argmax looks at both.",
        (HITS, HITS.replace("model(inputs).argmax(dim=1)", "(model(inputs)[:, 1] > 0)")),
    ),
]

RIGHT = {
    "all test batches joined": variant(
        HEAD,
        """
        history = []
        for _ in range(epochs):
            model.train()
            losses, sizes = [], []
            for inputs, labels in train:
                losses.append(step(model, optimizer, inputs, labels))
                sizes.append(len(labels))
            model.eval()
            with torch.inference_mode():
                right = torch.cat([model(inputs).argmax(1) == labels for inputs, labels in test])
            loss = sum(one * size for one, size in zip(losses, sizes)) / sum(sizes)
            history.append((loss, right.double().mean().item()))
        return history
    """,
    ),
    "set_grad_enabled": [(NO_GRAD, "with torch.set_grad_enabled(False):")],
    "probability above a half": [
        (HITS, HITS.replace("model(inputs).argmax(dim=1)", "(model(inputs).softmax(1)[:, 1] > 0.5)"))
    ],
    "lists": [("history.append((total / seen, hits / tested))", "history += [[total / seen, hits / tested]]")],
}

EXERCISE = Exercise(
    cases,
    flagged,
    MISTAKES,
    right=RIGHT,
    framework="torch",
    shows=("one pair per epoch", "short batches count less", "train to learn, eval to measure"),
    axes={"history": "epochs, two losses"},
)
