"""References for ``DotProductAttention`` with one head: scores and output, each judged on its own.

A mistake in the scores costs the scores' points. Where they are lost, what comes after is held against the right answer
*and* against what follows from wrong scores of a known kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement
from autograder.oracles.attention import softmax
from autograder.oracles.judgements import either_way
from autograder.oracles.transformer_tutorial_dot_products import SCALES, Knobs, attention, scores

SCORES, OUTPUT = "transformer_tutorial/attention_scores", "transformer_tutorial/attention_output"
Array = np.ndarray
Slip = tuple[str, str, str, Knobs]  # id, message, hint, what it computes


def oracle(queries: Array, keys: Array, values: Array, mask: Array | None = None) -> Array:
    """torch's own attention in float64: (b, t, h, k) three times -> (b, t, h*k)"""
    import torch

    q, k, v = (torch.from_numpy(x.astype(np.float64)).transpose(1, 2) for x in (queries, keys, values))
    allowed = None if mask is None else torch.from_numpy(mask)[:, None, None, :]
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return out.transpose(1, 2).flatten(2).numpy()


def draw(generator: np.random.Generator, b: int, t: int, h: int, k: int, size: float = 1.3) -> Case:
    drawn = {name: (size * generator.normal(0, 1, (b, t, h, k))).astype(np.float32) for name in ("queries", "keys")}
    drawn["values"] = generator.normal(0, 1.5, (b, t, h, k)).astype(np.float32)
    return Case({}, drawn, expected={"output": oracle(**drawn)})


def inputs_of(case: Case) -> tuple[Array, Array, Array]:
    return case.inputs["queries"], case.inputs["keys"], case.inputs["values"]


def wrong_shape(answers: Answers, want: Array, name: str = "output") -> Check | None:
    """Why this answer cannot be compared at all; None where it can."""
    got = answers.arrays.get(name)
    if got is None:
        return Check(name, False, "Nothing came.", "Does forward return the result?")
    if got.dtype.kind != "f":
        return Check(name, False, "Expected floating-point numbers.", "Are the weights rounded or compared somewhere?")
    if got.shape != want.shape:
        message = f"Expected shape {want.shape} = (b, t, h * k), but yours is {got.shape}."
        return Check(name, False, message, "Print the shape after every step.")
    return None


def named(slip: Slip) -> Judgement:
    return Judgement([Check(slip[0], False, slip[1], slip[2], slip[0])])


# --- scores -----------------------------------------------------------------------------------------------------------


