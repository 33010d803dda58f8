"""Wrong answers to notebooks 3 and 4 of the tutorial, each with the points that it leaves and the name it must get."""

from __future__ import annotations

from tests.mistakes.transformer_tutorial_answer import BIAS, TRAINING, Answer

EMBED = "x = self.token_embedding(x) * math.sqrt(self.k)"
PLACE = "x = self.pos_enc(x)"
LOOP = "for block in self.transformer_blocks:\n            x = block(x, mask)"
POOL = "sequence_avg = mean_pooling(x, mask)"
END = "return F.log_softmax(logits, dim=1)"
BLOCKS = "self.transformer_blocks = nn.ModuleList(TransformerBlock(k, heads) for _ in range(depth))"


def model(name: str, mistake: str, *changes: tuple[str, str], **points: float) -> Answer:
    return Answer(TRAINING, "transformer_answer", name, changes, "", points, mistake)


def part(name: str, mistake: str, *changes: tuple[str, str]) -> Answer:
    return model(name, mistake, *changes, classifier_parts=0)


PARTS = [
    part("a plain list", "M14-list", ("nn.ModuleList(TransformerBlock(k, heads) for _ in range(depth))",
                                      "[TransformerBlock(k, heads) for _ in range(depth)]")),
    part("one block repeated", "M14-repeated", ("nn.ModuleList(TransformerBlock(k, heads) for _ in range(depth))",
                                                "nn.ModuleList([TransformerBlock(k, heads)] * depth)")),
    part("a single block", "M14-one", ("range(depth)", "range(1)")),
    part("as many blocks as heads", "M14-heads", ("range(depth)", "range(heads)")),
    part("the embedding turned", "PART-turned", ("nn.Embedding(num_tokens, k)", "nn.Embedding(k, num_tokens)")),
    part("a row for each position", "PART-length", ("nn.Embedding(num_tokens, k)", "nn.Embedding(seq_length, k)")),
    part("the head gives a word vector", "PART-head", ("nn.Linear(k, num_classes)", "nn.Linear(k, k)")),
    part("the head gives tokens", "PART-vocabulary", ("nn.Linear(k, num_classes)", "nn.Linear(k, num_tokens)")),
    part("no head", "", ("self.classification_head = nn.Linear(k, num_classes)", "pass")),
]  # fmt: skip


def passing(name: str, mistake: str, *changes: tuple[str, str]) -> Answer:
    return model(name, mistake, *changes, classifier_forward=0)


FORWARD = [
    passing("logits", "M15-logits", (END, "return logits")),
    passing("probabilities", "M15-softmax", ("F.log_softmax", "F.softmax")),
    passing("over the batch", "M15-axis", ("F.log_softmax(logits, dim=1)", "F.log_softmax(logits, dim=0)")),
    passing("negative", "M15-negative", (END, "return -F.log_softmax(logits, dim=1)")),
    passing("without the root", "EMB-scale", (" * math.sqrt(self.k)", "")),
    passing("times k", "EMB-scale-k", ("math.sqrt(self.k)", "self.k")),
    passing("divided by the root", "EMB-divided", ("* math.sqrt(self.k)", "/ math.sqrt(self.k)")),
    passing("no positions", "M11-none", (PLACE, "")),
    passing("positions before the root", "M11-before", (EMBED, "x = self.token_embedding(x)"),
            (PLACE, "x = self.pos_enc(x) * math.sqrt(self.k)")),
    model("no blocks", "M14-none", (LOOP, ""), classifier_forward=0, classifier_padding=0.5),
    model("the first block alone", "M14-first", (LOOP, "x = self.transformer_blocks[0](x, mask)"),
          classifier_forward=0, classifier_padding=0.5),
    passing("every block fed alike", "M14-last",
            (LOOP, "start = x\n        for block in self.transformer_blocks:\n            x = block(start, mask)")),
    passing("from the last to the first", "M14-reversed", ("in self.transformer_blocks", "in reversed(self.transformer_blocks)")),
    model("the first token", "M15-first", (POOL, "sequence_avg = x[:, 0]"), classifier_forward=0, classifier_padding=0.5),
    model("the maximum", "M15-all", (POOL, "sequence_avg = x.max(dim=1).values"), classifier_forward=0,
          classifier_padding=0.5),
    model("averaged over the numbers", "", (POOL, "sequence_avg = x.mean(dim=2)"), classifier_forward=0,
          classifier_padding=0),
]  # fmt: skip


def padding(name: str, mistake: str, *changes: tuple[str, str], left: float = 0.5) -> Answer:
    return model(name, mistake, *changes, classifier_padding=left)


PADDING = [
    padding("padding averaged in", "M15-padding", (POOL, "sequence_avg = x.mean(dim=1)")),
    padding("divided by all tokens", "M15-padding", (POOL, "sequence_avg = (x * mask.unsqueeze(-1)).mean(dim=1)")),
    padding("blocks not told", "M10-unsaid", ("block(x, mask)", "block(x)")),
    padding("blocks told the opposite", "M10-inverted", ("block(x, mask)", "block(x, ~mask)")),
    padding("only the first block told", "M10-unsaid",
            (LOOP, "for number, block in enumerate(self.transformer_blocks):\n"
             "            x = block(x, mask) if number == 0 else block(x)")),
    padding("nobody told", "M15-padding", ("block(x, mask)", "block(x)"), (POOL, "sequence_avg = x.mean(dim=1)"),
            left=0),
    padding("the average over padding alone", "M15-padding", (POOL, "sequence_avg = mean_pooling(x, ~mask | mask.all(1, True))")),
]  # fmt: skip


def probability(name: str, mistake: str, body: str) -> Answer:
    text = f"def P(logits, position, word_ids):\n    return {body}"
    return Answer(BIAS, "masked_word_probability_answer", name, (), text, {"masked_word_probability": 0}, mistake)


PROBABILITIES = [
    probability("the logits", "P-logits", "logits[position, word_ids]"),
    probability("among the given words", "P-words", "torch.softmax(logits[position, word_ids], dim=0)"),
    probability("over the places", "P-positions", "torch.softmax(logits, dim=0)[position, word_ids]"),
    probability("at the first place", "P-first", "torch.softmax(logits[0], dim=0)[word_ids]"),
    probability("one place too early", "P-before", "torch.softmax(logits[position - 1], dim=0)[word_ids]"),
    probability("logarithms", "P-logarithm", "torch.log_softmax(logits[position], dim=0)[word_ids]"),
    probability("each by itself", "P-sigmoid", "torch.sigmoid(logits[position, word_ids])"),
    probability("averaged over the places", "P-mean", "torch.softmax(logits, dim=1).mean(0)[word_ids]"),
    probability("over everything", "P-all", "torch.softmax(logits.flatten(), 0).view_as(logits)[position, word_ids]"),
    probability("percent", "P-percent", "100 * torch.softmax(logits[position], dim=0)[word_ids]"),
    probability("exponential by hand", "P-overflow",
                "(logits[position].exp() / logits[position].exp().sum())[word_ids]"),
    probability("the other way round", "P-order", "torch.softmax(logits[position], dim=0)[word_ids].flip(0)"),
    probability("rounded", "", "torch.softmax(logits[position], dim=0)[word_ids].round(decimals=3)"),
]  # fmt: skip

WRONG = [*PARTS, *FORWARD, *PADDING, *PROBABILITIES]
