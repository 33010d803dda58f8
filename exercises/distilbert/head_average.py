"""The attention weights of every layer, averaged over the heads."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for layers, heads, tokens in ((4, 3, 6), (2, 5, 7)):
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, 1, heads, tokens)).astype(np.float32)
        expected = {"attention_per_layer": stored.astype(np.float64).mean(axis=2)[:, 0]}
        made.append(Case({"n_layers": layers}, {"attention_probs": stored}, expected=expected))
    return made


# The lines of the solution that mistakes change.
LAYERS = "layers = [attention_probs[i] for i in range(len(attention_probs))]"
MEAN = "layers.mean(dim=1)"
APART = "Layers stay apart, heads are averaged."


def averaged(id: str, message: str, hint: str, average: str) -> Mistake:
    return Mistake(id, message, hint, (MEAN, average))


MISTAKES = [
    averaged("M17-axis", "The average runs over the queries, not over the heads.",
             "(batch, heads, queries, keys): the heads are axis 1.", "layers.mean(2)"),
    averaged("M17-keys", "The average runs over the keys, not over the heads.",
             "(batch, heads, queries, keys): the heads are axis 1.", "layers.mean(-1)"),
    averaged("M17-batch", "An axis of one entry is left, of the batch or of the heads.",
             "One sentence, one average: (n_layers, tokens, tokens).",
             "layers.mean(1, keepdim=True)"),
    averaged("M17-layers", "The average runs over the layers: one matrix per head came out.", APART, "layers.mean(0)"),
    averaged("M17-head", "This is the first head alone.", "Average over all heads.", "layers[:, 0]"),
    averaged("M17-sum", "The heads were added up, not averaged: the rows no longer sum to 1.", "A mean, not a sum.",
             "layers.sum(1)"),
    averaged("M17-max", "This is the largest weight over the heads, not the average.", "A mean, not a maximum.",
             "layers.amax(1)"),
    averaged("M17-transposed", "Queries and keys are swapped: the columns sum to 1.",
             "Keep the last two axes in their order.", "layers.mean(1).transpose(1, 2)"),
    averaged("M17-all", "Heads and layers were all averaged into one matrix.", APART, "layers.mean((0, 1))"),
    averaged("M17-all-heads", "The heads are still there: nothing was averaged.", "Average over axis 1.", "layers"),
    averaged("M17-reversed", "The layers stand in reverse order.", "Entry i is layer i.", "layers.mean(1).flip(0)"),
    averaged("M17-last", "This is the last layer alone.", APART, "layers.mean(1)[-1]"),
    CHANGED.by((LAYERS, "layers = []\n    while attention_probs:\n"
                        "        layers.insert(0, attention_probs.popitem()[1])")),
    CHANGED.by((LAYERS, "for i in attention_probs:\n        attention_probs[i] = attention_probs[i].mean(1, True)\n"
                        f"    {LAYERS}")),
]  # fmt: skip

HEAD = "def average_heads(attention_probs):"
RIGHT = {
    "vmap over the layers": variant(
        HEAD,
        "layers = torch.cat(tuple(attention_probs.values()))\nreturn torch.vmap(lambda one: one.mean(0))(layers)",
    ),
    "a comprehension with a walrus": variant(
        HEAD,
        "i = -1\nreturn torch.stack([attention_probs[i].mean((0, 1)) for _ in attention_probs if (i := i + 1) >= 0])",
    ),
    "pooled over the heads": variant(
        HEAD,
        "layers = torch.cat([attention_probs[i] for i in range(len(attention_probs))]).flatten(2)\n"
        "size = attention_probs[0].shape[-1]\n"
        "return nn.functional.adaptive_avg_pool1d(layers.mT, 1).view(len(attention_probs), size, size)",
    ),
    "torch's einops and a weighted sum": variant(
        HEAD,
        "from functorch.einops.rearrange import rearrange\n"
        'heads = rearrange(torch.stack(list(attention_probs.values())), "l b h q k -> (l b) q k h")\n'
        "return heads @ torch.full((heads.shape[-1],), 1 / heads.shape[-1])",
    ),
    "keywords alone, dtype float64": variant(
        HEAD,
        "stacked = torch.stack(tensors=[attention_probs[layer] for layer in sorted(attention_probs.keys())], dim=0)\n"
        "return torch.mean(input=stacked, dim=(1, 2), dtype=torch.float64)",
    ),
    "stack of means": variant(HEAD, "return torch.stack([p.mean(dim=1).squeeze(0) for p in attention_probs.values()])"),
    "mean of a stack": variant(
        HEAD,
        "return torch.stack([attention_probs[i] for i in sorted(attention_probs)]).squeeze(1).mean(1)",
    ),
    "NumPy": variant(
        HEAD,
        "import numpy as np\n"
        "return np.stack([attention_probs[i].detach().numpy()[0] for i in range(len(attention_probs))]).mean(axis=1)",
    ),
    "sum and division, in place": variant(
        HEAD,
        "layers, heads = len(attention_probs), attention_probs[0].shape[1]\n"
        "average = torch.zeros(layers, *attention_probs[0].shape[2:])\n"
        "for i in range(layers):\n"
        "    for head in range(heads):\n"
        "        average[i] += attention_probs[i][0, head] / heads\n"
        "return average",
    ),
    "einsum in float64": variant(
        HEAD,
        "layers = torch.cat(list(attention_probs.values())).double()\n"
        'return torch.einsum("lhqk->lqk", layers) / layers.shape[1]',
    ),
}

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    accepted={"detach": "The averages are drawn, nothing is trained with them: NumPy arrays are as right."},
    shows=("one matrix for each layer", "rows sum to 1", "all heads count alike"),
    axes={"attention_per_layer": "n_layers, tokens, tokens"},
)  # fmt: skip
