"""Embeddings that are right, in many styles, or wrong."""

from __future__ import annotations

from textwrap import indent

from autograder.exercise import SampleAnswer

from .._answers import wrong

EMBEDDINGS = """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)
        {more}

    def forward(self, input_ids):
        tokens = input_ids.size(1)
        {merge}
        return {returned}
"""


def _right(name: str, merge: str, returned: str = "self.LayerNorm(x)", more: str = "") -> SampleAnswer:
    return SampleAnswer(name, EMBEDDINGS.format(merge=indent(merge, " " * 8).strip(), returned=returned, more=more))


RIGHT = [
    _right(
        "positions broadcast over the batch",
        "x = self.word_embeddings(input_ids) + self.position_embeddings(torch.arange(tokens))",
    ),
    _right(
        "rows of the table of positions",
        "x = torch.add(self.position_embeddings.weight[:tokens], self.word_embeddings(input_ids))",
    ),
    _right(
        "added in place",
        "x = self.word_embeddings(input_ids)\nx += self.position_embeddings(torch.arange(tokens)[None])",
    ),
    _right(
        "stacked and summed",
        "words = self.word_embeddings(input_ids)\n"
        "places = self.position_embeddings(torch.arange(tokens).repeat(len(input_ids), 1))\n"
        "x = torch.stack([words, places]).sum(dim=0)",
    ),
    _right(
        "one-hot vectors times the tables",
        "one_hot = nn.functional.one_hot(input_ids, len(self.word_embeddings.weight)).float()\n"
        "places = torch.eye(tokens, len(self.position_embeddings.weight)) @ self.position_embeddings.weight\n"
        "x = one_hot @ self.word_embeddings.weight + places",
    ),
    _right(
        "positions in a buffer, dropout that knows eval mode",
        "x = self.word_embeddings(input_ids) + self.position_embeddings(self.position_ids[:, :tokens])",
        "self.dropout(self.LayerNorm(x))",
        'self.register_buffer("position_ids", torch.arange(config.max_position_embeddings)[None])\n'
        "        self.dropout = nn.Dropout(0.1)",
    ),
    _right(
        "token by token",
        "words = self.word_embeddings(input_ids)\n"
        "x = torch.stack([words[:, t] + self.position_embeddings.weight[t] for t in range(tokens)], dim=1)",
    ),
    _right(
        "functions in place of layers",
        "x = nn.functional.embedding(input_ids, self.word_embeddings.weight)\n"
        "x = x + nn.functional.embedding(torch.arange(tokens), self.position_embeddings.weight)",
        "nn.functional.layer_norm(x, x.shape[-1:], self.LayerNorm.weight, self.LayerNorm.bias, self.LayerNorm.eps)",
    ),
    _right(
        "float64 inside, then back",
        "x = self.word_embeddings(input_ids).double() + self.position_embeddings(torch.arange(tokens)).double()",
        "self.LayerNorm(x.float())",
    ),
    _right(
        "vmap over the sentences",
        "places = self.position_embeddings.weight[:tokens]\n"
        "x = torch.vmap(lambda words: words + places)(self.word_embeddings(input_ids))",
    ),
    _right(
        "functional_call of the layers, keywords alone",
        "from torch.func import functional_call\n"
        "weights = {'weight': self.word_embeddings.weight}\n"
        "x = functional_call(self.word_embeddings, weights, args=(input_ids,))\n"
        "x = torch.add(input=x, other=self.position_embeddings(input=torch.arange(end=tokens, start=0)))",
        "self.LayerNorm(input=x)",
    ),
    _right(
        "a comprehension with a walrus, sentence by sentence",
        "x = torch.stack([\n"
        "    self.word_embeddings(ids) + self.position_embeddings(torch.arange(n))\n"
        "    for ids in input_ids if (n := len(ids))\n"
        "])",
    ),
    _right(
        "positions counted by cumsum, summed by einsum",
        "places = self.position_embeddings(torch.ones_like(input_ids).cumsum(dim=1) - 1)\n"
        'x = torch.einsum("nbtd->btd", torch.stack((places, self.word_embeddings(input_ids))))',
    ),
    SampleAnswer(
        "a property, type hints and another order",
        """
class Embeddings(nn.Module):
    def __init__(self, config: "Config") -> None:
        super().__init__()
        self.LayerNorm = nn.LayerNorm(normalized_shape=config.dim, eps=config.eps)
        self.add_module("word_embeddings", nn.Embedding(config.vocab_size, config.dim, config.pad_token_id))
        self.position_embeddings = nn.Embedding(
            embedding_dim=config.dim, num_embeddings=config.max_position_embeddings
        )

    @property
    def places(self) -> torch.Tensor:
        return self.position_embeddings.weight

    def merged(self, input_ids: torch.Tensor, *, start: int = 0) -> torch.Tensor:
        return self.word_embeddings(input_ids) + self.places[start : start + input_ids.shape[-1]]

    def forward(self, input_ids: torch.LongTensor) -> torch.Tensor:
        return self.LayerNorm(self.merged(input_ids, start=0))
""",
    ),
    SampleAnswer(
        "__call__ overridden, the norm in a Sequential",
        """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        for name, count in (("word", config.vocab_size), ("position", config.max_position_embeddings)):
            setattr(self, f"{name}_embeddings", nn.Embedding(count, config.dim))
        self.LayerNorm = nn.LayerNorm(config.dim, config.eps)
        self.after = nn.Sequential(self.LayerNorm, nn.Identity())

    def __call__(self, input_ids):
        places = torch.arange(input_ids.size(-1), device=input_ids.device)
        return self.after(sum((self.word_embeddings(input_ids), self.position_embeddings(places))))
""",
    ),
]

SUM = "embeddings = input_embeds + position_embeddings"
NORM = "self.LayerNorm(embeddings)"


def _merged(name: str, mistake: str, embeddings: str) -> SampleAnswer:
    return wrong(name, mistake, (SUM, f"embeddings = {embeddings}"))


WRONG = [
    wrong(
        "tables of each other's sizes", "L-size", ("config.vocab_size, config.dim,", "config.dim, config.vocab_size,")
    ),
    wrong("a norm without shift", "L-bias", ("eps=config.eps)", "eps=config.eps, bias=False)")),
    wrong(
        "words from the table of positions",
        "M11-table",
        ("self.word_embeddings(input_ids)", "self.position_embeddings(input_ids)"),
    ),
    _merged("multiplied", "M11-product", "input_embeds * position_embeddings"),
    _merged("subtracted", "M11-difference", "input_embeds - position_embeddings"),
    _merged("averaged", "M11-mean", "(input_embeds + position_embeddings) / 2"),
    _merged("words alone", "M11-none", "input_embeds"),
    _merged("positions alone", "M11-words", "position_embeddings"),
    _merged("laid side by side", "", "torch.cat([input_embeds, position_embeddings], dim=-1)"),
    _merged("laid behind each other", "M11-concat", "torch.cat([input_embeds, position_embeddings], dim=1)"),
    _merged(
        "dropout that is never switched off",
        "M16",
        "nn.functional.dropout(input_embeds + position_embeddings, 0.1)",
    ),
    wrong("LayerNorm with its default eps", "M13", ("config.dim, eps=config.eps", "config.dim")),
    wrong("no LayerNorm", "M8-none", (NORM, "embeddings")),
    wrong("LayerNorm before the sum", "M8", (NORM, "self.LayerNorm(input_embeds) + position_embeddings")),
]

ACCEPTED = {
    "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
    "embeddings-562c7c77": "padding_idx keeps the row of the padding from being trained; here the weights are loaded.",
}
