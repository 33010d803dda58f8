"""Turning queries and keys, judged against transformers' own apply_rotary_pos_emb. The tables are ready-made."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from .._llama import tensor
from .._modern import rotate

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Any angles will do: these are drawn, so that nobody needs the tables of the exercise before."""
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    cases = []
    for shape in ((2, 3, 5, 4), (3, 2, 4, 6), (1, 4, 7, 10)):
        turned = np.concatenate([generator.uniform(0.3, 2.5, (shape[2], shape[3] // 2))] * 2, axis=-1)
        inputs = {
            "x": generator.normal(0, 1, shape).astype(np.float32),
            "cos": np.cos(turned).astype(np.float32),
            "sin": np.sin(turned).astype(np.float32),
        }
        x, cos, sin = (tensor(inputs[name]) for name in ("x", "cos", "sin"))
        output = apply_rotary_pos_emb(x, x, cos[None], sin[None])[0].numpy()
        cases.append(Case({}, inputs, expected={"output": output}))
    return cases


def _turned(compute: Callable[[Array, Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: x, cos, sin -> the output"""
    return lambda case: {"output": compute(*(case.inputs[name].astype(np.float64) for name in ("x", "cos", "sin")))}


def _halves(x: Array) -> tuple[Array, Array]:
    first, second = np.split(x, 2, axis=-1)
    return first, second


def _neighbours(x: Array, cos: Array, sin: Array) -> Array:
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos[:, 0::2] - x[..., 1::2] * sin[:, 0::2]
    out[..., 1::2] = x[..., 1::2] * cos[:, 1::2] + x[..., 0::2] * sin[:, 1::2]
    return out


def _interleaved(x: Array, cos: Array, sin: Array) -> Array:
    half = x.shape[-1] // 2
    return _neighbours(x, np.repeat(cos[:, :half], 2, axis=-1), np.repeat(sin[:, :half], 2, axis=-1))


def _joined(first: Array, second: Array) -> Array:
    return np.concatenate([first, second], axis=-1)


MISTAKES = [
    Mistake("ROT-back", "The pairs are turned backwards.",
            "The minus belongs to the second half, which moves to the front.",
            _turned(lambda x, cos, sin: rotate(x, cos, -sin))),
    Mistake("ROT-minus", "The minus is missing: this is no rotation, and lengths change.",
            "(-second half, first half)", _turned(lambda x, c, s: x * c + _joined(*_halves(x)[::-1]) * s)),
    Mistake("ROT-plain", "sin is multiplied by x itself.", "It is multiplied by the other number of each pair.",
            _turned(lambda x, c, s: x * c + x * s)),
    Mistake("ROT-exchange", "The halves did not change places.", "The second half moves to the front, with a minus.",
            _turned(lambda x, c, s: x * c + _joined(-_halves(x)[0], _halves(x)[1]) * s)),
    Mistake("ROT-flip", "The whole vector was reversed; only its halves change places.",
            "Number i is paired with number i + head_size / 2.", _turned(lambda x, c, s: x * c - x[..., ::-1] * s)),
    Mistake("ROT-neighbours", "Neighbouring numbers were taken for a pair.",
            "Number i is paired with number i + head_size / 2.", _turned(_neighbours)),
    Mistake("ROT-interleaved", "Neighbouring numbers were taken for a pair.",
            "Number i is paired with number i + head_size / 2.", _turned(_interleaved)),
    Mistake("ROT-cos", "The part with sin is missing.", "x cos + rotated x sin.", _turned(lambda x, c, s: x * c)),
    Mistake("ROT-sin", "The part with cos is missing.", "x cos + rotated x sin.",
            _turned(lambda x, c, s: _joined(-_halves(x)[1], _halves(x)[0]) * s)),
    Mistake("ROT-swap", "cos and sin have changed places.", "Where the angle is 0, nothing may change.",
            _turned(lambda x, c, s: rotate(x, s, c))),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")
