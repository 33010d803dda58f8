"""References for ``apply_self_attention`` and ``apply_multihead_attention``.

The stored answers come from ``torch``'s own attention in float64. A single slip that the catalogue knows
costs two fifths of the points. What an earlier exercise has paid for is not paid again: each function is also
called with ready-made ones in place of the submission's ``softmax`` and single head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, compare_value, matches
from autograder.oracles.numpy_attention_layers import Knobs, multi_head, single_head
from autograder.oracles.numpy_attention_slips import HEAD_SLIPS, SLIPS, Slip

Array = np.ndarray
Layer = Callable[[Mapping[str, Array], Knobs], Array]

#: The sheet's constants: a solution that uses them in place of ``W_q.shape`` is right there, and here.
N_HEADS, D_QKV = 8, 32
#: What a single known slip leaves of the points.
ONE_SLIP = 0.6


def moderate(
    generator: np.random.Generator, n: int, d_model: int, heads: int | None, size: float = 1.0
) -> dict[str, Array]:
    """Inputs whose scores are of order 1 (at ``size`` 1); without ``heads`` for a single one."""
    stack = () if heads is None else (heads,)
    drawn = {name: generator.normal(0, 1.2 * d_model**-0.5, (*stack, d_model, D_QKV)) for name in ("W_q", "W_k", "W_v")}
    rows = D_QKV * (heads or 1)
    drawn |= {"W_o": generator.normal(0, rows**-0.5, (rows, d_model)), "x": size * generator.normal(0, 1, (n, d_model))}
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def _huge(generator: np.random.Generator, n: int, d_model: int, heads: int | None) -> dict[str, Array]:
    """Scores of several hundred, each query's best key so far ahead that float32 gives the same.

    In float64, so that what overflows here overflows for the submission.
    """
    while True:
        drawn = moderate(generator, n, d_model, heads, size=40.0)
        q, k = (drawn["x"].astype(np.float64) @ drawn[name] for name in ("W_q", "W_k"))
        best = np.sort(q @ k.swapaxes(-1, -2), axis=-1)[..., -2:] * D_QKV**-0.5
        if np.diff(best).min() > 25:
            return {name: array.astype(np.float64) for name, array in drawn.items()}


def oracle(inputs: Mapping[str, Array]) -> Array:
    """``torch``'s own attention in float64: -> y (n, d_model)"""
    import torch  # the sheet itself runs without torch, and so does judging it
    from torch.nn.functional import scaled_dot_product_attention

    x, w_q, w_k, w_v, w_o = (
        torch.from_numpy(inputs[name].astype(np.float64)) for name in ("x", "W_q", "W_k", "W_v", "W_o")
    )
    if w_q.ndim == 2:
        return (scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v) @ w_o).numpy()
    heads = [scaled_dot_product_attention(x @ q, x @ k, x @ v) for q, k, v in zip(w_q, w_k, w_v, strict=True)]
    return (torch.cat(heads, dim=-1) @ w_o).numpy()


def _make(heads: int | None) -> Callable[[np.random.Generator], list[Case]]:
    def make(generator: np.random.Generator) -> list[Case]:
        # the square one first: mistakes that cannot run elsewhere get their name there
        drawn = [
            moderate(generator, D_QKV, 24, heads),
            moderate(generator, 20, 27, heads),
            moderate(generator, 7, 12, heads),
            _huge(generator, 5, 14, heads),
        ]
        probe = generator.normal(0, 1.5, (5, 7))
        probe[2] += 900.0
        return [Case({}, {**inputs, "scores": probe}, expected={"y": oracle(inputs)}) for inputs in drawn]

    return make


def _judge(layer: Layer, slips: Sequence[Slip], exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The better of two answers counts: with the submission's own earlier functions, and with ready-made ones."""
    given: list[Array] = [answers.arrays[name] for name in ("own", "with_ready") if name in answers.arrays]
    checks = [compare_value("y", y, case.expected["y"], exercise) for y in (given or (None,))]
    if any(check.passed for check in checks):
        return Judgement([Check("y", True)])
    for y in reversed(given):  # with ready-made functions, the slip is this one's own
        for slip in slips:
            if matches({"y": y}, {"y": layer(case.inputs, slip.knobs)}, exercise):
                return Judgement([Check(slip.id, False, slip.message, slip.hint, slip.id)], ONE_SLIP)
    return Judgement([checks[-1]])


def _possible(case: Case, slip: Slip) -> bool:
    return not slip.knobs.untransposed or case.inputs["x"].shape[0] == D_QKV


def judge_single(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    return _judge(single_head, [slip for slip in SLIPS if _possible(case, slip)], exercise, case, answers)


def judge_multi(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    slips = [slip for slip in (*HEAD_SLIPS, *SLIPS) if _possible(case, slip)]
    return _judge(multi_head, slips, exercise, case, answers)


EXERCISES = [
    Exercise(_make(None), judge_single, framework="numpy", slug="numpy_attention/self_attention"),
    Exercise(_make(N_HEADS), judge_multi, framework="numpy", slug="numpy_attention/multihead_attention"),
]
