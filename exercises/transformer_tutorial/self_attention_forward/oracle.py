"""``SelfAttention.forward``: what the attention is given must be each head's queries, keys and values.

The hidden cell puts ``mix`` in place of the attention; whoever attends without ``self.attention`` is right as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    dropout_at_work,
    find_mistake,
    named,
    right,
    unsteady,
    without_side_effects,
    wrong,
)
from autograder.exercise.likeness import likeness

from ..._attention import linear
from .._dot_products import attention
from .._given import ATTENTION_MISTAKES, RATE_MISTAKE, as_given, in_attention
from ..self_attention_maps.oracle import MAPS

Array = np.ndarray
RIGHT_ORDER = ("to_queries", "to_keys", "to_values")


def mix(queries: Array, keys: Array, values: Array) -> Array:
    """The hidden cell's stand-in for the attention: (b, t, h, k) three times -> (b, t, h*k)"""
    mixed = queries + 2 * keys - 3 * values[:, ::-1]
    return mixed.reshape(*mixed.shape[:2], -1)


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for b, t, heads, k in ((2, 4, 3, 5), (3, 5, 2, 6)):
        weights = {f"{name}.weight": generator.normal(0, k**-0.5, (k * heads, k)).astype(np.float32) for name in MAPS}
        weights["unify_heads.weight"] = generator.normal(0, (k * heads) ** -0.5, (k, k * heads)).astype(np.float32)
        weights["unify_heads.bias"] = generator.normal(0, 0.3, k).astype(np.float32)
        inputs = {"x": generator.normal(0, 1, (b, t, k)).astype(np.float32)}
        case = Case({"k": k, "heads": heads}, inputs, weights)
        expected = {"output": _torch_unify(mix(*_split(case)), weights)}
        cases.append(Case(case.config, inputs, weights, {}, expected))
    return cases


def _torch_unify(merged: Array, weights: dict[str, Array]) -> Array:
    import torch

    unify = torch.nn.Linear(merged.shape[-1], len(weights["unify_heads.bias"])).double()
    unify.load_state_dict(
        {kind: torch.from_numpy(weights[f"unify_heads.{kind}"].astype(np.float64)) for kind in ("weight", "bias")}
    )
    with torch.no_grad():
        return unify(torch.from_numpy(np.ascontiguousarray(merged))).numpy()


def _split(case: Case, order: Sequence[str] = RIGHT_ORDER, how: str = "right") -> list[Array]:
    """Queries, keys and values of each head, (b, t, h, k); ``how`` is a way to get them wrong."""
    x = case.inputs["x"].astype(np.float64)
    (b, t, k), heads = x.shape, case.config["heads"]
    parts = []
    for name in order:
        flat = linear(x, case.weights, name)
        if how == "interleaved":
            parts.append(flat.reshape(b, t, k, heads).swapaxes(2, 3))
        elif how == "viewed":
            parts.append(flat.reshape(b, heads, t, k).swapaxes(1, 2))
        elif how == "transposed":
            parts.append(flat.reshape(b, t, heads, k).swapaxes(1, 2))
        else:
            parts.append(flat.reshape(b, t, heads, k))
    return parts


def _known(id: str, message: str, hint: str, order: Sequence[str] = RIGHT_ORDER, how: str = "right") -> Mistake:
    def answers(case: Case) -> dict[str, Array]:
        b, t, _ = case.inputs["x"].shape
        return {"output": linear(mix(*_split(case, order, how)).reshape(b, t, -1), case.weights, "unify_heads")}

    return Mistake(id, message, hint, answers)


#: The right order of the maps, and those that have a mistake of their own.
NAMED_ORDERS = (
    RIGHT_ORDER,
    ("to_keys", "to_queries", "to_values"),
    ("to_queries", "to_values", "to_keys"),
    ("to_queries",) * 3,
    ("to_keys",) * 3,
)
MISTAKES = [
    _known("SPLIT-inter", "The heads are interleaved: the last axis was taken for (k, h).",
           "A map lays the heads end to end: h times k numbers.", how="interleaved"),
    _known("SPLIT-view", "The heads were cut out of the wrong axis: a head mixes numbers of different tokens.",
           "Each token's numbers are split for themselves: the token axis stays where it is.", how="viewed"),
    _known("SPLIT-turned", "The attention was given (b, h, t, k); it asks for (b, t, h, k).",
           "DotProductAttention moves the heads itself.", how="transposed"),
    _known("SPLIT-swap", "Queries and keys have changed places.", "Which map makes which?",
           ("to_keys", "to_queries", "to_values")),
    _known("SPLIT-values", "Keys and values have changed places.", "Which map makes which?",
           ("to_queries", "to_values", "to_keys")),
    _known("SPLIT-all", "All three come from one map.", "Each has its own.", ("to_queries",) * 3),
    _known("SPLIT-all-keys", "All three come from one map.", "Each has its own.", ("to_keys",) * 3),
    *(
        _known("SPLIT-others", f"The attention was given what {', '.join(order)} make, in this order.",
               "It asks for queries, keys and values.", order)
        for order in product(RIGHT_ORDER, repeat=3)
        if order not in NAMED_ORDERS
    ),
    dropout_at_work("What comes out"),
    *ATTENTION_MISTAKES,
    RATE_MISTAKE,
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("output")
    check = compare_value("output", got, case.expected["output"], exercise)
    if check.passed or got is None or got.shape != case.expected["output"].shape:
        return Judgement([check])
    attended = linear(attention(*_split(case)), case.weights, "unify_heads")
    if np.allclose(got, attended, atol=1e-4, rtol=1e-3):
        return right("output")
    if unsteady(answers, "output"):
        return named(exercise, "M16")
    mistake = find_mistake(exercise, case, answers)
    if mistake is not None:
        return mistake.judgement()
    like = likeness(got, case.expected["output"], exercise.atol, exercise.rtol)
    return wrong(
        "output",
        "What the attention was given does not follow from the three maps" + (f": {like}" if like else "."),
        "Map x, then split the last axis into (heads, k), three times.",
    )


RULE = without_side_effects(as_given(judge, in_attention))
EXERCISE = Exercise(make, RULE, MISTAKES, framework="torch")
