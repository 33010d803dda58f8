"""Right and wrong answers to ``encoder``."""

from autograder.exercise import SampleAnswer

from .._answers import EMBEDDINGS_INIT, ENCODER, ENCODER_INIT, LAYER, LAYER_INIT, NOT_BEGUN

CELL = "models.py"

NEW = "TransformerEncoderLayer(d_model, num_attention_heads, intermediate_size)"
EXCHANGED = "TransformerEncoderLayer(d_model, intermediate_size, num_attention_heads)"
TABLES = "self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)\n"


def _wrong(name: str, code: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(name, methods={ENCODER: "x = self.embeddings(input_ids)\n" + code}, points=0, mistake=mistake)


def _stack(name: str, made: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(name, methods={ENCODER_INIT: TABLES + f"self.layers = {made}"}, points=0, mistake=mistake)


RIGHT = [
    SampleAnswer(
        "a Sequential",
        methods={
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
    SampleAnswer(
        "named arguments",
        methods={
            ENCODER_INIT: """
            self.layers = nn.ModuleList()
            for _ in range(num_hidden_layers):
                sizes = dict(intermediate_size=intermediate_size, num_attention_heads=num_attention_heads)
                self.layers.append(TransformerEncoderLayer(d_model=d_model, **sizes))
            self.embeddings = Embeddings(vocab_size, d_model=d_model, max_position_embeddings=max_position_embeddings)
            """
        },
    ),
    SampleAnswer(
        "functools.reduce",
        methods={
            ENCODER: """
            from functools import reduce
            return reduce(lambda x, layer: layer(x), self.layers, self.embeddings(input_ids))
            """
        },
    ),
    SampleAnswer(
        "layers that return pairs",
        methods={
            LAYER: """
            h = hidden_states + self.attention(self.layer_norm_1(hidden_states))
            return h + self.feed_forward(self.layer_norm_2(h)), None
            """,
            ENCODER: "x = self.embeddings(input_ids)\nfor layer in self.layers:\n    x, _ = layer(x)\nreturn x",
        },
    ),
    SampleAnswer(
        "post-LN layers: that is paid for elsewhere",
        methods={LAYER: "return self.layer_norm_2(self.feed_forward(self.layer_norm_1(hidden_states)))"},
    ),
    SampleAnswer(
        "a Sequential, called at once",
        methods={
            ENCODER_INIT: TABLES + f"self.layers = nn.Sequential(*[{NEW} for _ in range(num_hidden_layers)])",
            ENCODER: "return self.layers(self.embeddings(input_ids))",
        },
    ),
    SampleAnswer(
        "parts called with names",
        methods={
            ENCODER: """
            x = self.embeddings(input_ids=input_ids)
            for layer in self.layers:
                x = layer(hidden_states=x)
            return x
            """
        },
    ),
    SampleAnswer(
        "weights set in __init__",
        methods={
            ENCODER_INIT: TABLES
            + f"self.layers = nn.ModuleList({NEW} for _ in range(num_hidden_layers))\n"
            + "nn.init.normal_(self.embeddings.token_embeddings.weight, std=0.02)"
        },
    ),
    SampleAnswer(
        "its parts' layers one by one",
        methods={
            ENCODER: """
            x = self.embeddings(input_ids)
            for layer in self.layers:
                x = x + layer.attention(layer.layer_norm_1(x))
                x = x + layer.feed_forward(layer.layer_norm_2(x))
            return x
            """
        },
    ),
    SampleAnswer(
        "copies of one layer",
        methods={
            ENCODER_INIT: TABLES
            + f"import copy\nlayer = {NEW}\n"
            + "self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(num_hidden_layers))"
        },
    ),
    SampleAnswer("none of its parts work yet", methods={LAYER_INIT: NOT_BEGUN, EMBEDDINGS_INIT: NOT_BEGUN}),
]
WRONG = [
    SampleAnswer(
        "a plain list of layers whose weights are set",
        methods={
            ENCODER_INIT: TABLES
            + f"self.layers = [{NEW} for _ in range(num_hidden_layers)]\n"
            + "nn.init.normal_(self.layers[0].attention.output_linear.weight, std=0.02)"
        },
        points=0,
        mistake="M14-list",
    ),
    _stack("a plain list", f"[{NEW} for _ in range(num_hidden_layers)]", "M14-list"),
    _stack("one layer many times", f"nn.ModuleList([{NEW}] * num_hidden_layers)", "M14-same"),
    _stack("one layer missing", f"nn.ModuleList({NEW} for _ in range(num_hidden_layers - 1))", "M14-off"),
    _stack("one layer too many", f"nn.ModuleList({NEW} for _ in range(num_hidden_layers + 1))", "M14-more"),
    _stack("as many layers as heads", f"nn.ModuleList({NEW} for _ in range(num_attention_heads))", "M14-heads"),
    _stack("arguments exchanged", f"nn.ModuleList({EXCHANGED} for _ in range(num_hidden_layers))", "encoder-order"),
    SampleAnswer(
        "no embeddings of its own",
        methods={ENCODER_INIT: f"self.layers = nn.ModuleList({NEW} for _ in range(num_hidden_layers))"},
        points=0,
        mistake="part-embeddings",
    ),
    _wrong("every layer fed the embeddings", "for layer in self.layers:\n    y = layer(x)\nreturn y", "M14-first"),
    _wrong("the last layer left out", "for layer in self.layers[:-1]:\n    x = layer(x)\nreturn x", "M14-behind"),
    _wrong("the first layer left out", "for layer in self.layers[1:]:\n    x = layer(x)\nreturn x", "M14-late"),
    _wrong("in reverse order", "for layer in reversed(self.layers):\n    x = layer(x)\nreturn x", "M14-order"),
    _wrong("return inside the loop", "for layer in self.layers:\n    x = layer(x)\n    return x", "M14-return"),
    _wrong("results thrown away", "for layer in self.layers:\n    layer(x)\nreturn x", "M14-embedded"),
    _wrong("every layer with a skip of its own", "for layer in self.layers:\n    x = x + layer(x)\nreturn x"),
    SampleAnswer(
        "a layer where a list belongs",
        methods={
            ENCODER_INIT: TABLES + f"self.layers = {NEW}",
            ENCODER: "return self.layers(self.embeddings(input_ids))",
        },
        points=0,
    ),
    SampleAnswer(
        "the tables' arguments exchanged",
        methods={
            ENCODER_INIT: f"""
            self.embeddings = Embeddings(max_position_embeddings, vocab_size, d_model)
            self.layers = nn.ModuleList({NEW} for _ in range(num_hidden_layers))
            """
        },
        points=0,
        mistake="encoder-tables",
    ),
]
