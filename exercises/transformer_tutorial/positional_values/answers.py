"""Right and wrong tables of positions."""

from __future__ import annotations

from .._answers import positions, wrong

CELL = "positional_encoding_answer"
REGISTER = 'self.register_buffer("pe", pe)'
TWO_I = "torch.arange(0, emb_size, 2)"
SINES, COSINES = "pe[:, 0::2]", "pe[:, 1::2]"

RIGHT = [
    positions("exponential of a logarithm, an axis in the middle, turned before it is added", """
        pe = torch.zeros(max_len, emb_size)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, emb_size, 2).float() * (-math.log(10000.0) / emb_size))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(1))
    """, "x = x + self.pe[: x.size(1)].transpose(0, 1)"),
    positions("number by number", """
        pe = [[(math.cos if i % 2 else math.sin)(pos / 10000 ** (2 * (i // 2) / emb_size)) for i in range(emb_size)]
              for pos in range(max_len)]
        self.register_buffer("pe", torch.tensor(pe))
    """, """
        rows = [self.pe[place] + x[:, place] for place in range(x.shape[1])]
        x = torch.stack(rows, dim=1)
    """),
    positions("complex numbers, in float64", """
        frequency = 10000.0 ** (-torch.arange(0, emb_size, 2, dtype=torch.float64) / emb_size)
        hands = torch.polar(torch.ones(max_len, emb_size // 2, dtype=torch.float64),
                            torch.arange(max_len, dtype=torch.float64)[:, None] * frequency)
        pairs = torch.view_as_real(hands).flip(-1)
        self.register_buffer("pe", pairs.flatten(1).float())
    """, "x = x + nn.functional.embedding(torch.arange(x.shape[1]), self.pe)"),
    positions("sine of a shifted angle", """
        column = torch.arange(emb_size)
        angle = torch.arange(max_len)[:, None] / 10000 ** ((column - column % 2) / emb_size)
        self.register_buffer("pe", torch.sin(angle.double() + math.pi / 2 * (column % 2)).to(torch.float32))
    """, "x = torch.add(x, self.pe.narrow(0, 0, x.shape[1]).expand_as(x))"),
    positions("a comprehension over the columns, keyword arguments", """
        waves = [(torch.cos if i % 2 else torch.sin)(torch.arange(max_len) / 10000 ** ((i - i % 2) / emb_size))
                 for i in range(emb_size)]
        self.register_buffer(name="pe", tensor=torch.stack(tensors=waves, dim=1))
    """),
    positions("torch.vmap over the places", """
        rates = 10000.0 ** (-torch.arange(0, emb_size, 2) / emb_size)
        row = lambda place: torch.stack([torch.sin(place * rates), torch.cos(place * rates)], dim=1).flatten()
        self.register_buffer("pe", torch.vmap(row)(torch.arange(max_len).float()))
    """),
]  # fmt: skip

WRONG = [
    wrong("all sines first", "PE-halves", (SINES, "pe[:, : emb_size // 2]"), (COSINES, "pe[:, emb_size // 2 :]")),
    wrong("sine and cosine exchanged", "PE-swap", (SINES, "pe[:, 99::2]"), (COSINES, SINES), ("pe[:, 99::2]", COSINES)),
    wrong("sines only", "PE-sine", ("torch.cos", "torch.sin")),
    wrong("cosines only", "PE-cosine", ("torch.sin", "torch.cos")),
    wrong("counted from 1", "PE-one", ("torch.arange(max_len)", "torch.arange(1, max_len + 1)")),
    wrong("i in place of 2i", "PE-step", (f"{TWO_I} / emb_size", "torch.arange(emb_size // 2) / emb_size")),
    wrong("the 2 twice", "PE-step4", (TWO_I, f"2 * {TWO_I}")),
    wrong("multiplied with the power", "PE-sign", ("position / 10000**exponent", "position * 10000**exponent")),
    wrong("a base of 1000", "PE-base", ("10000**", "1000**")),
    wrong("a frequency for each column", "PE-columns", (f"exponent = {TWO_I}", "exponent = torch.arange(emb_size)"),
          ("torch.sin(angle)", "torch.sin(angle[:, 0::2])"), ("torch.cos(angle)", "torch.cos(angle[:, 1::2])")),
    wrong("learned", "PE-learned", (REGISTER, "self.pe = nn.Parameter(pe)"), points=1.5),
    wrong("a plain attribute", "PE-plain", (REGISTER, "self.pe = pe"), points=1.5),
    wrong("zeros", "", ("pe[:, 0::2] = torch.sin(angle)", ""), ("pe[:, 1::2] = torch.cos(angle)", "")),
]  # fmt: skip
