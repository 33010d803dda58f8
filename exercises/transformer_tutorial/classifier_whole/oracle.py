"""The classifier made of the student's own attention, blocks, positions and average, without stand-ins.

In place of a part of an earlier notebook that lost its points, or does not pass its check, the classifier has a
ready-made one with weights of its own, so that the part costs nothing twice. A named mistake in the classifier itself
is computed along. Where the classifier is wrong in a way that nobody knows, there is no whole to judge.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_value, named, right, wrong

from ..._attention import layer_norm, linear
from .._block import EPS
from .._classifier import FORWARD_VARIANTS, Array, ClassifierVariant, forward
from .._dot_products import attention
from .._positions import table, transformers_table

#: Exercise of an earlier notebook -> the part that is ready-made where the exercise lost points.
EARLIER = {
    **dict.fromkeys(
        (
            "attention_scores",
            "attention_output",
            "attention_dropout",
            "attention_heads",
            "attention_mask",
            "self_attention_maps",
            "self_attention_forward",
            "block_attention",
            "block_feed_forward",
        ),
        "blocks",
    ),
    **dict.fromkeys(("positional_values", "positional_forward"), "positions"),
    "mean_pooling": "pooling",
}
CLASSIFIER = ("classifier_parts", "classifier_forward", "classifier_padding")
#: What may be ready-made, in the order of the answers' names (``PARTS`` in the course's ``_whole.py``).
PARTS = ("layers", "positions", "blocks", "pooling")
PART_BY_PART = "Each part passes its own check? Then print the shape and a few numbers after each step of forward."

MISTAKES = [
    Mistake("whole-crash", "Put together, your classes stop with {problem}", PART_BY_PART),
    Mistake("whole", "Put together, your classes do not give the classifier's log-probabilities.", PART_BY_PART),
]

Lost = Mapping[str, frozenset[str]]


def make(generator: np.random.Generator) -> list[Case]:
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
    inputs = {"input_ids": ids, **_ready_weights(generator, k, depth, t)}
    return Case(config, inputs, weights, {}, {"log_probabilities": _torch_model(ids, weights, config)})


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


def _own_block(case: Case, masks: tuple[Array | None, ...], x: Array, number: int) -> Array:
    """Block ``number`` = 1, 2, …, whose heads are as wide as a word vector: (b, t, k) -> (b, t, k)"""
    start = f"transformer_blocks.{number - 1}."
    w = {name.removeprefix(start): weight for name, weight in case.weights.items() if name.startswith(start)}
    split = [linear(x, w, f"attention.to_{name}") for name in ("queries", "keys", "values")]
    mixed = linear(_attended(split, case, masks[number - 1]), w, "attention.unify_heads")
    x = layer_norm(x + mixed, w, "norm_1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "mlp.0"), 0), w, "mlp.2"), w, "norm_2", EPS)


def _ready_block(case: Case, masks: tuple[Array | None, ...], x: Array, number: int) -> Array:
    """What ``nn.TransformerEncoderLayer`` computes, whose heads share a word vector: (b, t, k) -> (b, t, k)"""
    w = {
        re.sub("_(weight|bias)$", r".\1", name.removeprefix("ready_")): array[number - 1]
        for name, array in case.inputs.items()
        if name.startswith("ready_")
    }
    split = np.split(linear(x, w, "self_attn_in_proj"), 3, axis=-1)
    x = layer_norm(x + linear(_attended(split, case, masks[number - 1]), w, "self_attn_out_proj"), w, "norm1", EPS)
    return layer_norm(x + linear(np.maximum(linear(x, w, "linear1"), 0), w, "linear2"), w, "norm2", EPS)


def _attended(split: Sequence[Array], case: Case, mask: Array | None) -> Array:
    """Queries, keys and values (b, t, heads * size) -> the heads' outputs, side by side"""
    queries, keys, values = (x.reshape(*x.shape[:2], int(case.config["heads"]), -1) for x in split)
    return attention(queries, keys, values, mask=mask)


def _place(case: Case, ready: bool, x: Array) -> Array:
    places = case.inputs["ready_places"] if ready else table(int(case.config["seq_length"]), x.shape[2])
    return x + places[: x.shape[1]]


