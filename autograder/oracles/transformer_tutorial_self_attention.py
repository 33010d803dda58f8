"""References for dropout on the attention weights, and for ``SelfAttention``: its four maps and its forward pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_value
from autograder.oracles.judgements import either_way
from autograder.oracles.transformer_tutorial_attention import OUTPUT, SCORES, oracle

Array = np.ndarray

# --- dropout ----------------------------------------------------------------------------------------------------------

RATE = 0.5


def _make_dropout(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, and a 1 at place t in all of them.

    So the first t numbers of an output are the weights as they were used, and the next one is their sum, unless
    something was dropped behind the weights.
    """
    b, t, k = 3, 6, 9
    inputs = {name: generator.normal(0, 1, (b, t, 1, k)).astype(np.float32) for name in ("queries", "keys")}
    values = np.zeros((b, t, 1, k), dtype=np.float32)
    values[:, :, 0, :t] = np.eye(t)
    values[..., t] = 1
    inputs["values"] = values
    return [Case({"rate": RATE}, inputs, expected={"evaluated": oracle(**inputs)})]


def _failed(name: str, message: str, hint: str) -> Judgement:
    return Judgement([Check(name, False, message, hint, name)])


def judge_dropout(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    want = case.expected["evaluated"]
    for name in ("trained", "evaluated", "evaluated_again"):
        got = answers.arrays.get(name)
        if got is None or got.shape != want.shape or got.dtype.kind != "f":
            return Judgement([compare_value(name, got, want.astype(np.float32), exercise)])
    t = case.inputs["queries"].shape[1]
    trained, evaluated = (answers.arrays[name].astype(np.float64) for name in ("trained", "evaluated"))
    if not np.allclose(evaluated, answers.arrays["evaluated_again"], atol=1e-6):
        return _failed(
            "M16",
            "In eval mode two calls on the same input differ: something is still dropped.",
            "nn.Dropout knows whether the module is in train or in eval mode; functional dropout must be told.",
        )
    right = compare_value("evaluated", answers.arrays["evaluated"], want.astype(np.float32), exercise)
    if not right.passed and not answers.charged(SCORES, OUTPUT):
        return Judgement([right])
    used, weights = trained[..., :t], evaluated[..., :t]
    dropped = used == 0
    if np.allclose(used, weights, atol=1e-6):
        return _failed(
            "DROPOUT-none", "In train mode nothing is dropped.", "The sheet's __init__ made a dropout layer."
        )
    if not dropped.any():
        return _failed(
            "DROPOUT-scores",
            "In train mode the weights change, but none becomes 0.",
            "Were the scores dropped, before the softmax? Weights are what should be.",
        )
    by_key = dropped.all(1) | ~dropped.any(1)  # (b, keys)
    if by_key.all():
        return _failed(
            "DROPOUT-values",
            "A value is dropped for all queries alike.",
            "It is the weights that are dropped: each query loses other keys.",
        )
    if not np.allclose(trained[..., t], used.sum(-1), atol=1e-4):
        return _failed(
            "DROPOUT-output",
            "The output was dropped, number by number; the weights should be.",
            "Which tensor has one number for each query and key?",
        )
    kept = used[~dropped] / np.where(weights == 0, np.inf, weights)[~dropped]
    if np.allclose(kept, 1, atol=1e-3):
        return _failed(
            "DROPOUT-unscaled",
            "What is kept keeps its size, so that on average each output shrinks.",
            "nn.Dropout divides what it keeps by the share that is kept.",
        )
    if not np.allclose(kept, 1 / (1 - case.config["rate"]), atol=1e-2):
        return _failed(
            "DROPOUT-rate",
            "The share that is dropped is not the one that the module was made with.",
            "Use the dropout layer of __init__.",
        )
    return Judgement([Check("dropout", True)])


# --- SelfAttention: the maps ------------------------------------------------------------------------------------------

MAPS = ("to_keys", "to_queries", "to_values")


def _make_maps(generator: np.random.Generator) -> list[Case]:
    cases = []
    for k, heads in ((5, 3), (6, 4)):
        expected = {name: np.array([k * heads, k]) for name in MAPS}
        expected |= {
            "unify_heads": np.array([k, k * heads]),
            "biases": np.array([False] * 3),
            "distinct": np.array(3),
            "registered": np.array(4),
        }
        cases.append(Case({"k": k, "heads": heads}, expected=expected))
    return cases


def _rows(case: Case, rows: int, columns: int) -> dict[str, Array]:
    return {name: np.array([rows, columns]) for name in MAPS}


MAP_MISTAKES = [
    Mistake("MAP-one", "A map gives one vector of size k; it must give one for every head.",
            "All heads share one map: k numbers go in, the vectors of all heads come out, end to end.",
            lambda case: _rows(case, case.config["k"], case.config["k"])),
    Mistake("MAP-turned", "Input and output size have changed places.",
            "nn.Linear takes what goes in first. Its weight has shape (out, in).",
            lambda case: _rows(case, case.config["k"], case.config["k"] * case.config["heads"])),
    Mistake("MAP-wide", "Input and output both have the size of all heads together.",
            "What goes in is one word vector, k numbers.",
            lambda case: _rows(case, case.config["k"] * case.config["heads"], case.config["k"] * case.config["heads"])),
    Mistake("MAP-heads", "A map gives one number per head.", "Each head gets a whole vector of size k.",
            lambda case: _rows(case, case.config["heads"], case.config["k"])),
    Mistake("MAP-eight", "The number of heads is fixed at 8.", "It is an argument of __init__.",
            lambda case: _rows(case, case.config["k"] * 8, case.config["k"])),
    Mistake("MAP-bias", "The maps have a bias; the sheet asks for none.", "nn.Linear has one unless told otherwise.",
            lambda case: {"biases": np.array([True] * 3)}),
    Mistake("MAP-shared", "Keys, queries and values share one map.", "Three layers, three objects.",
            lambda case: {"distinct": np.array(1)}),
    Mistake("MAP-two", "Two of the three maps are one and the same layer.", "Three layers, three objects.",
            lambda case: {"distinct": np.array(2)}),
    Mistake("MAP-unify", "unify_heads does not lead from all heads back to one vector of size k.",
            "What goes in are the vectors of all heads end to end; what comes out has the size of a word vector.",
            lambda case: {"unify_heads": np.array([case.config["k"] * case.config["heads"], case.config["k"]])}),
]  # fmt: skip

# --- SelfAttention: forward -------------------------------------------------------------------------------------------


def mix(queries: Array, keys: Array, values: Array) -> Array:
    """What the hidden cell's stand-in for the attention gives: (b, t, h, k) three times -> (b, t, h*k)"""
    mixed = queries + 2 * keys - 3 * values[:, ::-1]
    return mixed.reshape(*mixed.shape[:2], -1)


def _make_forward(generator: np.random.Generator) -> list[Case]:
    cases = []
    for b, t, heads, k in ((2, 4, 3, 5), (3, 5, 2, 6)):
        weights = {f"{name}.weight": generator.normal(0, k**-0.5, (k * heads, k)).astype(np.float32) for name in MAPS}
        weights["unify_heads.weight"] = generator.normal(0, (k * heads) ** -0.5, (k, k * heads)).astype(np.float32)
        weights["unify_heads.bias"] = generator.normal(0, 0.3, k).astype(np.float32)
        inputs = {"x": generator.normal(0, 1, (b, t, k)).astype(np.float32)}
        case = Case({"k": k, "heads": heads}, inputs, weights)
        cases.append(Case(case.config, inputs, weights, {}, {"output": _torch_unify(mix(*_split(case)), weights)}))
    return cases


def _torch_unify(merged: Array, weights: dict[str, Array]) -> Array:
    import torch

    unify = torch.nn.Linear(merged.shape[-1], len(weights["unify_heads.bias"])).double()
    unify.load_state_dict(
        {kind: torch.from_numpy(weights[f"unify_heads.{kind}"].astype(np.float64)) for kind in ("weight", "bias")}
    )
    with torch.no_grad():
        return unify(torch.from_numpy(np.ascontiguousarray(merged))).numpy()


def _split(
    case: Case, order: Sequence[str] = ("to_queries", "to_keys", "to_values"), how: str = "right"
) -> list[Array]:
    """Queries, keys and values of each head, (b, t, h, k); ``how`` is a way to get them wrong."""
    x = case.inputs["x"].astype(np.float64)
    (b, t, k), heads = x.shape, case.config["heads"]
    parts = []
    for name in order:
        flat = x @ case.weights[f"{name}.weight"].T.astype(np.float64)
        if how == "interleaved":
            parts.append(flat.reshape(b, t, k, heads).swapaxes(2, 3))
        elif how == "viewed":
            parts.append(flat.reshape(b, heads, t, k).swapaxes(1, 2))
        elif how == "transposed":
            parts.append(flat.reshape(b, t, heads, k).swapaxes(1, 2))
        else:
            parts.append(flat.reshape(b, t, heads, k))
    return parts


FORWARD_SLIPS: Sequence[tuple[str, str, str, Mapping[str, Any]]] = [
    ("SPLIT-inter", "The heads are interleaved: the last axis was taken for (k, h).",
     "A map lays the heads end to end: h times k numbers.", {"how": "interleaved"}),
    ("SPLIT-view", "The heads were cut out of the wrong axis: a head mixes numbers of different tokens.",
     "Each token's numbers are split for themselves: the token axis stays where it is.", {"how": "viewed"}),
    ("SPLIT-turned", "The attention was given (b, h, t, k); it asks for (b, t, h, k).",
     "DotProductAttention moves the heads itself.", {"how": "transposed"}),
    ("SPLIT-swap", "Queries and keys have changed places.", "Which map makes which?",
     {"order": ("to_keys", "to_queries", "to_values")}),
    ("SPLIT-values", "Keys and values have changed places.", "Which map makes which?",
     {"order": ("to_queries", "to_values", "to_keys")}),
    ("SPLIT-all", "All three come from one map.", "Each has its own.",
     {"order": ("to_queries", "to_queries", "to_queries")}),
    ("SPLIT-all-keys", "All three come from one map.", "Each has its own.",
     {"order": ("to_keys", "to_keys", "to_keys")}),
]  # fmt: skip


def judge_forward(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    check = compare_value("output", answers.arrays.get("output"), case.expected["output"], exercise)
    got = answers.arrays.get("output")
    if check.passed or got is None or got.shape != case.expected["output"].shape:
        return Judgement([check])
    # Whoever attends without self.attention never meets the stand-in, and is right as well.
    if np.allclose(got, _torch_unify(oracle(*_split(case)), dict(case.weights)), atol=1e-4, rtol=1e-3):
        return Judgement([Check("output", True)])
    for name, message, hint, wrong in FORWARD_SLIPS:
        parts = _split(case, **wrong)
        if wrong.get("how") == "transposed":
            merged = mix(*parts).reshape(*case.inputs["x"].shape[:2], -1)
        else:
            merged = mix(*parts)
        if np.allclose(got, _torch_unify(merged, dict(case.weights)), atol=1e-4, rtol=1e-3):
            return _failed(name, message, hint)
    return Judgement(
        [
            Check(
                "output",
                False,
                "What the attention was given does not follow from the three maps. " + check.message,
                "Map x, then split the last axis into (heads, k), three times.",
            )
        ]
    )


EXERCISES = [
    Exercise(
        _make_dropout, either_way(judge_dropout), framework="torch", slug="transformer_tutorial/attention_dropout"
    ),
    Exercise(_make_maps, mistakes=MAP_MISTAKES, framework="torch", slug="transformer_tutorial/self_attention_maps"),
    Exercise(_make_forward, judge_forward, framework="torch", slug="transformer_tutorial/self_attention_forward"),
]
