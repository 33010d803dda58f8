"""``TransformerForSequenceClassification``: the encoder, the first token, the head."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, without_side_effects

from ..._attention import linear, softmax
from .._arrays import Wrong, linear_weight, normal
from .._attempts import judge_attempts
from .._layers import ENCODER, encoder_sizes, encoder_weights, part_mistakes, torch_encoder
from .._naming import NAMES, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, sizes, classes in (
        (2, 5, encoder_sizes(23, 9, 12, 3, 17, 2), 4),
        (3, 4, encoder_sizes(19, 7, 8, 4, 11, 3), 2),
    ):
        d_model = sizes["d_model"]
        weights = {f"transformer_encoder.{name}": array for name, array in encoder_weights(generator, sizes).items()}
        weights |= {
            "classifier.linear.weight": linear_weight(generator, classes, d_model),
            "classifier.linear.bias": normal(generator, classes),
        }
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "encoded": normal(generator, batch, tokens, d_model),
            "head_matrix": normal(generator, d_model, classes, size=d_model**-0.5),
            "head_shift": normal(generator, classes),
        }
        config = sizes | {"num_classes": classes, "dropout_prob": 0.25}
        case = Case(config, inputs, weights)
        first = torch_encoder(inputs["input_ids"], weights, sizes, "transformer_encoder.")[:, 0]
        expected = {
            "encoder_arguments": np.array([[sizes[name] for name in ENCODER]]),
            "head_arguments": np.array([[d_model, classes, 0.25]]),
            "own_parts": np.array([True, True]),
            "stand_in/logits": _pooled(lambda x: x[:, 0])(case)["logits"],
            "own/logits": linear(first, weights, "classifier.linear"),
        }
        cases.append(Case(config, inputs, weights, {}, expected))
    return cases


def _pooled(pool: Callable[[Array], Array], finish: Callable[[Array], Array] | None = None) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        logits = (
            pool(case.inputs["encoded"].astype(np.float64)) @ case.inputs["head_matrix"] + case.inputs["head_shift"]
        )
        return {"logits": logits if finish is None else finish(logits)}

    return answers


LOOK_AT_FIRST = "[CLS] is the first token of every sentence; its vector stands for all of it."


MISTAKES = [
    *part_mistakes("transformer_encoder", "classifier"),
    Mistake(
        "M15-mean",
        "The tokens were averaged; the assignment asks for the first one.",
        LOOK_AT_FIRST,
        _pooled(lambda x: x.mean(1)),
    ),
    Mistake("M15-last", "The last token was taken, not the first.", LOOK_AT_FIRST, _pooled(lambda x: x[:, -1])),
    Mistake("M15-second", "The second token was taken, not the first.", LOOK_AT_FIRST, _pooled(lambda x: x[:, 1])),
    Mistake("M15-sum", "The tokens were added up.", LOOK_AT_FIRST, _pooled(lambda x: x.sum(1))),
    Mistake("M15-max", "The largest number over the tokens was taken.", LOOK_AT_FIRST, _pooled(lambda x: x.max(1))),
    Mistake(
        "M15-sentence",
        "The tokens of the first sentence were taken, not the first tokens of the sentences.",
        "The batch is axis 0, the tokens are axis 1.",
        _pooled(lambda x: x[0]),
    ),
    Mistake("M15-all", "Every token has logits of its own.", LOOK_AT_FIRST, _pooled(lambda x: x)),
    Mistake(
        "M15-softmax",
        "These are probabilities, not logits.",
        "The model returns what the head gives.",
        _pooled(lambda x: x[:, 0], softmax),
    ),
    Mistake(
        "M15-relu",
        "A ReLU was applied to the logits.",
        "The model returns what the head gives.",
        _pooled(lambda x: x[:, 0], lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-early",
        "A ReLU was applied before the head.",
        "The head takes the vector as it is.",
        _pooled(lambda x: np.maximum(x[:, 0], 0)),
    ),
    *NAMES,
    *SIDE_EFFECTS,
]


_judge = with_names(
    without_side_effects(judge_attempts),
    encoder_arguments="TransformerEncoder",
    head_arguments="ClassificationHead",
)
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")
