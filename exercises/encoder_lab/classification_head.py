"""``ClassificationHead``: dropout, then a linear layer."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake, Patch

from .._attention import linear
from ._answers import CLASSIFICATION, CLASSIFICATION_INIT
from ._arrays import linear_weight, normal
from ._rules import DROPPED, SIZES, classification_head


def cases(generator: np.random.Generator) -> list[Case]:
    """Last, a batch of one."""
    made = []
    for batch, tokens, d_model, classes, share in ((5, 4, 12, 3, 0.4), (4, 3, 10, 2, 0.3), (1, 3, 9, 6, 0.2)):
        weights = {
            "linear.weight": linear_weight(generator, classes, d_model),
            "linear.bias": normal(generator, classes),
        }
        hidden_states = normal(generator, batch, tokens, d_model)
        pooled = np.ascontiguousarray(hidden_states[:, 0])
        expected = {"linear": np.array([classes, d_model]), "logits": linear(pooled, weights, "linear")}
        sizes = {"d_model": d_model, "num_classes": classes, "dropout_prob": share}
        made.append(Case(sizes, {"pooled": pooled, "hidden_states": hidden_states}, weights, {}, expected))
    return made


PARTS = """
self.dropout = nn.Dropout(dropout_prob)
self.linear = nn.Linear(d_model, num_classes)
"""
NOTHING_ELSE, RAW = "dropout, then linear, and nothing else.", "The head returns raw scores."
WHOLE = "self.linear(self.dropout(pooled))"
SHARE = ("head-dropout", "The dropout does not drop the share it is told to.", "dropout_prob is an argument.")


def init(old: str, new: str) -> Patch:
    return CLASSIFICATION_INIT, PARTS.replace(old, new)


def forward(code: str) -> Patch:
    return CLASSIFICATION, f"return {code}"


MISTAKES = [
    Mistake("M15-softmax", "These are probabilities, not logits: a softmax was applied.",
            "Whoever wants probabilities applies it later.", forward(f"{WHOLE}.softmax(-1)")),
    Mistake("M15-batch", "A softmax over the batch was applied.", RAW, forward(f"{WHOLE}.softmax(0)")),
    Mistake("M15-log", "These are log-probabilities, not logits.", RAW, forward(f"{WHOLE}.log_softmax(-1)")),
    Mistake("M15-sigmoid", "These have been through a sigmoid.", RAW, forward(f"{WHOLE}.sigmoid()")),
    Mistake("M15-late", "A ReLU was applied to the logits.", "Nothing comes after the linear layer.",
            forward(f"{WHOLE}.relu()")),
    Mistake("M15-tanh", "A tanh was applied before the linear layer.", NOTHING_ELSE,
            forward("self.linear(self.dropout(pooled).tanh())")),
    Mistake("M15-relu", "A ReLU was applied before the linear layer.", NOTHING_ELSE,
            forward("self.linear(self.dropout(pooled).relu())")),
    Mistake(*SHARE,
            forward("self.linear(nn.functional.dropout(pooled, training=self.training))"), share=0.5, by_rule=True),
    Mistake(*SHARE,
            init("dropout_prob", "0.1"), share=0.5, by_rule=True),
    Mistake("M16-late", "In training it is the logits that are dropped.", "The dropout comes before the linear layer.",
            forward("self.dropout(self.linear(pooled))"), share=0.5, by_rule=True),
    Mistake("M16-none", "Nothing is dropped in training.", "dropout, then linear.", forward("self.linear(pooled)"),
            share=0.5, by_rule=True),
    Mistake("head-bias",
            "The linear layer has no bias: a class cannot be more frequent than another without a reason in the "
            "vector.",
            "nn.Linear has one, unless it is told otherwise.", init("num_classes", "num_classes, bias=False"),
            share=0.5, by_rule=True),
    SIZES.by(init("d_model, num_classes", "num_classes, d_model")),
    DROPPED,
    CHANGED.by(forward("self.linear(self.dropout(pooled.mul_(2)) / 2)")),
    Mistake("", "squeezed: a batch of one is lost", "", forward(f"{WHOLE}.squeeze()")),
    CUT.by(forward(f"{WHOLE}.detach()")),
    DTYPE.by(forward(f"{WHOLE}.double()")),
]  # fmt: skip

RIGHT = {
    "a function that is told the share": [
        init("nn.Dropout(dropout_prob)", "dropout_prob"),
        forward("self.linear(nn.functional.dropout(pooled, self.dropout, self.training))"),
    ],
    "step by step": [(CLASSIFICATION, """
        x = self.dropout(pooled)
        x = self.linear(x)
        return x
    """)],
    "functional dropout": [(CLASSIFICATION, """
        x = nn.functional.dropout(pooled, self.dropout.p, training=self.training)
        return nn.functional.linear(x, self.linear.weight, self.linear.bias)
    """)],
    "picks the first token itself": [(CLASSIFICATION, "return self.linear(self.dropout(pooled[:, 0, :]))")],
    "another order, and a Sequential": [(CLASSIFICATION_INIT, """
        self.linear = nn.Linear(in_features=d_model, out_features=num_classes)
        self.dropout = nn.Dropout(p=dropout_prob)
        self.both = nn.Sequential(self.dropout, self.linear)
    """), (CLASSIFICATION, "return self.both(pooled)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, classification_head, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    shows=("shape", "dropout before linear", "logits"),
    axes={"logits": "batch, num_classes"},
)  # fmt: skip
