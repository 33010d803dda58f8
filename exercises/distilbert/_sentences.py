"""Three review sentences as token ids, and the vocabulary that turns ids into tokens."""

from __future__ import annotations

import json
from importlib.resources import files

SENTENCES = [
    [101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102],
    [101, 1045, 5223, 2023, 2061, 2172, 999, 102],
    [101, 1045, 1005, 2310, 2042, 3403, 2005, 1037, 17662, 12172, 2607, 2026, 2878, 2166, 1012, 102],
]


def tokens_of(ids: list[int]) -> list[str]:
    """One token per id. Asks the vocabulary itself, not the tokenizer's class."""
    text = (files("course") / "checkpoints" / "mini" / "tokenizer.json").read_text(encoding="utf-8")
    tokens = {id: token for token, id in json.loads(text)["model"]["vocab"].items()}
    return [tokens[id] for id in ids]
