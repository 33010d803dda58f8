"""The classifier after the encoder; everything before it is a stand-in that returns one stored tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, better_of_own_and_ready, dropout_at_work, same_twice

from ..._attention import Array, gelu, softmax
from .._sizes import config


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, classes in ((2, 5, 3), (4, 3, 2)):
        sizes = config(3, 4, 17, n_classes=classes)
        dim = sizes["dim"]
        weights = {
            "pre_classifier.weight": generator.normal(0, dim**-0.5, (dim, dim)).astype(np.float32),
            "pre_classifier.bias": generator.normal(0, 0.5, dim).astype(np.float32),
            "classifier.weight": generator.normal(0, dim**-0.5, (classes, dim)).astype(np.float32),
            "classifier.bias": generator.normal(0, 0.5, classes).astype(np.float32),
        }
        inputs: dict[str, Array] = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "final": generator.normal(0, 1.5, (batch, tokens, dim)).astype(np.float32),
        }
        cases.append(Case(sizes, inputs, weights, {}, {"logits": _torch_classifier(inputs["final"], weights)}))
    return cases


def _torch_classifier(final: Array, weights: Mapping[str, Array]) -> Array:
    """``torch.nn``'s own layers in float64: (batch, tokens, dim) -> (batch, classes)"""
    import torch

    dim, classes = weights["pre_classifier.weight"].shape[0], weights["classifier.weight"].shape[0]
    head = torch.nn.Sequential(torch.nn.Linear(dim, dim), torch.nn.ReLU(), torch.nn.Linear(dim, classes)).double()
    names = {"0": "pre_classifier", "2": "classifier"}
    head.load_state_dict(
        {
            f"{position}.{kind}": torch.from_numpy(weights[f"{name}.{kind}"].astype(np.float64))
            for position, name in names.items()
            for kind in ("weight", "bias")
        }
    )
    with torch.no_grad():
        return head(torch.from_numpy(final[:, 0].astype(np.float64))).numpy()


def _classified(
    activate: Callable[[Array], Array] | None = None,
    pool: Callable[[Array], Array] | None = None,
    finish: Callable[[Array], Array] | None = None,
    pre: bool = True,
) -> Callable[[Case], Mapping[str, Array]]:
    def answers(case: Case) -> Mapping[str, Array]:
        w = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
        final = case.inputs["final"].astype(np.float64)
        x = final[:, 0] if pool is None else pool(final)
        if pre:
            x = x @ w["pre_classifier.weight"].T + w["pre_classifier.bias"]
        x = np.maximum(x, 0) if activate is None else activate(x)
        x = x @ w["classifier.weight"].T + w["classifier.bias"]
        return {"logits": x if finish is None else finish(x)}

    return answers


MISTAKES = [
    Mistake(
        "M15-softmax",
        "These are probabilities, not logits: a softmax was applied.",
        "The model returns raw scores; a softmax belongs to whoever wants probabilities.",
        _classified(finish=softmax),
    ),
    Mistake(
        "M15-log",
        "These are log-probabilities, not logits.",
        "The model returns raw scores.",
        _classified(finish=lambda x: np.log(softmax(x))),
    ),
    Mistake(
        "M15-relu",
        "The ReLU between the two linear layers is missing.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=lambda x: x),
    ),
    Mistake(
        "M15-gelu",
        "The activation is a GELU; the assignment asks for a ReLU.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=gelu),
    ),
    Mistake(
        "M15-tanh",
        "The activation is a tanh; the assignment asks for a ReLU.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=np.tanh),
    ),
    Mistake(
        "M15-late",
        "A ReLU was applied to the logits.",
        "The ReLU stands between the two linear layers.",
        _classified(finish=lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-end",
        "The ReLU stands behind the classifier, not before it.",
        "The ReLU stands between the two linear layers.",
        _classified(activate=lambda x: x, finish=lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-pre", "pre_classifier was left out.", "pre_classifier, then ReLU, then classifier.", _classified(pre=False)
    ),
    Mistake(
        "M15-bare",
        "pre_classifier and the ReLU were left out.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(pre=False, activate=lambda x: x),
    ),
    Mistake(
        "M15-mean",
        "The tokens were averaged; the assignment asks for the [CLS] token.",
        "pooled_output already holds what the classifier takes.",
        _classified(pool=lambda x: x.mean(1)),
    ),
    Mistake(
        "M15-last",
        "The last token was taken; [CLS] is the first one.",
        "pooled_output already holds what the classifier takes.",
        _classified(pool=lambda x: x[:, -1]),
    ),
    Mistake(
        "M15-token",
        "The second token was taken; [CLS] is the first one.",
        "pooled_output already holds what the classifier takes.",
        _classified(pool=lambda x: x[:, 1]),
    ),
    Mistake(
        "M15-order",
        "The ReLU comes before pre_classifier.",
        "pre_classifier, then ReLU, then classifier.",
        _classified(activate=lambda x: x, pool=lambda x: np.maximum(x[:, 0], 0)),
    ),
    dropout_at_work("The logits"),
]

EXERCISE = Exercise(make, better_of_own_and_ready(same_twice("logits")), MISTAKES, framework="torch")
