"""Right answers to notebooks 3 and 4 of the tutorial in other styles than ours."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.mistakes.transformer_tutorial_answer import BIAS, TRAINING, Answer

MADE = """\
class Transformer(nn.Module):
    def __init__(self, k, heads, depth, seq_length, num_tokens, num_classes):
        super().__init__()
        self.k = k
        self.num_tokens = num_tokens
{init}

    def forward(self, x):
{forward}
"""


def model(name: str, init: str, forward: str, **points: float) -> Answer:
    made = [indent(dedent(part).strip("\n"), " " * 8) for part in (init, forward)]
    return Answer(TRAINING, "transformer_answer", name, (), MADE.format(init=made[0], forward=made[1]), points)


SEED_INIT = """
    self.token_embedding = nn.Embedding(num_tokens, k)
    self.pos_enc = PositionalEncoding(k)
    transformer_blocks = []
    for i in range(depth):
        transformer_blocks.append(TransformerBlock(k=k, heads=heads))
    self.transformer_blocks = nn.Sequential(*transformer_blocks)
    self.classification_head = nn.Linear(k, num_classes)
"""

#: The sheet as it was published does nothing about padding: that costs the point for padding, and no other.
AS_PUBLISHED = model("as the sheet was published", SEED_INIT, """
    x = self.token_embedding(x) * np.sqrt(self.k)
    x = self.pos_enc(x)
    x = self.transformer_blocks(x)
    sequence_avg = x.mean(dim=1)
    x = self.classification_head(sequence_avg)
    logprobs = F.log_softmax(x, dim=1)
    return logprobs
""", classifier_padding=0)  # fmt: skip

MODELS = [
    model("a Sequential, iterated, pooled in place", SEED_INIT, """
        mask = x.ne(0)
        x = self.pos_enc(self.token_embedding(x) * self.k**0.5)
        for block in self.transformer_blocks.children():
            x = block(x, mask)
        weights = mask / mask.sum(1, keepdim=True)
        sequence_avg = torch.einsum("bt,btk->bk", weights, x)
        return self.classification_head(sequence_avg).log_softmax(-1)
    """),
    model("blocks appended, mask by name, sum of kept states", """
        self.pos_enc = PositionalEncoding(k, max_len=seq_length)
        self.classification_head = nn.Linear(k, num_classes)
        self.transformer_blocks = nn.ModuleList()
        while len(self.transformer_blocks) < depth:
            self.transformer_blocks.append(TransformerBlock(k, heads))
        self.token_embedding = nn.Embedding(num_tokens, k, padding_idx=0)
    """, """
        real = (x > 0)
        states = self.pos_enc(math.sqrt(self.k) * self.token_embedding(x))
        for number in range(len(self.transformer_blocks)):
            states = self.transformer_blocks[number](states, mask=real)
        total = states.masked_fill(~real[..., None], 0).sum(1)
        logits = self.classification_head(total / real.sum(1)[:, None])
        return logits - logits.logsumexp(1, keepdim=True)
    """),
    model("reduced over the list", """
        self.token_embedding, self.pos_enc = nn.Embedding(num_tokens, k), PositionalEncoding(k, max_len=seq_length)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(k, heads=heads) for _ in [None] * depth])
        self.classification_head = nn.Linear(k, num_classes)
    """, """
        from functools import reduce
        mask = x.bool()
        x = self.pos_enc(self.token_embedding(x).mul(torch.tensor(float(self.k)).sqrt()))
        x = reduce(lambda states, block: block(states, mask), self.transformer_blocks, x)
        pooled = torch.stack([states[real].mean(0) for states, real in zip(x, mask)])
        return torch.log(torch.softmax(self.classification_head(pooled), dim=1))
    """),
    model("in float64 at the end", SEED_INIT, """
        mask = (x != 0).bool()
        x = self.token_embedding(x) * np.sqrt(self.k)
        x = self.pos_enc(x)
        for layer in self.transformer_blocks:
            x = layer(x, mask)
        sequence_avg = torch.masked.mean(x.double(), dim=1, mask=mask[..., None]).float()
        return nn.LogSoftmax(dim=1)(self.classification_head(sequence_avg))
    """),
    model("steps in functions of their own", SEED_INIT, """
        mask = x != 0

        def encoded(ids):
            states = self.pos_enc(self.token_embedding(ids) * math.sqrt(self.k))
            for block in self.transformer_blocks:
                states = block(states, mask)
            return states

        pooled = mean_pooling(encoded(x), mask)
        return F.log_softmax(self.classification_head(pooled), 1)
    """),
]  # fmt: skip


def probability(name: str, body: str) -> Answer:
    text = "def P(logits, position, word_ids):\n" + indent(dedent(body).strip("\n"), " " * 4)
    return Answer(BIAS, "masked_word_probability_answer", name, (), text)


PROBABILITIES = [
    probability("exponential of log_softmax", "return logits.log_softmax(1)[position, word_ids].exp()"),
    probability("a list, number by number", """
        row = logits[position].double()
        total = (row - row.max()).exp().sum()
        return [((row[i] - row.max()).exp() / total).item() for i in word_ids]
    """),
    probability("in NumPy", """
        import numpy as np
        row = logits[position].detach().numpy().astype(np.float64)
        shares = np.exp(row - row.max())
        return shares[word_ids] / shares.sum()
    """),
    probability("softmax of all rows, then picked", """
        probabilities = torch.nn.functional.softmax(logits, dim=-1)
        return torch.stack([probabilities[position][word] for word in word_ids])
    """),
    probability("logsumexp", "return torch.exp(logits[position][word_ids] - torch.logsumexp(logits[position], 0))"),
]  # fmt: skip

RIGHT = [*MODELS, *PROBABILITIES]
