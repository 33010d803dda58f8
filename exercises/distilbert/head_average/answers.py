"""Averages over the heads that are right or wrong."""

from __future__ import annotations

from textwrap import indent

from autograder.exercise import SampleAnswer


def _right(name: str, body: str) -> SampleAnswer:
    return SampleAnswer(name, "def average_heads(attention_probs):\n" + indent(body, "    ") + "\n")


def _wrong(name: str, mistake: str, returned: str) -> SampleAnswer:
    text = f"""
def average_heads(attention_probs):
    layers = torch.cat([attention_probs[i] for i in range(len(attention_probs))])
    return {returned}
"""
    return SampleAnswer(name, text, mistake=mistake, points=0)


RIGHT = [
    _right(
        "vmap over the layers",
        "layers = torch.cat(tuple(attention_probs.values()))\nreturn torch.vmap(lambda one: one.mean(0))(layers)",
    ),
    _right(
        "a comprehension with a walrus",
        "i = -1\nreturn torch.stack([attention_probs[i].mean((0, 1)) for _ in attention_probs if (i := i + 1) >= 0])",
    ),
    _right(
        "pooled over the heads",
        "layers = torch.cat([attention_probs[i] for i in range(len(attention_probs))]).flatten(2)\n"
        "size = attention_probs[0].shape[-1]\n"
        "return nn.functional.adaptive_avg_pool1d(layers.mT, 1).view(len(attention_probs), size, size)",
    ),
    _right(
        "torch's einops and a weighted sum",
        "from functorch.einops.rearrange import rearrange\n"
        'heads = rearrange(torch.stack(list(attention_probs.values())), "l b h q k -> (l b) q k h")\n'
        "return heads @ torch.full((heads.shape[-1],), 1 / heads.shape[-1])",
    ),
    _right(
        "keywords alone, dtype float64",
        "stacked = torch.stack(tensors=[attention_probs[layer] for layer in sorted(attention_probs.keys())], dim=0)\n"
        "return torch.mean(input=stacked, dim=(1, 2), dtype=torch.float64)",
    ),
    _right("stack of means", "return torch.stack([p.mean(dim=1).squeeze(0) for p in attention_probs.values()])"),
    _right(
        "mean of a stack",
        "return torch.stack([attention_probs[i] for i in sorted(attention_probs)]).squeeze(1).mean(1)",
    ),
    _right(
        "NumPy",
        "import numpy as np\n"
        "return np.stack([attention_probs[i].detach().numpy()[0] for i in range(len(attention_probs))]).mean(axis=1)",
    ),
    _right(
        "sum and division, in place",
        "layers, heads = len(attention_probs), attention_probs[0].shape[1]\n"
        "average = torch.zeros(layers, *attention_probs[0].shape[2:])\n"
        "for i in range(layers):\n"
        "    for head in range(heads):\n"
        "        average[i] += attention_probs[i][0, head] / heads\n"
        "return average",
    ),
    _right(
        "einsum in float64",
        "layers = torch.cat(list(attention_probs.values())).double()\n"
        'return torch.einsum("lhqk->lqk", layers) / layers.shape[1]',
    ),
]

ACCEPTED = {"detach": "The averages are drawn, nothing is trained with them: NumPy arrays are as right."}

WRONG = [
    _wrong("over the keys", "", "layers.mean(-1)"),
    _wrong("over the queries", "M17-axis", "layers.mean(2)"),
    _wrong("over the layers", "M17-layers", "layers.mean(0)"),
    _wrong("over layers and heads", "M17-all", "layers.mean((0, 1))"),
    _wrong("batch axis kept", "M17-batch", "layers.mean(1, keepdim=True)"),
    _wrong("added up", "M17-sum", "layers.sum(1)"),
    _wrong("the largest weight", "M17-max", "layers.amax(1)"),
    _wrong("the first head alone", "M17-head", "layers[:, 0]"),
    _wrong("queries and keys exchanged", "M17-transposed", "layers.mean(1).transpose(1, 2)"),
    _wrong("layers reversed", "", "layers.mean(1).flip(0)"),
    _wrong("the last layer alone", "", "layers.mean(1)[-1]"),
    SampleAnswer(
        "the dictionary is emptied",
        "def average_heads(attention_probs):\n"
        "    layers = []\n"
        "    while attention_probs:\n"
        "        layers.insert(0, attention_probs.popitem()[1].mean(dim=(0, 1)))\n"
        "    return torch.stack(layers)\n",
        mistake="CHANGED",
        points=0,
    ),
    SampleAnswer(
        "averages in the place of the weights",
        "def average_heads(attention_probs):\n"
        "    for i in attention_probs:\n"
        "        attention_probs[i] = attention_probs[i].mean(dim=1)\n"
        "    return torch.cat([attention_probs[i] for i in range(len(attention_probs))])\n",
        mistake="CHANGED",
        points=0,
    ),
]
