"""Grouped-query attention, judged against transformers' own LlamaAttention. Rotation and tables are ready-made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from .._llama import attention_weights, loaded, tensor
from .._made import MADE_MISTAKES, with_parts
from .._modern import grouped_attention, tables

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Groups of three, groups of two, and one head of keys and values for all."""
    from course.modern_parts import ReadyAttention

    cases = []
    for (batch, tokens, dim), heads, kv_heads in (((2, 5, 24), 6, 2), ((3, 6, 32), 8, 4), ((2, 7, 18), 3, 1)):
        cos, sin = (table.astype(np.float32) for table in tables(np.arange(2, tokens + 2), dim // heads))
        weights = attention_weights(generator, dim, heads, kv_heads)
        inputs = {"x": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32), "cos": cos, "sin": sin}
        given = (tensor(inputs[name]) for name in ("x", "cos", "sin"))
        output = loaded(ReadyAttention(dim, heads, kv_heads), weights)(*given).detach().numpy()
        config = {"dim": dim, "heads": heads, "kv_heads": kv_heads}
        cases.append(Case(config, inputs, weights, {}, {"output": output}))
    return cases


def _known(**wrong: Any) -> Callable[[Case], Mapping[str, Array]]:
    def answers(case: Case) -> Mapping[str, Array]:
        given = (case.inputs[name] for name in ("x", "cos", "sin"))
        sizes = (case.config["heads"], case.config["kv_heads"])
        return {"output": grouped_attention(*given, case.weights, *sizes, **wrong)}

    return answers


def _before(scores: Array) -> Array:
    """A mask that hides a token's own key, too; the first query, which then sees nothing, gets nan."""
    return np.where(np.triu(np.ones(scores.shape[-2:], bool), 0), -np.inf, scores)


def _zeros(scores: Array) -> Array:
    return np.tril(scores)


MISTAKES = [
    Mistake("GQA-tile", "The heads of keys and values are handed out in turn: 0, 1, 0, 1, …",
            "Neighbouring query heads share one: 0, 0, …, 1, 1, … repeat_interleave does that.", _known(tiled=True)),
    Mistake("GQA-first", "Every query head uses the first head of keys and values.",
            "Each group has its own: heads // kv_heads query heads share one.", _known(first_only=True)),
    Mistake("GQA-scale", "The scores are not divided by the root of head_size.", "√head_size, as in every attention.",
            _known(scale="none")),
    Mistake("GQA-scale-dim", "The scores are divided by the root of dim.", "A dot product here sums head_size terms.",
            _known(scale="dim")),
    Mistake("GQA-scale-square", "The scores are divided by head_size, not by its root.", "√head_size.",
            _known(scale="square")),
    Mistake("GQA-mask", "Tokens see later ones: the causal mask is missing.", "Minus infinity above the diagonal.",
            _known(mask=lambda scores: scores)),
    Mistake("GQA-zeros", "Hidden scores were set to 0, so later tokens still get weight.",
            "Minus infinity before the softmax.",
            _known(mask=_zeros)),
    Mistake("GQA-rotation", "Queries and keys were not turned.", "rotate(…, cos, sin) for both.", _known(turned="")),
    Mistake("GQA-queries", "Only the queries were turned.", "The keys, too: only then the distance counts.",
            _known(turned="q")),
    Mistake("GQA-keys", "Only the keys were turned.", "The queries, too: only then the distance counts.",
            _known(turned="k")),
    Mistake("GQA-values", "The values were turned, too.", "Positions decide who looks where, not what is seen.",
            _known(turned="qkv")),
    Mistake("GQA-axis", "The softmax runs over the queries.", "Each query's weights sum to 1.", _known(axis=-2)),
    Mistake("GQA-output", "o_proj is missing.", "It mixes what the heads found.", _known(out=False)),
    Mistake("GQA-merge", "The heads were put together without moving them behind the tokens.",
            "transpose(1, 2) before heads and head_size become one axis.", _known(scrambled=True)),
    *MADE_MISTAKES,
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, with_parts(without_side_effects(compare_case)), MISTAKES, framework="torch")
