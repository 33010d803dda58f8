"""The list of the encoder's blocks: how many there are, each of its own, and known to the model."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._sizes import config


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for layers in (4, 3):
        sizes = config(3, 4, 17, n_layers=layers)
        expected = {
            "length": np.array(layers),
            "distinct": np.array(layers),
            "registered": np.array(layers),
            "blocks": np.array(True),
        }
        cases.append(Case(sizes, expected=expected))
    return cases


def _layers(case: Case) -> int:
    return int(case.config["n_layers"])


MISTAKES = [
    Mistake(
        "M14-list",
        "The blocks stand in a plain Python list: their parameters are invisible to the model.",
        "nn.ModuleList is a list that registers what it holds; without it nothing is loaded, moved or trained.",
        lambda case: {"length": np.array(_layers(case)), "registered": np.array(0), "blocks": np.array(True)},
    ),
    Mistake(
        "M14-same",
        "The list holds one and the same block several times.",
        "Call AttentionBlock(config) once for each layer: each has weights of its own.",
        lambda case: {"length": np.array(_layers(case)), "distinct": np.array(1)},
    ),
    Mistake(
        "M14-six",
        "There are six blocks, whatever the config says.",
        "config.n_layers says how many.",
        lambda case: {"length": np.array(6)},
    ),
    Mistake(
        "M14-one", "There is one block only.", "config.n_layers says how many.", lambda case: {"length": np.array(1)}
    ),
    Mistake(
        "M14-off",
        "One block is missing.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) - 1)},
    ),
    Mistake(
        "M14-more",
        "There is one block too many.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) + 1)},
    ),
]

EXERCISE = Exercise(make, mistakes=MISTAKES, framework="torch")
