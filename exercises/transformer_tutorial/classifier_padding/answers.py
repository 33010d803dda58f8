"""Right and wrong ways to deal with padding."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import model, right, wrong

CELL = "transformer_answer"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"

RIGHT = [
    right("mask by name", ("block(x, mask)", "block(x, mask=mask)")),
    right("pooled in place", (POOL, "real = mask.unsqueeze(-1)\n"
                                    "        sequence_avg = (x * real).sum(dim=1) / real.sum(dim=1)")),
    right("each sentence cut to its length",
          (POOL, "sequence_avg = torch.stack([states[:length].mean(0) for states, length in zip(x, mask.sum(1))])")),
    right("another way to find the padding", ("mask = x != 0", "mask = x.bool()")),
]  # fmt: skip

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

WRONG = [
    wrong("padding averaged in", "M15-padding", (POOL, "sequence_avg = x.mean(dim=1)"), points=0.5),
    wrong("divided by all tokens", "M15-padding", (POOL, "sequence_avg = (x * mask.unsqueeze(-1)).mean(dim=1)"),
          points=0.5),
    wrong("blocks not told", "M10-unsaid", ("block(x, mask)", "block(x)"), points=0.5),
    wrong("blocks told the opposite", "M10-inverted", ("block(x, mask)", "block(x, ~mask)"), points=0.5),
    wrong("only the first block told", "M10-unsaid",
          (LOOP, "for number, block in enumerate(self.transformer_blocks):\n"
           "            x = block(x, mask) if number == 0 else block(x)"), points=0.5),
    wrong("nobody told", "M15-padding", ("block(x, mask)", "block(x)"), (POOL, "sequence_avg = x.mean(dim=1)")),
    wrong("the average over padding alone", "M15-padding",
          (POOL, "sequence_avg = mean_pooling(x, ~mask | mask.all(1, True))"), points=0.5),
    SampleAnswer("as the assignment was published", AS_PUBLISHED, points=0, mistake="M15-padding"),
]  # fmt: skip
