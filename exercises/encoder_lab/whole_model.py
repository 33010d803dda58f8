"""All classes of ``models.py`` put together, made of the student's own parts."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._attention import linear
from ._answers import EMBEDDINGS, MODEL, NETWORK
from ._answers import ENCODER as ENCODER_FORWARD
from ._arrays import linear_weight, normal
from ._layers import encoder_sizes, encoder_weights, torch_encoder
from ._rules import whole_model

LAYER_BY_LAYER = "Each class passes its own check? Then look at the shapes and numbers after each of them, one by one."


#: The classes, by their exercises: nothing else is the student's.
PARTS = (
    "head_attention", "attention_head", "multi_head_init", "multi_head_attention", "feed_forward", "embeddings",
    "encoder_layer", "encoder", "classification_head", "classifier",
)  # fmt: skip


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        _case(generator, 3, 5, encoder_sizes(23, 9, 12, 3, 17, 2), 4),
        _case(generator, 2, 7, encoder_sizes(19, 8, 8, 4, 11, 3), 3),
        _case(generator, 1, 4, encoder_sizes(17, 6, 8, 2, 10, 2), 5),
    ]


def _case(generator: np.random.Generator, batch: int, tokens: int, sizes: dict[str, int], classes: int) -> Case:
    """The expected logits are those of torch's own layers, in float64."""
    weights = {f"transformer_encoder.{name}": array for name, array in encoder_weights(generator, sizes).items()}
    weights |= {
        "classifier.linear.weight": linear_weight(generator, classes, sizes["d_model"]),
        "classifier.linear.bias": normal(generator, classes),
    }
    ids = generator.integers(1, sizes["vocab_size"], (batch, tokens))
    encoded = torch_encoder(ids, weights, sizes, "transformer_encoder.")
    logits = linear(encoded[:, 0], weights, "classifier.linear")
    return Case(
        sizes | {"num_classes": classes, "dropout_prob": 0.25}, {"input_ids": ids}, weights, {}, {"logits": logits}
    )


WHOLE = Mistake("whole", "Put together, your classes do not give the model's logits.", LAYER_BY_LAYER,
                passes_check=True)  # fmt: skip

MISTAKES = [
    # what a stand-in does not have
    Mistake("", "it stops where the encoder is real", "", (MODEL, """
        x = self.transformer_encoder(input_ids)
        if hasattr(self.transformer_encoder, "embeddings"):
            x = x + self.transformer_encoder.pooler(x)
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
    cases, whole_model, MISTAKES, right=RIGHT, framework="torch", cell="models.py", parts=PARTS, atol=1e-4, rtol=1e-3
)