def log_probabilities(case: Case, ready: Container[str], lost: Lost) -> Iterator[Array]:
    """(b, classes), once for every way to have made the mistakes that were named in the classifier.

    ready: the parts that are ready-made
    """
    block = _ready_block if "blocks" in ready else _own_block
    for variant, masks in itertools.product(_variants(lost), _masks(case, lost)):
        with np.errstate(invalid="ignore"):
            yield forward(case, variant, partial(_place, case, "positions" in ready), partial(block, case, masks))


def _variants(lost: Lost) -> Iterator[ClassifierVariant]:
    known = [variant for id, variant in FORWARD_VARIANTS.items() if id in lost.get("classifier_forward", ())]
    for variant in known or [ClassifierVariant()]:
        yield variant
        if variant.pool == "real" and "M15-padding" in lost.get("classifier_padding", ()):
            yield from (replace(variant, pool=pool) for pool in ("all", "length", "padding"))


def _masks(case: Case, lost: Lost) -> Iterator[tuple[Array | None, ...]]:
    """What each block was told."""
    real, depth, padding = case.inputs["input_ids"] != 0, int(case.config["depth"]), lost.get("classifier_padding", ())
    if "M10-unsaid" in padding:
        yield from itertools.product((real, None), repeat=depth)
    elif "M10-inverted" in padding:
        yield (~real,) * depth
    else:
        yield (real,) * depth


# --- judging ----------------------------------------------------------------------------------------------------------


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    handed_over = answers.text("ready")
    ready = frozenset(handed_over if isinstance(handed_over, list) else ())
    own, lost = answers.arrays.get("log_probabilities"), _lost(answers)
    wanted = next(log_probabilities(case, ready, {})) if ready else case.expected["log_probabilities"]
    if compare_value("log_probabilities", own, wanted, exercise).passed:
        return right("classifier_whole")
    # what padding lost may follow from a mistake in forward that has a name
    if nameless := [name for name in CLASSIFIER[:2] if name in lost and not lost[name]]:
        message = f"Put together, the classifier cannot be right before these parts are: {', '.join(nameless)}."
        return wrong("classifier_whole", message, "Fix them first: this part has no code of its own.")
    for group in _groups(lost, ready):
        # with dropout at work no number can be compared; the hidden cell switches it off where parts are ready-made
        aside = group or (("dropout",) if "M16" in lost.get("classifier_forward", ()) else ())
        given = answers.arrays.get("_".join(("log_probabilities", *aside)))
        if given is not None and any(
            _close(given, found) for found in log_probabilities(case, ready.union(group), lost)
        ):
            return right(f"classifier_whole, with what is wrong above ({', '.join(lost)}) set aside")
    return _wrong(exercise, case, answers)


def _lost(answers: Answers) -> Lost:
    """Exercise that lost points -> the ids of the mistakes that were named there."""
    found = {}
    for name in (*EARLIER, *CLASSIFIER):
        if answers.charged(f"transformer_tutorial/{name}"):
            checks = answers.earlier[f"transformer_tutorial/{name}"].checks
            found[name] = frozenset(check.mistake for check in checks if check.mistake and not check.passed)
    return found


def _groups(lost: Lost, ready: Container[str]) -> Iterator[tuple[str, ...]]:
    """The parts that may be ready-made here, none of them first."""
    allowed = {EARLIER[name] for name in lost if name in EARLIER}
    allowed |= {"layers"} if "classifier_parts" in lost else set()
    allowed |= {"blocks"} if "attention" in ready else set()  # no weights fit into a block that is ready-made in part
    parts = [part for part in PARTS if part in allowed]
    for size in range(len(parts) + 1):
        yield from itertools.combinations(parts, size)


def _close(given: Array, wanted: Array) -> bool:
    """What follows from a mistake may be no number at all: a block that is told the opposite of the mask."""
    return (
        given.shape == wanted.shape
        and given.dtype.kind == "f"
        and bool(np.allclose(given, wanted, atol=1e-4, rtol=1e-3, equal_nan=True))
    )


def _wrong(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    own, problem = answers.arrays.get("log_probabilities"), answers.text("problem")
    if own is None and isinstance(problem, str):
        return named(exercise, "whole-crash", problem=problem)
    shape = compare_value("log_probabilities", own, case.expected["log_probabilities"], exercise)
    if own is None or own.shape != case.expected["log_probabilities"].shape:
        return wrong("classifier_whole", shape.message, shape.hint)
    return named(exercise, "whole")


EXERCISE = Exercise(
    make, judge, MISTAKES, framework="torch", atol=1e-4, rtol=1e-3, axes={"log_probabilities": "b, num_classes"}
)
