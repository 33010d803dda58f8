"""Part 1 of the attention block: the three projections that ``__init__`` declares."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._sizes import config


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for sizes in (config(3, 4, 17), config(4, 2, 11)):
        dim = sizes["dim"]
        expected = {f"{name}_lin": np.array([dim, dim]) for name in "qkv"}
        expected |= {"biases": np.array([True] * 3), "distinct": np.array(3), "registered": np.array(3)}
        cases.append(Case(config=sizes, expected=expected))
    return cases


MISTAKES = [
    Mistake(
        "INIT-head",
        "Each projection is only as wide as one head.",
        "All heads share one projection: it maps dim features to dim features, the heads are cut out of it later.",
        lambda case: {"q_lin": np.array([case.config["attention_head_size"], case.config["dim"]])},
    ),
    Mistake(
        "INIT-hidden",
        "A projection has the width of the feed-forward network.",
        "hidden_dim belongs to lin1 and lin2; query, key and value keep the model's dim.",
        lambda case: {"q_lin": np.array([case.config["hidden_dim"], case.config["dim"]])},
    ),
    Mistake(
        "INIT-literal",
        "The sizes of the projections are written as numbers: they are 768, whatever the config says.",
        "Take every size from the config; then the same code fits the small model too.",
        lambda case: {"q_lin": np.array([768, 768])},
    ),
    Mistake(
        "INIT-bias",
        "The projections have no bias.",
        "The pretrained weights carry a bias for each of them; nn.Linear has one unless told otherwise.",
        lambda case: {"biases": np.array([False] * 3)},
    ),
    *(
        Mistake(
            "INIT-bias",
            f"The projection {name}_lin has no bias.",
            "The pretrained weights carry a bias for each of them; nn.Linear has one unless told otherwise.",
            lambda case, place=place: {"biases": np.arange(3) != place},  # type: ignore[misc]
        )
        for place, name in enumerate("qkv")
    ),
    Mistake(
        "INIT-shared",
        "Query, key and value share one and the same layer.",
        "They must be able to learn different things: three layers, three objects.",
        lambda case: {"distinct": np.array(1)},
    ),
    Mistake(
        "INIT-pair",
        "Two of query, key and value share one layer.",
        "One of the lines assigns a layer that is already in use: three layers, three objects.",
        lambda case: {"distinct": np.array(2)},
    ),
]

EXERCISE = Exercise(make, mistakes=MISTAKES, framework="torch")
