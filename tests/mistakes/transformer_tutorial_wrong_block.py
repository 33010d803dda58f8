"""Wrong answers to notebook 2 of the tutorial, each with the points that it leaves and the name it must get."""

from __future__ import annotations

from tests.mistakes.transformer_tutorial_answer import BLOCK, Answer

FIRST = "x = self.norm_1(attended + x)"
SECOND = "return self.norm_2(feedforward + x)"


def block(name: str, mistake: str, *changes: tuple[str, str], **points: float) -> Answer:
    return Answer(BLOCK, "transformer_block_answer", name, changes, "", points, mistake)


FIRST_HALF = [
    block("no skip", "M7", (FIRST, "x = self.norm_1(attended)"), block_attention=0),
    block("nothing but the skip", "M7-attention", (FIRST, "x = self.norm_1(x)"), block_attention=0),
    block("attended added to itself", "M7", (FIRST, "x = self.norm_1(attended + attended)"), block_attention=0),
    block("norm before the sum", "M8", (FIRST, "x = self.norm_1(attended) + x"), block_attention=0),
    block("pre-norm", "M8-pre", ("attended = self.attention(x, mask)", "attended = self.attention(self.norm_1(x), mask)"),
          (FIRST, "x = attended + x"), block_attention=0),
    block("no norm", "M8-none", (FIRST, "x = attended + x"), block_attention=0),
    block("skip normalised", "M8-skip", (FIRST, "x = attended + self.norm_1(x)"), block_attention=0),
    block("norm_2 in both places", "NORM-2", (FIRST, "x = self.norm_2(attended + x)"), block_attention=0),
    block("twice the skip", "", (FIRST, "x = self.norm_1(attended + 2 * x)"), block_attention=0),
]  # fmt: skip

SECOND_HALF = [
    block("no second skip", "M7-ffn", (SECOND, "return self.norm_2(feedforward)"), block_feed_forward=0),
    block("second skip from the block's input", "M7-place", ("attended = self.att", "source = x\n        attended = self.att"),
          (SECOND, "return self.norm_2(feedforward + source)"), block_feed_forward=0),
    block("network called and not used", "M7-mlp", (SECOND, "return self.norm_2(x)"), block_feed_forward=0),
    block("second half forgotten", "M7-mlp-out", (SECOND, "return x"), block_feed_forward=0),
    block("second skip from the attention", "M7-attended", (SECOND, "return self.norm_2(feedforward + attended)"),
          block_feed_forward=0),
    block("norm before the second sum", "M8", (SECOND, "return self.norm_2(feedforward) + x"), block_feed_forward=0),
    block("no second norm", "M8-none", (SECOND, "return feedforward + x"), block_feed_forward=0),
    block("neither skip nor norm", "M8-none-skip", (SECOND, "return feedforward"), block_feed_forward=0),
    block("norm_1 in both places", "NORM-1", (SECOND, "return self.norm_1(feedforward + x)"), block_feed_forward=0),
    block("network's output twice", "M7-ffn", (SECOND, "return self.norm_2(feedforward + feedforward)"),
          block_feed_forward=0),
    block("nothing returned", "", (SECOND, "self.norm_2(feedforward + x)"), block_feed_forward=0),
    block("network never called", "M7-mlp", ("feedforward = self.mlp(x)", "feedforward = x"), block_attention=0,
          block_feed_forward=0),
]  # fmt: skip


def cost(name: str, left: float, *changes: tuple[str, str]) -> Answer:
    return Answer(BLOCK, "attention_cost_answer", name, changes, "", {"attention_cost": left})


COSTS = [
    cost("dot products for free", 0, ("n * n * p", "n * n"), ("m * m * p", "m * m"), ("n * m * p", "n * m"),
         ("(n + m) * p", "n + m")),
    cost("the linear maps counted", 1.5, ("n * n * p", "n * n * p + n * p * p")),
    cost("one query per sentence", 1, ("n * n * p", "n * p"), ("m * m * p", "m * p")),
    cost("encoder asks the output", 1.5, ("n * n * p", "n * m * p")),
    cost("decoder and cross exchanged", 1, ("decoder = m * m * p", "decoder = n * m * p"),
         ("cross = n * m * p", "cross = m * m * p")),
    cost("everything again for the next word", 1.5, ("(n + m) * p", "(n * m + m * m) * p")),
    cost("the next word asks the input alone", 1.5, ("(n + m) * p", "n * p")),
    cost("the square of p", 1, ("n * n * p", "n * n * p * p"), ("m * m * p", "m * m * p * p")),
    cost("cubes", 1.5, ("n * n * p", "n ** 3")),
]  # fmt: skip


def positions(name: str, mistake: str, *changes: tuple[str, str], **points: float) -> Answer:
    left = points or {"positional_values": 0}
    return Answer(BLOCK, "positional_encoding_answer", name, changes, "", left, mistake)


ADD = "x = x + self.pe[: x.shape[1]]"
REGISTER = 'self.register_buffer("pe", pe)'

