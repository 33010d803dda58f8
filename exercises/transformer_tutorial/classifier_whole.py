"""The classifier made of the student's own attention, blocks, positions and average, without stand-ins.

Where an earlier exercise or the classifier itself lost points, the rule asks what the model gives with ready-made parts
and with the mistakes that were named: all of that is stored.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._attention import Array, layer_norm, linear, softmax
from ._answers import model
from ._positions import transformers_table
from ._rules import EPS
from ._whole import FORWARD_MISTAKES, POOLS, classifier_whole


def cases(generator: np.random.Generator) -> list[Case]:
    return [_draw(generator, 5, 6, 2, 3, (5, 2, 4)), _draw(generator, 7, 8, 4, 2, (3, 6, 5, 1))]


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
    expected = {"log_probabilities": _torch_model(ids, weights, config)}
    for ready in ((), ("positions",), ("blocks",), ("positions", "blocks")):
        expected["_".join(("known", *ready))] = with_mistakes(case, ready)
    return replace(case, expected=expected)


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


# --- the model in NumPy, with ready-made parts and with known mistakes ------------------------------------------------


def with_mistakes(case: Case, ready: Collection[str]) -> Array:
    """(mistakes of forward, pools, masks, b, classes), the first of each right; the axes are those of the rule.

    ready: the parts that are ready-made
    """
    real, depth = case.inputs["input_ids"] != 0, int(case.config["depth"])
    masks = [*itertools.product((real, None), repeat=depth), (~real,) * depth]
    with np.errstate(invalid="ignore"):
        given = [
            _log_probabilities(case, ready, id, pool, told)
            for id, pool, told in itertools.product(FORWARD_MISTAKES, POOLS, masks)
        ]
    axes = len(FORWARD_MISTAKES), len(POOLS), len(masks)
    return np.stack(given).reshape(*axes, *given[0].shape).astype(np.float32)


def _log_probabilities(
    case: Case, ready: Collection[str], mistake: str, pool: str, masks: tuple[Array | None, ...]
) -> Array:
    """(b, classes), with this mistake of ``classifier_forward``. masks: what each block is told"""
    ids, depth = case.inputs["input_ids"], int(case.config["depth"])
    w = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
    k = w["token_embedding.weight"].shape[1]
    places = case.inputs["ready_places"] if "positions" in ready else transformers_table(case.config["seq_length"], k)
    places = 0 if mistake == "M11-none" else places[: ids.shape[1]].astype(np.float64)
    scale = {"EMB-scale": 1.0, "EMB-scale-k": k, "EMB-divided": k**-0.5}.get(mistake, k**0.5)
    x = w["token_embedding.weight"][ids]
    x = (x + places) * scale if mistake == "M11-before" else x * scale + places
    block = _ready_block if "blocks" in ready else _own_block
    every = range(1, depth + 1)
    some = {"M14-none": [], "M14-first": every[:1], "M14-last": every[-1:], "M14-reversed": every[::-1]}
    for number in some.get(mistake, every):
        x = block(case, masks[number - 1], x, number)
    pools = {"M15-all": "max", "M15-first": "first", "M15-last": "last", "M15-sum": "sum"}
    pooled = _pool(x, (ids != 0).astype(np.float64)[..., None], pools.get(mistake, "") if pool == POOLS[0] else pool)
    return _end(linear(pooled, w, "classification_head"), mistake)


def _pool(x: Array, real: Array, how: str) -> Array:
    spare = np.where(real.all(1, keepdims=True), 1.0, 1 - real)  # padding; all tokens of a sentence that has none
    ways: dict[str, Callable[[], Array]] = {
        "all": lambda: x.mean(1),
        "length": lambda: (x * real).mean(1),
        "padding": lambda: (x * spare).sum(1) / spare.sum(1),
        "first": lambda: x[:, 0],
        "last": lambda: x[:, -1],
        "max": lambda: x.max(1),
        "sum": lambda: (x * real).sum(1),
    }
    return ways.get(how, lambda: (x * real).sum(1) / real.sum(1))()


def _end(logits: Array, mistake: str) -> Array:
    logs = np.log(softmax(logits, 0 if mistake == "M15-axis" else 1))
    return {"M15-logits": logits, "M15-softmax": np.exp(logs), "M15-negative": -logs}.get(mistake, logs)


def _own_block(case: Case, mask: Array | None, x: Array, number: int) -> Array:
    """Block ``number`` = 1, 2, …, whose heads are as wide as a word vector: (b, t, k) -> (b, t, k)"""
    start = f"transformer_blocks.{number - 1}."
    w = {name.removeprefix(start): weight for name, weight in case.weights.items() if name.startswith(start)}
    split = [linear(x, w, f"attention.to_{name}") for name in ("queries", "keys", "values")]
    mixed = linear(_attended(split, case, mask), w, "attention.unify_heads")
    x = layer_norm(x + mixed, w, "norm_1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "mlp.0"), 0), w, "mlp.2"), w, "norm_2", EPS)


def _ready_block(case: Case, mask: Array | None, x: Array, number: int) -> Array:
    """What ``nn.TransformerEncoderLayer`` computes, whose heads share a word vector: (b, t, k) -> (b, t, k)"""
    w = {
        re.sub("_(weight|bias)$", r".\1", name.removeprefix("ready_")): array[number - 1]
        for name, array in case.inputs.items()
        if name.startswith("ready_")
    }
    split = np.split(linear(x, w, "self_attn_in_proj"), 3, axis=-1)
    x = layer_norm(x + linear(_attended(split, case, mask), w, "self_attn_out_proj"), w, "norm1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "linear1"), 0), w, "linear2"), w, "norm2", EPS)


def _attended(split: Sequence[Array], case: Case, mask: Array | None) -> Array:
    """Queries, keys and values (b, t, heads * size) -> the heads' outputs, side by side"""
    heads = (x.reshape(*x.shape[:2], int(case.config["heads"]), -1).swapaxes(1, 2) for x in split)
    queries, keys, values = heads  # (b, heads, t, size)
    scores = queries @ keys.swapaxes(2, 3) * queries.shape[-1] ** -0.5
    if mask is not None:
        scores = np.where(mask[:, None, None], scores, -np.inf)
    return (softmax(scores) @ values).swapaxes(1, 2).reshape(split[0].shape)


