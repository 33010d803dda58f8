"""Right and wrong tables of angles."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import function, wrong

STEPS = "torch.arange(0, head_size, 2)"
BOTH = "torch.cat([angles, angles], dim=-1)"
ANGLES = "positions[:, None] * frequencies"


def tables(name: str, lines: str) -> SampleAnswer:
    return function(name, "rotary_tables(positions, head_size, base=10000.0)", lines)


RIGHT = [
    tables("as in Llama", """
        inv_freq = 1.0 / (base ** (torch.arange(0, head_size, 2).float() / head_size))
        freqs = torch.outer(positions.float(), inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()
    """),
    tables("exponential of a logarithm", """
        pairs = torch.arange(head_size // 2)
        rates = torch.exp(-2 * pairs / head_size * math.log(base))
        angles = torch.einsum("t,i->ti", positions.double(), rates.double())
        return angles.cos().repeat(1, 2).float(), angles.sin().repeat(1, 2).float()
    """),
    tables("number by number", """
        angle = lambda m, i: m * base ** (-2 * (i % (head_size // 2)) / head_size)
        grid = [[angle(m, i) for i in range(head_size)] for m in positions.tolist()]
        return torch.tensor(grid).cos(), torch.tensor(grid).sin()
    """),
    tables("complex numbers", """
        rate = base ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)
        turns = torch.polar(torch.ones(len(positions), len(rate), dtype=torch.float64), positions[:, None] * rate)
        turns = turns[:, [*range(len(rate))] * 2]
        return [turns.real.float(), turns.imag.float()]
    """),
    tables("columns by their remainder", """
        column = torch.arange(head_size).remainder(head_size // 2)
        angles = positions.unsqueeze(1) / torch.pow(torch.tensor(base), 2 * column / head_size)
        return torch.cos(angles), torch.sin(angles)
    """),
    tables("tile", """
        rates = base ** (-torch.arange(0, head_size, 2) / head_size)
        angles = torch.stack([position * rates for position in positions])
        angles = angles.tile(2)
        return angles.cos(), angles.sin()
    """),
]  # fmt: skip

WRONG = [
    wrong("sin first", "TABLE-swap", ("angles.cos(), angles.sin()", "angles.sin(), angles.cos()")),
    wrong("neighbours", "TABLE-neighbours", (BOTH, "angles.repeat_interleave(2, dim=-1)")),
    wrong("half as wide", "TABLE-half", (BOTH, "angles")),
    wrong("i in place of 2i", "TABLE-step", (STEPS, "torch.arange(head_size // 2)")),
    wrong("the 2 twice", "TABLE-step4", (STEPS, f"2 * {STEPS}")),
    wrong("always 10000", "TABLE-base", ("base **", "10000.0 **")),
    wrong("counted from 0", "TABLE-order", ("positions[:, None]", "torch.arange(len(positions))[:, None]")),
    wrong("one too high", "TABLE-one", ("positions[:, None]", "(positions + 1)[:, None]")),
    wrong("an angle for every column", "TABLE-columns", (STEPS, "torch.arange(head_size)"), (BOTH, "angles")),
    wrong("whole turns", "TABLE-circle", (ANGLES, f"2 * math.pi * {ANGLES}")),
    wrong("backwards", "TABLE-sign", (ANGLES, f"-{ANGLES}")),
    wrong("frequencies that grow", "", ("base ** (-", "base ** (")),
    wrong("the angles themselves", "", ("angles.cos(), angles.sin()", "angles, angles")),
]  # fmt: skip
