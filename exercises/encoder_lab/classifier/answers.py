"""Right and wrong answers to ``classifier``."""

from autograder.exercise import SampleAnswer

from .._answers import CLASSIFICATION, CLASSIFICATION_INIT, ENCODER_INIT, MODEL, MODEL_INIT, NOT_BEGUN

CELL = "models.py"

WHOLE = "self.transformer_encoder = TransformerEncoder({encoder})\nself.classifier = ClassificationHead({head})"
SIX = "vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers"


def _wrong(name: str, pooled: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(
        name, methods={MODEL: f"x = self.transformer_encoder(input_ids)\nreturn {pooled}"}, points=0, mistake=mistake
    )


RIGHT = [
    SampleAnswer(
        "step by step",
        methods={
            MODEL: """
            x = self.transformer_encoder(input_ids)
            x = x[:, 0, :]
            return self.classifier(x)
            """
        },
    ),
    SampleAnswer(
        "select", methods={MODEL: "return self.classifier(self.transformer_encoder(input_ids).select(dim=1, index=0))"}
    ),
    SampleAnswer(
        "a narrow slice, squeezed",
        methods={MODEL: "return self.classifier(self.transformer_encoder(input_ids)[:, :1].squeeze(1))"},
    ),
    SampleAnswer(
        "a head that picks the token itself",
        methods={
            CLASSIFICATION: "return self.linear(self.dropout(pooled[:, 0, :]))",
            MODEL: "return self.classifier(self.transformer_encoder(input_ids))",
        },
    ),
    SampleAnswer(
        "named arguments",
        methods={
            MODEL_INIT: WHOLE.format(
                encoder=", ".join(f"{name}={name}" for name in SIX.split(", ")),
                head="dropout_prob=dropout_prob, d_model=d_model, num_classes=num_classes",
            )
        },
    ),
    SampleAnswer(
        "parts called with names",
        methods={MODEL: "return self.classifier(pooled=self.transformer_encoder(input_ids=input_ids)[:, 0])"},
    ),
    SampleAnswer(
        "a head that picks the token itself, called with a name",
        methods={
            CLASSIFICATION: "return self.linear(self.dropout(pooled[:, 0, :]))",
            MODEL: "return self.classifier(pooled=self.transformer_encoder(input_ids=input_ids))",
        },
    ),
    SampleAnswer(
        "weights set in __init__",
        methods={
            MODEL_INIT: WHOLE.format(encoder=SIX, head="d_model, num_classes, dropout_prob")
            + "\nnn.init.zeros_(self.classifier.linear.bias)"
        },
    ),
    SampleAnswer(
        "its head's layers one by one",
        methods={
            MODEL: """
            pooled = self.transformer_encoder(input_ids)[:, 0]
            return self.classifier.linear(self.classifier.dropout(pooled))
            """
        },
    ),
    SampleAnswer("none of its parts work yet", methods={ENCODER_INIT: NOT_BEGUN, CLASSIFICATION_INIT: NOT_BEGUN}),
]
WRONG = [
    _wrong("the average", "self.classifier(x.mean(1))", "M15-mean"),
    _wrong("the last token", "self.classifier(x[:, -1])", "M15-last"),
    _wrong("the second token", "self.classifier(x[:, 1])", "M15-second"),
    _wrong("the sum", "self.classifier(x.sum(1))", "M15-sum"),
    _wrong("the maximum", "self.classifier(x.amax(1))", "M15-max"),
    _wrong("the first sentence", "self.classifier(x[0])", "M15-sentence"),
    _wrong("all tokens", "self.classifier(x)", "M15-all"),
    _wrong("softmax", "self.classifier(x[:, 0]).softmax(-1)", "M15-softmax"),
    _wrong("ReLU behind", "self.classifier(x[:, 0]).relu()", "M15-relu"),
    _wrong("ReLU before", "self.classifier(x[:, 0].relu())", "M15-early"),
    _wrong("cut from the graph", "self.classifier(x[:, 0]).detach()", "CUT"),
    _wrong("the encoder is not trained along", "self.classifier(x[:, 0].detach())", "CUT"),
    _wrong("the ids are changed", "self.classifier(x[:, 0]) + 0 * input_ids.zero_().sum()", "CHANGED"),
    SampleAnswer(
        "dropout left at 0.1",
        methods={MODEL_INIT: WHOLE.format(encoder=SIX, head="d_model, num_classes, 0.1")},
        points=0,
        mistake="sizes",
    ),
    SampleAnswer(
        "two classes, whatever is asked",
        methods={MODEL_INIT: WHOLE.format(encoder=SIX, head="d_model, 2, dropout_prob")},
        points=0,
        mistake="sizes",
    ),
    SampleAnswer(
        "layers and heads exchanged",
        methods={
            MODEL_INIT: WHOLE.format(
                encoder=SIX.replace(
                    "num_attention_heads, intermediate_size, num_hidden_layers",
                    "num_hidden_layers, intermediate_size, num_attention_heads",
                ),
                head="d_model, num_classes, dropout_prob",
            )
        },
        points=0,
        mistake="sizes",
    ),
]
