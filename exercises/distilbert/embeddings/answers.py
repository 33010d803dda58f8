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
]

SUM = "embeddings = input_embeds + position_embeddings"
EXPANDED = "position_ids = position_ids.expand_as(input_ids)"
NORM = "self.LayerNorm(embeddings)"


def _merged(name: str, mistake: str, embeddings: str) -> SampleAnswer:
    return wrong(name, mistake, (SUM, f"embeddings = {embeddings}"))


def _positions(name: str, mistake: str, ids: str) -> SampleAnswer:
    return wrong(name, mistake, (EXPANDED, f"position_ids = {ids}"))


WRONG = [
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
    _positions("arange of the batch", "", "torch.arange(input_ids.shape[0]).expand_as(input_ids)"),
    _positions("along the batch", "M11-batch", "torch.arange(input_ids.shape[0])[:, None].expand_as(input_ids)"),
    _positions("from one", "M11-one", "(position_ids + 1).expand_as(input_ids)"),
    _positions("always zero", "M11-zero", "torch.zeros_like(input_ids)"),
    _positions("the token ids themselves", "M11-ids", "input_ids"),
    _positions("from the end", "M11-reversed", "position_ids.flip(0).expand_as(input_ids)"),
    wrong("LayerNorm with its default eps", "M13", ("config.dim, eps=config.eps", "config.dim")),
    wrong("no LayerNorm", "M8-none", (NORM, "embeddings")),
    wrong("LayerNorm before the sum", "M8", (NORM, "self.LayerNorm(input_embeds) + position_embeddings")),
]
