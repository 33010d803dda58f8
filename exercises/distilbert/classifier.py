"""The classifier after the encoder, on the vectors of [CLS]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._rules import part
from ._sizes import config

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    made = []
    for batch, classes in ((5, 3), (4, 2), (1, 3)):
        sizes = config(3, 4, 17, n_classes=classes)
        dim = sizes["dim"]
        weights = {
            "pre_classifier.weight": generator.normal(0, dim**-0.5, (dim, dim)).astype(np.float32),
            "pre_classifier.bias": generator.normal(0, 0.5, dim).astype(np.float32),
            "classifier.weight": generator.normal(0, dim**-0.5, (classes, dim)).astype(np.float32),
            "classifier.bias": generator.normal(0, 0.5, classes).astype(np.float32),
        }
        pooled = generator.normal(0, 1.5, (batch, dim)).astype(np.float32)
        expected = {"classifier": _torch_classifier(pooled, weights)}
        made.append(Case(sizes, {"pooled_output": pooled}, weights, expected=expected))
    return made


def _torch_classifier(pooled: Array, weights: Mapping[str, Array]) -> Array:
    """``torch.nn``'s own layers in float64: (batch, dim) -> (batch, classes)"""
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
        return head(torch.from_numpy(pooled.astype(np.float64))).numpy()


# Lines of the solution that mistakes change.
POOLED = "pooled_output = nn.functional.relu(self.pre_classifier(pooled_output))"
LOGITS = "return self.classifier(pooled_output)"
NO_RELU = (POOLED, "pooled_output = self.pre_classifier(pooled_output)")
ORDER = "pre_classifier, then ReLU, then classifier."
BETWEEN = "The ReLU stands between the two linear layers."
RAW = "The model returns raw scores; a softmax belongs to whoever wants probabilities."

MISTAKES = [
    Mistake("M15-softmax", "These are probabilities, not logits: a softmax was applied.", RAW,
            (LOGITS, f"{LOGITS}.softmax(-1)")),
    Mistake("M15-log", "These are log-probabilities, not logits.", RAW, (LOGITS, f"{LOGITS}.log_softmax(-1)")),
    Mistake("M15-relu", "The ReLU between the two linear layers is missing.", ORDER, NO_RELU),
    *(
        Mistake(f"M15-{name.lower()}", f"The activation is a {name}; the assignment asks for a ReLU.", ORDER,
                (POOLED, POOLED.replace("relu", name.lower())))
        for name in ("GELU", "tanh", "sigmoid")
    ),
    Mistake("M15-late", "A ReLU was applied to the logits.", BETWEEN, (LOGITS, f"{LOGITS}.relu()")),
    Mistake("M15-end", "The ReLU stands after the classifier, not before it.", BETWEEN, NO_RELU,
            (LOGITS, f"{LOGITS}.relu()")),
    Mistake("M15-pre", "pre_classifier was left out.", ORDER,
            (POOLED, "pooled_output = nn.functional.relu(pooled_output)")),
    Mistake("M15-bare", "pre_classifier and the ReLU were left out.", ORDER, (POOLED, "pass")),
    Mistake("M15-order", "The ReLU comes before pre_classifier.", ORDER,
            (POOLED, "pooled_output = self.pre_classifier(nn.functional.relu(pooled_output))")),
    dropout_at_work("The logits").by((LOGITS, LOGITS.replace("pooled_output", "nn.functional.dropout(pooled_output, "
                                                                              "0.5)"))),
    Mistake("M15-class", "This is the number of the likeliest class, not the logits.", RAW,
            (LOGITS, f"{LOGITS}.argmax(-1)")),
    CHANGED.by((POOLED, "pooled_output[:] = nn.functional.relu(self.pre_classifier(pooled_output))")),
    DTYPE.by((LOGITS, f"{LOGITS}.double()")),
    Mistake("", "logits squeezed: a batch of one has no axis left", "", (LOGITS, f"{LOGITS}.squeeze()")),
]  # fmt: skip


def written(code: str, *more: tuple[str, str]) -> list[tuple[str, str]]:
    """A right answer: this code in place of the two lines."""
    return [(POOLED, "pass"), (LOGITS, code.replace("\n", "\n        ")), *more]


LAST_LAYER = "self.classifier = nn.Linear(config.dim, config.n_classes)"
RIGHT = {
    "functional_call and threshold": written(
        "from torch.func import functional_call\n"
        "x = functional_call(self.pre_classifier, dict(self.pre_classifier.named_parameters()), (pooled_output,))\n"
        "return self.classifier(input=nn.functional.threshold(x, 0.0, 0.0))",
    ),
    "einsum in float64, then back": written(
        "x = torch.einsum('bi,oi->bo', pooled_output.double(), self.pre_classifier.weight.double())\n"
        "x = (x + self.pre_classifier.bias).clamp_min(0)\n"
        "return nn.functional.linear(x, self.classifier.weight.double(), self.classifier.bias.double()).float()",
    ),
    "vmap over the sentences, a walrus": written(
        "def one(pooled):\n"
        "    return self.classifier(torch.where((x := self.pre_classifier(pooled)) > 0, x, 0.0))\n"
        "return torch.vmap(one)(pooled_output)",
    ),
    "a Sequential on the way": written(
        "return nn.Sequential(self.pre_classifier, nn.ReLU(inplace=True), self.classifier)(pooled_output)",
    ),
    "dropout that knows eval mode": written(
        "return self.classifier(self.dropout(self.pre_classifier(pooled_output).relu()))",
        (LAST_LAYER, f"{LAST_LAYER}\n        self.dropout = nn.Dropout(0.2)"),
    ),
    "the classifier by matrix products": written(
        "x = pooled_output @ self.pre_classifier.weight.T + self.pre_classifier.bias\n"
        "return torch.maximum(x, torch.zeros(())) @ self.classifier.weight.T + self.classifier.bias",
    ),
    "clamped": written("return self.classifier(self.pre_classifier(pooled_output).clamp(min=0))"),
}

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer",
    method="classify", given=("pooled_output",),
    shows=("pre_classifier, ReLU, classifier, in this order", "raw scores, no probabilities"),
    axes={"classifier": "batch, labels"},
)  # fmt: skip
