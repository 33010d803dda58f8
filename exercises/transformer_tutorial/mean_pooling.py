"""The average of a sentence's real tokens. Vectors at padded positions are large: they show wherever they get in.

In the last case the padding stands in front of a sentence, or in its middle.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake, variant

from ._attention_rules import part

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    masks = [np.arange(t)[None] < np.array(lengths)[:, None] for t, lengths in ((5, (5, 2, 3)), (7, (1, 4)))]
    masks.append(np.array([[0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0]], dtype=bool))
    drawn = [_case(generator, mask, k) for mask, k in zip(masks, (4, 6, 5), strict=True)]
    return [*drawn, _case(generator, masks[1][1:], 3)]  # a batch of one


def _case(generator: np.random.Generator, mask: Array, k: int) -> Case:
    states = generator.normal(0, 1, (*mask.shape, k)) + np.where(mask, 0, 20)[..., None]
    states = states.astype(np.float32)
    pooled = np.stack([row[real].astype(np.float64).mean(0) for row, real in zip(states, mask, strict=True)])
    return Case({}, {"hidden_states": states, "mask": mask}, expected={"pooled": pooled})


# The lines of the solution that mistakes change.
SUM, COUNT = "(hidden_states * real).sum(dim=1)", "real.sum(dim=1)"
POOLED = f"{SUM} / {COUNT}"

MISTAKES = [
    Mistake("M15-padding", "The padding is averaged in.", "Only real tokens count, above and below the fraction bar.",
            (POOLED, "hidden_states.mean(dim=1)")),
    Mistake("M15-length", "The sum leaves the padding out, but it is divided by all tokens, padding included.",
            "By how many vectors must the sum of the real ones be divided?",
            (POOLED, "(hidden_states * real).mean(dim=1)")),
    Mistake("M15-count", "Padding is in the sum, but not in the number it is divided by.",
            "Padded vectors must not be in the sum.", (SUM, "hidden_states.sum(dim=1)")),
    Mistake("M15-inverted", "The padding was averaged, and the real tokens left out.", "True marks a real token.",
            ("mask.unsqueeze", "(~mask).unsqueeze")),
    Mistake("M15-sum", "This is the sum of the real tokens; the average is asked for.", "Divide by how many there are.",
            (POOLED, SUM)),
    Mistake("M15-front", "The first tokens were averaged, as many as are real; the mask need not begin with those.",
            "The mask says which tokens are real, not only how many.",
            (POOLED, "torch.stack([s[:int(c)].mean(0) for s, c in zip(hidden_states, mask.sum(1))])")),
    Mistake("M15-first", "This is the first token alone.", "All real tokens count alike.",
            (POOLED, "hidden_states[:, 0]")),
    Mistake("M15-max", "This is the largest number of each column, not their average.", "Sum, then divide.",
            (POOLED, 'hidden_states.masked_fill(~real, float("-inf")).max(dim=1).values')),
    Mistake("M15-batch", "The sum was divided by the number of real tokens in the whole batch.",
            "Each sentence has its own length.", (f"/ {COUNT}", "/ mask.sum()")),
    Mistake("M15-plus", "The sum was divided by one more than there are real tokens.", "Count them once more.",
            (f"/ {COUNT}", f"/ ({COUNT} + 1)")),
    Mistake("M15-times", "The sum was multiplied by the number of real tokens.", "Divide by it.", (") / ", ") * ")),
    Mistake("M15-minus", "The number of real tokens was subtracted from the sum.", "Divide by it.", (") / ", ") - ")),
    Mistake("M15-upside", "The fraction is upside down.", "The sum of the vectors is divided by their number.",
            (POOLED, f"{COUNT} / {SUM}")),
    Mistake("M15-added", "The mask was added to the numbers.", "Times 0, a number leaves a sum.",
            ("states * real", "states + real")),
    Mistake("M15-weighted", "The numbers were divided by a sum of numbers.", "Divide by how many there are.",
            (f"/ {COUNT}", "/ hidden_states.sum(dim=1)")),
    Mistake("M15-axis", "The mean runs over the numbers of each vector, not over the tokens.",
            "Which axis counts the tokens?", (POOLED, "(hidden_states * real).mean(dim=2)")),
    Mistake("", "one sentence loses its axis", "", (POOLED, f"({POOLED}).squeeze()")),
    CHANGED.by(("real = mask", "hidden_states *= mask.unsqueeze(-1)\n    real = mask")),
    CUT.by((POOLED, f"({POOLED}).detach()")),
    DTYPE.by((POOLED, f"({POOLED}).double()")),
]  # fmt: skip

HEAD = "def mean_pooling(hidden_states, mask):"
RIGHT = {
    "weights and a matrix product": variant(HEAD, """
        weights = mask / mask.sum(dim=1, keepdim=True)
        return (weights.unsqueeze(1) @ hidden_states).squeeze(1)
    """),
    "sentence by sentence": [
        (POOLED, "torch.stack([states[real].mean(0) for states, real in zip(hidden_states, mask)])"),
    ],
    "masked_fill and einsum": variant(HEAD, """
        kept = hidden_states.masked_fill(~mask.bool()[:, :, None], 0.0)
        return torch.einsum("btk->bk", kept) / mask.float().sum(1)[:, None]
    """),
    "torch's own masked mean": [(POOLED, "torch.masked.mean(hidden_states, dim=1, mask=mask[..., None])")],
    "nan for padding": variant(HEAD, """
        padded = torch.where(mask[..., None], hidden_states, torch.nan)
        return padded.double().nanmean(dim=1).float()
    """),
    "torch.vmap over the sentences": variant(HEAD, """
        return torch.vmap(lambda states, real: real.to(states.dtype) @ states / real.sum())(hidden_states, mask)
    """),
    "torch.average by a walrus": variant(HEAD, """
        total = hidden_states.mul(weights := mask[..., None].type_as(hidden_states)).sum(dim=-2)
        return total.div(weights.sum(dim=-2).clamp(min=1))
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch",
    shows=("padding does not matter, wherever it stands", "all real tokens count alike"),
    axes={"pooled": "b, k"},
)  # fmt: skip
