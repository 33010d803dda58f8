"""The embeddings: words and positions, added and normalised."""

from __future__ import annotations

from textwrap import indent

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._rules import L_BIAS, L_MISSING, L_SIZE, L_WEIGHT, embeddings_alone
from ._sizes import config, hf_config


def _case(
    generator: np.random.Generator,
    batch: int,
    tokens: int,
    n_heads: int,
    head_size: int,
    size: float = 1.0,
    alike: bool = True,
) -> Case:
    """alike: all rows of the position table are the same: wrong positions, with points of their own, show nothing"""
    # more positions than words, so that looking up ids in the table of positions is no crash but a wrong answer
    sizes = config(n_heads, head_size, 17, max_position_embeddings=29)
    dim, vocabulary, positions = sizes["dim"], sizes["vocab_size"], sizes["max_position_embeddings"]
    weights = {
        "word_embeddings.weight": (size * generator.normal(0, 1, (vocabulary, dim))).astype(np.float32),
        "position_embeddings.weight": (size * generator.normal(0, 1, (positions, dim))).astype(np.float32),
        "LayerNorm.weight": generator.normal(1, 0.2, dim).astype(np.float32),
        "LayerNorm.bias": generator.normal(0, 0.2, dim).astype(np.float32),
    }
    if alike:
        weights["position_embeddings.weight"][:] = weights["position_embeddings.weight"][0]
    weights["word_embeddings.weight"][0] = 0.0  # the row of padding_idx
    input_ids = generator.integers(1, vocabulary, (batch, tokens))
    input_ids[1] = input_ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
    input_ids[-1, -1] = 0
    import torch
    from transformers.models.distilbert.modeling_distilbert import Embeddings

    module = Embeddings(hf_config(sizes)).double().eval()
    module.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()})
    with torch.no_grad():
        output = module(torch.from_numpy(input_ids)).numpy()
    return Case(sizes, {"input_ids": input_ids}, weights, {}, {"embeddings": output})


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        _case(generator, 2, 5, 3, 4),
        _case(generator, 4, 7, 3, 2),
        _case(generator, 3, 6, 4, 2, size=1e-3),  # shows an eps that is not the config's
        _case(generator, 2, 4, 3, 3, size=1e-6),  # about √eps: LayerNorm no longer hides a factor
        _case(generator, 2, 6, 3, 3, alike=False),
    ]


# Lines of the solution that mistakes change.
SUM = "embeddings = input_embeds + position_embeddings"
NORM = "self.LayerNorm(embeddings)"
LAYER = "self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)"
BOTH = "Both vectors have the same size; the token's embedding is made of both."
ALIKE = "Which operation takes two vectors of one size, treats both alike, and keeps both at full strength?"


def merged(id: str, message: str, hint: str, embeddings: str) -> Mistake:
    return Mistake(id, message, hint, (SUM, f"embeddings = {embeddings}"))


MISTAKES = [
    *(merged("M13-words", "The words count more than the positions.", ALIKE, how)
      for how in ("2 * input_embeds + position_embeddings", "input_embeds + 0.5 * position_embeddings")),
    *(merged("M13-places", "The positions count more than the words.", ALIKE, how)
      for how in ("input_embeds + 2 * position_embeddings", "0.5 * input_embeds + position_embeddings")),
    merged("M11-none", "The positions are missing: only the words are there.", BOTH, "input_embeds"),
    merged("M11-words", "The words are missing: only the positions are there.", BOTH, "position_embeddings"),
    merged("M11-product", "Words and positions were multiplied.", ALIKE, "input_embeds * position_embeddings"),
    merged("M11-concat", "The positions were appended to the words, as if they were further tokens.",
           "Nothing gets longer: each token's two vectors become one.",
           "torch.cat([input_embeds, position_embeddings], dim=1)"),
    merged("M11-difference", "The positions were subtracted.", ALIKE, "input_embeds - position_embeddings"),
    merged("M11-difference", "The words were subtracted.", ALIKE, "position_embeddings - input_embeds"),
    merged("M11-mean", "Words and positions were averaged: on a small scale LayerNorm no longer hides the half.",
           ALIKE, "(input_embeds + position_embeddings) / 2"),
    Mistake("M13", "The LayerNorm's eps is not the config's.", "nn.LayerNorm takes eps=config.eps.",
            (LAYER, LAYER.replace(", eps=config.eps", ""))),
    Mistake("M8-none", "The LayerNorm is missing.", "What words and positions make together is normalised.",
            (NORM, "embeddings")),
    Mistake("M8", "The LayerNorm comes before the positions are added.", "Merge first, then normalise.",
            (NORM, "self.LayerNorm(input_embeds) + position_embeddings")),
    Mistake("M11-table", "The words were looked up in the table of positions.",
            "word_embeddings is asked with input_ids, position_embeddings with the positions.",
            ("self.word_embeddings(input_ids)", "self.position_embeddings(input_ids)")),
    dropout_at_work("The embeddings").by((SUM, "embeddings = nn.functional.dropout(input_embeds + "
                                          "position_embeddings, 0.1)")),
    L_MISSING.by((LAYER, "pass")),
    L_BIAS.by((LAYER, LAYER.replace("eps)", "eps, bias=False)"))),
    L_WEIGHT.by((LAYER, LAYER.replace("eps)", "eps, elementwise_affine=False)"))),
    L_SIZE.by(("config.vocab_size, config.dim,", "config.dim, config.vocab_size,")),
    CHANGED.by((NORM, f"{NORM} + 0 * input_ids.zero_().sum()")),
    DTYPE.by((NORM, f"{NORM}.double()")),
    merged("", "laid side by side", "", "torch.cat([input_embeds, position_embeddings], dim=-1)"),
]  # fmt: skip