def _make_scores(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, so that the output *is* the attention weights, (b, t, k) with k > t."""
    cases = []
    for b, t, k in ((2, 5, 7), (3, 4, 6)):
        case = draw(generator, b, t, 1, k)
        values = np.broadcast_to(np.eye(t, k, dtype=np.float32)[None, :, None], (b, t, 1, k)).copy()
        inputs = {**case.inputs, "values": values}
        cases.append(Case({}, inputs, expected={"output": oracle(**inputs)}))
    return cases


SCORE_SLIPS: Sequence[Slip] = [
    ("M2", "The scores are √k times too large: they were not divided.",
     "k is the length of one query or key: the last axis.", Knobs(scale="never")),
    ("M3", "The scores are divided by k; by its square root they should be.",
     "Or was the division by √k done twice?", Knobs(scale="by_k")),
    ("M3-tokens", "The scores are divided by the root of the number of tokens.",
     "Dot products grow with the length of the vectors: the last axis.", Knobs(scale="tokens")),
    ("M3-up", "The scores are multiplied by √k.", "Large dot products are what has to be tamed.",
     Knobs(scale="multiplied")),
    ("M4-swap", "Row i shows how token i is found by the others; it must show what token i's query finds.",
     "Rows are queries, columns are keys: which of the two is transposed?", Knobs(swapped=True)),
]  # fmt: skip


_UNKNOWN_SCORES = Check(
    "scores",
    False,
    "The scores are not the dot products of queries and keys, divided by √k.",
    "Write both shapes down: which axis of the keys must meet which axis of the queries?",
)


def judge_scores(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the output shows of the scores counts; where it shows nothing, ``calculate_score`` speaks for itself."""
    shown = _judge_shown(case, answers)
    score = answers.arrays.get("score")
    if shown.earned == 1 or any(check.mistake for check in shown.checks) or score is None:
        return shown
    queries, keys = (case.inputs[name][:, :, 0].astype(np.float64) for name in ("queries", "keys"))
    want = scores(queries, keys, 1)
    if score.shape != want.shape or score.dtype.kind != "f":
        message = f"calculate_score must give shape {want.shape} = (b * h, t, t); yours is {score.shape}."
        return Judgement([Check("scores", False, message, "Which axis of the keys must meet the last of the queries?")])
    for slip in (None, *SCORE_SLIPS):
        if np.allclose(score, scores(queries, keys, 1, slip[3]) if slip else want, atol=1e-4, rtol=1e-3):
            return named(slip) if slip else Judgement([Check("scores", True)])
    return Judgement([_UNKNOWN_SCORES])


def _judge_shown(case: Case, answers: Answers) -> Judgement:
    wrong = wrong_shape(answers, case.expected["output"])
    if wrong:
        return Judgement([wrong])
    t = case.inputs["queries"].shape[1]
    weights = answers.arrays["output"][..., :t].astype(np.float64)  # (b, queries, keys)
    queries, keys = (case.inputs[name][:, :, 0].astype(np.float64) for name in ("queries", "keys"))
    if not np.isfinite(weights).all():
        return Judgement(
            [Check("scores", False, "Some weights are not finite (nan or inf).", "Is anything divided by zero?")]
        )
    if _comes_from(weights, scores(queries, keys, 1)):
        return Judgement([Check("scores", True)])
    transposed = np.allclose(weights.sum(-2), 1, atol=1e-4)
    if transposed and _comes_from(weights.swapaxes(-1, -2), scores(queries, keys, 1)):
        return Judgement([Check("scores", True)])  # right scores, weights transposed: judged elsewhere
    for slip in SCORE_SLIPS:
        if _comes_from(weights, scores(queries, keys, 1, slip[3])):
            return named(slip)
    return Judgement([_UNKNOWN_SCORES])


def _comes_from(weights: Array, s: Array) -> bool:
    """True where the weights are these scores, or a softmax of them over whatever axis, once or twice."""
    if np.allclose(weights, s, atol=1e-4, rtol=1e-3):
        return True
    if (weights <= 0).any():
        return False
    logs = np.log(weights)
    axes = (-1, -2, 0)
    exponents = [s, *(softmax(s, axis) for axis in axes)]
    return any(float(np.ptp(logs - exponent, axis=axis).max()) < 2e-3 for exponent in exponents for axis in axes)


# --- output -----------------------------------------------------------------------------------------------------------


def _make_output(generator: np.random.Generator) -> list[Case]:
    """One head; the last case has scores in the thousands, of whole numbers, so that rounding plays no part."""
    cases = [draw(generator, 2, 5, 1, 7), draw(generator, 3, 4, 1, 6)]
    inputs = {name: (40 * generator.integers(-9, 10, (2, 5, 1, 7))).astype(np.float32) for name in ("queries", "keys")}
    inputs["values"] = generator.integers(-9, 10, (2, 5, 1, 7)).astype(np.float32)
    return [*cases, Case({}, inputs, expected={"output": oracle(**inputs)})]


OUTPUT_SLIPS: Sequence[Slip] = [
    ("M1", "Each query's weights must sum to 1 over the keys; yours sum to 1 over the queries.",
     "Is the softmax told which axis to use?", Knobs(axis=-2)),
    ("M1-batch", "The softmax runs over the batch: the sentences of a batch share their weights.",
     "Is the softmax told which axis to use?", Knobs(axis=0)),
    ("M1-none", "The values were mixed with the raw scores: no softmax was applied.",
     "Scores become weights by a softmax.", Knobs(axis=None)),
    ("M1-twice", "The softmax was applied twice.", "Once is enough.", Knobs(twice=True)),
    ("M9-late", "The softmax came after the values: each output sums to 1, and no weights were made.",
     "First the weights, then the weighted sum.", Knobs(late=True)),
    ("M4-transposed", "The weights were transposed before they met the values.",
     "Row i of the weights belongs to query i and mixes the values of all keys.", Knobs(transposed=True)),
]  # fmt: skip


def with_scores(knobs: Knobs) -> Iterator[Knobs]:
    """The same with each kind of wrong scores; the likelier ones first."""
    for swapped in (False, True):
        for scale in SCALES:
            yield replace(knobs, scale=scale, swapped=swapped)


def with_softmax(knobs: Knobs) -> Iterator[Knobs]:
    """The same with each kind of wrong weights, and of wrong scores."""
    for known in (knobs, *_wrong_softmaxes(knobs)):
        yield from with_scores(known)


def _wrong_softmaxes(knobs: Knobs) -> Iterator[Knobs]:
    for *_, wrong in OUTPUT_SLIPS:
        yield replace(knobs, axis=wrong.axis, twice=wrong.twice, transposed=wrong.transposed, late=wrong.late)


def not_charged_twice(knobs: Knobs, answers: Answers) -> Iterator[Knobs]:
    """The same, and with each kind of wrong scores or weights if scores or output lost their points before."""
    for known in (knobs, *(_wrong_softmaxes(knobs) if answers.charged(OUTPUT) else ())):
        yield from with_scores(known) if answers.charged(SCORES) else (known,)


def is_one_of(
    got: Array, case: Case, candidates: Iterable[Knobs], mask: Array | None = None, rows: Array | None = None
) -> bool:
    """rows: (b, t), which of the output's rows count. With a mask, wrong weights may give nan where they must."""
    rows = np.ones(got.shape[:2], dtype=bool) if rows is None else rows
    with np.errstate(over="ignore", invalid="ignore"):
        return any(
            np.allclose(got[rows], attention(*inputs_of(case), knobs, mask)[rows], 2e-4, 2e-5, equal_nan=True)
            for knobs in candidates
        )


def judge_output(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    wrong = wrong_shape(answers, case.expected["output"])
    if wrong:
        return Judgement([wrong])
    got = answers.arrays["output"]
    if not np.isfinite(got).all():
        return named(
            (
                "M1-overflow",
                "Large scores give nan or inf.",
                "torch's own softmax subtracts the largest score first; exp alone overflows.",
                Knobs(),
            )
        )
    if is_one_of(got, case, not_charged_twice(Knobs(), answers)):
        return Judgement([Check("output", True)])
    for swapped in (False, True):  # transposed weights are also those of swapped scores over the wrong axis
        for slip in OUTPUT_SLIPS:
            if is_one_of(got, case, (knobs for knobs in with_scores(slip[3]) if knobs.swapped == swapped)):
                return named(slip)
    return Judgement(
        [
            Check(
                "output",
                False,
                "The output is not the values, mixed by the weights of each query.",
                "Which axis of the weights runs over the keys, and which axis of the values does?",
            )
        ]
    )


EXERCISES = [
    Exercise(_make_scores, judge_scores, framework="torch", slug=SCORES),
    Exercise(_make_output, either_way(judge_output), framework="torch", slug=OUTPUT),
]
