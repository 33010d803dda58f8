"""The list of the encoder's blocks: how many there are, each of its own, and known to the model."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._sizes import config

#: No number of blocks is another one plus 1, or that of the real model.
NUMBERS = (3, 8, 10, 12)


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for layers in generator.permutation(NUMBERS)[:2]:
        expected = {name: np.array(layers) for name in ("length", "distinct", "registered")}
        made.append(Case(config(3, 4, 17, n_layers=int(layers)), expected={**expected, "blocks": np.array(True)}))
    return made


# What mistakes write in place of the list.
LIST = "nn.ModuleList(AttentionBlock(config) for _ in range(config.n_layers))"
HOW_MANY = "config.n_layers says how many."
STEPS = "range(n) counts from 0 to n - 1: that is n steps."

MISTAKES = [
    Mistake("M14-list", "The blocks stand in a plain Python list: their parameters are invisible to the model.",
            "nn.ModuleList is a list that registers what it holds; without it nothing is loaded, moved or trained.",
            (LIST, "[AttentionBlock(config) for _ in range(config.n_layers)]")),
    Mistake("M14-same", "The list holds one and the same block several times.",
            "Call AttentionBlock(config) once for each layer: each has weights of its own.",
            (LIST, "nn.ModuleList([AttentionBlock(config)] * config.n_layers)")),
    Mistake("M14-six", "There are six blocks, whatever the config says.", HOW_MANY,
            (LIST, LIST.replace("config.n_layers", "6"))),
    Mistake("M14-one", "There is one block only.", HOW_MANY, (LIST, "nn.ModuleList([AttentionBlock(config)])")),
    Mistake("M14-off", "One block is missing.", STEPS, (LIST, LIST.replace("range(", "range(1, "))),
    Mistake("M14-more", "There is one block too many.", STEPS,
            (LIST, LIST.replace("config.n_layers", "config.n_layers + 1"))),
    Mistake("M14-other", "The list does not hold AttentionBlocks.", "AttentionBlock(config) makes one.",
            (LIST, LIST.replace("AttentionBlock(config)", "nn.Linear(config.dim, config.dim)"))),
]  # fmt: skip

MADE = f"self.attention_layers = {LIST}"
#: In place of the list.
RIGHT = {
    name: [(MADE, code.replace("\n", "\n        "))]
    for name, code in {
        "a list extended by map": "self.attention_layers = nn.ModuleList()\n"
        "self.attention_layers.extend(map(AttentionBlock, [config] * config.n_layers))",
        "grown with a walrus, added by name": "blocks = []\n"
        "while (made := len(blocks)) < config.n_layers:\n"
        "    blocks += [AttentionBlock(config)]\n"
        'self.add_module("attention_layers", nn.ModuleList(modules=blocks))',
        "a list comprehension in a ModuleList": "blocks = [AttentionBlock(config) for _ in range(config.n_layers)]\n"
        "self.attention_layers = nn.ModuleList(blocks)",
        "blocks appended one by one": "self.attention_layers = nn.ModuleList()\n"
        "for _ in range(config.n_layers):\n"
        "    self.attention_layers.append(AttentionBlock(config))",
        "Sequential as the list": "blocks = [AttentionBlock(config) for _ in range(config.n_layers)]\n"
        "self.attention_layers = nn.Sequential(*blocks)",
        "a function of one's own": "def blocks():\n"
        "    yield from (AttentionBlock(config) for _ in range(config.n_layers))\n\n"
        "self.attention_layers = nn.ModuleList(blocks())",
    }.items()
}

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer",
    accepted={"detach": "Nothing is trained in this assignment: the trained weights are loaded."},
    shows=("as many blocks as the config says", "each its own", "all known to the model"),
)  # fmt: skip
