"""The loop that sends the embeddings through all blocks, and keeps each block's attention weights."""

from __future__ import annotations

import numpy as np

from autograder.exercise import DTYPE, Case, Exercise, Mistake

from ._answers import model
from ._rules import loop_alone
from ._sizes import config

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    """Stand-in layers: layer i gives ``x @ matrix[i] + shift[i]`` and the stored weights, so only the loop is seen."""
    made = []
    for batch, tokens, layers in ((2, 5, 4), (3, 4, 2)):
        sizes = config(3, 2, 7, n_layers=layers)
        dim, heads = sizes["dim"], sizes["n_heads"]
        inputs: dict[str, Array] = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "stand_in_embedded": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32),
            "stand_in_matrices": generator.normal(0, dim**-0.5, (layers, dim, dim)).astype(np.float32),
            "stand_in_shifts": generator.normal(0, 1, (layers, dim)).astype(np.float32),
            "stand_in_attention": generator.dirichlet(np.ones(tokens), (layers, batch, heads, tokens)).astype(
                np.float32
            ),
        }
        x = inputs["stand_in_embedded"].astype(np.float64)
        seen = [x]
        for matrix, shift in zip(inputs["stand_in_matrices"], inputs["stand_in_shifts"], strict=True):
            seen.append(seen[-1] @ matrix + shift)
        expected = {
            "layer_inputs": np.stack(seen[:-1]),
            "pooled": seen[-1][:, 0],
            "attention": inputs["stand_in_attention"],
            "attention_again": inputs["stand_in_attention"][:, ::-1],
        }
        made.append(Case(sizes, inputs, expected=expected))
    return made


# Lines of the solution that mistakes change.
STEP = "encoder_input, self.attention_probs[i] = block(encoder_input)"
LOOP = "for i, block in enumerate(self.attention_layers):"
OUTPUT = "output = encoder_input"
KEPT = "self.attention_probs = {}"
#: Begins the steps of those who do something else with the weights.
TAKEN = "encoder_input, weights = block(encoder_input)\n            "
COUNT = Mistake("M14-count", "{calls} called in one forward pass; the list has {layers}.",
                "The loop visits every block of the list once.")  # fmt: skip
APPENDED = Mistake("M14-appended", "attention_probs grows with every call of the model.",
                   "Store this call's weights under the layer's number, in place of the last call's.")  # fmt: skip
NOT_KEPT = Mistake("M14-kept", "The attention weights were not kept: attention_probs has no tensor per layer.",
                   "A block returns two things; the second one belongs into self.attention_probs[i].")  # fmt: skip
LAST = "The name output must hold what the last block gave."

MISTAKES = [
    COUNT.by((LOOP, LOOP.replace("layers)", "layers[:1])"))),
    COUNT.by((LOOP, LOOP.replace("self.attention_layers", "[]"))),
    COUNT.by((OUTPUT, f"encoder_input, _ = block(encoder_input)\n        {OUTPUT}")),
    Mistake("M14-first", "Every block was fed the embeddings.", "What one block gives is what the next one takes.").by(
        (STEP, "output, self.attention_probs[i] = block(hidden_states)"), (OUTPUT, "output = output")),
    APPENDED.by((KEPT, "self.attention_probs = {i: [] for i in range(config.n_layers)}"),
                (STEP, f"{TAKEN}self.attention_probs[i].append(weights)")),
    APPENDED.by((KEPT, "self.attention_probs = []"), (STEP, f"{TAKEN}self.attention_probs.append(weights)")),
    Mistake("M14-again", "attention_probs still holds the first sentences' weights after a second call.",
            "Assign to attention_probs[i], whatever stands there.").by(
        (STEP, f"{TAKEN}self.attention_probs.setdefault(i, weights)")),
    Mistake("M14-name", "The loop is right, but nothing after it is called output: the result has another name.",
            "The given line below takes output[:, 0]: the comment asks for that name.").by(
        (OUTPUT, "result = encoder_input")),
    NOT_KEPT.by((STEP, STEP.replace("self.attention_probs[i]", "_"))),
    NOT_KEPT.by((STEP, STEP.replace("[i]", "[0]"))),
    Mistake("M14-output", "What is pooled is not the last block's output but the embeddings.", LAST,
            (OUTPUT, "output = hidden_states")),
    Mistake("M14-behind", "What is pooled is the last block's input: one step is missing.", LAST,
            (OUTPUT, "pass"), (STEP, f"output = encoder_input\n            {STEP}")),
    Mistake("M14-backwards", "The blocks were called from the last to the first.",
            "The first block of the list takes the embeddings.",
            (LOOP, LOOP.replace("self.attention_layers", "reversed(self.attention_layers)"))),
    Mistake("M14-order", "attention_probs counts the layers from the end.", "Layer 0 is the first one.",
            (STEP, STEP.replace("[i]", "[self.config.n_layers - 1 - i]"))),
    Mistake("M17-early", "attention_probs keeps an average over the heads.",
            "Keep what the block returns, all heads: (batch, heads, tokens, tokens). The average comes later.",
            (STEP, f"{TAKEN}self.attention_probs[i] = weights.mean(1)")),
    Mistake("M14-last", "attention_probs holds the last layer's weights for every layer.",
            "Store inside the loop, under the loop's own index.",
            (OUTPUT, "self.attention_probs = {j: self.attention_probs[i] for j in range(i + 1)}\n        " + OUTPUT)),
    Mistake("M14-states", "attention_probs keeps the hidden states, not the weights.",
            "A block returns two things; the second one belongs into self.attention_probs[i].",
            (STEP, f"{TAKEN}self.attention_probs[i] = encoder_input")),
    DTYPE.by((OUTPUT, f"{OUTPUT}.double()")),
    Mistake("", "both results fed to the next block", "",
            (STEP, "encoder_input = block(encoder_input)\n            self.attention_probs[i] = encoder_input[1]"),
            (OUTPUT, "output = encoder_input[0]")),
]  # fmt: skip

# What right answers write.
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

RIGHT = {
    "a function that calls itself": model(loop=RECURSIVE),
    "a comprehension with a walrus": model(loop=ZIPPED),
    "reduce": model(loop=REDUCED),
    "a fresh list of weights at every call": model(loop=FRESH_LIST, kept="[]"),
    "a while loop and clamp": model(
        loop=WHILE,
        logits="x = self.pre_classifier(pooled_output).clamp(min=0)\nlogits = self.classifier(x)",
    ),
    "all states kept, weights in one tensor": model(loop=STACKED, kept="None", pooled="output.select(1, 0)"),
    "a fresh list of one for each layer": model(loop=FRESH_DICT, pooled="output[:, :1].squeeze(1)"),
    "the older class name and lists that are overwritten": model(
        kept="{i: [] for i in range(config.n_layers)}",
        called="DistillBertAttention",
        logits="logits = self.classifier(nn.ReLU()(self.pre_classifier(pooled_output)))",
    ),
}

EXERCISE = Exercise(
    cases, loop_alone, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer",
    shows=("every block once, in order", "each takes what the last one gave", "the last output goes on",
           "weights kept, layer by layer"),
)  # fmt: skip
