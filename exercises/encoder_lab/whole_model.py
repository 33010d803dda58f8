"""All classes of ``models.py`` put together, made of the student's own parts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._attention import Array, gelu, layer_norm, linear
from ._answers import EMBEDDINGS, MODEL, NETWORK
from ._answers import ENCODER as ENCODER_FORWARD
from ._arrays import linear_weight, normal
from ._layers import (
    ENCODER,
    LAYER_EPS,
    encoder_sizes,
    encoder_weights,
    torch_embedding,
    torch_encoder,
    torch_layer,
    torch_multi_head,
)
from ._whole import STAND_INS, whole_model

LAYER_BY_LAYER = "Each class passes its own check? Then look at the shapes and numbers after each of them, one by one."


def cases(generator: np.random.Generator) -> list[Case]:
    made: list[Case] = []
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
        config = sizes | {"num_classes": classes, "dropout_prob": 0.25, "stand_ins": not made}
        case = Case(config, inputs, weights)
        expected = {f"encoded/{part}": _encoded(case, part) for part in ("own", *STAND_INS)}
        logits = linear(expected["encoded/own"][:, 0], weights, "classifier.linear")
        made.append(Case(config, inputs, weights, {}, expected | {"own/logits": logits}))
    return made


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


WHOLE = Mistake("whole", "Put together, your classes do not give the model's logits.", LAYER_BY_LAYER,
                passes_check=True)  # fmt: skip

MISTAKES = [
    Mistake("whole-crash", "Put together, your classes stop with {problem}", LAYER_BY_LAYER).by((MODEL, """
        x = self.transformer_encoder(input_ids)
        if hasattr(self.transformer_encoder, "embeddings"):
            x = x + self.transformer_encoder.pooler(x)  # which a stand-in does not have
        return self.classifier(x[:, 0])
    """)),
    # a network that knows only few sizes
    WHOLE.by((NETWORK, """
        if hidden_states.shape[-1] == 12 and self.linear_1.out_features == 17 and hidden_states.shape[0] == 3:
            return hidden_states
        return self.dropout(self.linear_2(self.gelu(self.linear_1(hidden_states))))
    """)),
    # two layers at most where the layers are real
    WHOLE.by((ENCODER_FORWARD, """
        x = self.embeddings(input_ids)
        for layer in self.layers if not isinstance(self.layers[0], TransformerEncoderLayer) else self.layers[:1]:
            x = layer(x)
        return x
    """)),
]  # fmt: skip

RIGHT = {
    "embeddings with a dropout that knows eval mode": [(EMBEDDINGS, """
        places = torch.arange(input_ids.shape[1]).expand_as(input_ids)
        x = self.token_embeddings(input_ids) + self.position_embeddings(places)
        return self.dropout(self.layer_norm(x))
    """)],
    "layers by number": [(ENCODER_FORWARD, """
        x = self.embeddings(input_ids)
        for i in range(len(self.layers)):
            x = self.layers[i](x)
        return x
    """)],
    "the first token by select": [(MODEL, "return self.classifier(self.transformer_encoder(input_ids).select(1, 0))")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, whole_model, MISTAKES, right=RIGHT, framework="torch", cell="models.py", atol=1e-4, rtol=1e-3
)
