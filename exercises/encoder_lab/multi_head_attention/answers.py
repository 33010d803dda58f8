"""Right and wrong answers to ``multi_head_attention``."""

from autograder.exercise import SampleAnswer

from .._answers import HEAD_INIT, HEADS, HEADS_INIT, METHOD, NOT_BEGUN, RETURNS_PAIR, SET_WEIGHTS

CELL = "models.py"


def _wrong(name: str, code: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(
        name,
        methods={HEADS: "found = [head(hidden_states) for head in self.heads]\n" + code},
        points=0,
        mistake=mistake,
    )


RIGHT = [
    SampleAnswer(
        "heads called with names",
        methods={
            HEADS: "return self.output_linear(torch.cat([h(hidden_states=hidden_states) for h in self.heads], dim=-1))"
        },
    ),
    SampleAnswer("heads whose weights are set in __init__", methods={HEADS_INIT: SET_WEIGHTS}),
    SampleAnswer(
        "stacked and moved",
        methods={
            HEADS: """
            found = torch.stack([head(hidden_states) for head in self.heads])     # (heads, B, T, size)
            return self.output_linear(found.permute(1, 2, 0, 3).flatten(2))
            """
        },
    ),
    SampleAnswer(
        "written into a tensor",
        methods={
            HEADS: """
            merged, at = torch.empty_like(hidden_states), 0
            for head in self.heads:
                out = head(hidden_states)
                merged[..., at:at + out.size(-1)] = out
                at += out.size(-1)
            return self.output_linear(merged)
            """
        },
    ),
    SampleAnswer(
        "parts of the layer, head by head",
        methods={
            HEADS: """
            total = 0
            parts = self.output_linear.weight.chunk(len(self.heads), dim=1)
            for out, part in zip((head(hidden_states) for head in self.heads), parts):
                total = total + torch.einsum("btd,ed->bte", out, part)
            return total + self.output_linear.bias
            """
        },
    ),
    SampleAnswer(
        "heads that return pairs",
        methods={
            **RETURNS_PAIR,
            HEADS: "return self.output_linear(torch.cat([head(hidden_states)[0] for head in self.heads], dim=2))",
        },
    ),
    SampleAnswer(
        "returns a pair too",
        methods={
            HEADS: "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None"
        },
    ),
    SampleAnswer(
        "the heads' layers and method, one by one",
        methods={
            HEADS: """
            found = []
            for h in self.heads:
                out, _ = h.scaled_dot_product_attention(h.wq(hidden_states), h.wk(hidden_states), h.wv(hidden_states))
                found.append(out)
            return self.output_linear(torch.concat(found, 2))
            """
        },
    ),
    SampleAnswer(
        "heads that do not scale: that is paid for elsewhere",
        methods={METHOD: "weights = (q @ k.mT).softmax(-1)\nreturn weights @ v, weights"},
    ),
    SampleAnswer("heads that do not work yet", methods={HEAD_INIT: NOT_BEGUN}),
]
WRONG = [
    _wrong("in reverse order", "return self.output_linear(torch.cat(found[::-1], dim=-1))", "heads-reversed"),
    _wrong("interleaved", "return self.output_linear(torch.stack(found, dim=-1).flatten(2))", "M5-inter"),
    _wrong("along the tokens", "return self.output_linear(torch.cat(found, dim=1).reshape(hidden_states.shape))", "M6"),
    _wrong(
        "stacked and reshaped",
        "return self.output_linear(torch.stack(found, dim=1).reshape(hidden_states.shape))",
        "M6",
    ),
    _wrong(
        "stacked in front and reshaped",
        "return self.output_linear(torch.stack(found).reshape(hidden_states.shape))",
        "M6-batch",
    ),
    _wrong(
        "the first head for all", "return self.output_linear(torch.cat([found[0]] * len(found), dim=-1))", "heads-first"
    ),
    _wrong(
        "an average",
        "mean = sum(found) / len(found)\nreturn self.output_linear(torch.cat([mean] * len(found), dim=-1))",
        "heads-mean",
    ),
    _wrong("output_linear missing", "return torch.cat(found, dim=-1)", "heads-unmixed"),
    _wrong("a skip too early", "return hidden_states + self.output_linear(torch.cat(found, dim=-1))", "M7-early"),
    _wrong(
        "an activation at the end", "return torch.relu(self.output_linear(torch.cat(found, dim=-1)))", "heads-activated"
    ),
    _wrong("concatenated along the batch", "return self.output_linear(torch.cat(found, dim=0))"),
]
