"""One block of GPT-2, with ready-made attention where the student's own is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Case,
    Exercise,
    Mistake,
    better_of_own_and_ready,
    compare_case,
    without_side_effects,
)

from .._decoder import BlockVariant, draw_block, run_block
from .._gpt2 import block_output

Array = np.ndarray
PRE = "x = x + sublayer(norm(x)), twice, each with its own norm"


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, dim, heads, size in ((2, 5, 12, 3, 1.0), (3, 4, 10, 2, 1.0), (2, 6, 8, 4, 8.0)):
        x = generator.normal(0.5, size, (batch, tokens, dim)).astype(np.float32)
        weights = draw_block(generator, dim)
        expected = {"y": block_output(weights, x, heads)}
        cases.append(Case({"dim": dim, "heads": heads}, {"x": x}, weights, expected=expected))
    return cases


def _by(**settings: object) -> Callable[[Case], Mapping[str, Array]]:
    variant = BlockVariant(**settings)  # type: ignore[arg-type]
    return lambda case: {"y": run_block(case.weights, case.inputs["x"], case.config["heads"], variant)}


MISTAKES = [
    Mistake("D2-norm-1", "The first norm is missing.", PRE, _by(norm_1="none")),
    Mistake("D2-norm-2", "The second norm is missing.", PRE, _by(norm_2="none")),
    Mistake("D2-norms", "Both norms are missing.", PRE, _by(norm_1="none", norm_2="none")),
    Mistake("D2-post", "The norms come after the additions: this is the older, post-norm block.", PRE,
            _by(norm_1="after", norm_2="after")),
    Mistake("D2-skip-1", "The attention's result replaces its input.", PRE, _by(skip_1=False)),
    Mistake("D2-skip-2", "The feed-forward network's result replaces its input.", PRE, _by(skip_2=False)),
    Mistake("D2-skips", "Both sublayers replace their input: no skip is left.", PRE, _by(skip_1=False, skip_2=False)),
    Mistake("D2-same", "The first norm is used twice.", PRE, _by(same_norm=True)),
    Mistake("D2-beside", "The feed-forward network gets the block's input, not what attention made of it.", PRE,
            _by(side_by_side=True)),
    Mistake("D2-out", "The layer out is not used.", "It mixes what the heads found.", _by(out=False)),
    Mistake("D2-attention", "Attention is left out.", PRE, _by(attention=False)),
    Mistake("D2-network", "The feed-forward network is left out.", PRE, _by(network=False)),
    Mistake("D2-order", "Queries and keys have changed places.", "to_qkv gives queries, keys, values, in this order.",
            _by(order=(1, 0, 2))),
    Mistake("D2-values", "The three parts of to_qkv are in the wrong order.",
            "to_qkv gives queries, keys, values, in this order.", _by(order=(2, 1, 0))),
    Mistake("D2-heads", "The vectors are not split into heads.", "split_heads is given.", _by(split="one")),
    Mistake("D2-viewed", "The heads are cut out of the wrong axis.", "split_heads and merge_heads are given.",
            _by(split="viewed")),
    Mistake("D2-ahead", "Tokens see later ones.", "causal_attention is there for that.", _by(causal=False)),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(
    make, better_of_own_and_ready(without_side_effects(compare_case)), MISTAKES, framework="torch", rtol=3e-4, atol=3e-5
)
