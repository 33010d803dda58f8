"""References for the decoder's part of ``1_models.ipynb``: the causal mask, and attention with a mask."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, compare_value
from autograder.oracles.attention import softmax
from autograder.oracles.encoder_lab_drawing import Wrong, normal, raw_scores, root, torch_attention

#: The exercises in which a wrong unmasked attention is charged.
STEPS_BEFORE = (
    "encoder_lab/attention_scores",
    "encoder_lab/attention_weights",
    "encoder_lab/scaled_dot_product_attention",
)

Array = np.ndarray

# --- the mask ---------------------------------------------------------------------------------------------------------


def _make_mask(generator: np.random.Generator) -> list[Case]:
    return [Case({"n": n}, expected={"mask": np.tril(np.ones((1, n, n)))}) for n in (5, 3, 8)]


def _masked(change: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"mask": change(case.expected["mask"])}


MASK_MISTAKES = [
    Mistake(
        "M10-inverted",
        "The mask is turned round: it allows what comes later, and only that.",
        "1 where a token may look, 0 where it may not.",
        _masked(lambda mask: 1 - mask),
    ),
    Mistake(
        "M10-upper",
        "The ones stand above the diagonal: each token sees what comes after it.",
        "Row i is what token i may see.",
        _masked(lambda mask: mask.swapaxes(1, 2)),
    ),
    Mistake(
        "M10-diagonal",
        "The diagonal is missing: a token may look at itself.",
        "Where does the triangle begin?",
        _masked(lambda mask: np.tril(mask, -1)),
    ),
    Mistake(
        "M10-ahead",
        "The triangle reaches one too far: each token sees the next one.",
        "Where does the triangle end?",
        _masked(lambda mask: np.tril(np.ones_like(mask), 1)),
    ),
    Mistake("M10-ones", "Everything is allowed.", "A token may not look at later ones.", _masked(np.ones_like)),
    Mistake(
        "M10-eye",
        "Each token sees itself alone.",
        "It may also look at what came before it.",
        _masked(lambda mask: np.eye(mask.shape[1])[None]),
    ),
    Mistake(
        "M10-shape",
        "The axis for the batch is missing.",
        "(1, n, n): one mask for all sentences of a batch.",
        _masked(lambda mask: mask[0]),
    ),
    Mistake(
        "M10-filled",
        "The mask holds minus infinity already: that is what the scores become, later.",
        "Ones and zeros.",
        _masked(lambda mask: np.where(mask == 0, -np.inf, 0.0)),
    ),
]

# --- attention with a mask --------------------------------------------------------------------------------------------


def _make_attention(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d, e, kind in ((2, 5, 5, 4, 3, "causal"), (3, 6, 4, 9, 5, "padding"), (2, 4, 7, 3, 6, "any")):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        mask = _mask(generator, kind, batch, n, m)
        query, key, value = inputs.values()
        expected = {"output": torch_attention(query, key, value, mask), "unmasked": torch_attention(query, key, value)}
        cases.append(Case({"kind": kind}, inputs | {"mask": mask}, expected=expected))
    return cases


def _mask(generator: np.random.Generator, kind: str, batch: int, n: int, m: int) -> Array:
    """1 where a query may look. No row is 0 throughout: what attention makes of that is a matter of taste."""
    if kind == "causal":
        return np.tril(np.ones((1, n, m))).astype(np.float32)
    if kind == "padding":
        lengths = np.array([m, m - 1, m - 2])[:batch, None, None]
        return (np.arange(m) < lengths).astype(np.float32)
    mask = (generator.random((batch, n, m)) < 0.6).astype(np.float32)
    mask[..., 1] = 1
    return mask


def judge_attention(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Right, or masked as it should be given the student's own unmasked weights, where those lost points before."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned == 1 or not answers.charged(*STEPS_BEFORE):
        return judgement
    given = answers.arrays
    plain, masked, output = given.get("plain_weights"), given.get("masked_weights"), given.get("output")
    shape = raw_scores(case).shape
    if plain is None or masked is None or output is None or plain.shape != shape or masked.shape != shape:
        return judgement
    if (
        not np.isfinite(plain).all()
        or (plain <= 0).any()
        or compare_value("unmasked", given.get("unmasked"), case.expected["unmasked"], exercise).passed
    ):
        return judgement
    for axis in (-1, -2):
        kept = plain.astype(np.float64) * case.inputs["mask"]
        with np.errstate(divide="ignore", invalid="ignore"):
            own = kept / kept.sum(axis, keepdims=True)
        mixed = own @ case.inputs["value"].astype(np.float64)
        if (
            compare_value("weights", masked, own, exercise).passed
            and compare_value("output", output, mixed, exercise).passed
        ):
            return Judgement([Check("output", True)])
    return judgement


def _with_mask(weigh: Callable[[Array, Array], Array]) -> Wrong:
    """The output of somebody who makes weights of scaled scores and mask in another way."""

    def answers(case: Case) -> Mapping[str, Array]:
        scores = raw_scores(case) / root(case)
        mask = np.broadcast_to(case.inputs["mask"], scores.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"output": weigh(scores, mask) @ case.inputs["value"].astype(np.float64)}

    return answers


def _filled(value: float) -> Callable[[Array, Array], Array]:
    return lambda s, mask: softmax(np.where(mask == 0, value, s))


def _inverted(s: Array, mask: Array) -> Array:
    return softmax(np.where(mask == 0, s, -np.inf))


LOOK_FILL = "What must a score be, for the softmax to make exactly 0 of it?"
ATTENTION_MISTAKES = [
    Mistake(
        "M10-ignored",
        "The mask changes nothing.",
        "Where mask is given, the hidden scores must go.",
        _with_mask(lambda s, mask: softmax(s)),
    ),
    Mistake(
        "M10-zero", "Hidden scores became 0 or nearly 0, and still get weight.", LOOK_FILL, _with_mask(_filled(0.0))
    ),
    Mistake(
        "M10-minus-one", "Hidden scores were set to -1, and still get weight.", LOOK_FILL, _with_mask(_filled(-1.0))
    ),
    Mistake(
        "M10-late",
        "The mask came after the softmax: the weights that are left no longer sum to 1.",
        "Hide the scores, then take the softmax.",
        _with_mask(lambda s, mask: softmax(s) * mask),
    ),
    Mistake("M10-added", "The mask was added to the scores.", LOOK_FILL, _with_mask(lambda s, mask: softmax(s + mask))),
    Mistake(
        "M10-inverted",
        "The mask is turned round: what it hides is what you see.",
        "0 in the mask means: do not look.",
        _with_mask(_inverted),
    ),
    Mistake("M10-infinity", "Hidden scores were set to plus infinity.", LOOK_FILL, _with_mask(_filled(np.inf))),
]

EXERCISES = [
    Exercise(_make_mask, mistakes=MASK_MISTAKES, framework="torch", slug="encoder_lab/causal_mask"),
    Exercise(
        _make_attention, judge_attention, ATTENTION_MISTAKES, framework="torch", slug="encoder_lab/masked_attention"
    ),
]
