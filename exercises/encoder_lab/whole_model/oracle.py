"""All classes of ``models.py`` put together: ``TransformerForSequenceClassification`` made of the student's own parts.

Where a class lost its points by a named mistake, a stand-in takes its place here, so that it costs nothing twice; a
mistake in the last class is taken into account. A class that is unfinished, or wrong in a way that nobody knows, has
none: there would be no whole to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_value, named, right, wrong

from ..._attention import Array, gelu, layer_norm, linear, softmax
from .._arrays import linear_weight, normal
from .._layers import ENCODER, LAYER_EPS, encoder_sizes, encoder_weights, torch_embedding, torch_encoder, torch_layer
from .._torch_multi_head import torch_multi_head

#: Exercise -> the part that has a stand-in where the exercise lost points.
PARTS = {
    **dict.fromkeys(("head_attention", "attention_head", "multi_head_init", "multi_head_attention"), "attention"),
    "feed_forward": "feed_forward",
    "embeddings": "embeddings",
    "encoder_layer": "layer",
    "encoder": "encoder",
    "classification_head": "head",
    "classifier": "classifier",
}
STAND_INS = ("attention", "feed_forward", "embeddings", "layer", "encoder")
#: Mistake of the last class -> what goes to the head; and what is made of the head's logits.
POOLED: dict[str, Callable[[Array], Array]] = {
    "M15-mean": lambda x: x.mean(1),
    "M15-last": lambda x: x[:, -1],
    "M15-second": lambda x: x[:, 1],
    "M15-sum": lambda x: x.sum(1),
    "M15-max": lambda x: x.max(1),
    "M15-sentence": lambda x: x[0],
    "M15-all": lambda x: x,
    "M15-early": lambda x: np.maximum(x[:, 0], 0),
}
FINISHED: dict[str, Callable[[Array], Array]] = {"M15-softmax": softmax, "M15-relu": lambda x: np.maximum(x, 0)}
LAYER_BY_LAYER = "Each class passes its own check? Then look at the shapes and numbers after each of them, one by one."

MISTAKES = [
    Mistake("whole-crash", "Put together, your classes stop with {problem}", LAYER_BY_LAYER),
    Mistake("whole", "Put together, your classes do not give the model's logits.", LAYER_BY_LAYER),
]


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, sizes, classes in (
        (3, 5, encoder_sizes(23, 9, 12, 3, 17, 2), 4),
        (2, 7, encoder_sizes(19, 8, 8, 4, 11, 3), 3),
    ):
        d_model, layers = sizes["d_model"], sizes["num_hidden_layers"]
        weights = {f"transformer_encoder.{name}": array for name, array in encoder_weights(generator, sizes).items()}
        weights |= {
            "classifier.linear.weight": linear_weight(generator, classes, d_model),
            "classifier.linear.bias": normal(generator, classes),
        }
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "encoded": normal(generator, batch, tokens, d_model),
            "matrices": normal(generator, layers, d_model, d_model, size=d_model**-0.5),
            "shifts": normal(generator, layers, d_model),
            "head_matrix": normal(generator, d_model, classes, size=d_model**-0.5),
            "head_shift": normal(generator, classes),
        }
        config = sizes | {"num_classes": classes, "dropout_prob": 0.25, "stand_ins": not cases}
        case = Case(config, inputs, weights)
        expected = {f"encoded/{part}": _encoded(case, part) for part in ("own", *STAND_INS)}
        cases.append(
            Case(config, inputs, weights, {}, expected | {"own/logits": _classified(case, expected["encoded/own"])})
        )
    return cases


def _encoded(case: Case, part: str) -> Array:
    """What the encoder gives with a stand-in for this part, in float64: (batch, tokens, d_model)"""
    ids, encoded = case.inputs["input_ids"], case.inputs["encoded"].astype(np.float64)
    sizes = {name: int(case.config[name]) for name in ENCODER}
    prefix = "transformer_encoder."
    if part == "own":
        return torch_encoder(ids, case.weights, sizes, prefix)
    if part == "encoder":
        return encoded
    own = {name.removeprefix(prefix): array for name, array in case.weights.items() if name.startswith(prefix)}
    x = encoded if part == "embeddings" else torch_embedding(ids, _below(own, "embeddings."), "")
    for i in range(sizes["num_hidden_layers"]):
        x = _layer(x, _below(own, f"layers.{i}."), sizes["num_attention_heads"], case, part, i)
    return x


def _layer(x: Array, weights: Mapping[str, Array], heads: int, case: Case, part: str, number: int) -> Array:
    def stand_in(y: Array) -> Array:
        return y @ case.inputs["matrices"][number].astype(np.float64) + case.inputs["shifts"][number]

    if part == "layer":
        return stand_in(x)
    if part == "embeddings":
        return torch_layer(x, weights, heads)
    normed = layer_norm(x, weights, "layer_norm_1", LAYER_EPS)
    attended = (
        stand_in(normed) if part == "attention" else torch_multi_head(normed, _below(weights, "attention."), heads)
    )
    x = x + attended
    normed = layer_norm(x, weights, "layer_norm_2", LAYER_EPS)
    if part == "feed_forward":
        return x + stand_in(normed)
    wide = gelu(linear(normed, weights, "feed_forward.linear_1"))
    return x + linear(wide, weights, "feed_forward.linear_2")


def _below(weights: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}


def _classified(case: Case, encoded: Array) -> Array:
    return linear(encoded[:, 0], case.weights, "classifier.linear")


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    charged = [name for name in PARTS if answers.charged(f"encoder_lab/{name}")]
    own = answers.arrays.get("own/logits")
    if "classifier" not in charged and compare_value("logits", own, case.expected["own/logits"], exercise).passed:
        return right("whole_model")
    if not charged:
        return _wrong(exercise, case, answers)
    ids = {name: _named(answers, name) for name in charged}
    if nameless := [name for name in charged if not ids[name]]:
        message = f"Put together, your classes cannot be right before these parts are: {', '.join(nameless)}."
        return wrong("whole_model", message, "Fix them first: this part has no code of its own.")
    if not case.config["stand_ins"]:
        return right("whole_model")  # the case with stand-ins decides
    part = _cover({PARTS[name] for name in charged} & set(STAND_INS))
    head = "classification_head" in charged
    given = answers.arrays.get(f"{part}{'_head' if head else ''}/logits")
    if part == "encoder" and head:
        return wrong("whole_model", "Too little of your model is right to be put together.", LAYER_BY_LAYER)
    for wanted in _logits(case, part, head, ids.get("classifier", frozenset())):
        if compare_value("logits", given, wanted, exercise).passed:
            return right(f"whole_model, with what is wrong above ({', '.join(charged)}) set aside")
    return _wrong(exercise, case, answers)


def _named(answers: Answers, name: str) -> frozenset[str]:
    checks = answers.earlier[f"encoder_lab/{name}"].checks
    return frozenset(check.mistake for check in checks if check.mistake and not check.passed)


def _cover(parts: set[str]) -> str:
    """The smallest part whose stand-in leaves none of these parts in the model."""
    if not parts:
        return "own"
    if len(parts) == 1:
        return parts.pop()
    return "layer" if parts <= {"attention", "feed_forward", "layer"} else "encoder"


def _logits(case: Case, part: str, head: bool, mistakes: frozenset[str]) -> Iterator[Array]:
    """With these stand-ins; and, where the last class lost its points, with the mistakes that were named there."""
    encoded = case.expected[f"encoded/{part}"]
    matrix, shift = case.weights["classifier.linear.weight"].T, case.weights["classifier.linear.bias"]
    if head:
        matrix, shift = case.inputs["head_matrix"], case.inputs["head_shift"]
    known = mistakes & (POOLED.keys() | FINISHED.keys())
    for mistake in known or [""]:  # none at all, or one that leaves the logits as they are: a cut from the graph, say
        pooled = POOLED.get(mistake, lambda x: x[:, 0])(encoded)
        yield FINISHED.get(mistake, lambda x: x)(pooled @ matrix.astype(np.float64) + shift)


def _wrong(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    own, problem = answers.arrays.get("own/logits"), answers.text("problem")
    if own is None and isinstance(problem, str):
        return named(exercise, "whole-crash", problem=problem)
    shape = compare_value("logits", own, case.expected["own/logits"], exercise)
    if own is None or own.shape != case.expected["own/logits"].shape:
        return wrong("whole_model", shape.message, shape.hint)
    return named(exercise, "whole")


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch", atol=1e-4, rtol=1e-3)