# What right answers write.
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


def embedded(merge: str, returned: str = "self.LayerNorm(x)", more: str = "") -> str:
    return EMBEDDINGS.format(merge=indent(merge, " " * 8).strip(), returned=returned, more=more)


RIGHT = {
    "positions broadcast over the batch": embedded(
        "x = self.word_embeddings(input_ids) + self.position_embeddings(torch.arange(tokens))"
    ),
    "rows of the table of positions": embedded(
        "x = torch.add(self.position_embeddings.weight[:tokens], self.word_embeddings(input_ids))"
    ),
    "added in place": embedded(
        "x = self.word_embeddings(input_ids)\nx += self.position_embeddings(torch.arange(tokens)[None])"
    ),
    "stacked and summed": embedded(
        "words = self.word_embeddings(input_ids)\n"
        "places = self.position_embeddings(torch.arange(tokens).repeat(len(input_ids), 1))\n"
        "x = torch.stack([words, places]).sum(dim=0)",
    ),
    "one-hot vectors times the tables": embedded(
        "one_hot = nn.functional.one_hot(input_ids, len(self.word_embeddings.weight)).float()\n"
        "places = torch.eye(tokens, len(self.position_embeddings.weight)) @ self.position_embeddings.weight\n"
        "x = one_hot @ self.word_embeddings.weight + places",
    ),
    "positions in a buffer, dropout that knows eval mode": embedded(
        "x = self.word_embeddings(input_ids) + self.position_embeddings(self.position_ids[:, :tokens])",
        "self.dropout(self.LayerNorm(x))",
        'self.register_buffer("position_ids", torch.arange(config.max_position_embeddings)[None])\n'
        "        self.dropout = nn.Dropout(0.1)",
    ),
    "token by token": embedded(
        "words = self.word_embeddings(input_ids)\n"
        "x = torch.stack([words[:, t] + self.position_embeddings.weight[t] for t in range(tokens)], dim=1)",
    ),
    "functions in place of layers": embedded(
        "x = nn.functional.embedding(input_ids, self.word_embeddings.weight)\n"
        "x = x + nn.functional.embedding(torch.arange(tokens), self.position_embeddings.weight)",
        "nn.functional.layer_norm(x, x.shape[-1:], self.LayerNorm.weight, self.LayerNorm.bias, self.LayerNorm.eps)",
    ),
    "float64 inside, then back": embedded(
        "x = self.word_embeddings(input_ids).double() + self.position_embeddings(torch.arange(tokens)).double()",
        "self.LayerNorm(x.float())",
    ),
    "vmap over the sentences": embedded(
        "places = self.position_embeddings.weight[:tokens]\n"
        "x = torch.vmap(lambda words: words + places)(self.word_embeddings(input_ids))",
    ),
    "functional_call of the layers, keywords alone": embedded(
        "from torch.func import functional_call\n"
        "weights = {'weight': self.word_embeddings.weight}\n"
        "x = functional_call(self.word_embeddings, weights, args=(input_ids,))\n"
        "x = torch.add(input=x, other=self.position_embeddings(input=torch.arange(end=tokens, start=0)))",
        "self.LayerNorm(input=x)",
    ),
    "a comprehension with a walrus, sentence by sentence": embedded(
        "x = torch.stack([\n"
        "    self.word_embeddings(ids) + self.position_embeddings(torch.arange(n))\n"
        "    for ids in input_ids if (n := len(ids))\n"
        "])",
    ),
    "positions counted by cumsum, summed by einsum": embedded(
        "places = self.position_embeddings(torch.ones_like(input_ids).cumsum(dim=1) - 1)\n"
        'x = torch.einsum("nbtd->btd", torch.stack((places, self.word_embeddings(input_ids))))',
    ),
    "a property, type hints and another order": """
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
    "__call__ overridden, the norm in a Sequential": """
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
}

EXERCISE = Exercise(
    cases, embeddings_alone, MISTAKES, right=RIGHT, framework="torch",
    accepted={
        "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
        "embeddings-562c7c77": "padding_idx keeps the row of the padding from being trained; here the weights are "
        "loaded.",
    },
    shows=("shape", "words and positions both count", "added, then normalised"),
    axes={"embeddings": "batch, tokens, dim"},
)  # fmt: skip
