"""The table of sinusoidal positions, by that of ``transformers``; and whether it is a buffer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import DTYPE, Case, Exercise, Mistake

from ._answers import positions
from ._positions import TABLE_SHARE, positional_values, transformers_table


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for max_len, emb_size in ((9, 6), (24, 10)):
        expected = {"pe": transformers_table(max_len, emb_size), "buffer": np.array(True), "learned": np.array(0)}
        made.append(Case({"emb_size": emb_size, "max_len": max_len}, expected=expected))
    return made


# The lines of the solution that mistakes change.
REGISTER = 'self.register_buffer("pe", pe)'
TWO_I = "torch.arange(0, emb_size, 2)"
SINES, COSINES = "pe[:, 0::2]", "pe[:, 1::2]"

MISTAKES = [
    Mistake("PE-sign", "The frequencies grow from pair to pair; they must fall.",
            "Divided by a power, or multiplied?", ("position / 10000**exponent", "position * 10000**exponent")),
    Mistake("PE-halves", "All sines come first, then all cosines.",
            "They alternate: even columns sine, odd columns cosine.",
            (SINES, "pe[:, : emb_size // 2]"), (COSINES, "pe[:, emb_size // 2 :]")),
    Mistake("PE-swap", "Sine and cosine are swapped.", "Position 0 must read 0, 1, 0, 1, …",
            (SINES, "pe[:, 99::2]"), (COSINES, SINES), ("pe[:, 99::2]", COSINES)),
    Mistake("PE-sine", "There are only sines.", "Odd columns hold cosines.", ("torch.cos", "torch.sin")),
    Mistake("PE-cosine", "There are only cosines.", "Even columns hold sines.", ("torch.sin", "torch.cos")),
    Mistake("PE-one", "Positions are counted from 1.", "The first token stands at position 0.",
            ("torch.arange(max_len)", "torch.arange(1, max_len + 1)")),
    Mistake("PE-step", "The frequencies fall too slowly: they end near 1/100 instead of near 1/10000.",
            "In the exponent stands 2i / emb_size, where i counts the pairs.",
            (f"{TWO_I} / emb_size", "torch.arange(emb_size // 2) / emb_size")),
    Mistake("PE-step4", "The frequencies fall twice as fast as they should.",
            "Is the 2 of the exponent there twice? arange(0, emb_size, 2) already is 2i.", (TWO_I, f"2 * {TWO_I}")),
    Mistake("PE-base", "The base is 1000; the assignment says 10000.", "Count the zeros.", ("10000**", "1000**")),
    Mistake("PE-columns", "Sine and cosine of one pair have different frequencies.",
            "Columns 2i and 2i + 1 share the exponent 2i / emb_size.",
            (f"exponent = {TWO_I}", "exponent = torch.arange(emb_size)"),
            ("torch.sin(angle)", "torch.sin(angle[:, 0::2])"), ("torch.cos(angle)", "torch.cos(angle[:, 1::2])")),
    Mistake("PE-learned", "pe is a parameter: training would change it.",
            "A buffer travels with the module, unlearned.", (REGISTER, "self.pe = nn.Parameter(pe)"),
            share=TABLE_SHARE),
    Mistake("PE-plain", "pe is a plain attribute: it is left out when the model moves to the GPU or is saved.",
            "nn.Module can register a tensor that is no parameter.", (REGISTER, "self.pe = pe"), share=TABLE_SHARE),
    replace(DTYPE, share=TABLE_SHARE).by((REGISTER, 'self.register_buffer("pe", pe.double())')),
    Mistake("", "zeros", "", ("pe[:, 0::2] = torch.sin(angle)", ""), ("pe[:, 1::2] = torch.cos(angle)", "")),
]  # fmt: skip

RIGHT = {
    "exponential of a logarithm, an axis in the middle, turned before it is added": positions("""
        pe = torch.zeros(max_len, emb_size)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, emb_size, 2).float() * (-math.log(10000.0) / emb_size))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(1))
    """, "x = x + self.pe[: x.size(1)].transpose(0, 1)"),
    "number by number": positions("""
        pe = [[(math.cos if i % 2 else math.sin)(pos / 10000 ** (2 * (i // 2) / emb_size)) for i in range(emb_size)]
              for pos in range(max_len)]
        self.register_buffer("pe", torch.tensor(pe))
    """, """
        rows = [self.pe[place] + x[:, place] for place in range(x.shape[1])]
        x = torch.stack(rows, dim=1)
    """),
    "complex numbers, in float64": positions("""
        frequency = 10000.0 ** (-torch.arange(0, emb_size, 2, dtype=torch.float64) / emb_size)
        hands = torch.polar(torch.ones(max_len, emb_size // 2, dtype=torch.float64),
                            torch.arange(max_len, dtype=torch.float64)[:, None] * frequency)
        pairs = torch.view_as_real(hands).flip(-1)
        self.register_buffer("pe", pairs.flatten(1).float())
    """, "x = x + nn.functional.embedding(torch.arange(x.shape[1]), self.pe)"),
    "sine of a shifted angle": positions("""
        column = torch.arange(emb_size)
        angle = torch.arange(max_len)[:, None] / 10000 ** ((column - column % 2) / emb_size)
        self.register_buffer("pe", torch.sin(angle.double() + math.pi / 2 * (column % 2)).to(torch.float32))
    """, "x = torch.add(x, self.pe.narrow(0, 0, x.shape[1]).expand_as(x))"),
    "a comprehension over the columns, keyword arguments": positions("""
        waves = [(torch.cos if i % 2 else torch.sin)(torch.arange(max_len) / 10000 ** ((i - i % 2) / emb_size))
                 for i in range(emb_size)]
        self.register_buffer(name="pe", tensor=torch.stack(tensors=waves, dim=1))
    """),
    "torch.vmap over the places": positions("""
        rates = 10000.0 ** (-torch.arange(0, emb_size, 2) / emb_size)
        row = lambda place: torch.stack([torch.sin(place * rates), torch.cos(place * rates)], dim=1).flatten()
        self.register_buffer("pe", torch.vmap(row)(torch.arange(max_len).float()))
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, positional_values, MISTAKES, right=RIGHT, framework="torch", cell="positional_encoding_answer", atol=5e-5,
    axes={"pe": "seq_length, k"},
)  # fmt: skip
