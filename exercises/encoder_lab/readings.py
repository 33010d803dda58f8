"""Which pattern some heads show, and which patterns need positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.exercise import all_choices

from .._choices import statements
from ._stored import TOKENS, stored

Array = np.ndarray
#: (layer, head) of the statements about heads, in order.
HEADS = [(0, 5), (1, 8), (1, 1), (0, 2)]
SURVIVORS = [(1, 1), (0, 2)]
#: What a head with this pattern would show; ``{0:.2f}`` is what it does show.
WOULD_SHOW = {
    "previous": "then the cells just below the diagonal would be bright. They hold only {0:.2f} of a token's weight.",
    "next": "then the cells just above the diagonal would be bright. They hold only {0:.2f} of a token's weight.",
    "same word": "then *flies* would look at *flies* and *like* at *like*. They give each other only {0:.2f}.",
    "separator": "then the two columns of [SEP] would be bright. They hold only {0:.2f} of a token's weight.",
}
CHANGED = "look at both pictures: with positions the pattern has {0:.2f} of the weight, without them {1:.2f}."


def patterns(attentions: Array, tokens: Sequence[str]) -> dict[str, Array]:
    """How much of each head's weight, on average, goes where: name -> (layers, heads)"""
    n = len(tokens)
    same = [(i, j) for i in range(n) for j in range(n) if i != j and tokens[i] == tokens[j] and tokens[i] != "[SEP]"]
    return {
        "previous": attentions[..., range(1, n), range(n - 1)].mean(-1),
        "next": attentions[..., range(n - 1), range(1, n)].mean(-1),
        "same word": attentions[..., [i for i, _ in same], [j for _, j in same]].mean(-1),
        "separator": attentions[..., [i for i, token in enumerate(tokens) if token == "[SEP]"]].sum(-1).mean(-1),
    }


def _questions() -> dict[str, tuple[str, dict[str, str]]]:
    with_positions = patterns(stored("attentions"), TOKENS)
    without = patterns(stored("attentions_without_positions"), TOKENS)
    shown = {head: max(with_positions, key=lambda name: with_positions[name][head]) for head in HEADS}
    found = {}
    for head in HEADS:
        would = {name: WOULD_SHOW[name].format(weights[head]) for name, weights in with_positions.items()}
        right = shown[head]
        found[f"layer {head[0]}, head {head[1]}"] = right, {name: would[name] for name in would if name != right}
    for head in SURVIVORS:
        before, after = (weights[shown[head]][head] for weights in (with_positions, without))
        right, other = ("kept", "lost") if after >= before / 2 else ("lost", "kept")
        found[f"layer {head[0]}, head {head[1]}, without positions"] = right, {other: CHANGED.format(before, after)}
    return found


EXERCISE = statements("readings", _questions(), all_choices)