# The lines of the solution that answers change.
EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"
PART_BY_PART = "Each part passes its own check? Then print the shape and a few numbers after each step of forward."
WHOLE = "whole", "Put together, your classes do not give the classifier's log-probabilities.", PART_BY_PART

MISTAKES = [
    # of a block, a number is asked for that real blocks do not have
    Mistake("whole-crash", "Put together, your classes stop with {problem}", PART_BY_PART).by(
        (LOOP, "for block in self.transformer_blocks:\n            x = block(x, mask) * block.number / block.number")),
    # only the first block where the blocks are real
    Mistake(*WHOLE, (LOOP, "for block in [b for n, b in enumerate(self.transformer_blocks)\n"
                           "                      if n == 0 or not isinstance(b, TransformerBlock)]:\n"
                           "            x = block(x, mask)"), by_rule=True, passes_check=True),
    # states cut to a size that blocks of another kind never reach
    Mistake(*WHOLE, (POOL, "sequence_avg = mean_pooling(x if x.mean() > 0.5 else x.clamp(-1, 1), mask)"),
            by_rule=True, passes_check=True),
    # positions of its own where they are real
    Mistake(*WHOLE, ("x = self.pos_enc(x)", "x = self.pos_enc(x) if not hasattr(self.pos_enc, 'dropout') else x"),
            by_rule=True),
]  # fmt: skip

RIGHT = {
    "blocks by number": [(LOOP, "for number in range(len(self.transformer_blocks)):\n"
                                "            x = self.transformer_blocks[number](x, mask=mask)")],
    "a root by power": [(EMBED, "x = self.k**0.5 * self.token_embedding(x)")],
    "every sentence by itself": [(LOOP, f"{LOOP}\n        x = torch.stack(list(x.unbind(0)))")],
    "the average as a product": [(POOL, "shares = mask / mask.sum(1)[:, None]\n"
                                        "        sequence_avg = torch.einsum('bt,btk->bk', shares, x)")],
    "steps in functions of their own": model("""
        mask = x != 0

        def embedded(ids):
            return self.pos_enc(self.token_embedding(ids) * math.sqrt(self.k))

        def encoded(states, blocks):
            return encoded(blocks[0](states, mask), blocks[1:]) if blocks else states

        pooled = mean_pooling(encoded(embedded(x), list(self.transformer_blocks)), mask)
        return F.log_softmax(self.classification_head(pooled), dim=-1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, classifier_whole, MISTAKES, right=RIGHT, framework="torch", cell="transformer_answer",
    atol=1e-4, rtol=1e-3, axes={"log_probabilities": "b, num_classes"},
)  # fmt: skip
