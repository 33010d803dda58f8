"""The classifier after the encoder; everything before it is a stand-in that returns one stored tensor."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, dropout_at_work

from ._answers import model
from ._rules import classifier_alone
from ._sizes import config

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
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
            "stand_in_final": generator.normal(0, 1.5, (batch, tokens, dim)).astype(np.float32),
        }
        made.append(Case(sizes, inputs, weights, {}, {"logits": _torch_classifier(inputs["stand_in_final"], weights)}))
    return made


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


# Lines of the solution that mistakes change.
CLS = "pooled_output = output[:, 0]"
POOLED = "pooled_output = nn.functional.relu(self.pre_classifier(pooled_output))"
LOGITS = "logits = self.classifier(pooled_output)"
NO_RELU = (POOLED, "pooled_output = self.pre_classifier(pooled_output)")
ORDER = "pre_classifier, then ReLU, then classifier."
BETWEEN = "The ReLU stands between the two linear layers."
IS_POOLED = "pooled_output already holds what the classifier takes."
AVERAGED = "The tokens were averaged; the assignment asks for the [CLS] token."
LAST = "The last token was taken; [CLS] is the first one."
RAW = "The model returns raw scores; a softmax belongs to whoever wants probabilities."


def taken(tokens: str) -> tuple[str, str]:
    return POOLED, POOLED.replace("(pooled_output)", f"({tokens})")


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
    Mistake("M15-mean", AVERAGED, IS_POOLED, taken("output.mean(1)")),
    Mistake("M15-mean", AVERAGED, IS_POOLED, (CLS, "pooled_output = output.mean(dim=1)")),
    Mistake("M15-last", LAST, IS_POOLED, taken("output[:, -1]")),
    Mistake("M15-last", LAST, IS_POOLED, (CLS, "pooled_output = output[:, -1]")),
    Mistake("M15-token", "The second token was taken; [CLS] is the first one.", IS_POOLED,
            (CLS, "pooled_output = output[:, 1]")),
    Mistake("M15-order", "The ReLU comes before pre_classifier.", ORDER,
            (POOLED, "pooled_output = self.pre_classifier(nn.functional.relu(pooled_output))")),
    dropout_at_work("The logits").by((LOGITS, LOGITS.replace("pooled_output", "nn.functional.dropout(pooled_output, "
                                                                              "0.2)"))),
    Mistake("M15-tokens", "Every token is classified, not the sentence.", IS_POOLED, taken("output")),
    Mistake("M15-class", "This is the number of the likeliest class, not the logits.", RAW,
            (LOGITS, f"{LOGITS}.argmax(-1)")),
    Mistake("M15-sentence", "The first sentence's tokens are classified; [CLS] is the first token of each sentence.",
            IS_POOLED, (CLS, "pooled_output = output[0]")),
]  # fmt: skip

RIGHT = {
    "functional_call and threshold": model(
        logits="from torch.func import functional_call\n"
        "x = functional_call(self.pre_classifier, dict(self.pre_classifier.named_parameters()), (pooled_output,))\n"
        "logits = self.classifier(input=nn.functional.threshold(x, 0.0, 0.0))",
    ),
    "einsum in float64, then back": model(
        logits="x = torch.einsum('bi,oi->bo', pooled_output.double(), self.pre_classifier.weight.double())\n"
        "x = (x + self.pre_classifier.bias).clamp_min(0)\n"
        "logits = nn.functional.linear(x, self.classifier.weight.double(), self.classifier.bias.double()).float()",
    ),
    "vmap over the sentences, a walrus": model(
        logits="def one(pooled):\n"
        "    return self.classifier(torch.where((x := self.pre_classifier(pooled)) > 0, x, 0.0))\n"
        "logits = torch.vmap(one)(pooled_output)",
    ),
    "a Sequential on the way": model(
        logits="logits = nn.Sequential(self.pre_classifier, nn.ReLU(inplace=True), self.classifier)(pooled_output)",
    ),
    "dropout that knows eval mode": model(
        more="self.dropout = nn.Dropout(0.2)",
        logits="x = nn.functional.relu(self.pre_classifier(pooled_output))\nlogits = self.classifier(self.dropout(x))",
    ),
    "the head as Sequential": model(
        more="self.head = nn.Sequential(self.pre_classifier, nn.ReLU(), self.classifier)",
        logits="logits = self.head(pooled_output)",
    ),
    "the classifier by matrix products": model(
        logits="x = pooled_output @ self.pre_classifier.weight.T + self.pre_classifier.bias\n"
        "logits = torch.maximum(x, torch.zeros(())) @ self.classifier.weight.T + self.classifier.bias",
    ),
}

EXERCISE = Exercise(
    cases, classifier_alone, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer",
    shows=("pre_classifier, ReLU, classifier, in this order", "raw scores, no probabilities"),
    axes={"logits": "batch, labels"},
)  # fmt: skip
