"""Turning queries and keys. Expected answers: transformers' own apply_rotary_pos_emb. The tables are ready-made."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, variant

from ._llama import tensor
from ._rules import turning


def cases(generator: np.random.Generator) -> list[Case]:
    """Any angles will do: these are drawn, so that nobody needs the tables of the exercise before."""
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    made = []
    for shape in ((2, 3, 5, 4), (3, 2, 4, 6), (1, 4, 7, 10)):
        turned = np.concatenate([generator.uniform(0.3, 2.5, (shape[2], shape[3] // 2))] * 2, axis=-1)
        inputs = {
            "x": generator.normal(0, 1, shape).astype(np.float32),
            "cos": np.cos(turned).astype(np.float32),
            "sin": np.sin(turned).astype(np.float32),
        }
        x, cos, sin = (tensor(inputs[name]) for name in ("x", "cos", "sin"))
        output = apply_rotary_pos_emb(x, x, cos[None], sin[None])[0].numpy()
        lengths = np.hypot(*np.split(inputs["x"].astype(np.float64), 2, axis=-1))
        made.append(Case({}, inputs, expected={"output": output, "property/lengths": lengths}))
    return made


# Lines of the solution that mistakes change.
HEAD = "def rotate(x, cos, sin):"
CROSSED = "torch.cat([-second, first], dim=-1)"
RESULT = "x * cos + crossed * sin"

MISTAKES = [
    Mistake("ROT-back", "The pairs are turned backwards.",
            "The minus belongs to the second half, which moves to the front.",
            (CROSSED, "torch.cat([second, -first], dim=-1)")),
    Mistake("ROT-back", "The pairs are turned backwards.",
            "The minus belongs to the second half, which moves to the front.", (RESULT, "x * cos - crossed * sin")),
    Mistake("ROT-minus", "The minus is missing: this is no rotation, and lengths change.",
            "(-second half, first half)", ("-second", "second")),
    Mistake("ROT-plain", "sin is multiplied by x itself.", "It is multiplied by the other number of each pair.",
            ("crossed * sin", "x * sin")),
    Mistake("ROT-exchange", "The halves were not swapped.", "The second half moves to the front, with a minus.",
            (CROSSED, "torch.cat([-first, second], dim=-1)")),
    Mistake("ROT-flip", "The whole vector was reversed; only its halves are swapped.",
            "Number i is paired with number i + head_size / 2.", (CROSSED, "-x.flip(-1)")),
    Mistake("ROT-neighbours", "Neighbouring numbers were taken for a pair.",
            "Number i is paired with number i + head_size / 2.",
            (CROSSED, "torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)")),
    Mistake("ROT-interleaved", "Neighbouring numbers were taken for a pair.",
            "Number i is paired with number i + head_size / 2.",
            (CROSSED, "torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)"),
            (RESULT, "x * cos.chunk(2, -1)[0].repeat_interleave(2, -1) "
                   "+ crossed * sin.chunk(2, -1)[0].repeat_interleave(2, -1)")),
    Mistake("ROT-cos", "The part with sin is missing.", "x cos + rotated x sin.", (RESULT, "x * cos")),
    Mistake("ROT-sin", "The part with cos is missing.", "x cos + rotated x sin.", (RESULT, "crossed * sin")),
    Mistake("ROT-swap", "cos and sin are swapped.", "Where the angle is 0, nothing may change.",
            (RESULT, "x * sin + crossed * cos")),
    CHANGED.by((RESULT, "x.mul_(cos).add_(crossed * sin)")),
    CUT.by(("return x * cos", "x = x.detach()\n    return x * cos"), ("crossed * sin", "crossed.detach() * sin")),
]  # fmt: skip

RIGHT = {
    "half by half": variant(HEAD, """
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        c, s = cos[:, :half], sin[:, :half]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)
    """),
    "complex numbers": variant(HEAD, """
        half = x.shape[-1] // 2
        points = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous())
        turned = points * torch.complex(cos[:, :half].contiguous(), sin[:, :half].contiguous())
        return torch.cat([turned.real, turned.imag], dim=-1)
    """),
    "rolled, with signs": variant(HEAD, """
        half = x.shape[-1] // 2
        signs = torch.ones(x.shape[-1])
        signs[:half] = -1
        return x * cos + x.roll(half, dims=-1) * signs * sin
    """),
    "a matrix for the crossing": variant(HEAD, """
        half = x.shape[-1] // 2
        one, none = torch.eye(half), torch.zeros(half, half)
        cross = torch.cat([torch.cat([none, one], 1), torch.cat([-one, none], 1)])
        return x * cos + (x @ cross) * sin
    """),
    "unflattened": variant(HEAD, """
        pairs = x.unflatten(-1, (2, -1))
        crossed = torch.stack([-pairs[..., 1, :], pairs[..., 0, :]], dim=-2)
        return x.mul(cos).addcmul(crossed.flatten(-2), sin)
    """),
    "tables with all axes": [(RESULT, "x * cos[None, None] + crossed * sin.expand_as(x)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, turning, MISTAKES, right=RIGHT, framework="torch",
    shows=("each pair is turned by its angle", "lengths stay"),
    axes={"output": "batch, heads, tokens, head_size"},
)  # fmt: skip
