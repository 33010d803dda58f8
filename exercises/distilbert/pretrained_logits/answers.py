"""Models that give the pretrained logits, and models whose parts are right but that go wrong on real sentences."""

from __future__ import annotations

from .._answers import LAYERS, LOOP, model, wrong

CELL = "classifier_model_answer"

HEAD = """self.dropout = nn.Dropout(0.2)
self.head = lambda x: self.classifier(self.dropout(self.pre_classifier(x).relu()))"""

RIGHT = [
    model("the head as one function, with dropout", more=HEAD, logits="logits = self.head(pooled_output)"),
    model("blocks in a generator", LAYERS.replace("[", "").replace("]", "")),
    model("ids made whole numbers first", loop="input_ids = input_ids.long()\n" + LOOP),
]

HIDDEN_TWICE = """self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.head = nn.Linear(config.dim, config.dim)"""
EMBEDDED = "hidden_states = self.embeddings(input_ids)"
BLOCKS = "enumerate(self.attention_layers)"

WRONG = [
    wrong("at most four blocks are called", "M18", (BLOCKS, "enumerate(self.attention_layers[:4])")),
    wrong("ids above 999 are cut off", "M18", (EMBEDDED, "hidden_states = self.embeddings(input_ids.clamp(max=999))")),
    wrong("at most eight tokens are read", "M18", (EMBEDDED, "hidden_states = self.embeddings(input_ids[:, :8])")),
    wrong(
        "padding is cut off in a batch",
        "M18-batch",
        (
            EMBEDDED,
            f"input_ids = input_ids[:, (input_ids != 0).all(0)]\n        {EMBEDDED}",
        ),
    ),
    wrong(
        "a layer too many",
        "M18-crash",
        ("self.pre_classifier = nn.Linear(config.dim, config.dim)", HIDDEN_TWICE),
    ),
]
