"""Given lines: what the hidden cells hand over of them must be as it was given.

A right method with a lost given line works with the stand-ins of the hidden cells, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, Rule, named

from ._dot_products import Array
from ._rules import GIVEN_ATTENTION, GIVEN_MASK

BLOCK_MISTAKES = (
    GIVEN_ATTENTION,
    GIVEN_MASK,
    Mistake("GIVEN-sizes", "The attention is made with other sizes than the block.",
            "SelfAttention(k, heads=heads) is a given line."),
    Mistake("GIVEN-norms", "norm_1 and norm_2 must each have a scale and a shift of k numbers.",
            "nn.LayerNorm(k) is what was given."),
    Mistake("GIVEN-network", "The feed-forward network is not the one that was given.",
            "Two linear layers, each with its bias: from k numbers to 2k, and back. A ReLU between them."),
)  # fmt: skip
#: id of the mistake, answer, what it must be
Wanted = tuple[str, str, object]


def as_given(rule: Rule, wanted: Callable[[Case], list[Wanted]]) -> Rule:
    """``rule``, for an answer whose given lines are as they were. What was not handed over is not asked for."""

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        if judgement.earned == 1:
            for id, name, want in wanted(case):
                if not _same(answers.arrays, name, np.asarray(want)):
                    return named(exercise, id)
        return judgement

    return judge


def _same(arrays: Mapping[str, Array], name: str, want: Array) -> bool:
    got = arrays.get(name)
    return got is None or (got.shape == want.shape and bool(np.allclose(got, want, atol=1e-3, rtol=1e-3)))


def in_block(case: Case) -> list[Wanted]:
    """Of ``TransformerBlock``."""
    sizes = [case.config["k"], case.config["heads"]]
    return [
        ("GIVEN-attention", "works", True),
        ("GIVEN-mask", "told", True),
        ("GIVEN-sizes", "sizes", sizes),
        ("GIVEN-norms", "norms", 4),
        ("GIVEN-network", "network", _network(case)),
    ]


def _network(case: Case) -> Array:
    """What the given network makes of x with the hidden cell's weights: (b, t, k)"""
    k = int(case.config["k"])
    shapes = [(2 * k, k), (2 * k,), (k, 2 * k), (k,)]
    sines = [np.sin((number + 1) * np.arange(1.0, np.prod(shape) + 1)) for number, shape in enumerate(shapes)]
    first, first_bias, second, second_bias = (part.reshape(shape) for part, shape in zip(sines, shapes, strict=True))
    hidden = np.maximum(case.inputs["x"].astype(np.float64) @ first.T + first_bias, 0)
    return hidden @ second.T + second_bias
