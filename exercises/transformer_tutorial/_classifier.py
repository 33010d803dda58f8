"""The ``Transformer`` classifier in float64 NumPy, in its right form and in the known wrong ones.

The hidden cells put ``place`` and ``block`` in place of positions and blocks, so that only ``Transformer`` is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from autograder.exercise import Case

Array = np.ndarray


def place(x: Array) -> Array:
    """The hidden cells' stand-in for the positions: adds a tenth of the position"""
    return x + 0.1 * np.arange(x.shape[1])[:, None]


def block(x: Array, number: int) -> Array:
    """The hidden cells' stand-in for block ``number`` = 1, 2, …; in another order the result differs"""
    return np.tanh(x / number) + number


@dataclass(frozen=True)
class ClassifierVariant:
    """What the model does between ids and log-probabilities; the defaults are right."""

    scale: str = "root"  # root | none | k | divided
    positions: str = "after"  # after | before | none
    blocks: str = "all"  # all | none | first | last | reversed
    pool: str = "real"  # real | all | length | padding | first | last | max | sum
    end: str = "log_softmax"  # log_softmax | logits | softmax | batch | negative


#: Mistake of ``classifier_forward`` -> what the model then does.
FORWARD_VARIANTS = {
    id: ClassifierVariant(**wrong)
    for id, wrong in {
        "M15-logits": {"end": "logits"}, "M15-softmax": {"end": "softmax"}, "M15-axis": {"end": "batch"},
        "M15-negative": {"end": "negative"}, "M15-all": {"pool": "max"}, "M15-first": {"pool": "first"},
        "M15-last": {"pool": "last"}, "M15-sum": {"pool": "sum"}, "EMB-scale": {"scale": "none"},
        "EMB-scale-k": {"scale": "k"}, "EMB-divided": {"scale": "divided"}, "M11-none": {"positions": "none"},
        "M11-before": {"positions": "before"}, "M14-none": {"blocks": "none"}, "M14-first": {"blocks": "first"},
        "M14-last": {"blocks": "last"}, "M14-reversed": {"blocks": "reversed"},
    }.items()
}  # fmt: skip


def forward(
    case: Case,
    variant: ClassifierVariant = ClassifierVariant(),
    place: Callable[[Array], Array] = place,
    block: Callable[[Array, int], Array] = block,
) -> Array:
    """The ids (b, t) of the case -> (b, classes), in float64

    place, block: what the positions make of the vectors, and block number 1, 2, … of the states
    """
    ids, depth = case.inputs["input_ids"], int(case.config["depth"])
    w = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
    table = w["token_embedding.weight"]
    factor = {"root": table.shape[1] ** 0.5, "none": 1.0, "k": table.shape[1], "divided": table.shape[1] ** -0.5}
    x = table[ids]
    if variant.positions == "before":
        x = place(x)
    x = x * factor[variant.scale]
    if variant.positions == "after":
        x = place(x)
    numbers = {"all": range(1, depth + 1), "none": [], "first": [1], "last": [depth], "reversed": range(depth, 0, -1)}
    for number in numbers[variant.blocks]:
        x = block(x, number)
    pooled = _pool(x, (ids != 0).astype(np.float64)[..., None], variant.pool)
    return _end(pooled @ w["classification_head.weight"].T + w["classification_head.bias"], variant.end)


def _pool(x: Array, real: Array, how: str) -> Array:
    spare = np.where(real.all(1, keepdims=True), 1.0, 1 - real)  # padding; all tokens of a sentence that has none
    ways: dict[str, Callable[[], Array]] = {
        "real": lambda: (x * real).sum(1) / real.sum(1),
        "all": lambda: x.mean(1),
        "length": lambda: (x * real).mean(1),
        "padding": lambda: (x * spare).sum(1) / spare.sum(1),
        "first": lambda: x[:, 0],
        "last": lambda: x[:, -1],
        "max": lambda: x.max(1),
        "sum": lambda: (x * real).sum(1),
    }
    return ways[how]()


def _end(logits: Array, how: str) -> Array:
    if how == "logits":
        return logits
    axis = 0 if how == "batch" else 1
    shifted = logits - logits.max(axis, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return {"softmax": np.exp(logs), "negative": -logs}.get(how, logs)


def draw(generator: np.random.Generator, b: int, t: int, k: int, depth: int, lengths: tuple[int, ...]) -> Case:
    """lengths: how many real tokens each of the b sentences has; the rest is padding, id 0"""
    num_tokens, num_classes = 4 * k + 1, depth + 1
    config = {"k": k, "heads": 2, "depth": depth, "seq_length": t + 4, "num_tokens": num_tokens,
              "num_classes": num_classes}  # fmt: skip
    weights = {
        "token_embedding.weight": generator.normal(0, 0.7, (num_tokens, k)).astype(np.float32),
        "classification_head.weight": generator.normal(0, 2 * k**-0.5, (num_classes, k)).astype(np.float32),
        "classification_head.bias": generator.normal(0, 0.5, num_classes).astype(np.float32),
    }
    ids = generator.integers(1, num_tokens, (b, t)) * (np.arange(t)[None] < np.array(lengths)[:, None])
    return Case(config, {"input_ids": ids}, weights, {}, {"log_probabilities": _torch_forward(ids, weights, depth)})


def _torch_forward(ids: Array, weights: Mapping[str, Array], depth: int) -> Array:
    """torch's own functions in float64, the stand-ins in NumPy; one sentence at a time, cut to its real tokens."""
    import torch

    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
    rows = []
    for sentence in ids:
        x = torch.nn.functional.embedding(torch.from_numpy(sentence[sentence != 0]), w["token_embedding.weight"])
        states = place((x * x.shape[1] ** 0.5)[None].numpy())
        for number in range(1, depth + 1):
            states = block(states, number)
        pooled = torch.from_numpy(states).mean(1)
        logits = torch.nn.functional.linear(pooled, w["classification_head.weight"], w["classification_head.bias"])
        rows.append(logits.log_softmax(1)[0].numpy())
    return np.stack(rows)
