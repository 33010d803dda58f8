"""Right ``models.py`` in other styles: layer, encoder, classification head and the whole model."""

from tests.mistakes.encoder_lab_answer import Answer
from tests.mistakes.encoder_lab_classes import (
    EMBEDDINGS_INIT,
    HEADS,
    HEADS_INIT,
    NETWORK,
    NETWORK_INIT,
)
from tests.mistakes.encoder_lab_stacks import (
    CLASSIFICATION,
    CLASSIFICATION_INIT,
    ENCODER,
    ENCODER_INIT,
    LAYER,
    LAYER_INIT,
    MODEL,
    MODEL_INIT,
    SIX,
    WHOLE,
)

LAYER_RIGHT = [
    Answer(
        "encoder_layer",
        "step by step",
        {
            LAYER: """
        x = hidden_states
        x = x + self.attention(self.layer_norm_1(x))
        x = x + self.feed_forward(self.layer_norm_2(x))
        return x
    """
        },
    ),
    Answer(
        "encoder_layer",
        "torch.add and a residual",
        {
            LAYER: """
        residual = hidden_states
        out = self.attention(self.layer_norm_1(residual))
        residual = torch.add(residual, out)
        return torch.add(self.feed_forward(self.layer_norm_2(residual)), residual)
    """
        },
    ),
    Answer(
        "encoder_layer",
        "attention that returns a pair",
        {
            HEADS: "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None",
            LAYER: """
                h = hidden_states + self.attention(self.layer_norm_1(hidden_states))[0]
                return h + self.feed_forward(self.layer_norm_2(h))
            """,
        },
    ),
    Answer(
        "encoder_layer",
        "BERT's eps, named arguments, another order",
        {
            LAYER_INIT: """
        self.feed_forward = FeedForward(d_model=d_model, intermediate_size=intermediate_size)
        self.attention = MultiHeadAttention(d_model=d_model, num_attention_heads=num_attention_heads)
        self.layer_norm_2, self.layer_norm_1 = nn.LayerNorm(d_model, eps=1e-12), nn.LayerNorm(d_model, eps=1e-12)
    """
        },
    ),
    Answer(
        "encoder_layer",
        "its parts' layers one by one",
        {
            LAYER: """
        x = self.layer_norm_1(hidden_states)
        a = self.attention.output_linear(torch.cat([head(x) for head in self.attention.heads], dim=-1))
        h = hidden_states + a
        return h + self.feed_forward.linear_2(self.feed_forward.gelu(self.feed_forward.linear_1(self.layer_norm_2(h))))
    """
        },
    ),
    Answer(
        "encoder_layer",
        "its network wrong: that is paid for elsewhere",
        {NETWORK: "return self.linear_2(self.linear_1(hidden_states))"},
    ),
    Answer(
        "encoder_layer",
        "none of its parts work yet",
        {HEADS_INIT: "raise NotImplementedError()", NETWORK_INIT: "raise NotImplementedError()"},
    ),
]

ENCODER_RIGHT = [
    Answer(
        "encoder",
        "a Sequential",
        {
            ENCODER_INIT: """
            self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)
            sizes = d_model, num_attention_heads, intermediate_size
            made = [TransformerEncoderLayer(*sizes) for _ in range(num_hidden_layers)]
            self.layers = nn.Sequential(*made)
        """,
            ENCODER: """
            x = self.embeddings(input_ids)
            for i in range(len(self.layers)):
                x = self.layers[i](x)
            return x
        """,
        },
    ),
    Answer(
        "encoder",
        "named arguments",
        {
            ENCODER_INIT: """
        self.layers = nn.ModuleList()
        for _ in range(num_hidden_layers):
            sizes = dict(intermediate_size=intermediate_size, num_attention_heads=num_attention_heads)
            self.layers.append(TransformerEncoderLayer(d_model=d_model, **sizes))
        self.embeddings = Embeddings(vocab_size, d_model=d_model, max_position_embeddings=max_position_embeddings)
    """
        },
    ),
    Answer(
        "encoder",
        "functools.reduce",
        {
            ENCODER: """
        from functools import reduce
        return reduce(lambda x, layer: layer(x), self.layers, self.embeddings(input_ids))
    """
        },
    ),
    Answer(
        "encoder",
        "layers that return pairs",
        {
            LAYER: """
                h = hidden_states + self.attention(self.layer_norm_1(hidden_states))
                return h + self.feed_forward(self.layer_norm_2(h)), None
            """,
            ENCODER: "x = self.embeddings(input_ids)\nfor layer in self.layers:\n    x, _ = layer(x)\nreturn x",
        },
    ),
    Answer(
        "encoder",
        "post-LN layers: that is paid for elsewhere",
        {LAYER: "return self.layer_norm_2(self.feed_forward(self.layer_norm_1(hidden_states)))"},
    ),
    Answer(
        "encoder",
        "none of its parts work yet",
        {LAYER_INIT: "raise NotImplementedError()", EMBEDDINGS_INIT: "raise NotImplementedError()"},
    ),
]

CLASSIFICATION_RIGHT = [
    Answer(
        "classification_head",
        "step by step",
        {CLASSIFICATION: "x = self.dropout(pooled)\nx = self.linear(x)\nreturn x"},
    ),
    Answer(
        "classification_head",
        "functional dropout",
        {
            CLASSIFICATION: """
        x = nn.functional.dropout(pooled, self.dropout.p, training=self.training)
        return nn.functional.linear(x, self.linear.weight, self.linear.bias)
    """
        },
    ),
    Answer(
        "classification_head",
        "picks the first token itself",
        {CLASSIFICATION: "return self.linear(self.dropout(pooled[:, 0, :]))"},
    ),
    Answer(
        "classification_head",
        "another order, and a Sequential",
        {
            CLASSIFICATION_INIT: """
            self.linear = nn.Linear(in_features=d_model, out_features=num_classes)
            self.dropout = nn.Dropout(p=dropout_prob)
            self.both = nn.Sequential(self.dropout, self.linear)
        """,
            CLASSIFICATION: "return self.both(pooled)",
        },
    ),
]

MODEL_RIGHT = [
    Answer(
        "classifier",
        "step by step",
        {
            MODEL: """
        x = self.transformer_encoder(input_ids)
        x = x[:, 0, :]
        return self.classifier(x)
    """
        },
    ),
    Answer(
        "classifier",
        "select",
        {MODEL: "return self.classifier(self.transformer_encoder(input_ids).select(dim=1, index=0))"},
    ),
    Answer(
        "classifier",
        "a narrow slice, squeezed",
        {MODEL: "return self.classifier(self.transformer_encoder(input_ids)[:, :1].squeeze(1))"},
    ),
    Answer(
        "classifier",
        "a head that picks the token itself",
        {
            CLASSIFICATION: "return self.linear(self.dropout(pooled[:, 0, :]))",
            MODEL: "return self.classifier(self.transformer_encoder(input_ids))",
        },
    ),
    Answer(
        "classifier",
        "named arguments",
        {
            MODEL_INIT: WHOLE.format(
                encoder=", ".join(f"{name}={name}" for name in SIX.split(", ")),
                head="dropout_prob=dropout_prob, d_model=d_model, num_classes=num_classes",
            )
        },
    ),
    Answer(
        "classifier",
        "none of its parts work yet",
        {ENCODER_INIT: "raise NotImplementedError()", CLASSIFICATION_INIT: "raise NotImplementedError()"},
    ),
]

RIGHT = [*LAYER_RIGHT, *ENCODER_RIGHT, *CLASSIFICATION_RIGHT, *MODEL_RIGHT]
