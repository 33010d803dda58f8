"""Right and wrong ways to add the positions."""

from __future__ import annotations

from .._answers import positions, right, wrong

CELL = "positional_encoding_answer"
ADD = "x = x + self.pe[: x.shape[1]]"
REGISTER = 'self.register_buffer("pe", pe)'

RIGHT = [
    positions("an axis in front, not saved with the model", """
        angle = torch.outer(torch.arange(max_len).float(), 10000.0 ** (-torch.arange(0, emb_size, 2) / emb_size))
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", table.unsqueeze(0), persistent=False)
    """, "x = x + self.pe[:, : x.size(1)]"),
    right("rows chosen by number", (ADD, "x = x + self.pe.index_select(0, torch.arange(x.shape[1]))")),
    right("sentence by sentence", (ADD, "x = torch.stack([sentence + self.pe[: len(sentence)] for sentence in x])")),
    right("expanded over the batch", (ADD, "x = x + self.pe.expand(x.shape[0], -1, -1)[:, : x.shape[1]]")),
    right("torch.vmap over the sentences", (ADD, "x = torch.vmap(lambda one: one + self.pe[: x.shape[1]])(x)")),
    right("in float64, and back", (ADD, "x = (x.double() + self.pe[: x.shape[1]].double()).to(x.dtype)")),
]  # fmt: skip

WRONG = [
    wrong("rows to sentences, as in tutorials with the tokens first", "M11-batch",
          (REGISTER, 'self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))'),
          (ADD, "x = x + self.pe[: x.size(0), :]")),
    wrong("not added", "M11-none", (ADD, "pass")),
    wrong("multiplied", "M11-times", ("x = x + self.pe", "x = x * self.pe")),
    wrong("positions scaled", "M11-root", ("x = x + self.pe", "x = x + x.shape[-1] ** 0.5 * self.pe")),
    wrong("x scaled", "M11-x", ("x = x + self.pe", "x = x * x.shape[-1] ** 0.5 + self.pe")),
    wrong("positions alone", "M11-bare", (ADD, "x = self.pe[: x.shape[1]].expand_as(x)")),
    wrong("the first row for all", "M11-same", (ADD, "x = x + self.pe[0]")),
    wrong("rows from the end", "M11-last", (ADD, "x = x + self.pe[-x.shape[1] :]")),
    wrong("one row too far", "M11-next", (ADD, "x = x + self.pe[1 : x.shape[1] + 1]")),
    wrong("as many rows as sentences", "", (ADD, "x = x + self.pe[: x.shape[0]]")),
    wrong("dropped in eval mode", "M16", ("return self.dropout(x)", "return nn.functional.dropout(x, 0.5)")),
    wrong("no dropout", "M16-none", ("return self.dropout(x)", "return x")),
    wrong("another rate", "M16-rate", ("nn.Dropout(dropout)", "nn.Dropout(0.9)")),
    wrong("subtracted", "M11-minus", ("x = x + self.pe", "x = x - self.pe")),
    wrong("added in place", "CHANGED", ("x = x + self.pe", "x += self.pe")),
]  # fmt: skip
