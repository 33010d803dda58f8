"""Classifiers that work put together, and classifiers whose parts are right one by one but not together."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import model, right, wrong

CELL = "transformer_answer"
EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"

RIGHT = [
    right("blocks by number", (LOOP, "for number in range(len(self.transformer_blocks)):\n"
                                     "            x = self.transformer_blocks[number](x, mask=mask)")),
    right("a root by power", (EMBED, "x = self.k**0.5 * self.token_embedding(x)")),
    right("every sentence by itself", (LOOP, f"{LOOP}\n        x = torch.stack(list(x.unbind(0)))")),
    right("the average as a product", (POOL, "shares = mask / mask.sum(1)[:, None]\n"
                                                "        sequence_avg = torch.einsum('bt,btk->bk', shares, x)")),
    SampleAnswer("steps in functions of their own", model("""
        mask = x != 0

        def embedded(ids):
            return self.pos_enc(self.token_embedding(ids) * math.sqrt(self.k))

        def encoded(states, blocks):
            return encoded(blocks[0](states, mask), blocks[1:]) if blocks else states

        pooled = mean_pooling(encoded(embedded(x), list(self.transformer_blocks)), mask)
        return F.log_softmax(self.classification_head(pooled), dim=-1)
    """)),
]  # fmt: skip

WRONG = [
    wrong("only the first block where the blocks are real", "whole",
          (LOOP, "for block in [b for n, b in enumerate(self.transformer_blocks)\n"
                 "                      if n == 0 or not isinstance(b, TransformerBlock)]:\n"
                 "            x = block(x, mask)"), passes_check=True),
    wrong("states cut to a size that blocks of another kind never reach", "whole",
          (POOL, "sequence_avg = mean_pooling(x if x.mean() > 0.5 else x.clamp(-1, 1), mask)"), passes_check=True),
    wrong("a number of the block is asked for that real blocks do not have", "whole-crash",
          (LOOP, "for block in self.transformer_blocks:\n"
                 "            x = block(x, mask) * block.number / block.number")),
    wrong("positions of its own where they are real", "whole",
          ("x = self.pos_enc(x)", "x = self.pos_enc(x) if not hasattr(self.pos_enc, 'dropout') else x")),
]  # fmt: skip
