"""The bonus "not one loop": a right answer first, then no loop in the source of what computed it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Case,
    Exercise,
    Mistake,
    SampleAnswer,
    variant,
)

from ._answers import HEAD, STACKS, by_head
from ._heads import N_HEADS, moderate, oracle
from ._judged_alone import without_loops


def cases(generator: np.random.Generator) -> list[Case]:
    inputs = moderate(generator, 6, 10, N_HEADS)
    return [Case({}, inputs, expected={"y": oracle(inputs)})]


LOOP = Mistake("LOOP", "A Python loop is left: {loops}.",
               "Let one einsum, or @ on a stack of matrices, serve all heads at once.")  # fmt: skip
MISTAKES = [
    LOOP.by(by_head()),  # for
    LOOP.by(variant(HEAD, """
        o = np.stack([softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c) for a, b, c in zip(W_q, W_k, W_v)])
        return o.transpose(1, 0, 2).reshape(len(x), -1) @ W_o
    """)),
    LOOP.by(variant(HEAD, """
        o = list(map(lambda a, b, c: softmax((x @ a) @ (x @ b).T / 32**0.5) @ (x @ c), W_q, W_k, W_v))
        return np.concatenate(o, axis=1) @ W_o
    """)),
    LOOP.by("import functools as ft\n\n" + variant(HEAD, """
        o = ft.reduce(lambda o, w: o + [softmax((x @ w[0]) @ (x @ w[1]).T / 32**0.5) @ (x @ w[2])],
                      np.stack([W_q, W_k, W_v], axis=1), [])
        return np.concatenate(o, axis=1) @ W_o
    """)),
    LOOP.by(variant(HEAD, """
        o, h = [], 0
        while h < len(W_q):
            o.append(softmax((x @ W_q[h]) @ (x @ W_k[h]).T / 32**0.5) @ (x @ W_v[h]))
            h += 1
        return np.concatenate(o, axis=1) @ W_o
    """)),
    LOOP.by(
        "def rows(s):\n    return np.stack([softmax(one) for one in s])\n\n\n"  # in a helper
        + variant(HEAD, STACKS.replace("softmax", "rows"))
    ),
    LOOP.by(variant(HEAD, """
        if len(W_q) == 1:
            return softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o
        first = softmax((x @ W_q[0]) @ (x @ W_k[0]).T / 32**0.5) @ (x @ W_v[0]) @ W_o[:32]
        return first + apply_multihead_attention(x, W_q[1:], W_k[1:], W_v[1:], W_o[32:])
    """)),
]  # fmt: skip

RIGHT = {
    "stacks": variant(HEAD, STACKS),
    "brackets on a line of their own": variant(HEAD.replace("(", "(\n    ").replace(")", "\n)"), STACKS),
    "a NumPy function's reduce": SampleAnswer(
        text=variant(HEAD, STACKS),
        cells={"softmax_answer": variant("def softmax(x):", """
            return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))
        """)},
    ),
    "beside a broken thought": "for unused in range(3):\n    pass\n\n" + variant(HEAD, STACKS),
}  # fmt: skip
WRONG = [
    SampleAnswer(
        "not scaled, without a loop", variant(HEAD, STACKS.replace(" / 32**0.5", "")), points=0, mistake="M2",
        also_costs={"multihead_attention": 3},
    ),
]  # fmt: skip

EXERCISE = Exercise(
    cases, without_loops, MISTAKES, right=RIGHT, wrong=WRONG, cell="multihead_attention_answer",
    parts={"softmax": "softmax"},
)  # fmt: skip
