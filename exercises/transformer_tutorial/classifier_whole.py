"""The classifier made of the student's own attention, blocks, positions and average, without stand-ins.

Where an earlier exercise, or a method, lost points, what the class gives with ready-made parts counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from autograder.exercise import DTYPE, Case, Exercise, Mistake

from .._attention import Array, layer_norm, linear, softmax
from ._classifier_rules import log_probabilities
from ._positions import transformers_table
from ._rules import EPS


def cases(generator: np.random.Generator) -> list[Case]:
    return [_draw(generator, 5, 6, 2, 3, (5, 2, 4)), _draw(generator, 7, 8, 4, 2, (3, 6, 5, 1)),
            _draw(generator, 4, 6, 2, 2, (4,))]  # fmt: skip


def _draw(generator: np.random.Generator, t: int, k: int, heads: int, depth: int, lengths: tuple[int, ...]) -> Case:
    num_tokens, num_classes = 4 * k + 1, depth + 1
    shapes: dict[str, tuple[int, ...]] = {"token_embedding.weight": (num_tokens, k)}
    for i in range(depth):
        block = f"transformer_blocks.{i}."
        shapes |= {f"{block}attention.to_{name}.weight": (k * heads, k) for name in ("queries", "keys", "values")}
        shapes |= _linear(f"{block}attention.unify_heads", k, k * heads)
        shapes |= _linear(f"{block}mlp.0", 2 * k, k) | _linear(f"{block}mlp.2", k, 2 * k)
        shapes |= {f"{block}norm_{n}.{kind}": (k,) for n in (1, 2) for kind in ("weight", "bias")}
    shapes |= _linear("classification_head", num_classes, k)
    sizes = {name: 2 * shape[-1] ** -0.5 if len(shape) == 2 else 0.5 for name, shape in shapes.items()}
    weights = {name: generator.normal(0, sizes[name], shape).astype(np.float32) for name, shape in shapes.items()}
    config = {"k": k, "heads": heads, "depth": depth, "seq_length": t + 4, "num_tokens": num_tokens,
              "num_classes": num_classes}  # fmt: skip
    ids = generator.integers(1, num_tokens, (len(lengths), t)) * (np.arange(t)[None] < np.array(lengths)[:, None])
    case = Case(config, {"input_ids": ids, **_ready_weights(generator, k, depth, t)}, weights)
    ready = {"_".join(parts): _log_probabilities(case, parts) for parts in READY[1:]}
    return replace(case, expected={"log_probabilities": _torch_model(ids, weights, config), **ready})


def _ready_weights(generator: np.random.Generator, k: int, depth: int, t: int) -> dict[str, Array]:
    """Weights of ready-made parts: of each block's ``nn.TransformerEncoderLayer``, and a row for each position."""
    shapes: dict[str, tuple[int, ...]] = {"self_attn_in_proj_weight": (3 * k, k), "self_attn_in_proj_bias": (3 * k,)}
    for name, out, into in (("self_attn_out_proj", k, k), ("linear1", 2 * k, k), ("linear2", k, 2 * k)):
        shapes |= {f"{name}_weight": (out, into), f"{name}_bias": (out,)}
    shapes |= {f"norm{n}_{kind}": (k,) for n in (1, 2) for kind in ("weight", "bias")}
    drawn = {f"ready_{name}": generator.normal(0, 2 * k**-0.5, (depth, *shape)) for name, shape in shapes.items()}
    drawn["ready_places"] = generator.normal(0, 1, (t, k))
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def _linear(name: str, out: int, into: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _torch_model(ids: Array, weights: Mapping[str, Array], config: Mapping[str, int]) -> Array:
    """torch's own functions in float64, one sentence at a time, cut to its real tokens: (b, classes)"""
    import torch
    import torch.nn.functional as F

    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
    k, heads = config["k"], config["heads"]
    places = torch.from_numpy(transformers_table(config["seq_length"], k).astype(np.float64))
    rows = []
    for sentence in ids:
        real = torch.from_numpy(sentence[sentence != 0])
        x = F.embedding(real, w["token_embedding.weight"]) * k**0.5 + places[: len(real)]
        for i in range(config["depth"]):
            own = {name.removeprefix(start): w[name] for start in (f"transformer_blocks.{i}.",) for name in w
                   if name.startswith(start)}  # fmt: skip
            split = [F.linear(x, own[f"attention.to_{name}.weight"]).unflatten(1, (heads, k)).transpose(0, 1)
                     for name in ("queries", "keys", "values")]  # fmt: skip
            mixed = F.scaled_dot_product_attention(*split).transpose(0, 1).flatten(1)
            mixed = F.linear(mixed, own["attention.unify_heads.weight"], own["attention.unify_heads.bias"])
            x = F.layer_norm(x + mixed, (k,), own["norm_1.weight"], own["norm_1.bias"], EPS)
            hidden = F.linear(x, own["mlp.0.weight"], own["mlp.0.bias"]).relu()
            x = F.layer_norm(
                x + F.linear(hidden, own["mlp.2.weight"], own["mlp.2.bias"]), (k,),
                own["norm_2.weight"], own["norm_2.bias"], EPS)  # fmt: skip
        logits = F.linear(x.mean(0), w["classification_head.weight"], w["classification_head.bias"])
        rows.append(logits.log_softmax(0).numpy())
    return np.stack(rows)


# --- the model in NumPy, with ready-made parts ------------------------------------------------------------------------

#: The parts with weights that may be ready-made.
READY = ((), ("positions",), ("blocks",), ("positions", "blocks"))


def _log_probabilities(case: Case, ready: Collection[str]) -> Array:
    """(b, classes), with these parts ready-made."""
    ids, real = case.inputs["input_ids"], (case.inputs["input_ids"] != 0)[..., None]
    w = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
    k = w["token_embedding.weight"].shape[1]
    places = case.inputs["ready_places"] if "positions" in ready else transformers_table(case.config["seq_length"], k)
    x = w["token_embedding.weight"][ids] * k**0.5 + places[: ids.shape[1]].astype(np.float64)
    block = _ready_block if "blocks" in ready else _own_block
    for number in range(1, int(case.config["depth"]) + 1):
        x = block(case, ids != 0, x, number)
    return np.log(softmax(linear((x * real).sum(1) / real.sum(1), w, "classification_head")))


def _own_block(case: Case, mask: Array, x: Array, number: int) -> Array:
    """Block ``number`` = 1, 2, …, whose heads are as wide as a word vector: (b, t, k) -> (b, t, k)"""
    start = f"transformer_blocks.{number - 1}."
    w = {name.removeprefix(start): weight for name, weight in case.weights.items() if name.startswith(start)}
    split = [linear(x, w, f"attention.to_{name}") for name in ("queries", "keys", "values")]
    mixed = linear(_attended(split, case, mask), w, "attention.unify_heads")
    x = layer_norm(x + mixed, w, "norm_1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "mlp.0"), 0), w, "mlp.2"), w, "norm_2", EPS)


def _ready_block(case: Case, mask: Array, x: Array, number: int) -> Array:
    """What ``nn.TransformerEncoderLayer`` computes, whose heads share a word vector: (b, t, k) -> (b, t, k)"""
    w = {
        re.sub("_(weight|bias)$", r".\1", name.removeprefix("ready_")): array[number - 1]
        for name, array in case.inputs.items()
        if name.startswith("ready_")
    }
    split = np.split(linear(x, w, "self_attn_in_proj"), 3, axis=-1)
    x = layer_norm(x + linear(_attended(split, case, mask), w, "self_attn_out_proj"), w, "norm1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "linear1"), 0), w, "linear2"), w, "norm2", EPS)


def _attended(split: Sequence[Array], case: Case, mask: Array) -> Array:
    """Queries, keys and values (b, t, heads * size) -> the heads' outputs, side by side"""
    heads = (x.reshape(*x.shape[:2], int(case.config["heads"]), -1).swapaxes(1, 2) for x in split)
    queries, keys, values = heads  # (b, heads, t, size)
    scores = queries @ keys.swapaxes(2, 3) * queries.shape[-1] ** -0.5
    scores = np.where(mask[:, None, None], scores, -np.inf)
    return (softmax(scores) @ values).swapaxes(1, 2).reshape(split[0].shape)


# The given lines that answers change.
EMBED, ENCODE = "x = self.embed(x)", "sequence_avg = self.encode(x, mask)"
MASK, CLASSIFY = "mask = x != 0", "return self.classify(sequence_avg)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
PART_BY_PART = "Each part passes its own check? Then print the shape and a few numbers after each step of forward."
OTHER = Mistake("whole", "Put together, your classes do not give the classifier's log-probabilities.", PART_BY_PART)

MISTAKES = [
    OTHER.by((ENCODE, "sequence_avg = self.encode(x, torch.ones_like(mask))")),
    OTHER.by((ENCODE, "sequence_avg = self.encode(x, ~mask | mask.all(1, True))")),
    DTYPE.by((CLASSIFY, f"{CLASSIFY}.double()")),
    OTHER.by((CLASSIFY, f"{CLASSIFY}.exp()")),
    OTHER.by((CLASSIFY, f"{CLASSIFY} * 2")),
    # only the first block where the blocks are real
    replace(OTHER, passes_check=True).by(
        (LOOP, "for block in [b for n, b in enumerate(self.transformer_blocks)\n"
               "                      if n == 0 or not isinstance(b, TransformerBlock)]:\n"
               "            x = block(x, mask)"),
    ),
    # states cut to a size that blocks of another kind never reach
    replace(OTHER, passes_check=True).by((ENCODE, f"x = x if x.mean() > 5 else x.clamp(-1, 1)\n        {ENCODE}")),
    # of a block, a number is asked for that real blocks do not have
    Mistake("", "it stops where the blocks are real", "",
            (LOOP, "for block in self.transformer_blocks:\n            x = block(x, mask) * block.number / block.number"
             )),
]  # fmt: skip

RIGHT = {
    "another way to find the padding": [(MASK, "mask = x.bool()")],
    "nested": [
        (EMBED, "pass"), (ENCODE, "pass"), (CLASSIFY, "return self.classify(self.encode(self.embed(x), mask))"),
    ],
    "the mask from a comparison with padding": [(MASK, "mask = torch.logical_not(x == 0)")],
    "__call__ overridden": [("def forward(self, x):", "def __call__(self, x):")],
    "by keywords": [(ENCODE, "sequence_avg = self.encode(x=x, mask=mask)")],
    "every sentence by itself": [
        (ENCODE, "sequence_avg = torch.cat([self.encode(*one) for one in zip(x.split(1), mask.split(1))])"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, log_probabilities, MISTAKES, right=RIGHT, framework="torch",
    cell="transformer_answer", parts=("classifier_parts", "classifier_forward", "classifier_padding"),
    atol=2e-5, rtol=5e-5, axes={"log_probabilities": "b, num_classes"},
)  # fmt: skip
