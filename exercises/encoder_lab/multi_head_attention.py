"""``MultiHeadAttention.forward``: the heads' vectors end to end, then a projection."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from .._attention import linear
from ._answers import HEAD_INIT, HEADS, HEADS_PAIR, METHOD, NOT_BEGUN, RETURNS_PAIR, SET_WEIGHTS
from ._arrays import linear_weight, normal
from ._rules import DROPPED, class_with_parts


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, tokens, heads, size in ((2, 5, 3, 4), (3, 6, 4, 2), (1, 4, 2, 3)):
        d_model = heads * size
        weights = {
            "output_linear.weight": linear_weight(generator, d_model, d_model),
            "output_linear.bias": normal(generator, d_model, size=0.4),
        }
        x = normal(generator, batch, tokens, d_model)
        matrices = normal(generator, heads, d_model, size, size=d_model**-0.5)
        shifts = normal(generator, heads, 1, size)
        stood_in = [x.astype(np.float64) @ matrix + shift for matrix, shift in zip(matrices, shifts, strict=True)]
        expected = {"stand_in/output": linear(np.concatenate(stood_in, axis=-1), weights, "output_linear")}
        inputs = {"hidden_states": x, "stand_in_matrices": matrices, "stand_in_shifts": shifts}
        made.append(Case({"d_model": d_model, "num_attention_heads": heads}, inputs, weights, {}, expected))
    return made


LAST = "Concatenate along the last axis."


def forward(code: str) -> Patch:
    return HEADS, f"found = [head(hidden_states) for head in self.heads]\n{code}"


def one_by_one(*layers: str) -> Patch:
    given = ", ".join(f"head.{layer}(hidden_states)" for layer in layers)
    return (
        HEADS,
        f"""
        found = [head.scaled_dot_product_attention({given})[0] for head in self.heads]
        return self.output_linear(torch.concat(found, 2))
    """,
    )


MISTAKES = [
    Mistake("heads-reversed", "The heads are laid end to end in reverse order.", "The first head comes first.",
            forward("return self.output_linear(torch.cat(found[::-1], dim=-1))")),
    Mistake("M5-inter", "The heads' vectors are interleaved: number by number, not head by head.",
            "Concatenate along the last axis; a stacked axis would have to come before it.",
            forward("return self.output_linear(torch.stack(found, dim=-1).flatten(2))")),
    Mistake("M6", "The heads were put together along the tokens: numbers of different tokens are mixed.", LAST,
            forward("return self.output_linear(torch.cat(found, dim=1).reshape(hidden_states.shape))")),
    Mistake("M6", "The heads were put together along the tokens: numbers of different tokens are mixed.", LAST,
            forward("return self.output_linear(torch.stack(found, dim=1).reshape(hidden_states.shape))")),
    Mistake("M6-batch", "The heads were stacked in front of the batch and reshaped: sentences are mixed.", LAST,
            forward("return self.output_linear(torch.stack(found).reshape(hidden_states.shape))")),
    Mistake("heads-first", "What the first head found was taken for all of them.", "Call each head once.",
            forward("return self.output_linear(torch.cat([found[0]] * len(found), dim=-1))")),
    Mistake("heads-mean", "The heads were averaged.", "They are laid end to end, each keeps its numbers.",
            forward(
                "mean = sum(found) / len(found)\nreturn self.output_linear(torch.cat([mean] * len(found), dim=-1))")),
    Mistake("heads-unmixed", "output_linear is missing: the heads' vectors come out as they are.",
            "The last step is a projection of all heads together.", forward("return torch.cat(found, dim=-1)")),
    Mistake("M7-early", "The input was added to the output.", "The skip belongs to the layer, not to the attention.",
            forward("return hidden_states + self.output_linear(torch.cat(found, dim=-1))")),
    Mistake("heads-activated", "A ReLU is applied somewhere after the heads.", "Nothing but a linear layer.",
            forward("return torch.relu(self.output_linear(torch.cat(found, dim=-1)))")),
    DROPPED,
    CHANGED,
    CUT.by(forward("return self.output_linear(torch.cat(found, dim=-1).detach())")),
    Mistake("", "the heads' layers and method, one by one, queries for keys", "", one_by_one("wk", "wq", "wv")),
    Mistake("", "the heads' layers and method, one by one, keys for values", "", one_by_one("wq", "wk", "wk")),
    Mistake("", "concatenated along the batch", "", forward("return self.output_linear(torch.cat(found, dim=0))")),
]  # fmt: skip

RIGHT = {
    "heads called with names": [(HEADS, """
        return self.output_linear(torch.cat([h(hidden_states=hidden_states) for h in self.heads], dim=-1))
    """)],
    "heads whose weights are set in __init__": [SET_WEIGHTS],
    "stacked and moved": [(HEADS, """
        found = torch.stack([head(hidden_states) for head in self.heads])     # (heads, B, T, size)
        return self.output_linear(found.permute(1, 2, 0, 3).flatten(2))
    """)],
    "written into a tensor": [(HEADS, """
        merged, at = torch.empty_like(hidden_states), 0
        for head in self.heads:
            out = head(hidden_states)
            merged[..., at:at + out.size(-1)] = out
            at += out.size(-1)
        return self.output_linear(merged)
    """)],
    "parts of the layer, head by head": [(HEADS, """
        total = 0
        parts = self.output_linear.weight.chunk(len(self.heads), dim=1)
        for out, part in zip((head(hidden_states) for head in self.heads), parts):
            total = total + torch.einsum("btd,ed->bte", out, part)
        return total + self.output_linear.bias
    """)],
    "heads that return pairs": [RETURNS_PAIR, (HEADS, """
        return self.output_linear(torch.cat([head(hidden_states)[0] for head in self.heads], dim=2))
    """)],
    "returns a pair too": [HEADS_PAIR],
    "the heads' layers and method, one by one": [one_by_one("wq", "wk", "wv")],
    "heads that do not scale: that is paid for elsewhere": [(METHOD, """
        weights = (q @ k.mT).softmax(-1)
        return weights @ v, weights
    """)],
    "heads that do not work yet": [(HEAD_INIT, NOT_BEGUN)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, class_with_parts, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    shows=("heads side by side", "end to end", "output_linear last"),
    axes={"output": "batch, n, d_model"},
)  # fmt: skip
