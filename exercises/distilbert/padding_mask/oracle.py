"""The padding mask: from scores and mask to weights, of which a padded key gets none.

The oracle knows no mask. It takes the real keys out, applies the softmax to them alone, and puts zeros where the others
were: what a sentence gets without padding.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_value, named, right, wrong

from ..._attention import Array, softmax

FEW = 1e-4
BEFORE = "Mask the scores, before the softmax: the softmax then shares the whole weight among the real keys."

MISTAKES = [
    Mistake(
        "M19-none",
        "These are scores, not weights: no softmax was applied.",
        "The function returns what the softmax makes of the masked scores.",
    ),
    Mistake(
        "M19-ignored",
        "Padded keys get as much weight as without a mask.",
        "masked_fill without an underscore gives a new tensor; is the softmax applied to that one?",
    ),
    Mistake(
        "M19-inverted",
        "The mask is the wrong way round: only padding gets weight.",
        "1 marks a real token, 0 padding.",
    ),
    Mistake(
        "M19-queries",
        "The queries are masked in place of the keys: real tokens still look at padding.",
        "In (batch, heads, queries, keys) the keys are the last axis. On which axis does your mask have its tokens?",
    ),
    Mistake(
        "M19-both",
        "The rows of padded queries are masked as well: nothing is left for their softmax.",
        "Only keys are masked. What padded queries collect is used by nobody.",
    ),
    Mistake("M19-after", "The weights were masked after the softmax: a row no longer sums to 1.", BEFORE),
    Mistake(
        "M19-zero",
        "The scores of padded keys are 0, and e to the power of 0 is 1: they still get weight.",
        "Which score becomes the weight 0?",
    ),
    Mistake(
        "M19-added",
        "The mask itself was added to the scores: padded keys are only 1 lower than before.",
        "Their scores have to be so low that the softmax makes 0 of them.",
    ),
    Mistake(
        "M19-low",
        "Padded keys still get a little weight: their scores are not low enough.",
        "Scores can be large themselves. Minus infinity, or the lowest number of the type, is low enough for all.",
    ),
    Mistake(
        "M19-axis",
        "The softmax runs over the queries: the columns sum to 1, not the rows.",
        "Each query's weights sum to 1 over the keys, the last axis.",
    ),
    Mistake(
        "M19-nan",
        "Some weights are nan.",
        "0 times minus infinity is nan: choose the padded scores, with masked_fill or where, and multiply nothing.",
    ),
]


def make(generator: np.random.Generator) -> list[Case]:
    """Sentences padded behind and in front, one without padding, and padding with by far the largest scores."""
    behind = _case(2 * generator.normal(size=(3, 2, 5, 5)), [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
    in_front = _case(generator.normal(size=(2, 3, 4, 4)), [[0, 1, 1, 1], [1, 1, 1, 0]])
    alone = _case(2 * generator.normal(size=(1, 2, 3, 3)), [[1, 1, 1]])
    mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]])
    # far below 0 where the key is real: neither a score of -100 nor one lowered by 100 is low enough beside these
    offset = np.where(mask, -30.0, 10.0)[:, None, None]
    return [behind, in_front, alone, _case(offset + generator.normal(size=(2, 4, 6, 6)), mask)]


def _case(scores: Array, mask: object) -> Case:
    scores, mask = scores.astype(np.float32), np.array(mask)
    weights = np.zeros(scores.shape)
    for sentence, real in enumerate(mask.astype(bool)):
        weights[sentence][..., real] = softmax(scores[sentence][..., real].astype(np.float64))
    return Case({}, {"scores": scores, "attention_mask": mask}, expected={"weights": weights})


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given = answers.arrays.get("weights")
    check = compare_value("weights", given, case.expected["weights"], exercise)
    if given is None or given.dtype.kind != "f" or given.shape != case.expected["weights"].shape:
        return wrong("weights", check.message, check.hint)
    id = _mistake(case, given.astype(np.float64), check.passed)
    if id:
        return named(exercise, id)
    if check.passed:
        return right("weights")
    message = "Your weights are not the softmax of the scores of the real keys."
    return wrong("weights", message, "What a sentence gets must be what it gets without padding.")


def _mistake(case: Case, given: Array, close: bool) -> str:
    """The id of the mistake that explains these weights; empty where there is none that has a name."""
    scores, real = case.inputs["scores"].astype(np.float64), case.inputs["attention_mask"].astype(bool)
    real_keys = np.broadcast_to(real[:, None, None, :], given.shape)
    real_rows = np.broadcast_to(real[:, None, :, None], given.shape)
    plain, wanted = softmax(scores), case.expected["weights"]
    if close:
        return "M19-low" if given[~real_keys].any() else ""
    if _same(given[real_keys], scores[real_keys]):
        return "M19-none"
    if real.all():
        return "M19-nan" if np.isnan(given).any() else _sums(given, real_keys, wanted)
    if _exactly(given, plain):
        return "M19-ignored"
    padded = ~real.all(-1)
    of_padding = np.where(real_keys, 0, given).sum(-1)
    if _exactly(np.where(real_keys, given, 0)[padded], 0) and _same(of_padding[padded], 1):
        return "M19-inverted"
    if _exactly(given[real_rows], plain[real_rows]):
        return "M19-queries"
    if _exactly(np.where(real_keys, 0, given)[real_rows], 0) and _same(given[real_rows], wanted[real_rows]):
        return "M19-both"
    if np.isnan(given).any():
        return "M19-nan"
    if _same(given, np.where(real_keys, plain, 0)):
        return "M19-after"
    if _exactly(given, softmax(np.where(real_keys, scores, 0))):
        return "M19-zero"
    if _exactly(given, softmax(scores + real_keys)):
        return "M19-added"
    return _sums(given, real_keys, wanted)


def _sums(given: Array, real_keys: Array, wanted: Array) -> str:
    """What rows and columns say where nothing else does."""
    if (given < 0).any():
        return ""
    if not _same(given.sum(-1), 1):
        return "M19-axis" if _same(given.sum(-2)[real_keys[:, :, 0]], 1) else ""
    # among themselves the real keys share what they have as they should
    of_the_real = np.where(real_keys, given, 0).sum(-1, keepdims=True)
    return "M19-low" if _same(np.where(real_keys, given, 0), of_the_real * wanted) else ""


def _same(first: Array, second: Array | float) -> bool:
    return bool(np.allclose(first, second, atol=FEW, rtol=1e-3))


def _exactly(first: Array, second: Array | float) -> bool:
    """Also where next to nothing is left for the real keys: how little it is tells one mistake from another."""
    return bool(np.allclose(first, second, atol=1e-25, rtol=1e-2))


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")
