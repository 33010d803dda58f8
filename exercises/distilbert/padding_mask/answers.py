"""Weights with padded keys left out, in many styles, or with padding in them."""

from __future__ import annotations

from textwrap import dedent, indent

from autograder.exercise import SampleAnswer

from .._answers import wrong

HEAD = "def masked_weights(scores, attention_mask):"


def _right(name: str, lines: str) -> SampleAnswer:
    return SampleAnswer(name, f"{HEAD}\n{indent(dedent(lines).strip(), '    ')}\n")


RIGHT = [
    _right("minus infinity, by masked_fill", """
        padded = attention_mask.view(len(scores), 1, 1, -1) == 0
        return nn.functional.softmax(scores.masked_fill(padded, float("-inf")), dim=3)
    """),
    _right("a large number added", """
        lowered = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        return torch.softmax(scores + lowered, dim=-1)
    """),
    _right("the logarithm of the mask", "return (scores + attention_mask[:, None, None].log()).softmax(-1)"),
    _right("where", """
        real = attention_mask.bool().unsqueeze(1).unsqueeze(2)
        return torch.where(real, scores, torch.finfo(scores.dtype).min).softmax(dim=-1)
    """),
    _right("in place, expanded", """
        real = attention_mask[:, None, None, :].expand_as(scores)
        scores[real == 0] = -math.inf
        return scores.softmax(-1)
    """),
    _right("exponentials of the real keys alone, divided by their sum", """
        real = attention_mask[:, None, None, :]
        exponentials = (scores - scores.masked_fill(real == 0, -math.inf).amax(-1, keepdim=True)).exp()
        exponentials = torch.where(real == 1, exponentials, 0.0)
        return exponentials / exponentials.sum(-1, keepdim=True)
    """),
    _right("weights of padding taken out after the softmax, and the rest divided by its sum", """
        weights = scores.softmax(-1) * attention_mask[:, None, None, :]
        return weights / weights.sum(-1, keepdim=True)
    """),
    _right("sentence by sentence", """
        rows = []
        for sentence, mask in zip(scores, attention_mask):
            weights = torch.zeros_like(sentence)
            weights[:, :, mask == 1] = sentence[:, :, mask == 1].softmax(-1)
            rows.append(weights)
        return torch.stack(rows)
    """),
    _right("torch's own attention, with the identity as values", """
        eye = torch.eye(scores.shape[-1]).expand_as(scores)
        bias = torch.zeros_like(scores).masked_fill(attention_mask[:, None, None] < 1, -math.inf) + scores
        zeros = torch.zeros_like(scores)
        return nn.functional.scaled_dot_product_attention(zeros, zeros, eye, attn_mask=bias)
    """),
    _right("float64 inside, then back", """
        low = torch.finfo(torch.float64).min
        doubled = scores.double().masked_fill(~attention_mask[:, None, None].to(torch.bool), low)
        return doubled.softmax(-1).to(scores.dtype)
    """),
]  # fmt: skip

LINE = "scores = scores.masked_fill(padded, torch.finfo(scores.dtype).min)"
LOWEST = "torch.finfo(scores.dtype).min"
RESULT = "return scores.softmax(dim=-1)"
MASK = "padded = attention_mask[:, None, None, :] == 0"


def _line(name: str, mistake: str, line: str) -> SampleAnswer:
    """``line`` where the scores are masked."""
    return wrong(name, mistake, (LINE, line))


def _result(name: str, mistake: str, result: str) -> SampleAnswer:
    """Nothing is masked before the softmax."""
    return wrong(name, mistake, (LINE, "pass"), (RESULT, f"return {result}"))


WRONG = [
    _line("mask not used", "M19-ignored", "pass"),
    _line("the masked scores thrown away", "M19-ignored", "scores.masked_fill(padded, -math.inf)"),
    wrong("mask inverted", "M19-inverted", (MASK, MASK.replace("== 0", "== 1"))),
    wrong(
        "mask inverted, minus infinity", "M19-inverted", (MASK, MASK.replace("== 0", "== 1")), (LOWEST, "-math.inf")
    ),
    wrong("queries masked", "M19-queries", ("[:, None, None, :]", "[:, None, :, None]")),
    wrong("queries masked, minus infinity", "M19-queries", ("[:, None, None, :]", "[:, None, :, None]"),
          (LOWEST, "-math.inf")),
    wrong("queries and keys masked", "M19-both",
          (MASK, f"{MASK}\n    padded = padded | padded.transpose(2, 3)")),
    wrong("queries and keys masked, minus infinity", "M19-both",
          (MASK, f"{MASK}\n    padded = padded | padded.transpose(2, 3)"), (LOWEST, "-math.inf")),
    wrong("the mask on the axis of the heads", "", ("[:, None, None, :]", "[:, :, None, None]")),
    wrong("the mask without new axes", "", ("[:, None, None, :]", "")),
    _result("multiplied after the softmax", "M19-after", "scores.softmax(dim=-1) * ~padded"),
    _result("minus infinity after the softmax", "", "scores.softmax(dim=-1).masked_fill(padded, -math.inf)"),
    _result("divided by the share of real keys", "M19-after",
            "scores.softmax(-1) * ~padded / (~padded).float().mean(-1)[..., None]"),
    _line("scores of padding set to 0", "M19-zero", "scores = scores.masked_fill(padded, 0)"),
    _line("scores times the mask", "M19-zero", "scores = scores * ~padded"),
    _line("the mask added", "M19-added", "scores = scores + attention_mask[:, None, None, :]"),
    _line("one taken off", "M19-added", "scores = scores - padded.float()"),
    _line("scores of padding set to -1", "M19-low", "scores = scores.masked_fill(padded, -1)"),
    _line("scores of padding set to -10", "M19-low", "scores = scores.masked_fill(padded, -10.0)"),
    _line("scores of padding set to -100", "M19-low", "scores = scores.masked_fill(padded, -100.0)"),
    _line("ten taken off", "M19-low", "scores = scores - 10 * padded"),
    _line("a hundred taken off", "M19-low", "scores = scores - 100 * padded"),
    _line("the lowest score of all", "M19-low", "scores = scores.masked_fill(padded, scores.min().item())"),
    _line("minus infinity times the mask", "M19-nan", "scores = scores + padded * -math.inf"),
    wrong("softmax over the queries", "M19-axis", ("dim=-1", "dim=-2")),
    wrong("softmax over the heads", "", ("dim=-1", "dim=1")),
    wrong("no softmax", "M19-none", (RESULT, "return scores")),
    wrong("no softmax, minus infinity", "M19-none", (RESULT, "return scores"), (LOWEST, "-math.inf")),
    wrong("the logarithm of the weights", "", ("softmax", "log_softmax")),
    wrong("padding counted from behind only", "",
          (MASK, "tokens = scores.shape[-1]\n    lengths = attention_mask.sum(-1)\n"
                 "    padded = (torch.arange(tokens) >= lengths[:, None])[:, None, None]")),
    wrong("the first sentence's mask for all", "M19-ignored",
          (MASK, "padded = attention_mask[:1, None, None, :] == 0")),
    wrong("the second softmax", "", (RESULT, "return scores.softmax(dim=-1).softmax(dim=-1)")),
]  # fmt: skip

ACCEPTED = {
    "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
    "padding_mask-c5b292cf": "masked_fill_ changes the scores that it was given; in a block nobody uses them any more.",
}
