"""``hide``: a key that is padding gets the weight 0, in every head of its sentence. Then the class as it stands.

All steps together are right, with several heads and a mask; where another step lost points, with ready-made steps.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from .._attention import Array, softmax
from ._attention_rules import STOPS, WHOLE, masked


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    made = []
    for (b, t, h, k), lengths in (((3, 5, 2, 4), (5, 2, 3)), ((2, 4, 3, 6), (3, 4)), ((1, 4, 2, 3), (3,))):
        sizes = {"queries": 1.3, "keys": 1.3, "values": 1.5}
        inputs = {name: generator.normal(0, size, (b, t, h, k)).astype(np.float32) for name, size in sizes.items()}
        inputs["mask"] = np.arange(t)[None] < np.array(lengths)[:, None]
        score = generator.normal(0, 1.3, (b * h, t, t)).astype(np.float32)
        real = np.repeat(inputs["mask"], h, axis=0)[:, None]
        weights = softmax(np.where(real, score.astype(np.float64), -np.inf))
        expected = {"output": torch_attention(**inputs), "weights": weights}
        made.append(Case({}, {**inputs, "score": score}, expected=expected))
    return made


def torch_attention(queries: Array, keys: Array, values: Array, mask: Array) -> Array:
    """torch's own attention in float64: (b, t, h, k) three times, mask (b, t) -> (b, t, h*k)"""
    import torch

    q, k, v = (torch.from_numpy(x.astype(np.float64)).transpose(1, 2) for x in (queries, keys, values))
    allowed = torch.from_numpy(mask)[:, None, None, :]
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return out.transpose(1, 2).flatten(2).numpy()


# The lines of the solution that mistakes change.
MASK = 'return score.masked_fill(padding, float("-inf"))'
PADDING = "padding = ~mask.repeat_interleave(h, dim=0).unsqueeze(1)"
REPEATED = "mask.repeat_interleave(h, dim=0)"
SCORE = "score = self.calculate_score(queries, keys)"
IGNORED = ("Padding still gets attention: the mask changes nothing.",
           "A key that is padding must get the weight 0, whatever its score.")  # fmt: skip

MISTAKES = [
    Mistake("M10-rows", "Padded tokens come out as nan: as queries they find no key at all.",
            "Only keys are masked: a row with nothing but minus infinity makes nan, and nan spreads in training."
            ).by((MASK, f"{MASK}.masked_fill(padding.transpose(1, 2), -math.inf)")),
    Mistake("M10-nan", "Real tokens come out as nan.",
            "Minus infinity times 0 is nan, and so is a softmax over nothing but minus infinity."
            ).by((MASK, 'return score + float("-inf") * padding')),
    Mistake("M10-ignored", *IGNORED, (MASK, "return score")),
    Mistake("M10-ignored", *IGNORED, (".unsqueeze(1)", ".unsqueeze(2)")),
    Mistake("M10-inverted", "The mask is the wrong way round: only padding gets attention.",
            "True marks a real token.", ("~mask.repeat", "mask.repeat")),
    Mistake("M10-zeros", "The scores of padding are set to 0; e to the power of 0 is 1, so padding still counts.",
            "Which score becomes the weight 0?", ('float("-inf")', "0.0")),
    Mistake("M10-after", "hide gives weights, and 0 where there is padding; mix makes weights of what it is given.",
            "hide gives scores. The softmax is in mix, and it has to know which keys there are.",
            (MASK, "return F.softmax(score, dim=2).masked_fill(padding, 0.0)")),
    Mistake("M10-tiled", "The heads of one sentence got the masks of other sentences.",
            "After folding, the batch counts all heads of sentence 0, then all heads of sentence 1. In which order do "
            "the masks repeat?", (REPEATED, "mask.repeat(h, 1)")),
    DTYPE.by((MASK, f"{MASK}.double()")),
    WHOLE.by((SCORE, f"{SCORE}.flip(1)")),
    WHOLE.by((SCORE, f"{SCORE} / 2")),
    STOPS.by((SCORE, f"{SCORE}.half()")),
    CHANGED.by((MASK, f"hidden = {MASK.removeprefix('return ')}\n        mask.zero_()\n        return hidden")),
    CUT.by((MASK, MASK.replace("score.", "score.detach()."))),
    Mistake("", "a small penalty", "", (MASK, "return score - 1.0 * padding")),
]  # fmt: skip


def written(code: str) -> list[tuple[str, str]]:
    """A right answer: this in place of the last line, or, where it makes no use of ``padding``, of both."""
    return [(MASK, code), *([] if "padding" in code else [(PADDING, "pass")])]


RIGHT = {
    "a large negative number in place of minus infinity": written(
        "return score + (mask.repeat_interleave(h, 0)[:, None].float() - 1) * 1e9"
    ),
    "expanded over the heads": [
        (REPEATED, "mask[:, None].expand(len(mask), h, mask.shape[1]).reshape(-1, mask.shape[1])")
    ],
    "rows masked as well, by a large number": [
        (MASK, "return score.masked_fill(padding, -1e9).masked_fill(padding.transpose(1, 2), -1e9)"),
    ],
    "where": written('return torch.where(padding, float("-inf"), score)'),
    "a copy, changed in place": written(
        "score = score.clone()\n        score[padding.expand_as(score)] = -math.inf\n        return score"
    ),
    "heads on an axis of their own": written(
        "apart = score.unflatten(0, (-1, h)).masked_fill(~mask[:, None, None], -torch.inf)\n"
        "        return apart.flatten(0, 1)"
    ),
    "the logarithm of the mask": written("return score + torch.log(mask.float()).repeat_interleave(h, dim=0)[:, None]"),
    "sentence by sentence": written(
        "parts = [part.masked_fill(~real, -math.inf) for part, real in zip(score.split(h), mask, strict=True)]\n"
        "        return torch.cat(parts)"
    ),
}

EXERCISE = Exercise(
    cases, masked, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer", method="hide",
    parts=("attention_scores", "attention_output", "attention_heads"), atol=2e-5, rtol=2e-4,
    shows=("padding gets no attention", "the real tokens' weights still sum to 1", "all steps work together"),
    axes={"output": "b, t, h * k", "weights": "b * h, t, t"},
)  # fmt: skip
