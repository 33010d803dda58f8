"""``TransformerForSequenceClassification``: the encoder, the first token, the head."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake, Patch

from ._answers import CLASSIFICATION, CLASSIFICATION_INIT, ENCODER_INIT, MODEL, MODEL_INIT, NOT_BEGUN
from ._arrays import normal
from ._layers import ENCODER, encoder_sizes, part_mistake
from ._rules import DROPPED, SIZES, classifier


def cases(generator: np.random.Generator) -> list[Case]:
    """Encoder and head have stand-ins: a tensor and a linear map."""
    made = []
    for batch, tokens, sizes, classes in (
        (2, 5, encoder_sizes(23, 9, 12, 3, 17, 2), 4),
        (3, 4, encoder_sizes(19, 7, 8, 4, 11, 3), 2),
        (1, 6, encoder_sizes(17, 8, 6, 2, 9, 1), 3),
    ):
        d_model = sizes["d_model"]
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "stand_in_encoded": normal(generator, batch, tokens, d_model),
            "stand_in_head": normal(generator, d_model, classes, size=d_model**-0.5),
            "stand_in_head_shift": normal(generator, classes),
        }
        stood_in = inputs["stand_in_encoded"][:, 0].astype(np.float64)
        expected = {
            "encoder_arguments": np.array([[sizes[name] for name in ENCODER]]),
            "head_arguments": np.array([[d_model, classes, 0.25]]),
            "own_parts": np.array([True, True]),
            "stand_in/logits": stood_in @ inputs["stand_in_head"] + inputs["stand_in_head_shift"],
        }
        config = sizes | {"num_classes": classes, "dropout_prob": 0.25}
        made.append(Case(config, inputs, expected=expected))
    return made


WHOLE = "self.transformer_encoder = TransformerEncoder({encoder})\nself.classifier = ClassificationHead({head})"
SIX = "vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers"
HEAD = "d_model, num_classes, dropout_prob"
FIRST = "[CLS] is the first token of every sentence; its vector stands for all of it."
GIVES = "The model returns what the head gives."


def forward(code: str) -> Patch:
    return MODEL, f"x = self.transformer_encoder(input_ids)\nreturn {code}"


def made_of(encoder: str = SIX, head: str = HEAD) -> Patch:
    return MODEL_INIT, WHOLE.format(encoder=encoder, head=head)


MISTAKES = [
    part_mistake("transformer_encoder", (MODEL_INIT, WHOLE.partition("\n")[2].format(head=HEAD))),
    part_mistake("classifier", (MODEL_INIT, WHOLE.partition("\n")[0].format(encoder=SIX))),
    Mistake("M15-mean", "The tokens were averaged; the assignment asks for the first one.", FIRST,
            forward("self.classifier(x.mean(1))")),
    Mistake("M15-last", "The last token was taken, not the first.", FIRST, forward("self.classifier(x[:, -1])")),
    Mistake("M15-second", "The second token was taken, not the first.", FIRST, forward("self.classifier(x[:, 1])")),
    Mistake("M15-sum", "The tokens were added up.", FIRST, forward("self.classifier(x.sum(1))")),
    Mistake("M15-max", "The largest number over the tokens was taken.", FIRST, forward("self.classifier(x.amax(1))")),
    Mistake("M15-sentence", "The tokens of the first sentence were taken, not the first tokens of the sentences.",
            "The batch is axis 0, the tokens are axis 1.", forward("self.classifier(x[0])")),
    Mistake("M15-all", "Every token has logits of its own.", FIRST, forward("self.classifier(x)")),
    Mistake("M15-softmax", "These are probabilities, not logits.", GIVES,
            forward("self.classifier(x[:, 0]).softmax(-1)")),
    Mistake("M15-relu", "A ReLU was applied to the logits.", GIVES, forward("self.classifier(x[:, 0]).relu()")),
    Mistake("M15-early", "A ReLU was applied before the head.", "The head takes the vector as it is.",
            forward("self.classifier(x[:, 0].relu())")),
    SIZES.by(made_of(head="d_model, num_classes, 0.1")),
    SIZES.by(made_of(head="d_model, 2, dropout_prob")),
    SIZES.by(made_of(SIX.replace("num_attention_heads, intermediate_size, num_hidden_layers",
                                 "num_hidden_layers, intermediate_size, num_attention_heads"))),
    DROPPED,
    CHANGED.by(forward("self.classifier(x[:, 0]) + 0 * input_ids.zero_().sum()")),
    CUT.by(forward("self.classifier(x[:, 0]).detach()")),
    DTYPE.by(forward("self.classifier(x[:, 0]).double()")),
    CUT.by(forward("self.classifier(x[:, 0].detach())")),
]  # fmt: skip

PICKS = (CLASSIFICATION, "return self.linear(self.dropout(pooled[:, 0, :]))")
RIGHT = {
    "step by step": [(MODEL, """
        x = self.transformer_encoder(input_ids)
        x = x[:, 0, :]
        return self.classifier(x)
    """)],
    "select": [(MODEL, "return self.classifier(self.transformer_encoder(input_ids).select(dim=1, index=0))")],
    "a narrow slice, squeezed": [
        (MODEL, "return self.classifier(self.transformer_encoder(input_ids)[:, :1].squeeze(1))"),
    ],
    "a head that picks the token itself": [
        PICKS, (MODEL, "return self.classifier(self.transformer_encoder(input_ids))"),
    ],
    "named arguments": [made_of(
        ", ".join(f"{name}={name}" for name in SIX.split(", ")),
        "dropout_prob=dropout_prob, d_model=d_model, num_classes=num_classes",
    )],
    "parts called with names": [
        (MODEL, "return self.classifier(pooled=self.transformer_encoder(input_ids=input_ids)[:, 0])"),
    ],
    "a head that picks the token itself, called with a name": [
        PICKS, (MODEL, "return self.classifier(pooled=self.transformer_encoder(input_ids=input_ids))"),
    ],
    "weights set in __init__": [
        (MODEL_INIT, f"{WHOLE.format(encoder=SIX, head=HEAD)}\nnn.init.zeros_(self.classifier.linear.bias)"),
    ],
    "its head's layers one by one": [(MODEL, """
        pooled = self.transformer_encoder(input_ids)[:, 0]
        return self.classifier.linear(self.classifier.dropout(pooled))
    """)],
    "none of its parts work yet": [(ENCODER_INIT, NOT_BEGUN), (CLASSIFICATION_INIT, NOT_BEGUN)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, classifier, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    shows=("the parts get their sizes", "[CLS] goes to the head", "one row of logits per sentence"),
    axes={"logits": "batch, num_classes"},
)  # fmt: skip
