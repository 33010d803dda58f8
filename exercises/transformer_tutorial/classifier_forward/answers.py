"""Right and wrong ways from ids to log-probabilities."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import model, wrong

CELL = "transformer_answer"
EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
PLACE = "x = self.pos_enc(x)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"
END = "return F.log_softmax(logits, dim=1)"

RIGHT = [
    SampleAnswer("a Sequential, iterated, pooled in place", model("""
        mask = x.ne(0)
        x = self.pos_enc(self.token_embedding(x) * self.k**0.5)
        for block in self.transformer_blocks.children():
            x = block(x, mask)
        weights = mask / mask.sum(1, keepdim=True)
        sequence_avg = torch.einsum("bt,btk->bk", weights, x)
        return self.classification_head(sequence_avg).log_softmax(-1)
    """)),
    SampleAnswer("in float64 at the end", model("""
        mask = (x != 0).bool()
        x = self.token_embedding(x) * np.sqrt(self.k)
        x = self.pos_enc(x)
        for layer in self.transformer_blocks:
            x = layer(x, mask)
        sequence_avg = torch.masked.mean(x.double(), dim=1, mask=mask[..., None]).float()
        return nn.LogSoftmax(dim=1)(self.classification_head(sequence_avg))
    """)),
    SampleAnswer("steps in functions of their own", model("""
        mask = x != 0

        def encoded(ids):
            states = self.pos_enc(self.token_embedding(ids) * math.sqrt(self.k))
            for block in self.transformer_blocks:
                states = block(states, mask)
            return states

        pooled = mean_pooling(encoded(x), mask)
        return F.log_softmax(self.classification_head(pooled), 1)
    """)),
]  # fmt: skip

WRONG = [
    wrong("logits", "M15-logits", (END, "return logits")),
    wrong("probabilities", "M15-softmax", ("F.log_softmax", "F.softmax")),
    wrong("over the batch", "M15-axis", ("F.log_softmax(logits, dim=1)", "F.log_softmax(logits, dim=0)")),
    wrong("negative", "M15-negative", (END, "return -F.log_softmax(logits, dim=1)")),
    wrong("without the root", "EMB-scale", (" * math.sqrt(self.k)", "")),
    wrong("times k", "EMB-scale-k", ("math.sqrt(self.k)", "self.k")),
    wrong("divided by the root", "EMB-divided", ("* math.sqrt(self.k)", "/ math.sqrt(self.k)")),
    wrong("no positions", "M11-none", (PLACE, "")),
    wrong("positions before the root", "M11-before", (EMBED, "x = self.token_embedding(x)"),
          (PLACE, "x = self.pos_enc(x) * math.sqrt(self.k)")),
    wrong("no blocks", "M14-none", (LOOP, ""), classifier_padding=0.5),
    wrong("the first block alone", "M14-first", (LOOP, "x = self.transformer_blocks[0](x, mask)"),
          classifier_padding=0.5),
    wrong("every block fed alike", "M14-last",
          (LOOP, "start = x\n        for block in self.transformer_blocks:\n            x = block(start, mask)")),
    wrong("from the last to the first", "M14-reversed",
          ("in self.transformer_blocks", "in reversed(self.transformer_blocks)")),
    wrong("the first token", "M15-first", (POOL, "sequence_avg = x[:, 0]"), classifier_padding=0.5),
    wrong("the maximum", "M15-all", (POOL, "sequence_avg = x.max(dim=1).values"), classifier_padding=0.5),
    wrong("averaged over the numbers", "", (POOL, "sequence_avg = x.mean(dim=2)"),
          classifier_padding=0, classifier_whole=0),
]  # fmt: skip
