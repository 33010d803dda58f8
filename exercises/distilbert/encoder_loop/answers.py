"""Loops over the blocks that are right, in many styles, or wrong."""

from __future__ import annotations

from .._answers import model, wrong

CELL = "classifier_model_answer"
FRESH_LIST = """output = self.embeddings(input_ids)
self.attention_probs = []
for layer in self.attention_layers:
    output, weights = layer(output)
    self.attention_probs.append(weights)"""
WHILE = """output, i = self.embeddings(input_ids), 0
while i < len(self.attention_layers):
    output, weights = self.attention_layers[i](output)
    self.attention_probs.update({i: weights})
    i += 1"""
STACKED = """states, kept = [self.embeddings(input_ids)], []
for layer in self.attention_layers:
    state, weights = layer(states[-1])
    states.append(state)
    kept.append(weights)
self.attention_probs = torch.stack(kept)
output = states[-1]"""
FRESH_DICT = """output = self.embeddings(input_ids)
self.attention_probs = {i: [] for i in range(self.config.n_layers)}
for i, layer in enumerate(self.attention_layers):
    output, weights = layer(output)
    self.attention_probs[i].append(weights)"""

RECURSIVE = """def through(x: torch.Tensor, depth: int = 0) -> torch.Tensor:
    if depth == len(self.attention_layers):
        return x
    x, self.attention_probs[depth] = self.attention_layers[depth](x)
    return through(x, depth + 1)

output = through(self.embeddings(input_ids))"""
ZIPPED = """output = self.embeddings(input_ids)
pairs = [(output := both[0], both[1])[1] for layer in self.attention_layers if (both := layer(output))]
self.attention_probs = dict(zip(range(len(pairs)), pairs, strict=True))"""
REDUCED = """from functools import reduce

def step(states, numbered):
    number, layer = numbered
    given, self.attention_probs[number] = layer(states)
    return given

output = reduce(step, enumerate(self.attention_layers), self.embeddings(input_ids))"""

RIGHT = [
    model("a function that calls itself", loop=RECURSIVE),
    model("a comprehension with a walrus", loop=ZIPPED),
    model("reduce", loop=REDUCED),
    model("a fresh list of weights at every call", loop=FRESH_LIST, kept="[]"),
    model(
        "a while loop and clamp",
        loop=WHILE,
        logits="x = self.pre_classifier(pooled_output).clamp(min=0)\nlogits = self.classifier(x)",
    ),
    model("all states kept, weights in one tensor", loop=STACKED, kept="None", pooled="output.select(1, 0)"),
    model("a fresh list of one for each layer", loop=FRESH_DICT, pooled="output[:, :1].squeeze(1)"),
    model(
        "the older class name and lists that are overwritten",
        kept="{i: [] for i in range(config.n_layers)}",
        called="DistillBertAttention",
        logits="logits = self.classifier(nn.ReLU()(self.pre_classifier(pooled_output)))",
    ),
]

STEP = "encoder_input, self.attention_probs[i] = block(encoder_input)"
LOOP = "for i, block in enumerate(self.attention_layers):"
OUTPUT = "output = encoder_input"
KEPT = "self.attention_probs = {}"

WRONG = [
    wrong(
        "every block fed the embeddings",
        "M14-first",
        (STEP, "output, self.attention_probs[i] = block(hidden_states)"),
        (OUTPUT, "output = output"),
    ),
    wrong(
        "from the last block to the first",
        "M14-backwards",
        (LOOP, "for i, block in enumerate(reversed(self.attention_layers)):"),
    ),
    wrong("the first block alone", "M14-count", (LOOP, "for i, block in enumerate(self.attention_layers[:1]):")),
    wrong("no block at all", "M14-count", (LOOP, "for i, block in enumerate([]):")),
    wrong(
        "the last block twice",
        "M14-count",
        (OUTPUT, "encoder_input, _ = block(encoder_input)\n        output = encoder_input"),
    ),
    wrong(
        "weights appended at every call",
        "M14-appended",
        (KEPT, "self.attention_probs = {i: [] for i in range(config.n_layers)}"),
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i].append(weights)"),
    ),
    wrong(
        "weights appended to one list",
        "M14-appended",
        (KEPT, "self.attention_probs = []"),
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs.append(weights)"),
    ),
    wrong(
        "the first sentences' weights stay",
        "M14-again",
        (
            STEP,
            "encoder_input, weights = block(encoder_input)\n            self.attention_probs.setdefault(i, weights)",
        ),
    ),
    wrong("weights not kept", "M14-kept", (STEP, "encoder_input, _ = block(encoder_input)")),
    wrong("weights under one number", "M14-kept", ("self.attention_probs[i]", "self.attention_probs[0]")),
    wrong(
        "the last block's weights for all",
        "M14-last",
        (
            OUTPUT,
            "self.attention_probs = {j: self.attention_probs[i] for j in range(i + 1)}\n        output = encoder_input",
        ),
    ),
    wrong(
        "weights counted from the end",
        "M14-order",
        ("self.attention_probs[i]", "self.attention_probs[self.config.n_layers - 1 - i]"),
    ),
    wrong(
        "weights averaged over the heads",
        "M17-early",
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i] = weights.mean(1)"),
    ),
    wrong("the result under another name", "M14-name", (OUTPUT, "result = encoder_input")),
    wrong("the embeddings go on", "M14-output", (OUTPUT, "output = hidden_states")),
    wrong(
        "the last block's input goes on",
        "M14-behind",
        (OUTPUT, "pass"),
        (STEP, "output = encoder_input\n            " + STEP),
    ),
    wrong(
        "both results fed to the next block",
        "",
        (STEP, "encoder_input = block(encoder_input)\n            self.attention_probs[i] = encoder_input[1]"),
        (OUTPUT, "output = encoder_input[0]"),
        costs={"pretrained_logits": 0},
    ),
    wrong(
        "hidden states in place of weights",
        "",
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i] = encoder_input"),
    ),
]
