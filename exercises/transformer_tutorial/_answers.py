"""What the sample answers of several exercises share: classes to fill."""

from __future__ import annotations

from textwrap import dedent, indent


def body(text: str, depth: int = 4) -> str:
    """Lines of code, indented anew by so many spaces."""
    return indent(dedent(text).strip("\n"), " " * depth)


_SELF_ATTENTION = """\
class SelfAttention(nn.Module):
    def __init__(self, k, heads=8, dropout=0.1):
        super().__init__()
        self.k, self.heads = k, heads
{init}
        self.attention = DotProductAttention(dropout)

    def forward(self, x{mask}):
        b, t, k = x.size()
        h = self.heads
{forward}
        out = self.attention(queries, keys, values, b, h, t, k{given})
        return self.unify_heads(out)
"""
_MAPS = """
    self.to_keys = nn.Linear(k, k * heads, bias=False)
    self.to_queries = nn.Linear(k, k * heads, bias=False)
    self.to_values = nn.Linear(k, k * heads, bias=False)
    self.unify_heads = nn.Linear(k * heads, k)
"""
_SPLIT = """
    queries = self.to_queries(x).view(b, t, h, k)
    keys = self.to_keys(x).view(b, t, h, k)
    values = self.to_values(x).view(b, t, h, k)
"""


def self_attention(init: str = _MAPS, forward: str = _SPLIT, masked: bool = True) -> str:
    """A right ``SelfAttention`` with these lines in ``__init__`` and ``forward``, with or without a mask."""
    mask, given = (", mask=None", ", mask") if masked else ("", "")
    parts = {"init": body(init, 8), "forward": body(forward, 8)}
    return _SELF_ATTENTION.format(mask=mask, given=given, **parts)


_BLOCK = """\
class TransformerBlock(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.attention = SelfAttention(k, heads=heads)
        self.norm_1 = nn.LayerNorm(k)
        self.norm_2 = nn.LayerNorm(k)
        hidden_size = 2 * k
        self.mlp = nn.Sequential(nn.Linear(k, hidden_size), nn.ReLU(), nn.Linear(hidden_size, k))

"""


def block(methods: str) -> str:
    """A right ``TransformerBlock`` with these methods."""
    return _BLOCK + body(methods)


_POSITIONS = """\
class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout=0.1, max_len=512):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
{init}

    def forward(self, x):
{forward}
        return self.dropout(x)
"""


def positions(init: str, forward: str = "x = x + self.pe[: x.size(1)]") -> str:
    """A right ``PositionalEncoding`` with these lines in ``__init__`` and ``forward``."""
    return _POSITIONS.format(init=body(init, 8), forward=body(forward, 8))
