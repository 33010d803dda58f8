"""``Embeddings``: words plus positions, normalised, then dropped. Small vectors show the norm's eps."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from ._answers import EMBEDDINGS, EMBEDDINGS_INIT
from ._layers import embedding_weights, torch_embedding
from ._rules import NORM, SIZES, embeddings


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, tokens, vocabulary, positions, d_model, size in (
        (2, 5, 23, 9, 6, 1.0),
        (4, 7, 19, 11, 8, 1.0),
        (3, 6, 17, 8, 10, 1e-3),
        (1, 4, 13, 7, 6, 1.0),
    ):
        weights = embedding_weights(generator, vocabulary, positions, d_model, size)
        ids = generator.integers(1, vocabulary, (batch, tokens))
        ids[0, 2] = 0  # a token like any other here: it has a position of its own
        ids[1:2] = ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
        sizes = {"vocab_size": vocabulary, "max_position_embeddings": positions, "d_model": d_model}
        expected = {
            "token_embeddings": np.array([vocabulary, d_model]),
            "position_embeddings": np.array([positions, d_model]),
            "output": torch_embedding(ids, weights),
            "refuses_long": np.array(True),
            "own_norms": np.array([2]),
        }
        made.append(Case(sizes, {"input_ids": ids}, weights, {}, expected))
    return made


TABLES = """
self.token_embeddings = nn.Embedding(vocab_size, d_model)
self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
self.dropout = nn.Dropout(0.1)
"""
WORDS, POSITIONS = "nn.Embedding(vocab_size", "nn.Embedding(max_position_embeddings"
TURNED = TABLES.replace(WORDS, "?").replace(POSITIONS, WORDS).replace("?", POSITIONS)
PLACES = "places = self.position_embeddings(torch.arange(input_ids.size(1)))\nreturn "
BOTH, FIRST = "Both tables make a vector of d_model numbers.", "The first token is at position 0."


def init(old: str, new: str) -> Patch:
    return EMBEDDINGS_INIT, TABLES.replace(old, new)


def forward(code: str) -> Patch:
    return EMBEDDINGS, f"words = self.token_embeddings(input_ids)\n{code}"


def at(positions: str) -> Patch:
    return forward(f"return self.layer_norm(words + self.position_embeddings({positions}))")


MISTAKES = [
    NORM.by(init("1e-12", "1e-12, elementwise_affine=False")),
    NORM.by(init("1e-12", "1e-12, bias=False")),
    Mistake("M11-none", "The positions are missing: only the words are there.", BOTH,
            forward("return self.layer_norm(words)")),
    Mistake("M11-words", "The words are missing: only the positions are there.", BOTH,
            forward(f"{PLACES}self.layer_norm(places + 0 * words)")),
    Mistake("M11-product", "Words and positions were multiplied.", "They are added, number by number.",
            forward(f"{PLACES}self.layer_norm(words * places)")),
    Mistake("M11-difference", "The positions were subtracted.", "They are added.",
            forward(f"{PLACES}self.layer_norm(words - places)")),
    Mistake("M11-batch", "The position is counted along the batch.",
            "Position counts along the sentence, axis 1 of input_ids.", at("torch.arange(len(input_ids))[:, None]")),
    Mistake("M11-one", "The positions start at 1.", FIRST, at("torch.arange(1, input_ids.size(1) + 1)")),
    Mistake("M11-zero", "Every token gets the vector of position 0.", "Token t gets the vector of position t.",
            at("torch.zeros_like(input_ids)")),
    Mistake("M11-reversed", "The positions count from the end.", FIRST, at("torch.arange(input_ids.size(1)).flip(0)")),
    Mistake("M11-skips", "Tokens of number 0 were not counted: what comes after them has a position that is too early.",
            "Every token has a position, whatever its number.", at("((input_ids != 0).cumsum(1) - 1).clamp(min=0)")),
    Mistake("M13",
            "The layer norm's eps is larger than the 1e-12 that the assignment asks for: small vectors come out too "
            "small.",
            "nn.LayerNorm takes eps; its default is 1e-5.", init(", eps=1e-12", ""), share=0.75),
    Mistake("M8-none", "The layer norm is missing.", "The sum of words and positions is normalised.",
            forward(f"{PLACES}words + places")),
    Mistake("M8", "The layer norm comes before the positions are added.", "Add first, then normalise.",
            forward(f"{PLACES}self.layer_norm(words) + places")),
    Mistake("long", "A sentence that is too long is accepted.", "There is no vector for a position beyond the table.",
            at("torch.arange(input_ids.size(1)).clamp(max=self.position_embeddings.num_embeddings - 1)")),
    Mistake("M16", "Numbers are dropped in eval mode too.", "nn.Dropout knows of eval mode; F.dropout has to be told.",
            forward(f"{PLACES}nn.functional.dropout(self.layer_norm(words + places), 0.2)"), by_rule=True),
    Mistake("M16-order", "In training, numbers are dropped before the layer norm, or by something else than a dropout.",
            "Eq. (4): the dropout comes last.", forward(f"{PLACES}self.layer_norm(self.dropout(words + places))"),
            share=0.75, by_rule=True),
    SIZES.by((EMBEDDINGS_INIT, TURNED)),
    CHANGED.by(forward(f"{PLACES}self.layer_norm(words + places) + 0 * input_ids.zero_().sum()")),
    CUT.by(forward(f"{PLACES}self.layer_norm(words.detach() + places)")),
]  # fmt: skip

RIGHT = {
    "positions expanded": [(EMBEDDINGS, """
        batch, tokens = input_ids.shape
        places = torch.arange(tokens, device=input_ids.device).unsqueeze(0).expand(batch, tokens)
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places)))
    """)],
    "counted by a running sum": [(EMBEDDINGS, """
        places = torch.ones_like(input_ids).cumsum(1) - 1
        return self.dropout(self.layer_norm(self.position_embeddings(places) + self.token_embeddings(input_ids)))
    """)],
    "lists of positions, and no dropout": [(EMBEDDINGS_INIT, """
        self.token_embeddings = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
    """), (EMBEDDINGS, """
        places = torch.tensor([[i for i in range(input_ids.shape[1])] for _ in range(input_ids.shape[0])])
        return self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places))
    """)],
    "rows of the table, an error of its own": [(EMBEDDINGS, """
        tokens = input_ids.size(1)
        if tokens > self.position_embeddings.num_embeddings:
            raise ValueError(f"a sentence of {tokens} tokens is too long")
        both = self.token_embeddings(input_ids) + self.position_embeddings.weight[:tokens]
        norm = self.layer_norm
        return self.dropout(nn.functional.layer_norm(both, both.shape[-1:], norm.weight, norm.bias, 1e-12))
    """)],
    "half of everything dropped": [(EMBEDDINGS_INIT, """
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout()
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
    """)],
    "expanded positions, keyword arguments alone": [(EMBEDDINGS, """
        places = torch.arange(input_ids.shape[-1], device=input_ids.device).expand_as(input_ids)
        both = torch.add(input=self.token_embeddings(input_ids), other=self.position_embeddings(places))
        return self.dropout(self.layer_norm(input=both))
    """)],
}  # fmt: skip

#: Mutants that drop another share.
SHARES = (
    "Embeddings-cdfad063", "Embeddings-35e5ec00", "Embeddings-d26212b7", "Embeddings-3c903bee", "Embeddings-2283564d",
)  # fmt: skip

EXERCISE = Exercise(
    cases, embeddings, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    accepted=dict.fromkeys(SHARES, "It changes training alone: the visible check says so, and it costs nothing."),
    shows=("words plus positions", "normalised", "dropout last", "too long is refused"),
    axes={"output": "batch, n, d_model"},
)  # fmt: skip
