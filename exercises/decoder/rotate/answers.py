"""Right and wrong ways to turn pairs of numbers."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import function, right, wrong

CROSSED = "torch.cat([-second, first], dim=-1)"
RESULT = "x * cos + crossed * sin"


def turn(name: str, lines: str) -> SampleAnswer:
    return function(name, "rotate(x, cos, sin)", lines)


RIGHT = [
    turn("half by half", """
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        c, s = cos[:, :half], sin[:, :half]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)
    """),
    turn("complex numbers", """
        half = x.shape[-1] // 2
        points = torch.complex(x[..., :half].contiguous(), x[..., half:].contiguous())
        turned = points * torch.complex(cos[:, :half].contiguous(), sin[:, :half].contiguous())
        return torch.cat([turned.real, turned.imag], dim=-1)
    """),
    turn("rolled, with signs", """
        half = x.shape[-1] // 2
        signs = torch.ones(x.shape[-1])
        signs[:half] = -1
        return x * cos + x.roll(half, dims=-1) * signs * sin
    """),
    turn("a matrix for the crossing", """
        half = x.shape[-1] // 2
        one, none = torch.eye(half), torch.zeros(half, half)
        cross = torch.cat([torch.cat([none, one], 1), torch.cat([-one, none], 1)])
        return x * cos + (x @ cross) * sin
    """),
    turn("unflattened", """
        pairs = x.unflatten(-1, (2, -1))
        crossed = torch.stack([-pairs[..., 1, :], pairs[..., 0, :]], dim=-2)
        return x.mul(cos).addcmul(crossed.flatten(-2), sin)
    """),
    right("tables with all axes", (RESULT, "x * cos[None, None] + crossed * sin.expand_as(x)")),
]  # fmt: skip

WRONG = [
    wrong("backwards", "ROT-back", (CROSSED, "torch.cat([second, -first], dim=-1)")),
    wrong("no minus", "ROT-minus", ("-second", "second")),
    wrong("x times sin", "ROT-plain", ("crossed * sin", "x * sin")),
    wrong("halves not exchanged", "ROT-exchange", (CROSSED, "torch.cat([-first, second], dim=-1)")),
    wrong("reversed", "ROT-flip", (CROSSED, "-x.flip(-1)")),
    wrong("neighbours", "ROT-neighbours", (CROSSED, "torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)")),
    wrong("neighbours, in tables too", "ROT-interleaved",
          (CROSSED, "torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)"),
          (RESULT, "x * cos.chunk(2, -1)[0].repeat_interleave(2, -1) "
                   "+ crossed * sin.chunk(2, -1)[0].repeat_interleave(2, -1)")),
    wrong("no sin", "ROT-cos", (RESULT, "x * cos")),
    wrong("no cos", "ROT-sin", (RESULT, "crossed * sin")),
    wrong("cos and sin exchanged", "ROT-swap", (RESULT, "x * sin + crossed * cos")),
    wrong("a difference", "ROT-back", (RESULT, "x * cos - crossed * sin")),
    wrong("cut off", "CUT",
          ("return x * cos", "x = x.detach()\n    return x * cos"), ("crossed * sin", "crossed.detach() * sin")),
    wrong("changed in place", "CHANGED", (RESULT, "x.mul_(cos).add_(crossed * sin)")),
]  # fmt: skip
