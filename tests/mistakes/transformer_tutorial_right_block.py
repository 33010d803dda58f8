"""Right answers to notebook 2 of the tutorial in other styles than ours."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.mistakes.transformer_tutorial_answer import BLOCK, Answer

MADE = """\
class TransformerBlock(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.attention = SelfAttention(k, heads=heads)
        self.norm_1 = nn.LayerNorm(k)
        self.norm_2 = nn.LayerNorm(k)
        hidden_size = 2 * k
        self.mlp = nn.Sequential(nn.Linear(k, hidden_size), nn.ReLU(), nn.Linear(hidden_size, k))

"""


def block(name: str, methods: str) -> Answer:
    return Answer(BLOCK, "transformer_block_answer", name, (), MADE + indent(dedent(methods).strip("\n"), " " * 4))


BLOCKS = [
    block("the sheet's own signature, without a mask", """
        def forward(self, x):
            attended = self.attention(x)
            x = self.norm_1(attended + x)
            feedforward = self.mlp(x)
            x = self.norm_2(feedforward + x)
            return x
    """),
    block("nested", """
        def forward(self, x, mask=None):
            h = self.norm_1(x + self.attention(x, mask))
            return self.norm_2(h + self.mlp(h))
    """),
    block("a helper for both halves", """
        def around(self, norm, sublayer, x):
            return norm(torch.add(sublayer(x), x))

        def forward(self, x, mask=None):
            x = self.around(self.norm_1, lambda y: self.attention(y, mask=mask), x)
            return self.around(self.norm_2, self.mlp, x)
    """),
    block("functional norms, layers of the network one by one", """
        def forward(self, x, mask=None):
            norm = nn.functional.layer_norm
            x = norm(self.attention(x, mask) + x, x.shape[-1:], self.norm_1.weight, self.norm_1.bias, self.norm_1.eps)
            y = x
            for layer in self.mlp:
                y = layer(y)
            return norm(y + x, x.shape[-1:], self.norm_2.weight, self.norm_2.bias, self.norm_2.eps)
    """),
    block("normalised by hand", """
        def norm(self, layer, x):
            x = x.double()
            centred = x - x.mean(-1, keepdim=True)
            scaled = centred / (centred.square().mean(-1, keepdim=True) + layer.eps).sqrt()
            return (scaled * layer.weight + layer.bias).float()

        def forward(self, x, mask=None):
            x = self.norm(self.norm_1, torch.stack([x, self.attention(x, mask)]).sum(0))
            return self.norm(self.norm_2, x.clone().add_(self.mlp(x)))
    """),
]  # fmt: skip


def cost(name: str, body: str) -> Answer:
    text = "def attention_cost(n, m, p):\n" + indent(dedent(body).strip("\n"), " " * 4)
    return Answer(BLOCK, "attention_cost_answer", name, (), text)


COSTS = [
    cost("scores and sums counted both", "return 2 * n * n * p, 2 * m * m * p, 2 * n * m * p, 2 * (n + m) * p"),
    cost("output words meet earlier ones", "return n**2 * p, p * m * (m + 1) / 2, p * m * n, p * (n + m + 1)"),
    cost("summed up word by word", """
        decoder = sum(p * i for i in range(1, m + 1))
        cross = sum(p * n for word in range(m))
        return n * (n * p), decoder, cross, n * p + m * p
    """),
    cost("of arrays", """
        import numpy as np
        sizes = np.array([[n, n], [m, m], [n, m], [n + m, 1]], dtype=np.float64)
        return tuple(p * sizes.prod(axis=1))
    """),
    cost("half of each", "return [p / 2 * x for x in (n * n, m * m, n * m, n + m)]"),
]  # fmt: skip

POSITIONS = """\
class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout=0.1, max_len=512):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
{init}

    def forward(self, x):
{forward}
        return self.dropout(x)
"""


def positions(name: str, init: str, forward: str = "x = x + self.pe[: x.size(1)]") -> Answer:
    made = [indent(dedent(part).strip("\n"), " " * 8) for part in (init, forward)]
    text = POSITIONS.format(init=made[0], forward=made[1])
    return Answer(BLOCK, "positional_encoding_answer", name, (), text)


ENCODINGS = [
    positions("exponential of a logarithm, an axis in the middle, turned before it is added", """
        pe = torch.zeros(max_len, emb_size)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, emb_size, 2).float() * (-math.log(10000.0) / emb_size))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(1))
    """, "x = x + self.pe[: x.size(1)].transpose(0, 1)"),
    positions("an axis in front, not saved with the model", """
        angle = torch.outer(torch.arange(max_len).float(), 10000.0 ** (-torch.arange(0, emb_size, 2) / emb_size))
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", table.unsqueeze(0), persistent=False)
    """, "x = x + self.pe[:, : x.size(1)]"),
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
]  # fmt: skip


def pooling(name: str, body: str) -> Answer:
    text = "def mean_pooling(hidden_states, mask):\n" + indent(dedent(body).strip("\n"), " " * 4)
    return Answer(BLOCK, "mean_pooling_answer", name, (), text)


POOLED = [
    pooling("weights and a matrix product", """
        weights = mask / mask.sum(dim=1, keepdim=True)
        return (weights.unsqueeze(1) @ hidden_states).squeeze(1)
    """),
    pooling("sentence by sentence",
            "return torch.stack([states[real].mean(0) for states, real in zip(hidden_states, mask)])"),
    pooling("masked_fill and einsum", """
        kept = hidden_states.masked_fill(~mask.bool()[:, :, None], 0.0)
        return torch.einsum("btk->bk", kept) / mask.float().sum(1)[:, None]
    """),
    pooling("torch's own masked mean", "return torch.masked.mean(hidden_states, dim=1, mask=mask[..., None])"),
    pooling("nan for padding", """
        padded = torch.where(mask[..., None], hidden_states, torch.nan)
        return padded.double().nanmean(dim=1).float()
    """),
]  # fmt: skip

RIGHT = [*BLOCKS, *COSTS, *ENCODINGS, *POOLED]
