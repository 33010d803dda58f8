"""The average of a sentence's real tokens. What stands at padded places is large: it shows wherever it gets in.

In the last case the padding stands in front of a sentence, or in its middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    masks = [np.arange(t)[None] < np.array(lengths)[:, None] for t, lengths in ((5, (5, 2, 3)), (7, (1, 4)))]
    masks.append(np.array([[0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0]], dtype=bool))
    return [_case(generator, mask, k) for mask, k in zip(masks, (4, 6, 5), strict=True)]


def _case(generator: np.random.Generator, mask: Array, k: int) -> Case:
    states = generator.normal(0, 1, (*mask.shape, k)) + np.where(mask, 0, 20)[..., None]
    states = states.astype(np.float32)
    pooled = np.stack([row[real].astype(np.float64).mean(0) for row, real in zip(states, mask, strict=True)])
    return Case({}, {"hidden_states": states, "mask": mask}, expected={"pooled": pooled})


def _pooled(pool: Callable[[Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """``pool`` takes states (b, t, k) and the mask as numbers (b, t, 1)."""
    return lambda case: {
        "pooled": pool(
            case.inputs["hidden_states"].astype(np.float64), case.inputs["mask"].astype(np.float64)[..., None]
        )
    }


def _divided(sums: Array, counts: Array) -> Array:
    with np.errstate(invalid="ignore"):  # a sentence without padding: 0/0, as in the student's own torch
        return sums / counts


def _front(x: Array, m: Array) -> Array:
    first = np.arange(x.shape[1])[None, :, None] < m.sum(1, keepdims=True)
    return np.asarray((x * first).sum(1) / m.sum(1))


MISTAKES = [
    Mistake("M15-padding", "The padding is averaged in.", "Only real tokens count, above and below the fraction bar.",
            _pooled(lambda x, m: x.mean(1))),
    Mistake("M15-length", "The sum leaves the padding out, but it is divided by all tokens, padding included.",
            "By how many vectors must the sum of the real ones be divided?", _pooled(lambda x, m: (x * m).mean(1))),
    Mistake("M15-count", "Padding is in the sum, but not in the number it is divided by.",
            "Padded vectors must not be in the sum.", _pooled(lambda x, m: x.sum(1) / m.sum(1))),
    Mistake("M15-inverted", "The padding was averaged, and the real tokens left out.", "True marks a real token.",
            _pooled(lambda x, m: _divided((x * (1 - m)).sum(1), (1 - m).sum(1)))),
    Mistake("M15-sum", "This is the sum of the real tokens; the average is asked for.", "Divide by how many there are.",
            _pooled(lambda x, m: (x * m).sum(1))),
    Mistake("M15-front", "The first tokens were averaged, as many as are real; the mask need not begin with those.",
            "The mask says which tokens are real, not only how many.", _pooled(_front)),
    Mistake("M15-first", "This is the first token alone.", "All real tokens count alike.",
            _pooled(lambda x, m: x[:, 0])),
    Mistake("M15-max", "This is the largest number of each column, not their average.", "Sum, then divide.",
            _pooled(lambda x, m: np.where(m > 0, x, -np.inf).max(1))),
    Mistake("M15-batch", "The sum was divided by the number of real tokens in the whole batch.",
            "Each sentence has its own length.", _pooled(lambda x, m: (x * m).sum(1) / m.sum())),
    Mistake("M15-plus", "The sum was divided by one more than there are real tokens.", "Count them once more.",
            _pooled(lambda x, m: (x * m).sum(1) / (m.sum(1) + 1))),
    Mistake("M15-times", "The sum was multiplied by the number of real tokens.", "Divide by it.",
            _pooled(lambda x, m: (x * m).sum(1) * m.sum(1))),
    Mistake("M15-minus", "The number of real tokens was subtracted from the sum.", "Divide by it.",
            _pooled(lambda x, m: (x * m).sum(1) - m.sum(1))),
    Mistake("M15-upside", "The fraction is upside down.", "The sum of the vectors is divided by their number.",
            _pooled(lambda x, m: m.sum(1) / (x * m).sum(1))),
    Mistake("M15-added", "The mask was added to the numbers.", "Times 0, a number leaves a sum.",
            _pooled(lambda x, m: (x + m).sum(1) / m.sum(1))),
    Mistake("M15-weighted", "The numbers were divided by a sum of numbers.", "Divide by how many there are.",
            _pooled(lambda x, m: (x * m).sum(1) / x.sum(1))),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")
