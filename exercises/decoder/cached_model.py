"""The decoder with a cache. Expected answers: transformers' GPT-2 with its own DynamicCache, fed the same pieces."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, variant

from ._decoder import draw_model
from ._gpt2 import cached_logits
from ._rules import KEYS, with_caches


def cases(generator: np.random.Generator) -> list[Case]:
    """A prompt and single tokens; a prompt in pieces; one token after the other from the start."""
    made = []
    for batch, pieces, config in (
        (3, (5, 1, 1), {"vocabulary": 11, "context": 14, "dim": 12, "heads": 2, "layers": 4}),
        (2, (2, 4, 3), {"vocabulary": 13, "context": 12, "dim": 10, "heads": 5, "layers": 3}),
        (2, (1, 1, 1, 1), {"vocabulary": 7, "context": 9, "dim": 9, "heads": 3, "layers": 2}),
    ):
        weights = draw_model(generator, config)
        ids = generator.integers(0, config["vocabulary"], (batch, sum(pieces)))
        logits, keys = cached_logits(weights, ids, config, pieces)
        expected = {"logits": logits, "keys": keys}
        made.append(Case({**config, "pieces": list(pieces)}, {"input_ids": ids}, weights, expected=expected))
    return made


HEAD = "class CachedModel(CachedModelLayers):\n    def forward(self, ids, caches=None):"
AGAIN = variant(
    HEAD,
    """
    known = ids if caches is None else torch.cat([caches[0][2], ids], dim=1)
    x = self.token_embedding(known) + self.position_embedding.weight[: known.shape[1]]
    for block in self.blocks:
        x, _ = block(x, None)
    logits = self.final_norm(x) @ self.token_embedding.weight.T
    return logits[:, -ids.shape[1] :], [(x, x, known)] * len(self.blocks)
""",
)
PLACE = "How many tokens does a cache hold? Its keys are (batch, heads, tokens, head_size)."
# Lines of the solution that mistakes change.
LAST = "self.final_norm(x) @ self.token_embedding.weight.T"
PLACES = "torch.arange(start, start + ids.shape[1])"
COUNT = "caches[0][0].shape[2]"
GIVEN = "None if caches is None else caches[number]"
FORGOTTEN = ("Every piece is read as if it were the first one.",
             "Give back one new cache for each block, and use them.")  # fmt: skip
FROM_0 = (PLACES, "torch.arange(ids.shape[1])")

MISTAKES = [
    Mistake("K2-restart", "The positions of every piece begin with 0.", PLACE, FROM_0),
    Mistake("K2-late", "The positions are one too large after a cache.", PLACE, (COUNT, f"{COUNT} + 1")),
    Mistake("K2-early", "The positions are one too small after a cache.", PLACE, (COUNT, f"{COUNT} - 1")),
    Mistake("K2-layers", "The positions go on from the number of blocks.", PLACE, (COUNT, "len(caches)")),
    Mistake("K2-heads", "The positions go on from the number of heads.", PLACE, (COUNT, "caches[0][0].shape[1]")),
    Mistake("K2-alone", "The blocks get no cache: a piece does not see the ones before.", "block(x, its cache)",
            (GIVEN, "None")),
    Mistake("K2-forgotten", *FORGOTTEN, (GIVEN, "None"), FROM_0),
    Mistake("K2-forgotten", *FORGOTTEN, ("weight.T, kept", "weight.T, caches")),
    Mistake("K2-positions", "No positions are added.", "Words plus positions.",
            ("self.position_embedding(places)", "0")),
    Mistake("K2-norm", "The last norm is missing.", "It comes after all blocks.", ("self.final_norm(x)", "x")),
    Mistake("K2-softmax", "These are probabilities.", "The model gives logits.", (LAST, f"({LAST}).softmax(-1)")),
    KEYS.by(AGAIN),
    Mistake("K2-own", "It goes on from caches of its own, not from those that it is given.",
            "Two texts may be read by turns: what is known of a text lies in its caches alone.",
            (GIVEN, "None if caches is None else self.own[number]"),
            ("return self", "self.own = kept\n        return self")),
    Mistake("K2-first", "Every block gets the cache of the first block.", "Each block has a cache of its own.",
            (GIVEN, "None if caches is None else caches[0]")),
    Mistake("K2-order", "The new caches come back in another order than that of the blocks.",
            "Cache number i is for block number i.", ("kept.append(cache)", "kept.insert(0, cache)")),
    Mistake("K2-words", "What the blocks give is not used: the logits come from words and positions alone.",
            "A block gives two things: the vectors for the next block, and its cache.",
            ("x, cache = block(x,", "_, cache = block(x,")),
    Mistake("K2-last", "Only the last token of each piece gets logits.", "Every new token gets logits.",
            (LAST, LAST.replace("(x)", "(x[:, -1:])"))),
    CHANGED,
    CUT,
    UNSTEADY,
]  # fmt: skip

RIGHT = {
    "zip, and a slice of the table": variant(HEAD, """
        caches = caches or [None] * len(self.blocks)
        past = 0 if caches[0] is None else caches[0][0].size(-2)
        x = self.token_embedding(ids) + self.position_embedding.weight[past : past + ids.size(1)]
        new = []
        for block, cache in zip(self.blocks, caches):
            x, cache = block(x, cache)
            new.append(cache)
        return F.linear(self.final_norm(x), self.token_embedding.weight), new
    """),
    "the size of the values": variant(HEAD, """
        past = caches[-1][1].shape[2] if caches else 0
        x = self.token_embedding(ids) + self.position_embedding(past + torch.arange(ids.shape[1]))
        found = ()
        for i in range(len(self.blocks)):
            x, kept = self.blocks[i](x, caches[i] if caches else None)
            found += (kept,)
        return torch.einsum("btd,vd->btv", self.final_norm(x), self.token_embedding.weight), found
    """),
    "a dictionary of caches, made a list": variant(HEAD, """
        known = dict(enumerate(caches or []))
        past = known[0][0].shape[2] if known else 0
        places = torch.arange(past, past + ids.shape[1], device=ids.device).expand(ids.shape)
        x = self.token_embedding(ids) + self.position_embedding(places)
        for number, block in enumerate(self.blocks):
            x, known[number] = block(x, known.get(number))
        return self.final_norm(x).matmul(self.token_embedding.weight.t()), list(known.values())
    """),
    "positions from the end": variant(HEAD, """
        count = ids.shape[1] + (0 if caches is None else caches[0][0].shape[2])
        x = self.token_embedding(ids) + self.position_embedding.weight[:count][-ids.shape[1]:]
        kept = [None] * len(self.blocks) if caches is None else list(caches)
        for number, block in enumerate(self.blocks):
            x, kept[number] = block(x, kept[number])
        return self.final_norm(x) @ self.token_embedding.weight.T, kept
    """),
    "the count of another block": [(COUNT, "caches[-1][0].shape[2]")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, with_caches, MISTAKES, right=RIGHT, framework="torch", rtol=3e-4, atol=3e-5,
    shows=("positions go on", "each block has its cache", "the caches grow"),
    axes={"logits": "batch, new, vocabulary"},
)  # fmt: skip
