"""``fold`` and ``unfold``: heads become rows of the batch, and columns of the output again."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from ._attention_rules import part


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    return [_case(generator, *sizes) for sizes in ((2, 5, 3, 4), (3, 2, 4, 5), (1, 3, 2, 5))]


def _case(generator: np.random.Generator, b: int, t: int, h: int, k: int) -> Case:
    x, out = (generator.normal(0, 1, shape).astype(np.float32) for shape in ((b, t, h, k), (b * h, t, k)))
    folded = [x[sentence, :, head] for sentence in range(b) for head in range(h)]
    unfolded = [np.concatenate(list(out[h * sentence : h * (sentence + 1)]), axis=1) for sentence in range(b)]
    return Case({}, {"x": x, "out": out}, expected={"fold": np.stack(folded), "unfold": np.stack(unfolded)})


# The lines of the solution that mistakes change.
FOLD = "return x.transpose(1, 2).reshape(b * h, t, k)"
UNFOLD = "out = out.view(b, h, t, k).transpose(1, 2)"
RETURN = "return out.reshape(b, t, h * k)"
ORDER = "In which order must the axes stand before b and h can become one?"

MISTAKES = [
    Mistake("M5",
            "The heads are folded into the batch by view alone: a row of the batch mixes numbers of several tokens.",
            ORDER, (FOLD, "return x.reshape(b * h, t, k)")),
    Mistake("M5-both", "Heads were folded and unfolded by view alone: each row of the batch mixes several tokens.",
            ORDER, (FOLD, "return x.reshape(b * h, t, k)"), (UNFOLD, "")),
    Mistake("M5-inter", "The last two axes were taken for (k, h); they are (h, k).",
            "Print the shape of queries before the first step.",
            (FOLD, "return x.reshape(b, t, k, h).permute(0, 3, 1, 2).reshape(b * h, t, k)")),
    Mistake("M5-first", "Folded as (h, b), but unfolded as (b, h): the heads of different sentences were exchanged.",
            "Fold and unfold must agree on which of the two axes comes first.",
            (FOLD, "return x.permute(2, 0, 1, 3).reshape(b * h, t, k)")),
    Mistake("M5-turned", "Folded and unfolded as (h, b): all sentences of head 0 come first.",
            "All heads of sentence 0 come first.", (FOLD, "return x.permute(2, 0, 1, 3).reshape(b * h, t, k)"),
            (UNFOLD, "out = out.view(h, b, t, k).permute(1, 2, 0, 3)")),
    Mistake("M6", "The heads were unfolded without being moved back after the tokens.",
            "Exchange the head axis and the token axis before the last two axes become one.", (UNFOLD, "")),
    Mistake("M6-inter", "In the output the heads are interleaved: number by number, not one head after the other.",
            "The last axis is (h, k), in this order.", (UNFOLD, "out = out.view(b, h, t, k).permute(0, 2, 3, 1)")),
    Mistake("", "heads averaged", "", (UNFOLD, "return out.view(b, h, t, k).mean(1)")),
    Mistake("", "the result not returned", "", (RETURN, "out = out.reshape(b, t, h * k)")),
    CHANGED.by((UNFOLD, "out *= 2\n        out = out.view(b, h, t, k).transpose(1, 2) / 2")),
    CUT.by((RETURN, f"{RETURN}.detach()")),
    CUT.by((FOLD, f"{FOLD}.detach()")),
    DTYPE.by((FOLD, f"{FOLD}.double()")),
]  # fmt: skip


def written(fold: str, unfold: str) -> list[tuple[str, str]]:
    """A right answer: these lines in place of both methods'."""
    return [(FOLD, fold), (UNFOLD, "pass"), (RETURN, unfold)]


RIGHT = {
    "views of contiguous tensors, as many tutorials write it": written(
        "return x.transpose(1, 2).contiguous().view(b * h, t, k)",
        "return out.view(b, h, t, k).transpose(1, 2).contiguous().view(b, t, h * k)",
    ),
    "flattened and unflattened": written(
        "return x.transpose(1, 2).flatten(0, 1)", "return out.unflatten(0, (b, h)).transpose(1, 2).flatten(2)"
    ),
    "einops": written(
        'from einops import rearrange\n        return rearrange(x, "b t h k -> (b h) t k")',
        'from einops import rearrange\n        return rearrange(out, "(b h) t k -> b t (h k)", h=h)',
    ),
    "heads taken apart and laid end to end": written(
        "return torch.stack(x.unbind(2), dim=1).view(-1, t, k)",
        "return torch.cat(out.reshape(-1, h, t, k).unbind(1), dim=-1)",
    ),
    "row by row": written(
        "return torch.stack([x[i // h, :, i % h] for i in range(b * h)])",
        "return torch.stack([torch.cat([out[i * h + j] for j in range(h)], dim=1) for i in range(b)])",
    ),
    "einsum and movedim": written(
        'return torch.einsum("bthk->bhtk", x).reshape(-1, t, k)',
        "return torch.movedim(out.reshape(b, h, t, k), 1, 2).reshape(b, t, -1)",
    ),
    "filled in number by number": written(
        "rows = x.new_empty(b, h, t, k)\n        for j in range(h):\n            rows[:, j] = x[:, :, j]\n"
        "        return rows.view(b * h, t, k)",
        "return out.mT.reshape(b, h * k, t).mT",
    ),
}

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer", method="fold",
    shows=("each head is a row of the batch", "heads stand one after the other"),
    axes={"fold": "b * h, t, k", "unfold": "b, t, h * k"},
)  # fmt: skip
