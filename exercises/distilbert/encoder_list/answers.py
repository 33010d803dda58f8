"""Lists of blocks that are right or wrong."""

from __future__ import annotations

from typing import Any

from autograder.exercise import SampleAnswer

from .._answers import model, wrong

CELL = "classifier_model_answer"
APPENDED = """self.attention_layers = nn.ModuleList()
for _ in range(config.n_layers):
    self.attention_layers.append(AttentionBlock(config))"""
SEQUENTIAL = "self.attention_layers = nn.Sequential(*[AttentionBlock(config) for _ in range(config.n_layers)])"
INDEXED = """hidden_states = self.embeddings(input_ids=input_ids)
for i in range(self.config.n_layers):
    result = self.attention_layers[i](hidden_states)
    hidden_states = result[0]
    self.attention_probs[i] = result[1].detach()
output = hidden_states"""

EXTENDED = """self.attention_layers = nn.ModuleList()
self.attention_layers.extend(map(AttentionBlock, [config] * config.n_layers))"""
GROWN = """blocks: list[nn.Module] = []
while (made := len(blocks)) < config.n_layers:
    blocks += [AttentionBlock(config)]
self.add_module("attention_layers", nn.ModuleList(modules=blocks))"""

RIGHT = [
    model("a list extended by map", EXTENDED),
    model("grown with a walrus, added by name", GROWN),
    model("a list comprehension in a ModuleList"),
    model("blocks appended one by one, called by number", APPENDED, INDEXED),
    model(
        "Sequential as the list",
        SEQUENTIAL,
        logits="logits = self.classifier(self.pre_classifier(pooled_output).relu())",
    ),
]

LIST = "nn.ModuleList(AttentionBlock(config) for _ in range(config.n_layers))"


def _list(name: str, mistake: str, blocks: str, **others: Any) -> SampleAnswer:
    return wrong(name, mistake, (LIST, blocks), **others)


WRONG = [
    _list("a plain Python list", "M14-list", "[AttentionBlock(config) for _ in range(config.n_layers)]"),
    _list("one block many times", "M14-same", "nn.ModuleList([AttentionBlock(config)] * config.n_layers)"),
    _list("always six blocks", "M14-six", LIST.replace("config.n_layers", "6")),
    _list("a single block", "M14-one", "nn.ModuleList([AttentionBlock(config)])"),
    _list("one block too few", "M14-off", LIST.replace("range(", "range(1, ")),
    _list("one block too many", "M14-more", LIST.replace("config.n_layers", "config.n_layers + 1")),
    _list(
        "linear layers in place of blocks",
        "",
        LIST.replace("AttentionBlock(config)", "nn.Linear(config.dim, config.dim)"),
        costs={"pretrained_logits": 0},
    ),
]

ACCEPTED = {
    "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
}
