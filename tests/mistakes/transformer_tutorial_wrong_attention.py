"""Wrong answers to notebook 1 of the tutorial, each with the points that it leaves and the name it must get."""

from __future__ import annotations

from tests.mistakes.transformer_tutorial_answer import ATTENTION, Answer

SCORE = "return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])"
MASK = 'score = score.masked_fill(padding, float("-inf"))'
PADDING = "padding = ~mask.repeat_interleave(h, dim=0).unsqueeze(1)"
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "out = torch.bmm(weights, values)"
RETURN = "return out.reshape(b, t, h * k)"
UNFOLD = "out = out.view(b, h, t, k).transpose(1, 2)"
FOLDS = tuple(f"{name} = {name}.transpose(1, 2).reshape(b * h, t, k)" for name in ("queries", "keys", "values"))


def attention(name: str, mistake: str, *changes: tuple[str, str], **points: float) -> Answer:
    return Answer(ATTENTION, "dot_product_attention_answer", name, changes, "", points, mistake)


def _fold(how: str) -> tuple[tuple[str, str], ...]:
    return tuple((line, how.format(name=line.split(" ")[0])) for line in FOLDS)


SCORES = [
    attention("not divided", "M2", (" / math.sqrt(queries.shape[-1])", ""), attention_scores=0),
    attention("divided by k", "M3", ("math.sqrt(queries.shape[-1])", "queries.shape[-1]"), attention_scores=0),
    attention("divided by the root of k twice", "M3",
              ("math.sqrt(queries.shape[-1])", "math.sqrt(queries.shape[-1]) / keys.shape[-1] ** 0.5"),
              attention_scores=0),
    attention("divided by the root of t", "M3-tokens", ("queries.shape[-1]", "queries.shape[1]"), attention_scores=0),
    attention("multiplied by the root of k", "M3-up", (" / math.sqrt", " * math.sqrt"), attention_scores=0),
    attention("queries and keys exchanged", "M4-swap",
              ("torch.bmm(queries, keys.transpose(1, 2))", "torch.bmm(keys, queries.transpose(1, 2))"),
              attention_scores=0),
    attention("keys not transposed", "", (SCORE, SCORE.replace("keys.transpose(1, 2)", "keys")), attention_scores=0),
    attention("nothing returned", "", (SCORE, SCORE.replace("return", "score =")), attention_scores=0),
    attention("distances in place of products", "",
              (SCORE, "return -torch.cdist(queries, keys) / math.sqrt(queries.shape[-1])"), attention_scores=0),
]  # fmt: skip

OUTPUTS = [
    attention("softmax over the queries", "M1", ("dim=2", "dim=1"), attention_output=0),
    attention("softmax over the batch", "M1-batch", ("dim=2", "dim=0"), attention_output=0),
    attention("no softmax", "M1-none", ("F.softmax(score, dim=2)", "score"), attention_output=0),
    attention("softmax twice", "M1-twice", ("F.softmax(score, dim=2)", "F.softmax(F.softmax(score, dim=2), dim=2)"),
              attention_output=0),
    attention("weights transposed", "M4-transposed", (OUT, "out = torch.bmm(weights.transpose(1, 2), values)"),
              attention_output=0),
    attention("softmax behind the values", "M9-late", (WEIGHTS, "weights = self.dropout(score)"),
              (OUT, "out = F.softmax(torch.bmm(weights, values), dim=2)"), attention_output=0, attention_dropout=0),
    attention("exponential by hand", "M1-overflow",
              ("F.softmax(score, dim=2)", "score.exp() / score.exp().sum(2, keepdim=True)"), attention_output=0),
]  # fmt: skip

