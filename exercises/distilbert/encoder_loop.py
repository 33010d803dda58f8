"""The loop that sends the embeddings through all blocks, and keeps each block's attention weights."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake

from ._rules import loop
from ._sizes import config

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    """Stand-in layers: layer i gives ``x @ matrix[i] + shift[i]`` and the stored weights, so only the loop is seen."""
    made = []
    for batch, tokens, layers in ((2, 5, 4), (3, 4, 2)):
        sizes = config(3, 2, 7, n_layers=layers)
        dim, heads = sizes["dim"], sizes["n_heads"]
        inputs: dict[str, Array] = {
            "hidden_states": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32),
            "stand_in_matrices": generator.normal(0, dim**-0.5, (layers, dim, dim)).astype(np.float32),
            "stand_in_shifts": generator.normal(0, 1, (layers, dim)).astype(np.float32),
            "stand_in_attention": generator.dirichlet(np.ones(tokens), (layers, batch, heads, tokens)).astype(
                np.float32
            ),
        }
        seen = [inputs["hidden_states"].astype(np.float64)]
        for matrix, shift in zip(inputs["stand_in_matrices"], inputs["stand_in_shifts"], strict=True):
            seen.append(seen[-1] @ matrix + shift)
        expected = {
            "layer_inputs": np.stack(seen[:-1]),
            "output": seen[-1],
            "attention": inputs["stand_in_attention"],
            "attention_again": inputs["stand_in_attention"][:, ::-1],
        }
        made.append(Case(sizes, inputs, expected=expected))
    return made


# Lines of the solution that mistakes change.
STEP = "hidden_states, self.attention_probs[i] = block(hidden_states)"
LOOP = "for i, block in enumerate(self.attention_layers):"
RETURN = "return hidden_states"
KEPT = "self.attention_probs = {}"
#: Begins the steps of those who do something else with the weights.
TAKEN = "hidden_states, weights = block(hidden_states)\n            "
COUNT = Mistake("M14-count", "{calls} called in one forward pass; the list has {layers}.",
                "The loop visits every block of the list once.")  # fmt: skip
APPENDED = Mistake("M14-appended", "attention_probs grows with every call of the model.",
                   "Store this call's weights under the layer's number, in place of the last call's.")  # fmt: skip
NOT_KEPT = Mistake("M14-kept", "The attention weights were not kept: attention_probs has no tensor per layer.",
                   "A block returns two things; the second one belongs into self.attention_probs[i].")  # fmt: skip
LAST = "encode returns what the last block gave."

MISTAKES = [
    COUNT.by((LOOP, LOOP.replace("layers)", "layers[:1])"))),
    COUNT.by((LOOP, LOOP.replace("self.attention_layers", "[]"))),
    COUNT.by((RETURN, f"hidden_states, _ = block(hidden_states)\n        {RETURN}")),
    Mistake("M14-first", "Every block was fed the embeddings.", "What one block gives is what the next one takes.").by(
        (STEP, "output, self.attention_probs[i] = block(hidden_states)"), (RETURN, "return output")),
    APPENDED.by((KEPT, "self.attention_probs = {i: [] for i in range(config.n_layers)}"),
                (STEP, f"{TAKEN}self.attention_probs[i].append(weights)")),
    APPENDED.by((KEPT, "self.attention_probs = []"), (STEP, f"{TAKEN}self.attention_probs.append(weights)")),
    Mistake("M14-again", "attention_probs still holds the first sentences' weights after a second call.",
            "Assign to attention_probs[i], whatever stands there.").by(
        (STEP, f"{TAKEN}self.attention_probs.setdefault(i, weights)")),
    NOT_KEPT.by((STEP, STEP.replace("self.attention_probs[i]", "_"))),
    NOT_KEPT.by((STEP, STEP.replace("[i]", "[0]"))),
    Mistake("M14-output", "What is returned is not the last block's output but the embeddings.", LAST,
            (LOOP, f"embedded = hidden_states\n        {LOOP}"), (RETURN, "return embedded")),
    Mistake("M14-behind", "What is returned is the last block's input: one step is missing.", LAST,
            (STEP, f"fed = hidden_states\n            {STEP}"), (RETURN, "return fed")),
    Mistake("M14-pooled", "What is returned is the vector of [CLS] alone.",
            "forward takes it out of what encode returns.",
            (RETURN, f"{RETURN}[:, 0]")),
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
            (RETURN, "self.attention_probs = {j: self.attention_probs[i] for j in range(i + 1)}\n        " + RETURN)),
    Mistake("M14-states", "attention_probs keeps the hidden states, not the weights.",
            "A block returns two things; the second one belongs into self.attention_probs[i].",
            (STEP, f"{TAKEN}self.attention_probs[i] = hidden_states")),
    DTYPE.by((RETURN, f"{RETURN}.double()")),
    CHANGED.by((LOOP, f"given = hidden_states\n        {LOOP}"),
               (RETURN, f"given[:] = hidden_states\n        {RETURN}")),
    Mistake("", "both results fed to the next block", "",
            (STEP, "hidden_states = block(hidden_states)\n            self.attention_probs[i] = hidden_states[1]"),
            (RETURN, f"{RETURN}[0]")),
    Mistake("", "nothing returned", "", (RETURN, "pass")),
]  # fmt: skip

WHOLE_LOOP = f"{LOOP}\n            {STEP}\n        {RETURN}"


def written(code: str, kept: str = "{}") -> list[tuple[str, str]]:
    """A right answer: this code in place of the whole loop, with this beginning of ``attention_probs``."""
    return [(KEPT, f"self.attention_probs = {kept}"), (WHOLE_LOOP, code.replace("\n", "\n        "))]


RIGHT = {
    "a function that calls itself": written(
        "def through(x, depth=0):\n"
        "    if depth == len(self.attention_layers):\n"
        "        return x\n"
        "    x, self.attention_probs[depth] = self.attention_layers[depth](x)\n"
        "    return through(x, depth + 1)\n\n"
        "return through(hidden_states)"
    ),
    "a comprehension with a walrus": written(
        "x = hidden_states\n"
        "pairs = [(x := both[0], both[1])[1] for layer in self.attention_layers if (both := layer(x))]\n"
        "self.attention_probs = dict(zip(range(len(pairs)), pairs, strict=True))\n"
        "return x"
    ),
    "reduce": written(
        "from functools import reduce\n\n"
        "def step(states, numbered):\n"
        "    number, layer = numbered\n"
        "    given, self.attention_probs[number] = layer(states)\n"
        "    return given\n\n"
        "return reduce(step, enumerate(self.attention_layers), hidden_states)"
    ),
    "a fresh list of weights at every call": written(
        "self.attention_probs = []\n"
        "for layer in self.attention_layers:\n"
        "    hidden_states, weights = layer(hidden_states)\n"
        "    self.attention_probs.append(weights)\n"
        "return hidden_states",
        kept="[]",
    ),
    "a while loop": written(
        "i = 0\n"
        "while i < self.config.n_layers:\n"
        "    hidden_states, weights = self.attention_layers[i](hidden_states)\n"
        "    self.attention_probs.update({i: weights.detach()})\n"
        "    i += 1\n"
        "return hidden_states"
    ),
    "all states kept, weights in one tensor": written(
        "states, kept = [hidden_states], []\n"
        "for layer in self.attention_layers:\n"
        "    state, weights = layer(states[-1])\n"
        "    states.append(state)\n"
        "    kept.append(weights)\n"
        "self.attention_probs = torch.stack(kept)\n"
        "return states[-1]",
        kept="None",
    ),
    "a fresh list of one for each layer": written(
        "self.attention_probs = {i: [] for i in range(self.config.n_layers)}\n"
        "for i, layer in enumerate(self.attention_layers):\n"
        "    hidden_states, weights = layer(hidden_states)\n"
        "    self.attention_probs[i].append(weights)\n"
        "return hidden_states"
    ),
    "the older class name and lists that are overwritten": [
        (KEPT, "self.attention_probs = {i: [] for i in range(config.n_layers)}"),
        ("class DistilBertClassifier(", "class DistillBertAttention("),
    ],
}

EXERCISE = Exercise(
    cases, loop, MISTAKES, right=RIGHT, framework="torch", cell="classifier_model_answer",
    shows=("every block once, in order", "each takes what the last one gave", "the last output is returned",
           "weights kept, layer by layer"),
)  # fmt: skip
