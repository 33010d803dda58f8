"""Part 1 of the attention block: the three projections that ``__init__`` declares."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._sizes import config


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for _ in range(2):
        sizes = config(*(int(generator.integers(*bounds)) for bounds in ((2, 6), (2, 7), (31, 47))))
        expected = {f"{name}_lin": np.array([sizes["dim"]] * 2) for name in "qkv"}
        expected |= {name: np.array([True] * 3) for name in ("biases", "float32")}
        made.append(Case(config=sizes, expected={**expected, "distinct": np.array(3), "registered": np.array(3)}))
    return made


# Lines of the solution that mistakes change.
QUERY, KEY, VALUE = LINES = [f"self.{name}_lin = nn.Linear(config.dim, config.dim)" for name in "qkv"]
HAS_BIAS = "The pretrained weights carry a bias for each of them; nn.Linear has one unless told otherwise."
ONE_FOR_ALL = "All heads share one projection: it maps dim features to dim features, the heads are cut out of it later."
FEED_FORWARD = "hidden_dim belongs to lin1 and lin2; query, key and value keep the model's dim."


def all_of(old: str, new: str) -> list[tuple[str, str]]:
    return [(line, line.replace(old, new)) for line in LINES]


MISTAKES = [
    Mistake("INIT-head", "Each projection is only as wide as one head.", ONE_FOR_ALL,
            *all_of(".dim)", ".attention_head_size)")),
    Mistake("INIT-hidden", "A projection has the width of the feed-forward network.", FEED_FORWARD,
            (QUERY, "self.q_lin = nn.Linear(config.dim, config.hidden_dim)")),
    Mistake("INIT-hidden", "The projections have the width of the feed-forward network.", FEED_FORWARD,
            *all_of(".dim)", ".hidden_dim)")),
    Mistake("INIT-literal", "The sizes of the projections are written as numbers: they are 768, whatever the config "
            "says.", "Take every size from the config; then the same code fits the small model too.",
            *all_of("config.dim", "768")),
    Mistake("INIT-bias", "The projections have no bias.", HAS_BIAS, *all_of(".dim)", ".dim, bias=False)")),
    *(
        Mistake("INIT-bias", f"The projection {name}_lin has no bias.", HAS_BIAS,
                (line, line.replace(".dim)", ".dim, bias=False)")))
        for name, line in zip("qkv", LINES, strict=True)
    ),
    Mistake("INIT-shared", "Query, key and value share one and the same layer.",
            "They must be able to learn different things: three layers, three objects.",
            (KEY, "self.k_lin = self.q_lin"), (VALUE, "self.v_lin = self.q_lin")),
    Mistake("INIT-pair", "Two of query, key and value share one layer.",
            "One of the lines assigns a layer that is already in use: three layers, three objects.",
            (VALUE, "self.v_lin = self.k_lin")),
    Mistake("INIT-dtype", "The projections are no float32: what comes in is, and a product of two dtypes stops.",
            "A layer is float32 unless told otherwise.", *all_of(".dim)", ".dim, dtype=torch.float16)")),
]  # fmt: skip

# What right answers write.
BY_NAME = """for name in ("q_lin", "k_lin", "v_lin"):
            setattr(self, name, nn.Linear(config.n_heads * config.attention_head_size, config.dim))"""
ADDED = """for name in ("k_lin", "q_lin", "v_lin"):
            self.add_module(name, nn.Linear(bias=True, out_features=config.dim, in_features=config.dim))"""
WIDTHS = """width: int = (heads := config.n_heads) * (size := config.attention_head_size)
        self.q_lin, self.k_lin, self.v_lin = (nn.Linear(width, heads * size) for _ in range(3))"""
LISTED = f"{VALUE}\n        self.projections = nn.ModuleList([self.q_lin, self.k_lin, self.v_lin])"
RIGHT = {
    "add_module, keywords in another order": [(QUERY, ADDED), (KEY, ""), (VALUE, "")],
    "three at once, widths with a walrus": [(QUERY, WIDTHS), (KEY, ""), (VALUE, "")],
    "projections by setattr": [(QUERY, BY_NAME), (KEY, ""), (VALUE, "")],
    "projections in another order": [("\n        ".join(LINES), "\n        ".join(LINES[::-1]))],
    "projections in a ModuleList too": [(VALUE, LISTED)],
}

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    shows=("three layers of their own", "dim to dim", "with bias", "sizes from the config"),
)  # fmt: skip
