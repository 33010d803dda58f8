"""``Transformer.forward`` from ids to log-probabilities, without padding: padding is another exercise's business."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, dropout_at_work

from ._answers import model
from ._classifier import draw
from ._classifier_rules import steady_and_pure


def cases(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 3, 5, 6, 4, (5, 5, 5)), draw(generator, 4, 7, 8, 2, (7, 7, 7, 7))]


# The lines of the solution that mistakes change.
EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
PLACE = "x = self.pos_enc(x)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"
LOGITS = "logits = self.classification_head(sequence_avg)"
END = "return F.log_softmax(logits, dim=1)"
ONE_BY_ONE = "What one block gives is what the next one takes."

MISTAKES = [
    Mistake("M15-logits", "These are raw scores; log-probabilities are asked for.",
            "log_softmax over the classes comes last.", (END, "return logits")),
    Mistake("M15-softmax", "These are probabilities; their logarithms are asked for.",
            "nll_loss wants log-probabilities.", ("F.log_softmax", "F.softmax")),
    Mistake("M15-axis", "The log_softmax runs over the sentences of the batch.",
            "Each sentence's probabilities sum to 1.", (END, END.replace("dim=1", "dim=0"))),
    Mistake("M15-negative", "The sign is wrong: log-probabilities are never positive.",
            "nll_loss brings its own minus.", (END, END.replace("return ", "return -"))),
    # of padding, too, the largest number is taken, and the last token may be padding
    Mistake("M15-all", "The average is not taken over the tokens.", "Which axis counts the tokens?",
            (POOL, "sequence_avg = x.max(dim=1).values"), also_costs={"classifier_padding": 0.5}),
    Mistake("M15-last", "Only the last token reaches the classifier.", "Average over all real tokens.",
            (POOL, "sequence_avg = x[:, -1]"), also_costs={"classifier_padding": 0.5}),
    Mistake("M15-first", "Only the first token reaches the classifier.", "Average over all real tokens.",
            (POOL, "sequence_avg = x[:, 0]")),
    Mistake("M15-sum", "The tokens are summed, not averaged.", "A long sentence must not count more than a short one.",
            (POOL, "sequence_avg = (x * mask[..., None]).sum(dim=1)")),
    Mistake("EMB-scale", "The token vectors were not multiplied by √k.", "They are, before the positions are added.",
            (" * math.sqrt(self.k)", "")),
    Mistake("EMB-scale-k", "The token vectors were multiplied by k; by its square root they should be.", "√k.",
            ("math.sqrt(self.k)", "self.k")),
    Mistake("EMB-divided", "The token vectors were divided by √k.", "Multiplied they should be.",
            ("* math.sqrt(self.k)", "/ math.sqrt(self.k)")),
    Mistake("M11-none", "The positions were not added.", "pos_enc does it.", (PLACE, "")),
    Mistake("M11-before", "The positions were added before the factor √k, and so they grew with it.",
            "First the factor, then the positions.", (EMBED, "x = self.token_embedding(x)"),
            (PLACE, "x = self.pos_enc(x) * math.sqrt(self.k)")),
    Mistake("M14-none", "No block was called.", "Each block of transformer_blocks, one after the other.", (LOOP, "")),
    Mistake("M14-first", "Only the first block was used.", ONE_BY_ONE,
            (LOOP, "x = self.transformer_blocks[0](x, mask)")),
    Mistake("M14-last", "Every block got the same input, and the last one's output was kept.", ONE_BY_ONE,
            (LOOP, "start = x\n        for block in self.transformer_blocks:\n            x = block(start, mask)")),
    Mistake("M14-reversed", "The blocks were called from the last to the first.", "Block 0 comes first.",
            ("in self.transformer_blocks", "in reversed(self.transformer_blocks)")),
    dropout_at_work("The log-probabilities").by((LOGITS, f"{LOGITS}\n        logits = F.dropout(logits)")),
    # nothing runs after it
    Mistake("", "averaged over the numbers", "", (POOL, "sequence_avg = x.mean(dim=2)"),
            also_costs={"classifier_padding": 0.5, "classifier_whole": 0}),
    CHANGED.by((POOL, f"{POOL}\n        given.zero_()"), ("mask = x != 0", "given, mask = x, x != 0")),
    CUT.by((LOGITS, LOGITS.replace("avg)", "avg.detach())"))),
]  # fmt: skip

RIGHT = {
    "a Sequential, iterated, pooled in place": model("""
        mask = x.ne(0)
        x = self.pos_enc(self.token_embedding(x) * self.k**0.5)
        for block in self.transformer_blocks.children():
            x = block(x, mask)
        weights = mask / mask.sum(1, keepdim=True)
        sequence_avg = torch.einsum("bt,btk->bk", weights, x)
        return self.classification_head(sequence_avg).log_softmax(-1)
    """),
    "in float64 at the end": model("""
        mask = (x != 0).bool()
        x = self.token_embedding(x) * np.sqrt(self.k)
        x = self.pos_enc(x)
        for layer in self.transformer_blocks:
            x = layer(x, mask)
        sequence_avg = torch.masked.mean(x.double(), dim=1, mask=mask[..., None]).float()
        return nn.LogSoftmax(dim=1)(self.classification_head(sequence_avg))
    """),
    "steps in functions of their own": model("""
        mask = x != 0

        def encoded(ids):
            states = self.pos_enc(self.token_embedding(ids) * math.sqrt(self.k))
            for block in self.transformer_blocks:
                states = block(states, mask)
            return states

        pooled = mean_pooling(encoded(x), mask)
        return F.log_softmax(self.classification_head(pooled), 1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, steady_and_pure, MISTAKES, right=RIGHT, framework="torch", cell="transformer_answer",
    shows=("√k, then positions", "every block in its turn", "average", "log-probabilities"),
    axes={"log_probabilities": "b, num_classes"},
)  # fmt: skip
