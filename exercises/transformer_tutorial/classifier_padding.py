"""What ``Transformer.forward`` does with padding: half of the points for an average that padding does not change, half
for telling every block which tokens are padding.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, SampleAnswer

from ._answers import model
from ._classifier import draw
from ._classifier_rules import padding


def cases(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 3, 5, 6, 4, (5, 2, 3)), draw(generator, 4, 7, 8, 2, (1, 7, 4, 5))]


# The lines of the solution that mistakes change.
TOLD = "block(x, mask)"
LOOP = f"for block in self.transformer_blocks:\n            x = {TOLD}"
POOL = "sequence_avg = mean_pooling(x, mask)"
ALL = (POOL, "sequence_avg = x.mean(dim=1)")
PADDING = Mistake("M15-padding", "The average still counts padding.",
                  "Only real tokens count, above and below the fraction bar.", share=0.5)  # fmt: skip
UNSAID = Mistake("M10-unsaid", "Not every block was told which tokens are padding.",
                 "A block takes two arguments: the states, and the mask (true for a real token).", share=0.5
                 )  # fmt: skip

#: The assignment as it was first published does nothing about padding: that costs the point for padding, and no other.
AS_PUBLISHED = model("""
    x = self.token_embedding(x) * np.sqrt(self.k)
    x = self.pos_enc(x)
    x = self.transformer_blocks(x)
    sequence_avg = x.mean(dim=1)
    x = self.classification_head(sequence_avg)
    logprobs = F.log_softmax(x, dim=1)
    return logprobs
""")

MISTAKES = [
    PADDING.by(ALL),
    PADDING.by((POOL, "sequence_avg = (x * mask.unsqueeze(-1)).mean(dim=1)")),
    PADDING.by((POOL, "sequence_avg = mean_pooling(x, ~mask | mask.all(1, True))")),
    UNSAID.by((TOLD, "block(x)")),
    UNSAID.by((LOOP, "for number, block in enumerate(self.transformer_blocks):\n"
                     "            x = block(x, mask) if number == 0 else block(x)")),
    Mistake("M10-inverted", "The blocks got the mask the wrong way round.", "True marks a real token.", share=0.5
            ).by((TOLD, "block(x, ~mask)")),
]  # fmt: skip

RIGHT = {
    "mask by name": [(TOLD, "block(x, mask=mask)")],
    "pooled in place": [(POOL, "real = mask.unsqueeze(-1)\n"
                               "        sequence_avg = (x * real).sum(dim=1) / real.sum(dim=1)")],
    "each sentence cut to its length": [
        (POOL, "sequence_avg = torch.stack([states[:length].mean(0) for states, length in zip(x, mask.sum(1))])"),
    ],
    "another way to find the padding": [("mask = x != 0", "mask = x.bool()")],
}  # fmt: skip

WRONG = [
    SampleAnswer("nobody told", changes=((TOLD, "block(x)"), ALL), points=0, mistake="M15-padding"),
    SampleAnswer("as the assignment was published", AS_PUBLISHED, points=0, mistake="M15-padding"),
]

EXERCISE = Exercise(
    cases, padding, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch", cell="transformer_answer",
    shows=("padding does not change the answer", "the blocks get the mask"),
    axes={"log_probabilities": "b, num_classes"},
)  # fmt: skip
