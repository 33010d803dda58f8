"""Wrong ``models.py``: layer, encoder, classification head and the whole model."""

from tests.mistakes.encoder_lab_answer import Answer

LAYER_INIT, LAYER = ("TransformerEncoderLayer", "__init__"), ("TransformerEncoderLayer", "forward")
ENCODER_INIT, ENCODER = ("TransformerEncoder", "__init__"), ("TransformerEncoder", "forward")
CLASSIFICATION_INIT, CLASSIFICATION = ("ClassificationHead", "__init__"), ("ClassificationHead", "forward")
MODEL_INIT, MODEL = (
    ("TransformerForSequenceClassification", "__init__"),
    ("TransformerForSequenceClassification", "forward"),
)

PARTS = """
self.layer_norm_1 = nn.LayerNorm(d_model)
self.attention = MultiHeadAttention({attention})
self.layer_norm_2 = nn.LayerNorm(d_model)
self.feed_forward = FeedForward({network})
"""


def layer(says: str, code: str, mistake: str = "") -> Answer:
    body = "x, n1, n2 = hidden_states, self.layer_norm_1, self.layer_norm_2\na, f = self.attention, self.feed_forward\n"
    return Answer("encoder_layer", says, {LAYER: body + code}, mistake)


LAYER_WRONG = [
    layer("post-LN", "h = n1(x + a(x))\nreturn n2(h + f(h))", "M8-post"),
    layer("no first skip", "h = a(n1(x))\nreturn h + f(n2(h))", "M7-attention"),
    layer("no second skip", "h = x + a(n1(x))\nreturn f(n2(h))", "M7-network"),
    layer("no skip", "return f(n2(a(n1(x))))", "M7-none"),
    layer("skips from the normed", "h = n1(x)\nh = h + a(h)\nh = n2(h)\nreturn h + f(h)", "M7-normed"),
    layer("first skip from the normed", "h = n1(x)\nh = h + a(h)\nreturn h + f(n2(h))", "M7-first-normed"),
    layer("second skip from the normed", "h = n2(x + a(n1(x)))\nreturn h + f(h)", "M7-second-normed"),
    layer("second skip from the input", "h = x + a(n1(x))\nreturn x + f(n2(h))", "M7-place"),
    layer("side by side", "return x + a(n1(x)) + f(n2(x))", "M7-parallel"),
    layer("no norm", "h = x + a(x)\nreturn h + f(h)", "M8-none"),
    layer("no first norm", "h = x + a(x)\nreturn h + f(n2(h))", "M8-first"),
    layer("no second norm", "h = x + a(n1(x))\nreturn h + f(h)", "M8-second"),
    layer("the first norm twice", "h = x + a(n1(x))\nreturn h + f(n1(h))", "M8-shared"),
    layer("norms exchanged", "h = x + a(n2(x))\nreturn h + f(n1(h))", "M8-swapped"),
    layer("norms behind the sublayers", "h = x + n1(a(x))\nreturn h + n2(f(h))", "M8-output"),
    layer("network first", "h = x + f(n1(x))\nreturn h + a(n2(h))", "order"),
    Answer(
        "encoder_layer",
        "the network is not wide",
        {LAYER_INIT: PARTS.format(attention="d_model, num_attention_heads", network="d_model, d_model")},
        "layer-wide",
    ),
    Answer(
        "encoder_layer",
        "the network's arguments exchanged",
        {LAYER_INIT: PARTS.format(attention="d_model, num_attention_heads", network="intermediate_size, d_model")},
        "layer-swapped",
    ),
    Answer(
        "encoder_layer",
        "one head only",
        {LAYER_INIT: PARTS.format(attention="d_model, 1", network="d_model, intermediate_size")},
    ),
]

NEW = "TransformerEncoderLayer(d_model, num_attention_heads, intermediate_size)"
EXCHANGED = "TransformerEncoderLayer(d_model, intermediate_size, num_attention_heads)"
TABLES = "self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)\n"


def stack(says: str, made: str, mistake: str = "") -> Answer:
    return Answer("encoder", says, {ENCODER_INIT: TABLES + f"self.layers = {made}"}, mistake)


