"""cos and sin of the angles by which rotary positions turn, in float64; tests compare them with transformers' own."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._modern import tables


def cases(generator: np.random.Generator) -> list[Case]:
    """The positions of the last case are those of a model that has read 11 tokens before."""
    made = []
    for positions, head_size, base in (
        (np.arange(7), 8, []), (np.array([3, 0, 9, 4, 17]), 6, [500000.0]), (np.arange(11, 20), 10, []),
    ):  # fmt: skip
        cos, sin = tables(positions, head_size, *base)
        inputs = {"positions": positions.astype(np.int64)}
        made.append(Case({"head_size": head_size, "base": base}, inputs, expected={"cos": cos, "sin": sin}))
    return made


# Lines of the solution that mistakes change.
HEAD = "def rotary_tables(positions, head_size, base=10000.0):"
STEPS = "torch.arange(0, head_size, 2)"
BOTH = "torch.cat([angles, angles], dim=-1)"
ANGLES = "positions[:, None] * frequencies"

MISTAKES = [
    Mistake("TABLE-swap", "cos and sin are swapped.", "cos comes first.",
            ("angles.cos(), angles.sin()", "angles.sin(), angles.cos()")),
    Mistake("TABLE-neighbours", "Neighbouring columns share an angle; here columns i and i + head_size / 2 do.",
            "All angles once, then all of them once more: torch.cat.", (BOTH, "angles.repeat_interleave(2, dim=-1)")),
    Mistake("TABLE-half", "Each table has half of the columns.", "Both numbers of a pair need the angle: twice.",
            (BOTH, "angles")),
    Mistake("TABLE-step", "The angles fall too slowly from pair to pair.",
            "In the exponent stands 2i / head_size, where i counts the pairs.",
            (STEPS, "torch.arange(head_size // 2)")),
    Mistake("TABLE-step4", "The angles fall too fast from pair to pair.",
            "Is the 2 of the exponent there twice? arange(0, head_size, 2) already is 2i.", (STEPS, f"2 * {STEPS}")),
    Mistake("TABLE-base", "The base that was given is not used.", "It is the function's third argument.",
            ("base **", "10000.0 **")),
    Mistake("TABLE-order", "The positions that were given are not used: yours count from 0.",
            "Row t belongs to positions[t].", ("positions[:, None]", "torch.arange(len(positions))[:, None]")),
    Mistake("TABLE-one", "Every position is counted one too high.", "Position 0 is not turned.",
            ("positions[:, None]", "(positions + 1)[:, None]")),
    Mistake("TABLE-columns", "Every column has an angle of its own; two columns share one.",
            "There are head_size / 2 angles for each position.", (STEPS, "torch.arange(head_size)"), (BOTH, "angles")),
    Mistake("TABLE-circle", "The angles were multiplied by 2π.", "Position 1 turns the first pair by an angle of 1.",
            (ANGLES, f"2 * math.pi * {ANGLES}")),
    Mistake("TABLE-sign", "The angles are negative: this turns backwards.", "The angle is position times frequency.",
            (ANGLES, f"-{ANGLES}")),
    Mistake("", "frequencies that grow", "", ("base ** (-", "base ** (")),
    Mistake("", "the angles themselves", "", ("angles.cos(), angles.sin()", "angles, angles")),
]  # fmt: skip

RIGHT = {
    "as in Llama": variant(HEAD, """
        inv_freq = 1.0 / (base ** (torch.arange(0, head_size, 2).float() / head_size))
        freqs = torch.outer(positions.float(), inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()
    """),
    "exponential of a logarithm": variant(HEAD, """
        pairs = torch.arange(head_size // 2)
        rates = torch.exp(-2 * pairs / head_size * math.log(base))
        angles = torch.einsum("t,i->ti", positions.double(), rates.double())
        return angles.cos().repeat(1, 2).float(), angles.sin().repeat(1, 2).float()
    """),
    "number by number": variant(HEAD, """
        angle = lambda m, i: m * base ** (-2 * (i % (head_size // 2)) / head_size)
        grid = [[angle(m, i) for i in range(head_size)] for m in positions.tolist()]
        return torch.tensor(grid).cos(), torch.tensor(grid).sin()
    """),
    "complex numbers": variant(HEAD, """
        rate = base ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)
        turns = torch.polar(torch.ones(len(positions), len(rate), dtype=torch.float64), positions[:, None] * rate)
        turns = turns[:, [*range(len(rate))] * 2]
        return [turns.real.float(), turns.imag.float()]
    """),
    "columns by their remainder": variant(HEAD, """
        column = torch.arange(head_size).remainder(head_size // 2)
        angles = positions.unsqueeze(1) / torch.pow(torch.tensor(base), 2 * column / head_size)
        return torch.cos(angles), torch.sin(angles)
    """),
    "tile": variant(HEAD, """
        rates = base ** (-torch.arange(0, head_size, 2) / head_size)
        angles = torch.stack([position * rates for position in positions])
        angles = angles.tile(2)
        return angles.cos(), angles.sin()
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, framework="torch", atol=2e-5,
    axes=dict.fromkeys(("cos", "sin"), "tokens, head_size"),
)  # fmt: skip
