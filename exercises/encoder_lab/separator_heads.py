"""In each layer the head that attends to [SEP] most."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._rules import separator_heads
from ._stored import TOKENS, stored


def cases(generator: np.random.Generator) -> list[Case]:
    places = [i for i, token in enumerate(TOKENS) if token == "[SEP]"]
    shares = stored("attentions")[..., places].sum(-1).mean(-1)  # (layers, heads)
    return [Case(expected={"heads": shares.argmax(-1)})]


def heads(code: str) -> str:
    """An answer made of ``shares``, (layers, heads)."""
    return f"shares = torch.stack([separator_share(a, tokens) for a in attentions])\nseparator_heads = {code}\n"


LARGEST, SIX = "The largest share.", "One head for each layer: six numbers."

# The visible check sees whether there are six heads.
MISTAKES = [
    Mistake("heads-least", "These are the heads that attend to [SEP] least.", LARGEST,
            heads("shares.argmin(-1).tolist()"), passes_check=True),
    Mistake("heads-from-one", "The heads were counted from 1.", "The first head is head 0.",
            heads("(shares.argmax(-1) + 1).tolist()")),
    Mistake("heads-layers", "For each head the layer was looked for.", SIX, heads("shares.argmax(0).tolist()")),
    Mistake("heads-second", "These are the heads with the second largest share.", LARGEST,
            heads("shares.argsort(-1)[:, -2].tolist()"), passes_check=True),
    Mistake("heads-one-layer", "Every layer got the answer of layer 0.", "Look at each layer by itself.",
            heads("[int(shares[0].argmax())] * 6"), passes_check=True),
    Mistake("heads-reversed", "The layers are in reverse order.", "Layer 0 first.",
            heads("shares.argmax(-1).tolist()[::-1]"), passes_check=True),
    Mistake("", "one of 72", "", heads("[int(shares.argmax())]")),
]  # fmt: skip

RIGHT = {
    "a tensor": "separator_heads = torch.stack([separator_share(a, tokens) for a in attentions]).argmax(-1)",
    "read off": "separator_heads = (5, 8, 3, 11, 11, 8)",
    "measured anew": "at = [6, 12]\nseparator_heads = attentions[..., at].sum((-1, -2)).argmax(1).tolist()",
    "sorted": "separator_heads = [max(range(12), key=lambda h: float(separator_share(a, tokens)[h])) "
              "for a in attentions]",
}  # fmt: skip

EXERCISE = Exercise(cases, separator_heads, MISTAKES, right=RIGHT, framework="torch")
