"""A linear probe. Right: least squares on a matrix enlarged by the penalty, in float64 NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._rules import standardised

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    # more sentences than numbers: with fewer, the system without penalty is singular, and processors disagree on it
    for n, tested, dim, strength in ((12, 5, 4, 3.0), (9, 7, 3, 0.5), (20, 4, 8, 5.0)):
        offset, spread = generator.normal(0, 3, dim), generator.uniform(0.5, 4, dim)
        train = (generator.normal(0, 1, (n, dim)) * spread + offset).astype(np.float32)
        test = (generator.normal(0.5, 1.5, (tested, dim)) * spread + offset).astype(np.float32)
        labels = np.where(train[:, 0] + generator.normal(0, 1, n) > np.quantile(train[:, 0], 0.7), 1.0, -1.0).astype(
            np.float32
        )
        inputs = {"train": train, "labels": labels, "test": test}
        scores = _scores(train, labels, test, strength)
        expected = {"scores": scores, "property/moved": scores, "property/stretched": scores}
        made.append(Case({"strength": strength}, inputs, expected=expected))
    return made


def _scores(train: Array, labels: Array, test: Array, strength: float) -> Array:
    x, y = train.astype(np.float64), labels.astype(np.float64)
    middle, spread = x.mean(0), x.std(0)
    x, z = (x - middle) / spread, (test - middle) / spread
    # one more column for the intercept, and one more row per weight: the penalty; none for the intercept
    enlarged = np.block(
        [[x, np.ones((len(x), 1))], [np.sqrt(strength) * np.eye(x.shape[1]), np.zeros((x.shape[1], 1))]]
    )
    wanted = np.concatenate([y, np.zeros(x.shape[1])])
    solved, *_ = np.linalg.lstsq(enlarged, wanted, rcond=None)
    return np.hstack([z, np.ones((len(z), 1))]) @ solved


HEAD = "def probe(train, labels, test, strength):"
# Lines of the solution that mistakes change.
MIDDLE, SPREAD = "train.mean(dim=0)", "train.std(dim=0, correction=0)"
BASE = "base = labels.mean()"
TEST = "test = (test - middle) / spread"
TRAIN = "train = (train - middle) / spread"
PENALTY = "strength * torch.eye(train.shape[1])"
SOLVE = f"torch.linalg.solve(train.T @ train + {PENALTY}, train.T @ (labels - base))"

NO_INTERCEPT = Mistake(
    "P-no-intercept",
    "There is no intercept: where one label is more frequent, all scores are off.",
    "The mean of the labels, taken off before and added again afterwards.",
    (BASE, "base = 0.0"),
)
MISTAKES = [
    Mistake(
        "P-leak",
        "The test half has a part in mean and standard deviation: it leaks into the training.",
        "Both from the training half alone.",
        (MIDDLE, "torch.cat([train, test]).mean(dim=0)"),
        (SPREAD, "torch.cat([train, test]).std(dim=0, correction=0)"),
    ),
    Mistake(
        "P-own",
        "The test half is standardised by its own mean and deviation.",
        "By those of the training half.",
        (TEST, "test = (test - test.mean(dim=0)) / test.std(dim=0, correction=0)"),
    ),
    Mistake(
        "P-raw-test",
        "The test half is not standardised.",
        "By mean and deviation of the training half.",
        (TEST, "pass"),
    ),
    Mistake(
        "P-raw",
        "Nothing is standardised.",
        "Minus the mean, divided by the standard deviation.",
        (TRAIN, "pass"),
        (TEST, "pass"),
    ),
    Mistake("P-mean", "The vectors are centred, but not divided by the standard deviation.", "Both.", (SPREAD, "1.0")),
    Mistake(
        "P-n-1",
        "The standard deviation divides by n - 1.",
        "correction=0 divides by n.",
        (SPREAD, "train.std(dim=0)"),
        share=0.5,
    ),
    NO_INTERCEPT,
    # the columns have the mean 0: what is taken off, and not added again, might as well have stayed
    replace(NO_INTERCEPT, patches=(("test @ weights + base", "test @ weights"),)),
    Mistake(
        "P-penalised",
        "The intercept is penalised, too.",
        "The penalty is for the weights alone.",
        (BASE, "base = labels.sum() / (len(labels) + strength)"),
    ),
    Mistake(
        "P-n",
        "The penalty is multiplied by the number of sentences.",
        "strength alone.",
        (PENALTY, "strength * len(train) * torch.eye(train.shape[1])"),
    ),
    Mistake(
        "P-none", "There is no penalty.", "strength on the diagonal.", (PENALTY, "1e-6 * torch.eye(train.shape[1])")
    ),
    Mistake(
        "P-square",
        "The strength is squared.",
        "strength on the diagonal, as it is.",
        (PENALTY, "strength**2 * torch.eye(train.shape[1])"),
    ),
    Mistake(
        "P-all",
        "The strength is added to every number of the matrix.",
        "To its diagonal: strength · identity.",
        (PENALTY, "strength"),
    ),
    Mistake(
        "P-sign",
        "These are signs.",
        "The scores themselves are asked for.",
        ("return test @ weights + base", "return (test @ weights + base).sign()"),
    ),
    CHANGED.by((TRAIN, "train -= middle; train /= spread")),
]

RIGHT = {
    "the dual form": [
        (SOLVE, "train.T @ torch.linalg.solve(train @ train.T + strength * torch.eye(len(train)), labels - base)")
    ],
    "an enlarged matrix": variant(
        HEAD,
        """
        middle, spread = train.mean(0), train.var(0, correction=0).sqrt()
        train, test = (train - middle) / spread, (test - middle) / spread
        dim = train.shape[1]
        rows = torch.cat([train, strength**0.5 * torch.eye(dim)])
        wanted = torch.cat([labels - labels.mean(), torch.zeros(dim)])
        weights = torch.linalg.lstsq(rows, wanted[:, None]).solution[:, 0]
        return test @ weights + labels.mean()
    """,
    ),
    "a column of ones": variant(
        HEAD,
        """
        middle, spread = train.mean(0), train.std(0, unbiased=False)
        train, test = (train - middle) / spread, (test - middle) / spread
        train = torch.cat([train, torch.ones(len(train), 1)], dim=1)
        test = torch.cat([test, torch.ones(len(test), 1)], dim=1)
        penalty = strength * torch.eye(train.shape[1])
        penalty[-1, -1] = 0
        return test @ torch.linalg.inv(train.T @ train + penalty) @ train.T @ labels
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    standardised,
    MISTAKES,
    right=RIGHT,
    accepted={"detach": "A probe has a formula: nothing is trained through it."},
    framework="torch",
    shows=("the right scores", "the test half apart", "an intercept without penalty"),
    axes={"scores": "test tokens"},
)
