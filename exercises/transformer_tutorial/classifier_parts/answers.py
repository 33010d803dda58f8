"""Right and wrong parts of ``Transformer``."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import model, right, wrong

CELL = "transformer_answer"
BLOCKS = "nn.ModuleList(TransformerBlock(k, heads) for _ in range(depth))"
EMBEDDING, HEAD = "nn.Embedding(num_tokens, k)", "nn.Linear(k, num_classes)"

RIGHT = [
    SampleAnswer("blocks appended, mask by name, sum of kept states", model("""
        real = (x > 0)
        states = self.pos_enc(math.sqrt(self.k) * self.token_embedding(x))
        for number in range(len(self.transformer_blocks)):
            states = self.transformer_blocks[number](states, mask=real)
        total = states.masked_fill(~real[..., None], 0).sum(1)
        logits = self.classification_head(total / real.sum(1)[:, None])
        return logits - logits.logsumexp(1, keepdim=True)
    """, """
        self.pos_enc = PositionalEncoding(k, max_len=seq_length)
        self.classification_head = nn.Linear(k, num_classes)
        self.transformer_blocks = nn.ModuleList()
        while len(self.transformer_blocks) < depth:
            self.transformer_blocks.append(TransformerBlock(k, heads))
        self.token_embedding = nn.Embedding(num_tokens, k, padding_idx=0)
    """)),
    SampleAnswer("reduced over the list", model("""
        from functools import reduce
        mask = x.bool()
        x = self.pos_enc(self.token_embedding(x).mul(torch.tensor(float(self.k)).sqrt()))
        x = reduce(lambda states, block: block(states, mask), self.transformer_blocks, x)
        pooled = torch.stack([states[real].mean(0) for states, real in zip(x, mask)])
        return torch.log(torch.softmax(self.classification_head(pooled), dim=1))
    """, """
        self.token_embedding, self.pos_enc = nn.Embedding(num_tokens, k), PositionalEncoding(k, max_len=seq_length)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(k, heads=heads) for _ in [None] * depth])
        self.classification_head = nn.Linear(k, num_classes)
    """)),
    right("a Sequential of a list", (BLOCKS, "nn.Sequential(*[TransformerBlock(k, heads) for _ in range(depth)])")),
    right("an OrderedDict of blocks", (BLOCKS, "nn.Sequential(__import__('collections').OrderedDict((f'block_{i}', "
                                               "TransformerBlock(k=k, heads=heads)) for i in range(depth)))")),
    right("keyword arguments alone", (HEAD, "nn.Linear(in_features=k, out_features=num_classes, bias=True)"),
          (EMBEDDING, "nn.Embedding(num_embeddings=num_tokens, embedding_dim=k)")),
]  # fmt: skip

WRONG = [
    wrong("a plain list", "M14-list", (BLOCKS, "[TransformerBlock(k, heads) for _ in range(depth)]")),
    wrong("one block repeated", "M14-repeated", (BLOCKS, "nn.ModuleList([TransformerBlock(k, heads)] * depth)")),
    wrong("a single block", "M14-one", ("range(depth)", "range(1)")),
    wrong("as many blocks as heads", "M14-heads", ("range(depth)", "range(heads)")),
    wrong("the embedding turned", "PART-turned", (EMBEDDING, "nn.Embedding(k, num_tokens)")),
    wrong("a row for each position", "PART-length", (EMBEDDING, "nn.Embedding(seq_length, k)")),
    wrong("the head gives a word vector", "PART-head", (HEAD, "nn.Linear(k, k)")),
    wrong("the head gives tokens", "PART-vocabulary", (HEAD, "nn.Linear(k, num_tokens)")),
    wrong("no head", "", (f"self.classification_head = {HEAD}", "pass")),
    wrong("a head without bias", "PART-bias", (HEAD, "nn.Linear(k, num_classes, bias=False)"), unseen=True),
    wrong("blocks of the wrong size", "PART-sizes",
          ("TransformerBlock(k, heads)", "TransformerBlock(k, depth)"), unseen=True),
    wrong("positions too short", "GIVEN-positions", ("max_len=seq_length", "max_len=depth"), unseen=True),
]  # fmt: skip

#: Mutants that may pass, with the reason.
LONGER = "A table of positions that is longer than seq_length adds the same vectors."
ACCEPTED = {"transformer-df67e7cf": LONGER, "transformer-1dafb334": LONGER}