DROPOUT = [
    attention("no dropout", "DROPOUT-none", ("self.dropout(F.softmax(score, dim=2))", "F.softmax(score, dim=2)"),
              attention_dropout=0),
    attention("scores dropped", "DROPOUT-scores",
              ("self.dropout(F.softmax(score, dim=2))", "F.softmax(self.dropout(score), dim=2)"), attention_dropout=0),
    attention("values dropped", "DROPOUT-values", ("self.dropout(F.softmax(score, dim=2))", "F.softmax(score, dim=2)"),
              (OUT, "out = torch.bmm(weights, self.dropout(values))"), attention_dropout=0),
    attention("output dropped", "DROPOUT-output", ("self.dropout(F.softmax(score, dim=2))", "F.softmax(score, dim=2)"),
              (OUT, "out = self.dropout(torch.bmm(weights, values))"), attention_dropout=0),
    attention("dropped in eval mode, too", "M16",
              ("self.dropout(F.softmax(score, dim=2))", "F.dropout(F.softmax(score, dim=2), self.dropout.p)"),
              attention_dropout=0),
    attention("functional dropout with its defaults", "M16",
              ("self.dropout(F.softmax(score, dim=2))", "F.dropout(F.softmax(score, dim=2))"), attention_dropout=0),
    attention("a rate of its own", "DROPOUT-rate",
              ("self.dropout(F.softmax(score, dim=2))", "F.dropout(F.softmax(score, dim=2), 0.1, self.training)"),
              attention_dropout=0),
    attention("what is kept does not grow", "DROPOUT-unscaled",
              (WEIGHTS, "weights = F.softmax(score, dim=2)\n        if self.training:\n"
               "            weights = weights * (torch.rand_like(weights) >= self.dropout.p)"), attention_dropout=0),
]  # fmt: skip

HEADS = [
    attention("folded by view alone", "M5", *_fold("{name} = {name}.reshape(b * h, t, k)"), attention_heads=0),
    attention("folded and unfolded by view alone", "M5-both", *_fold("{name} = {name}.reshape(b * h, t, k)"),
              (UNFOLD, ""), attention_heads=0),
    attention("(k, h) in place of (h, k)", "M5-inter",
              *_fold("{name} = {name}.reshape(b, t, k, h).permute(0, 3, 1, 2).reshape(b * h, t, k)"),
              attention_heads=0),
    attention("heads first", "M5-first", *_fold("{name} = {name}.permute(2, 0, 1, 3).reshape(b * h, t, k)"),
              attention_heads=0),
    attention("unfolded by view alone", "M6", (UNFOLD, ""), attention_heads=0),
    attention("heads interleaved in the output", "M6-inter",
              (UNFOLD, "out = out.view(b, h, t, k).permute(0, 2, 3, 1)"), attention_heads=0),
    attention("heads averaged", "", (UNFOLD, "return out.view(b, h, t, k).mean(1)"), attention_heads=0),
    attention("the result not returned", "", (RETURN, "out = out.reshape(b, t, h * k)"), attention_heads=0),
]  # fmt: skip

MASKS = [
    attention("mask not used", "M10-ignored", (MASK, ""), attention_mask=0),
    attention("mask inverted", "M10-inverted", ("~mask.repeat", "mask.repeat"), attention_mask=0),
    attention("scores of padding set to 0", "M10-zeros", ('float("-inf")', "0.0"), attention_mask=0),
    attention("weights masked behind the softmax", "M10-after", (MASK, ""),
              (OUT, "if mask is not None:\n            weights = weights.masked_fill(padding, 0.0)\n        " + OUT),
              attention_mask=0),
    attention("masks in the wrong order", "M10-tiled", ("mask.repeat_interleave(h, dim=0)", "mask.repeat(h, 1)"),
              attention_mask=0),
    attention("rows masked in place of columns", "M10-ignored", (".unsqueeze(1)", ".unsqueeze(2)"), attention_mask=0),
    attention("minus infinity times 0", "M10-nan", (MASK, 'score = score + float("-inf") * padding'), attention_mask=0),
    attention("a small penalty", "", (MASK, "score = score - 1.0 * padding"), attention_mask=0),
]  # fmt: skip


def maps(name: str, mistake: str, *changes: tuple[str, str], **points: float) -> Answer:
    left = points or {"self_attention_maps": 0}
    return Answer(ATTENTION, "self_attention_answer", name, changes, "", left, mistake)