def loop(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("encoder", says, {ENCODER: "x = self.embeddings(input_ids)\n" + code}, mistake)


ENCODER_WRONG = [
    stack("a plain list", f"[{NEW} for _ in range(num_hidden_layers)]", "M14-list"),
    stack("one layer many times", f"nn.ModuleList([{NEW}] * num_hidden_layers)", "M14-same"),
    stack("one layer missing", f"nn.ModuleList({NEW} for _ in range(num_hidden_layers - 1))", "M14-off"),
    stack("one layer too many", f"nn.ModuleList({NEW} for _ in range(num_hidden_layers + 1))", "M14-more"),
    stack("as many layers as heads", f"nn.ModuleList({NEW} for _ in range(num_attention_heads))"),
    stack(
        "arguments exchanged",
        f"nn.ModuleList({EXCHANGED} for _ in range(num_hidden_layers))",
        "encoder-order",
    ),
    Answer(
        "encoder",
        "a layer where a list belongs",
        {ENCODER_INIT: TABLES + f"self.layers = {NEW}", ENCODER: "return self.layers(self.embeddings(input_ids))"},
    ),
    Answer(
        "encoder",
        "the tables' arguments exchanged",
        {
            ENCODER_INIT: f"""
                self.embeddings = Embeddings(max_position_embeddings, vocab_size, d_model)
                self.layers = nn.ModuleList({NEW} for _ in range(num_hidden_layers))
            """
        },
        "encoder-tables",
    ),
    loop("every layer fed the embeddings", "for layer in self.layers:\n    y = layer(x)\nreturn y", "M14-first"),
    loop("the last layer left out", "for layer in self.layers[:-1]:\n    x = layer(x)\nreturn x", "M14-behind"),
    loop("the first layer left out", "for layer in self.layers[1:]:\n    x = layer(x)\nreturn x", "M14-late"),
    loop("in reverse order", "for layer in reversed(self.layers):\n    x = layer(x)\nreturn x", "M14-order"),
    loop("return inside the loop", "for layer in self.layers:\n    x = layer(x)\n    return x", "M14-return"),
    loop("results thrown away", "for layer in self.layers:\n    layer(x)\nreturn x", "M14-embedded"),
    loop("every layer with a skip of its own", "for layer in self.layers:\n    x = x + layer(x)\nreturn x"),
]


def head(says: str, code: str, mistake: str = "", points: float = 0.0) -> Answer:
    return Answer("classification_head", says, {CLASSIFICATION: f"return {code}"}, mistake, points)


CLASSIFICATION_WRONG = [
    head("softmax", "self.linear(self.dropout(pooled)).softmax(-1)", "M15-softmax"),
    head("softmax over the batch", "self.linear(self.dropout(pooled)).softmax(0)", "M15-batch"),
    head("log-softmax", "self.linear(self.dropout(pooled)).log_softmax(-1)", "M15-log"),
    head("sigmoid", "self.linear(self.dropout(pooled)).sigmoid()", "M15-sigmoid"),
    head("ReLU behind", "self.linear(self.dropout(pooled)).relu()", "M15-late"),
    head("tanh before", "self.linear(self.dropout(pooled).tanh())", "M15-tanh"),
    head("ReLU before", "self.linear(self.dropout(pooled).relu())", "M15-relu"),
    head("dropout behind the layer", "self.dropout(self.linear(pooled))", "M16-late", 1.0),
    head("no dropout", "self.linear(pooled)", "M16-none", 1.0),
    Answer(
        "classification_head",
        "another share",
        {CLASSIFICATION_INIT: "self.dropout = nn.Dropout(0.1)\nself.linear = nn.Linear(d_model, num_classes)"},
        "head-dropout",
        1.0,
    ),
    Answer(
        "classification_head",
        "sizes exchanged",
        {CLASSIFICATION_INIT: "self.dropout = nn.Dropout(dropout_prob)\nself.linear = nn.Linear(num_classes, d_model)"},
    ),
]


def model(says: str, pooled: str, mistake: str = "") -> Answer:
    return Answer("classifier", says, {MODEL: f"x = self.transformer_encoder(input_ids)\nreturn {pooled}"}, mistake)


WHOLE = "self.transformer_encoder = TransformerEncoder({encoder})\nself.classifier = ClassificationHead({head})"
SIX = "vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers"
MODEL_WRONG = [
    model("the average", "self.classifier(x.mean(1))", "M15-mean"),
    model("the last token", "self.classifier(x[:, -1])", "M15-last"),
    model("the second token", "self.classifier(x[:, 1])", "M15-second"),
    model("the sum", "self.classifier(x.sum(1))", "M15-sum"),
    model("the maximum", "self.classifier(x.amax(1))", "M15-max"),
    model("the first sentence", "self.classifier(x[0])", "M15-sentence"),
    model("all tokens", "self.classifier(x)", "M15-all"),
    model("softmax", "self.classifier(x[:, 0]).softmax(-1)", "M15-softmax"),
    model("ReLU behind", "self.classifier(x[:, 0]).relu()", "M15-relu"),
    model("ReLU before", "self.classifier(x[:, 0].relu())", "M15-early"),
    Answer(
        "classifier", "dropout left at 0.1", {MODEL_INIT: WHOLE.format(encoder=SIX, head="d_model, num_classes, 0.1")}
    ),
    Answer(
        "classifier",
        "two classes, whatever is asked",
        {MODEL_INIT: WHOLE.format(encoder=SIX, head="d_model, 2, dropout_prob")},
    ),
    Answer(
        "classifier",
        "layers and heads exchanged",
        {
            MODEL_INIT: WHOLE.format(
                encoder=SIX.replace(
                    "num_attention_heads, intermediate_size, num_hidden_layers",
                    "num_hidden_layers, intermediate_size, num_attention_heads",
                ),
                head="d_model, num_classes, dropout_prob",
            )
        },
    ),
]

WRONG = [*LAYER_WRONG, *ENCODER_WRONG, *CLASSIFICATION_WRONG, *MODEL_WRONG]
