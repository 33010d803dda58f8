"""What ``Transformer.encode`` does with padding: half of the points for an average that padding does not change, half
for telling every block which tokens are padding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, SampleAnswer

from ._classifier import draw, encoded
from ._classifier_rules import padding


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, 3, 5, 6, 4, (5, 2, 3)), _case(generator, 4, 7, 8, 2, (1, 7, 4, 5))]


def _case(generator: np.random.Generator, b: int, t: int, k: int, depth: int, lengths: tuple[int, ...]) -> Case:
    """lengths: how many real tokens each of the b sentences has"""
    case, mask = draw(generator, b, t, k, depth), np.arange(t)[None] < np.array(lengths)[:, None]
    inputs = {"states": case.inputs["states"], "mask": mask}
    return replace(case, inputs=inputs, expected={"encoded": encoded(inputs["states"], mask, depth)})


# The lines of the solution that mistakes change.
TOLD = "block(x, mask)"
LOOP = f"for block in self.transformer_blocks:\n            x = {TOLD}"
POOL = "return mean_pooling(x, mask)"
ALL = (POOL, "return x.mean(dim=1)")
PADDING = Mistake("M15-padding", "The average still counts padding.",
                  "Only real tokens count, above and below the fraction bar.", share=0.5)  # fmt: skip
UNSAID = Mistake("M10-unsaid", "Not every block was told which tokens are padding.",
                 "A block takes two arguments: the states, and the mask (true for a real token).", share=0.5
                 )  # fmt: skip

MISTAKES = [
    PADDING.by(ALL),
    PADDING.by((POOL, "return (x * mask.unsqueeze(-1)).mean(dim=1)")),
    PADDING.by((POOL, "return mean_pooling(x, ~mask | mask.all(1, True))")),
    UNSAID.by((TOLD, "block(x)")),
    UNSAID.by((LOOP, "for number, block in enumerate(self.transformer_blocks):\n"
                     "            x = block(x, mask) if number == 0 else block(x)")),
    Mistake("M10-inverted", "The blocks got the mask the wrong way round.", "True marks a real token.", share=0.5
            ).by((TOLD, "block(x, ~mask)")),
]  # fmt: skip

RIGHT = {
    "mask by name": [(TOLD, "block(x, mask=mask)")],
    "pooled in place": [(POOL, "real = mask.unsqueeze(-1)\n        return (x * real).sum(dim=1) / real.sum(dim=1)")],
    "each sentence cut to its length": [
        (POOL, "return torch.stack([states[:length].mean(0) for states, length in zip(x, mask.sum(1))])"),
    ],
    "padding set to nan, and left out": [
        (POOL, 'return x.masked_fill(~mask[..., None], float("nan")).nanmean(dim=1)'),
    ],
    "real tokens added up at their sentences": [
        (POOL, "sentences = mask.nonzero()[:, 0]\n"
               "        summed = x.new_zeros(len(x), x.shape[2]).index_add(0, sentences, x[mask])\n"
               "        return summed / mask.sum(dim=1, keepdim=True)"),
    ],
    "the average as a product": [
        (POOL, "shares = mask / mask.sum(1)[:, None]\n        return (shares[:, None] @ x)[:, 0]"),
    ],
}  # fmt: skip

WRONG = [
    # as the assignment was first published: that costs the point for padding, and no other
    SampleAnswer("nobody told", changes=((TOLD, "block(x)"), ALL), points=0, mistake="M15-padding"),
]

EXERCISE = Exercise(
    cases, padding, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch", cell="transformer_answer",
    method="encode", shows=("padding does not change the answer", "the blocks get the mask"),
    axes={"encoded": "b, k"},
)  # fmt: skip