def _three(line: str) -> tuple[tuple[str, str], ...]:
    return (("nn.Linear(k, k * heads, bias=False)", line),)


MAPS = [
    maps("one vector for all heads", "MAP-one", *_three("nn.Linear(k, k, bias=False)")),
    maps("sizes exchanged", "MAP-turned", *_three("nn.Linear(k * heads, k, bias=False)")),
    maps("all heads go in", "MAP-wide", *_three("nn.Linear(k * heads, k * heads, bias=False)")),
    maps("one number per head", "MAP-heads", *_three("nn.Linear(k, heads, bias=False)")),
    maps("always eight heads", "MAP-eight", *_three("nn.Linear(k, k * 8, bias=False)")),
    maps("with bias", "MAP-bias", *_three("nn.Linear(k, k * heads)")),
    maps("one map for all three", "MAP-shared", ("self.to_queries = nn.Linear(k, k * heads, bias=False)", ""),
         ("self.to_values = nn.Linear(k, k * heads, bias=False)", "self.to_queries = self.to_values = self.to_keys")),
    maps("one map for keys and values", "MAP-two",
         ("self.to_values = nn.Linear(k, k * heads, bias=False)", "self.to_values = self.to_keys")),
    maps("unify_heads the wrong way round", "MAP-unify", ("nn.Linear(k * heads, k)", "nn.Linear(k, k * heads)")),
]  # fmt: skip


def split(name: str, mistake: str, *changes: tuple[str, str]) -> Answer:
    return maps(name, mistake, *changes, self_attention_forward=0)


FORWARD = [
    split("(k, h) in place of (h, k)", "SPLIT-inter", (".view(b, t, h, k)", ".view(b, t, k, h).transpose(2, 3)")),
    split("heads cut from the tokens", "SPLIT-view", (".view(b, t, h, k)", ".view(b, h, t, k).transpose(1, 2)")),
    split("heads before tokens", "SPLIT-turned", (".view(b, t, h, k)", ".view(b, t, h, k).transpose(1, 2)")),
    split("queries and keys exchanged", "SPLIT-swap", ("queries = self.to_queries", "queries = self.to_keys"),
          ("keys = self.to_keys(x)", "keys = self.to_queries(x)")),
    split("keys and values exchanged", "SPLIT-values", ("keys = self.to_keys(x)", "keys = self.to_values(x)"),
          ("values = self.to_values(x).", "values = self.to_keys(x).")),
    split("all from one map", "SPLIT-all", ("self.to_keys(x)", "self.to_queries(x)"),
          ("self.to_values(x)", "self.to_queries(x)")),
    split("not mapped at all", "", *((f"self.to_{name}(x).view(b, t, h, k)", "x.unsqueeze(2).expand(b, t, h, k)")
                                     for name in ("queries", "keys", "values"))),
    split("not split", "", (".view(b, t, h, k)", "")),
]  # fmt: skip


def bank(name: str, left: float, heaviest: str, nearest: str, spread: str) -> Answer:
    text = f"heaviest, nearest, spread = {heaviest}, {nearest}, {spread}"
    return Answer(ATTENTION, "bank_reading_answer", name, (), text, {"bank_reading": left})


BANK = [
    bank("river is the heaviest", 2 / 3, '"river"', '"water"', '"nearly equal"'),
    bank("the first context's value", 2 / 3, '"bank"', '"money"', '"nearly equal"'),
    bank("one takes all", 2 / 3, '"bank"', '"water"', '"one takes nearly all"'),
    bank("two wrong", 1 / 3, '"bank"', '"river"', '"one takes nearly all"'),
    bank("all wrong", 0, '"cold"', '"bank"', '"one takes nearly all"'),
    bank("numbers in place of words", 1 / 3, "1", "3", '"nearly equal"'),
    bank("everything at once", 2 / 3, '"bank river cold water"', '"water"', '"nearly equal"'),
]

WRONG = [*SCORES, *OUTPUTS, *DROPOUT, *HEADS, *MASKS, *MAPS, *FORWARD, *BANK]
