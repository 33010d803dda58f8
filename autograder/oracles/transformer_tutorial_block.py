"""References for ``TransformerBlock``: the two add-and-norms, each judged on its own, with stand-ins for the sublayers.

The hidden cell puts fixed functions in place of attention and feed-forward network, and takes down what the
network was given: so neither an earlier notebook nor the first half can spoil the second.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, compare_value
from autograder.oracles.attention import layer_norm

Array = np.ndarray
ATTENTION = "transformer_tutorial/block_attention"
EPS = 1e-5  # nn.LayerNorm's own


def attend(x: Array) -> Array:
    """The hidden cell's stand-in for the attention: (b, t, k) -> (b, t, k)"""
    return 2 * x[:, ::-1] + 0.5


def feed(x: Array) -> Array:
    """The hidden cell's stand-in for the feed-forward network"""
    return 3 * np.maximum(x, 0) - 1


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for (b, t, k), heads, size in (((2, 5, 6), 3, 1.0), ((3, 4, 7), 2, 1.0), ((2, 3, 5), 4, 1e-3)):
        weights = {
            f"norm_{i}.{kind}": generator.normal(kind == "weight", 0.3, k).astype(np.float32)
            for i in (1, 2)
            for kind in ("weight", "bias")
        }
        inputs = {"x": (size * generator.normal(0, 1, (b, t, k))).astype(np.float32)}
        between = _torch_norm(attend(inputs["x"]) + inputs["x"], weights, "norm_1")
        output = _torch_norm(feed(between) + between, weights, "norm_2")
        cases.append(Case({"k": k, "heads": heads}, inputs, weights, {}, {"between": between, "output": output}))
    return cases


def _torch_norm(x: Array, weights: Mapping[str, Array], name: str) -> Array:
    import torch

    scale, shift = (torch.from_numpy(weights[f"{name}.{kind}"].astype(np.float64)) for kind in ("weight", "bias"))
    tensor = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64))
    return torch.nn.functional.layer_norm(tensor, x.shape[-1:], scale, shift, EPS).numpy()


def _norm(x: Array, case: Case, number: int) -> Array:
    weights = {name: weight.astype(np.float64) for name, weight in case.weights.items()}
    return layer_norm(x, weights, f"norm_{number}", EPS)


def _named(name: str, message: str, hint: str) -> Judgement:
    return Judgement([Check(name, False, message, hint, name)])


def _close(got: Array, want: Array) -> bool:
    return got.shape == want.shape and np.allclose(got, want, atol=1e-5, rtol=1e-4)


def judge_attention(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("between")
    if got is None:
        return _named(
            "M7-mlp",
            "The feed-forward network was never called, so what it should be given cannot be seen.",
            "Attention, add and norm, feed-forward network, add and norm: all four are in forward.",
        )
    check = compare_value("between", got, case.expected["between"], exercise)
    if check.passed or got.shape != case.expected["between"].shape:
        return Judgement([Check("between", check.passed, check.message, check.hint)])
    x = case.inputs["x"].astype(np.float64)
    attended = attend(x)
    normed = _norm(x, case, 1)
    slips = [
        ("M7", "The residual connection around the attention is missing.", "Add what went in to what came out.",
         _norm(attended, case, 1)),
        ("M7-attention", "What the attention gave is missing: only x was normalised.",
         "Add what went in to what came out.", normed),
        ("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
         _norm(attended, case, 1) + x),
        ("M8-pre", "This is a pre-LN block: x was normalised before the attention.",
         "Here the sum is normalised, behind the attention.", attend(normed) + x),
        ("M8-none", "The sum was not normalised.", "norm_1 takes the sum.", attended + x),
        ("M8-skip", "x was normalised before it was added.", "The skip takes x as it is.", attended + normed),
        ("NORM-2", "norm_2 was used where norm_1 belongs.", "Each of the two has its own learned scale and shift.",
         _norm(attended + x, case, 2)),
    ]  # fmt: skip
    for name, message, hint, wrong in slips:
        if _close(got, wrong):
            return _named(name, message, hint)
    if _close(got, normed + attend(normed)):
        return _named(
            "M8-normed",
            "x was normalised first, and the skip starts behind the norm.",
            "Post-LN: nothing happens to x before it is added.",
        )
    return Judgement(
        [
            Check(
                "between",
                False,
                "What the feed-forward network is given is not norm_1 of the sum.",
                "Two lines: attend; then add x and normalise.",
            )
        ]
    )


def _tells(between: Array) -> bool:
    """True where the numbers of every token differ: of equal ones LayerNorm makes a constant, whatever came before."""
    return bool(np.isfinite(between).all()) and float(np.ptp(between, axis=-1).min()) > 1e-3


def judge_feed_forward(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got, between = answers.arrays.get("output"), answers.arrays.get("between")
    check = compare_value("output", got, case.expected["output"], exercise)
    if got is None or got.shape != case.expected["output"].shape or got.dtype.kind != "f":
        return Judgement([check])
    if not answers.charged(ATTENTION) or between is None or between.shape != got.shape or not _tells(between):
        between = case.expected["between"]
    h, x = between.astype(np.float64), case.inputs["x"].astype(np.float64)
    fed = feed(h)
    # h is what the student's own first half gave where that lost its points; else what it must have given.
    if _close(got, _norm(fed + h, case, 2)):
        return Judgement([Check("output", True)])
    slips = [
        ("M7-ffn", "The residual connection around the feed-forward network is missing.",
         "Add what went into the feed-forward network to what came out.", _norm(fed, case, 2)),
        ("M7-place", "The second residual comes from the wrong place: from the block's input.",
         "What goes around the feed-forward network is what went into it.", _norm(fed + x, case, 2)),
        ("M7-mlp", "What the feed-forward network gave is missing.", "Add what went in to what came out.",
         _norm(h, case, 2)),
        ("M7-mlp-out", "What comes out is norm_1's output: the second half is missing.",
         "Feed-forward network, add, norm_2.", h),
        ("M7-attended", "The second residual is the attention's output.",
         "What goes around the feed-forward network is what went into it.", _norm(fed + attend(x), case, 2)),
        ("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
         _norm(fed, case, 2) + h),
        ("M8-none", "The sum was not normalised.", "norm_2 takes the sum.", fed + h),
        ("M8-none-skip", "Neither skip nor norm: the feed-forward network's output comes out bare.",
         "Add, then norm_2.", fed),
        ("NORM-1", "norm_1 was used twice.", "Each of the two has its own learned scale and shift.",
         _norm(fed + h, case, 1)),
    ]  # fmt: skip
    for name, message, hint, wrong in slips:
        if _close(got, wrong):
            return _named(name, message, hint)
    return Judgement(
        [
            Check(
                "output",
                False,
                "The block's output is not norm_2 of the second sum.",
                "Two lines: feed; then add what went in and normalise.",
            )
        ]
    )


EXERCISES = [
    Exercise(_make, judge_attention, framework="torch", slug=ATTENTION),
    Exercise(_make, judge_feed_forward, framework="torch", slug="transformer_tutorial/block_feed_forward"),
]
