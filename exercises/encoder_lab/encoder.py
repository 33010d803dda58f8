"""``TransformerEncoder``: the embeddings, then layer after layer."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from ._answers import EMBEDDINGS_INIT, ENCODER, ENCODER_INIT, LAYER, LAYER_INIT, NOT_BEGUN
from ._arrays import normal
from ._layers import ENCODER as SIZE_NAMES
from ._layers import encoder_sizes, part_mistake
from ._rules import DROPPED, SIZES, encoder


def cases(generator: np.random.Generator) -> list[Case]:
    """Embeddings and layers have stand-ins: a tensor, and one linear map after the other."""
    made = []
    for batch, tokens, sizes in (
        (2, 5, encoder_sizes(23, 9, 12, 3, 17, 5)),
        (4, 3, encoder_sizes(19, 7, 8, 4, 11, 6)),
        (1, 4, encoder_sizes(17, 6, 6, 2, 9, 5)),
    ):
        d_model, layers = sizes["d_model"], sizes["num_hidden_layers"]
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "stand_in_embedded": normal(generator, batch, tokens, d_model),
            "stand_in_matrices": normal(generator, layers, d_model, d_model, size=d_model**-0.5),
            "stand_in_shifts": normal(generator, layers, d_model),
        }
        rows = {"embeddings_arguments": SIZE_NAMES[:3], "layer_arguments": SIZE_NAMES[2:5]}
        expected = {name: np.array([[sizes[key] for key in keys]]) for name, keys in rows.items()}
        expected |= {name: np.array(layers) for name in ("length", "distinct", "registered")}
        stood_in = inputs["stand_in_embedded"].astype(np.float64)
        for matrix, shift in zip(inputs["stand_in_matrices"], inputs["stand_in_shifts"], strict=True):
            stood_in = stood_in @ matrix + shift
        expected |= {"own_parts": np.array([True]), "stand_in/output": stood_in}
        made.append(Case(sizes, inputs, expected=expected))
    return made


TABLES = "self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)\n"
NEW = "TransformerEncoderLayer(d_model, num_attention_heads, intermediate_size)"
MANY = "for _ in range(num_hidden_layers)"
LISTED = ("The layers are in a plain Python list: their parameters are invisible to the model.",
          "nn.ModuleList is a list that registers what it holds.")  # fmt: skip
COUNT, STEPS = "num_hidden_layers says how many.", "range(n) counts from 0 to n - 1: that is n steps."
ONCE = "The loop visits every layer once."


def stack(layers: str) -> Patch:
    return ENCODER_INIT, f"{TABLES}self.layers = {layers}"


def forward(code: str) -> Patch:
    return ENCODER, f"x = self.embeddings(input_ids)\n{code}"


def loop(layers: str, step: str = "x = layer(x)", result: str = "return x") -> Patch:
    return forward(f"for layer in {layers}:\n    {step}\n{result}")


ATTENDS, FEEDS = "x = x + layer.attention(layer.layer_norm_1(x))", "x = x + layer.feed_forward(layer.layer_norm_2(x))"
MISTAKES = [
    part_mistake("embeddings", (ENCODER_INIT, f"self.layers = nn.ModuleList({NEW} {MANY})")),
    Mistake("M14-list", *LISTED, (ENCODER_INIT, f"""{TABLES}self.layers = [{NEW} {MANY}]
