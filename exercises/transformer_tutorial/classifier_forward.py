"""The methods of ``Transformer``, without padding: padding is another exercise's business."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake, dropout_at_work

from .._attention import linear, softmax
from ._classifier import draw, encoded, place
from ._classifier_rules import methods


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    return [_case(generator, *sizes) for sizes in ((3, 5, 6, 4), (4, 7, 8, 2), (1, 3, 4, 2))]


def _case(generator: np.random.Generator, b: int, t: int, k: int, depth: int) -> Case:
    case = draw(generator, b, t, k, depth)
    vectors = case.weights["token_embedding.weight"].astype(np.float64)[case.inputs["input_ids"]]
    logits = linear(case.inputs["average"].astype(np.float64), case.weights, "classification_head")
    expected = {
        "embedded": place(vectors * k**0.5),
        "encoded": encoded(case.inputs["states"], np.ones((b, t), dtype=bool), depth),
        "log_probabilities": np.log(softmax(logits)),
    }
    return replace(case, expected=expected)


# The lines of the solution that mistakes change.
EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
PLACE = "return self.pos_enc(x)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "return mean_pooling(x, mask)"
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
    Mistake("M15-all", "The average is not taken over the tokens.", "Which axis counts the tokens?",
            (POOL, "return x.max(dim=1).values")),
    Mistake("M15-last", "Only the last token reaches the classifier.", "Average over all real tokens.",
            (POOL, "return x[:, -1]")),
    Mistake("M15-first", "Only the first token reaches the classifier.", "Average over all real tokens.",
            (POOL, "return x[:, 0]")),
    Mistake("M15-sum", "The tokens are summed, not averaged.", "A long sentence must not count more than a short one.",
            (POOL, "return (x * mask[..., None]).sum(dim=1)")),
    Mistake("EMB-scale", "The token vectors were not multiplied by √k.", "They are, before the positions are added.",
            (" * math.sqrt(self.k)", "")),
    Mistake("EMB-scale-k", "The token vectors were multiplied by k; by its square root they should be.", "√k.",
            ("math.sqrt(self.k)", "self.k")),
    Mistake("EMB-divided", "The token vectors were divided by √k.", "Multiplied they should be.",
            ("* math.sqrt(self.k)", "/ math.sqrt(self.k)")),
    Mistake("M11-none", "The positions were not added.", "pos_enc does it.", (PLACE, "return x")),
    Mistake("M11-before", "The positions were added before the factor √k, and so they grew with it.",
            "First the factor, then the positions.", (EMBED, "x = self.token_embedding(x)"),
            (PLACE, f"{PLACE} * math.sqrt(self.k)")),
    Mistake("M14-none", "No block was called.", "Each block of transformer_blocks, one after the other.", (LOOP, "")),
    Mistake("M14-first", "Only the first block was used.", ONE_BY_ONE,
            (LOOP, "x = self.transformer_blocks[0](x, mask)")),
    Mistake("M14-last", "Every block got the same input, and the last one's output was kept.", ONE_BY_ONE,
            (LOOP, "start = x\n        for block in self.transformer_blocks:\n            x = block(start, mask)")),
    Mistake("M14-reversed", "The blocks were called from the last to the first.", "Block 0 comes first.",
            ("in self.transformer_blocks", "in reversed(self.transformer_blocks)")),
    dropout_at_work("The log-probabilities").by((LOGITS, f"{LOGITS}\n        logits = F.dropout(logits)")),
    Mistake("", "averaged over the numbers", "", (POOL, "return x.mean(dim=2)")),
    CHANGED.by((LOOP, f"given = x\n        {LOOP}\n        given.zero_()")),
    DTYPE.by((END, f"{END}.double()")),
    CUT.by((LOGITS, LOGITS.replace("avg)", "avg.detach())"))),
]  # fmt: skip


def written(embed: str, encode: str, classify: str) -> list[tuple[str, str]]:
    """A right answer: these lines in place of all three methods'."""
    return [(EMBED, "pass"), (PLACE, embed), (LOOP, "pass"), (POOL, encode), (LOGITS, "pass"), (END, classify)]


RIGHT = {
    "a Sequential, iterated, pooled in place": written(
        "return self.pos_enc(self.token_embedding(x) * self.k**0.5)",
        "for block in self.transformer_blocks.children():\n            x = block(x, mask)\n"
        '        return torch.einsum("bt,btk->bk", mask / mask.sum(1, keepdim=True), x)',
        "return self.classification_head(sequence_avg).log_softmax(-1)",
    ),
    "in float64 at the end": written(
        "return self.pos_enc(self.token_embedding(x) * np.sqrt(self.k))",
        "for layer in self.transformer_blocks:\n            x = layer(x, mask)\n"
        "        return torch.masked.mean(x.double(), dim=1, mask=mask[..., None]).float()",
        "return nn.LogSoftmax(dim=1)(self.classification_head(sequence_avg))",
    ),
    "steps in functions of their own": written(
        "def scaled(vectors):\n            return vectors * math.sqrt(vectors.shape[-1])\n\n"
        "        return self.pos_enc(scaled(self.token_embedding(x)))",
        "def encoded(states, blocks):\n"
        "            return encoded(blocks[0](states, mask), blocks[1:]) if blocks else states\n\n"
        "        return mean_pooling(encoded(x, list(self.transformer_blocks)), mask)",
        "return F.log_softmax(self.classification_head(sequence_avg), 1)",
    ),
    "blocks by number, mask by name, sum of kept states": written(
        "return self.pos_enc(math.sqrt(self.k) * self.token_embedding(x))",
        "for number in range(len(self.transformer_blocks)):\n"
        "            x = self.transformer_blocks[number](x, mask=mask)\n"
        "        return x.masked_fill(~mask[..., None], 0).sum(1) / mask.sum(1)[:, None]",
        "logits = self.classification_head(sequence_avg)\n        return logits - logits.logsumexp(1, keepdim=True)",
    ),
    "reduced over the list": written(
        "return self.pos_enc(self.token_embedding(x).mul(torch.tensor(float(self.k)).sqrt()))",
        "from functools import reduce\n"
        "        x = reduce(lambda states, block: block(states, mask), self.transformer_blocks, x)\n"
        "        return torch.stack([states[real].mean(0) for states, real in zip(x, mask)])",
        "return torch.log(torch.softmax(self.classification_head(sequence_avg), dim=1))",
    ),
    "functions in place of layers": written(
        "return self.pos_enc(F.embedding(x, self.token_embedding.weight) * self.k**0.5)",
        "blocks = iter(self.transformer_blocks)\n        while (block := next(blocks, None)) is not None:\n"
        "            x = block(x, mask)\n        return mean_pooling(x, mask)",
        "head = self.classification_head\n        return F.linear(sequence_avg, head.weight, head.bias).log_softmax(1)",
    ),
}

EXERCISE = Exercise(
    cases, methods, MISTAKES, right=RIGHT, framework="torch", cell="transformer_answer", method="embed",
    shows=("√k, then positions", "every block in its turn", "average", "log-probabilities"),
    axes={"embedded": "b, t, k", "encoded": "b, k", "log_probabilities": "b, num_classes"},
)  # fmt: skip
