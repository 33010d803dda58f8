"""``DotProductAttention`` with padding: a key that is padding gets the weight 0, in every head of its sentence.

Then the class as it stands, with several heads and a mask.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from ._answers import attention
from ._attention_cases import draw, torch_attention
from ._attention_rules import STOPS, WHOLE, masked


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for (b, t, h, k), lengths in (((3, 5, 2, 4), (5, 2, 3)), ((2, 4, 3, 6), (3, 4))):
        case = draw(generator, b, t, h, k)
        inputs = {**case.inputs, "mask": np.arange(t)[None] < np.array(lengths)[:, None]}
        made.append(Case({}, inputs, expected={"output": torch_attention(**inputs)}))
    return made


# The lines of the solution that mistakes change.
MASK = 'score = score.masked_fill(padding, float("-inf"))'
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "out = torch.bmm(weights, values)"
REPEATED = "mask.repeat_interleave(h, dim=0)"
SCORE = "score = self.calculate_score(queries, keys)"
IGNORED = ("Padding still gets attention: the mask changes nothing.",
           "A key that is padding must get the weight 0, whatever its score.")  # fmt: skip

MISTAKES = [
    Mistake("M10-rows", "Padded tokens come out as nan: as queries they find no key at all.",
            "Only keys are masked: a row with nothing but minus infinity makes nan, and nan spreads in training."
            ).by((MASK, "score = score.masked_fill(padding, -math.inf).masked_fill(padding.transpose(1, 2), -math.inf)"
                  )),
    Mistake("M10-nan", "Real tokens come out as nan.",
            "Minus infinity times 0 is nan, and so is a softmax over nothing but minus infinity."
            ).by((MASK, 'score = score + float("-inf") * padding')),
    Mistake("M10-ignored", *IGNORED, (MASK, "")),
    Mistake("M10-ignored", *IGNORED, (".unsqueeze(1)", ".unsqueeze(2)")),
    Mistake("M10-inverted", "The mask is the wrong way round: only padding gets attention.",
            "True marks a real token.", ("~mask.repeat", "mask.repeat")),
    Mistake("M10-zeros", "The scores of padding are set to 0; e to the power of 0 is 1, so padding still counts.",
            "Which score becomes the weight 0?", ('float("-inf")', "0.0")),
    Mistake("M10-after", "The weights were masked after the softmax: those of the real tokens no longer sum to 1.",
            "The softmax has to know which keys there are.", (MASK, ""),
            (OUT, f"if mask is not None:\n            weights = weights.masked_fill(padding, 0.0)\n        {OUT}")),
    Mistake("M10-tiled", "The heads of one sentence got the masks of other sentences.",
            "After folding, the batch counts all heads of sentence 0, then all heads of sentence 1. In which order do "
            "the masks repeat?", (REPEATED, "mask.repeat(h, 1)")),
    DTYPE.by((SCORE, f"{SCORE}.double()"), (OUT, "out = torch.bmm(weights.to(score.dtype), values.to(score.dtype))")),
    WHOLE.by((SCORE, f"{SCORE}.flip(1)")),
    STOPS.by((SCORE, f"{SCORE}.half()")),
    CHANGED.by((MASK, f"{MASK}\n            mask.zero_()")),
    CUT.by((MASK, MASK.replace("score.", "score.detach()."))),
    Mistake("", "a small penalty", "", (MASK, "score = score - 1.0 * padding")),
]  # fmt: skip

RIGHT = {
    "a large negative number in place of minus infinity": attention("""
        fold = lambda x: x.transpose(1, 2).flatten(0, 1)
        score = self.calculate_score(fold(queries), fold(keys))
        if mask is not None:
            score = score + (mask.repeat_interleave(h, 0)[:, None].float() - 1) * 1e9
        weights = F.dropout(score.softmax(-1), self.dropout.p, self.training)
        return (weights @ fold(values)).unflatten(0, (b, h)).transpose(1, 2).flatten(2)
    """),
    "expanded over the heads": [(REPEATED, "mask[:, None].expand(b, h, t).reshape(b * h, t)")],
    "rows masked as well, by a large number": [
        (MASK, "score = score.masked_fill(padding, -1e9).masked_fill(padding.transpose(1, 2), -1e9)"),
    ],
    "where": [(MASK, 'score = torch.where(padding, float("-inf"), score)')],
    "weights masked after the softmax, and divided by their sum": [
        (MASK, ""),
        (WEIGHTS, "weights = F.softmax(score, dim=2)\n        if mask is not None:\n"
         "            weights = weights * ~padding\n            weights = weights / weights.sum(2, keepdim=True)\n"
         "        weights = self.dropout(weights)"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, masked, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer", atol=2e-5, rtol=2e-4,
    shows=("padding gets no attention", "the real tokens' weights still sum to 1", "all steps work together"),
    axes={"output": "b, t, h * k"},
)  # fmt: skip