nn.init.normal_(self.layers[0].attention.output_linear.weight, std=0.02)""")),
    Mistake("M14-list", *LISTED, stack(f"[{NEW} {MANY}]")),
    Mistake("M14-same", "The list holds one and the same layer several times.", "Make a new layer for each position.",
            stack(f"nn.ModuleList([{NEW}] * num_hidden_layers)")),
    Mistake("M14-one", "There is one layer only.", COUNT, stack(f"nn.ModuleList([{NEW}])")),
    Mistake("M14-off", "One layer is missing.", STEPS,
            stack(f"nn.ModuleList({NEW} for _ in range(num_hidden_layers - 1))")),
    Mistake("M14-more", "There is one layer too many.", STEPS,
            stack(f"nn.ModuleList({NEW} for _ in range(num_hidden_layers + 1))")),
    Mistake("M14-heads", "There are as many layers as heads.", COUNT,
            stack(f"nn.ModuleList({NEW} for _ in range(num_attention_heads))")),
    Mistake("M14-first", "Every layer was fed the embeddings: only the last one's work is left.",
            "What one layer gives, the next one takes.", loop("self.layers", "y = layer(x)", "return y")),
    Mistake("M14-behind", "The last layer did not run.", ONCE, loop("self.layers[:-1]")),
    Mistake("M14-late", "The first layer did not run.", ONCE, loop("self.layers[1:]")),
    Mistake("M14-order", "The layers run in reverse order.", "The first one first.", loop("reversed(self.layers)")),
    Mistake("M14-return", "The encoder returned after its first layer.", "Is the return inside the loop?",
            loop("self.layers", "x = layer(x)", "    return x")),
    Mistake("M14-embedded", "What comes out are the embeddings: no layer's work is kept.",
            "The loop must keep what each layer gives.", loop("self.layers", "layer(x)")),
    Mistake("encoder-order", "A layer got its arguments in the wrong order: heads and width are swapped.",
            "d_model, num_attention_heads, intermediate_size.",
            stack(f"nn.ModuleList(TransformerEncoderLayer(d_model, intermediate_size, num_attention_heads) {MANY})")),
    Mistake("encoder-tables", "Embeddings got its arguments in the wrong order.",
            "vocab_size, max_position_embeddings, d_model.", (ENCODER_INIT, f"""
            self.embeddings = Embeddings(max_position_embeddings, vocab_size, d_model)
            self.layers = nn.ModuleList({NEW} {MANY})
        """)),
    SIZES,
    DROPPED,
    CHANGED,
    CUT.by(loop("self.layers", "x = layer(x.detach())")),
    Mistake("encoder-skip", "What a layer gives is added to what it was given.",
            "The skips are inside the layers.", loop("self.layers", "x = x + layer(x)")),
    *(Mistake("", f"its layers' parts one by one, {wrong}", "", loop("self.layers", f"{first}\n    {second}"))
      for wrong, first, second in (
          ("without a norm", ATTENDS, "x = x + layer.feed_forward(x)"),
          ("with the norms exchanged", ATTENDS.replace("_1", "_2"), FEEDS.replace("_2", "_1")),
          ("without a skip", ATTENDS, FEEDS.replace("x + ", "")),
          ("the network first", FEEDS, ATTENDS),
      )),
    Mistake("", "a layer where a list belongs", "", stack(NEW),
            (ENCODER, "return self.layers(self.embeddings(input_ids))")),
]  # fmt: skip

RIGHT = {
    "a Sequential": [(ENCODER_INIT, """
        self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)
        sizes = d_model, num_attention_heads, intermediate_size
        made = [TransformerEncoderLayer(*sizes) for _ in range(num_hidden_layers)]
        self.layers = nn.Sequential(*made)
    """), (ENCODER, """
        x = self.embeddings(input_ids)
        for i in range(len(self.layers)):
            x = self.layers[i](x)
        return x
    """)],
    "named arguments": [(ENCODER_INIT, """
        self.layers = nn.ModuleList()
        for _ in range(num_hidden_layers):
            sizes = dict(intermediate_size=intermediate_size, num_attention_heads=num_attention_heads)
            self.layers.append(TransformerEncoderLayer(d_model=d_model, **sizes))
        self.embeddings = Embeddings(vocab_size, d_model=d_model, max_position_embeddings=max_position_embeddings)
    """)],
    "functools.reduce": [(ENCODER, """
        from functools import reduce
        return reduce(lambda x, layer: layer(x), self.layers, self.embeddings(input_ids))
    """)],
    "layers that return pairs": [(LAYER, """
        h = hidden_states + self.attention(self.layer_norm_1(hidden_states))
        return h + self.feed_forward(self.layer_norm_2(h)), None
    """), (ENCODER, """
        x = self.embeddings(input_ids)
        for layer in self.layers:
            x, _ = layer(x)
        return x
    """)],
    "post-LN layers: that is paid for elsewhere": [
        (LAYER, "return self.layer_norm_2(self.feed_forward(self.layer_norm_1(hidden_states)))"),
    ],
    "a Sequential, called at once": [
        stack(f"nn.Sequential(*[{NEW} {MANY}])"), (ENCODER, "return self.layers(self.embeddings(input_ids))")],
    "parts called with names": [(ENCODER, """
        x = self.embeddings(input_ids=input_ids)
        for layer in self.layers:
            x = layer(hidden_states=x)
        return x
    """)],
    "weights set in __init__": [(ENCODER_INIT, f"""{TABLES}self.layers = nn.ModuleList({NEW} {MANY})
nn.init.normal_(self.embeddings.token_embeddings.weight, std=0.02)""")],
    "its layers' parts one by one": [loop("self.layers", f"{ATTENDS}\n    {FEEDS}")],
    "copies of one layer": [(ENCODER_INIT, f"""{TABLES}import copy
layer = {NEW}
self.layers = nn.ModuleList(copy.deepcopy(layer) {MANY})""")],
    "none of its parts work yet": [(LAYER_INIT, NOT_BEGUN), (EMBEDDINGS_INIT, NOT_BEGUN)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, encoder, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    shows=("as many layers as asked for, each its own", "in order", "shape"),
    axes={"output": "batch, n, d_model"},
)  # fmt: skip