VALUES = [
    positions("all sines first", "PE-halves", ("pe[:, 0::2]", "pe[:, : emb_size // 2]"),
              ("pe[:, 1::2]", "pe[:, emb_size // 2 :]")),
    positions("sine and cosine exchanged", "PE-swap", ("pe[:, 0::2]", "pe[:, 99::2]"), ("pe[:, 1::2]", "pe[:, 0::2]"),
              ("pe[:, 99::2]", "pe[:, 1::2]")),
    positions("sines only", "PE-sine", ("torch.cos", "torch.sin")),
    positions("cosines only", "PE-cosine", ("torch.sin", "torch.cos")),
    positions("counted from 1", "PE-one", ("torch.arange(max_len)", "torch.arange(1, max_len + 1)")),
    positions("i in place of 2i", "PE-step", ("torch.arange(0, emb_size, 2) / emb_size",
                                              "torch.arange(emb_size // 2) / emb_size")),
    positions("the 2 twice", "PE-step4", ("torch.arange(0, emb_size, 2)", "2 * torch.arange(0, emb_size, 2)")),
    positions("multiplied with the power", "PE-sign", ("position / 10000**exponent", "position * 10000**exponent")),
    positions("a base of 1000", "PE-base", ("10000**", "1000**")),
    positions("a frequency for each column", "PE-columns",
              ("exponent = torch.arange(0, emb_size, 2)", "exponent = torch.arange(emb_size)"),
              ("torch.sin(angle)", "torch.sin(angle[:, 0::2])"), ("torch.cos(angle)", "torch.cos(angle[:, 1::2])")),
    positions("learned", "PE-learned", (REGISTER, "self.pe = nn.Parameter(pe)"), positional_values=1.5),
    positions("a plain attribute", "PE-plain", (REGISTER, "self.pe = pe"), positional_values=1.5),
    positions("zeros", "", ("pe[:, 0::2] = torch.sin(angle)", ""), ("pe[:, 1::2] = torch.cos(angle)", "")),
]  # fmt: skip


def added(name: str, mistake: str, *changes: tuple[str, str]) -> Answer:
    return positions(name, mistake, *changes, positional_forward=0)


ADDED = [
    added("rows to sentences, as in tutorials with the tokens first", "M11-batch",
          (REGISTER, 'self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))'), (ADD, "x = x + self.pe[: x.size(0), :]")),
    added("not added", "M11-none", (ADD, "pass")),
    added("multiplied", "M11-times", ("x = x + self.pe", "x = x * self.pe")),
    added("positions scaled", "M11-root", ("x = x + self.pe", "x = x + x.shape[-1] ** 0.5 * self.pe")),
    added("x scaled", "M11-x", ("x = x + self.pe", "x = x * x.shape[-1] ** 0.5 + self.pe")),
    added("positions alone", "M11-bare", (ADD, "x = self.pe[: x.shape[1]].expand_as(x)")),
    added("the first row for all", "M11-same", (ADD, "x = x + self.pe[0]")),
    added("rows from the end", "M11-last", (ADD, "x = x + self.pe[-x.shape[1] :]")),
    added("one row too far", "M11-next", (ADD, "x = x + self.pe[1 : x.shape[1] + 1]")),
    added("as many rows as sentences", "", (ADD, "x = x + self.pe[: x.shape[0]]")),
    added("dropped in eval mode", "M16", ("return self.dropout(x)", "return nn.functional.dropout(x, 0.5)")),
]  # fmt: skip


def pooling(name: str, mistake: str, body: str) -> Answer:
    text = f"def mean_pooling(hidden_states, mask):\n    real = mask.unsqueeze(-1)\n    return {body}"
    return Answer(BLOCK, "mean_pooling_answer", name, (), text, {"mean_pooling": 0}, mistake)


POOLED = [
    pooling("padding averaged in", "M15-padding", "hidden_states.mean(dim=1)"),
    pooling("divided by all tokens", "M15-length", "(hidden_states * real).mean(dim=1)"),
    pooling("padding in the sum", "M15-count", "hidden_states.sum(dim=1) / real.sum(dim=1)"),
    pooling("padding alone", "M15-inverted", "(hidden_states * ~real).sum(dim=1) / (~real).sum(dim=1)"),
    pooling("the sum", "M15-sum", "(hidden_states * real).sum(dim=1)"),
    pooling("the first token", "M15-first", "hidden_states[:, 0]"),
    pooling("the maximum", "M15-max", 'hidden_states.masked_fill(~real, float("-inf")).max(dim=1).values'),
    pooling("divided by the batch's tokens", "M15-batch", "(hidden_states * real).sum(dim=1) / mask.sum()"),
    pooling("one too many", "M15-plus", "(hidden_states * real).sum(dim=1) / (real.sum(dim=1) + 1)"),
    pooling("over the wrong axis", "", "(hidden_states * real).mean(dim=2)"),
]

WRONG = [*FIRST_HALF, *SECOND_HALF, *COSTS, *VALUES, *ADDED, *POOLED]
