"""Adding the positions to the tokens, with the right table or a ready-made one: the student's own has its exercise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_value,
    named,
    right,
    without_side_effects,
)

from .._positions import table, transformers_table
from .._rules import RATE

Array = np.ndarray
#: x (b, t, emb_size), table (max_len, emb_size) -> what comes out, (b, t, emb_size)
Add = Callable[[Array, Array], Array]


def make(generator: np.random.Generator) -> list[Case]:
    """More tokens than sentences, and more sentences than tokens; in neither case as many."""
    cases = []
    for (b, t, emb_size), max_len in (((2, 5, 6), 9), ((7, 3, 8), 12)):
        x = generator.normal(0, 1, (b, t, emb_size)).astype(np.float32)
        output = x + transformers_table(max_len, emb_size)[:t]
        cases.append(Case({"emb_size": emb_size, "max_len": max_len}, {"x": x}, expected={"output": output}))
    return cases


def ready_table(max_len: int, size: int) -> Array:
    """The table that the hidden cell puts in the place of the student's own: (max_len, emb_size)"""
    return np.cos(np.arange(float(max_len * size))).reshape(max_len, size)


def add(x: Array, pe: Array) -> Array:
    return x + pe[: x.shape[1]]


def _known(id: str, message: str, hint: str, wrong: Add) -> Mistake:
    def answers(case: Case) -> dict[str, Array]:
        return {"output": wrong(case.inputs["x"].astype(np.float64), _right_table(case))}

    return Mistake(id, message, hint, answers, variant=wrong)


def _right_table(case: Case) -> Array:
    return table(case.config["max_len"], case.config["emb_size"])


HINT = "x plus the first rows of pe."
MISTAKES = [
    _known("M11-none", "The positions were not added.", HINT, lambda x, pe: x),
    _known("M11-times", "The positions were multiplied in; they are added.", HINT, lambda x, pe: x * pe[: x.shape[1]]),
    _known("M11-root", "The positions were scaled; they are added as they are.", HINT,
           lambda x, pe: add(x, x.shape[2] ** 0.5 * pe)),
    _known("M11-x", "x was scaled; that is the classifier's business.", HINT,
           lambda x, pe: add(x.shape[2] ** 0.5 * x, pe)),
    _known("M11-bare", "Only the positions came out, without x.", HINT, lambda x, pe: add(0 * x, pe)),
    _known("M11-same", "Every token got the position of the first one.", "One row of pe for each token.",
           lambda x, pe: x + pe[0]),
    _known("M11-last", "The rows were taken from the end of pe.", "The first token gets row 0.",
           lambda x, pe: x + pe[-x.shape[1] :]),
    _known("M11-next", "The first token got row 1.", "The first token gets row 0.", lambda x, pe: add(x, pe[1:])),
    _known("M11-batch",
           "The rows of pe went to the sentences of the batch: all tokens of a sentence got the same vector.",
           "Which axis of x counts the tokens? The batch comes first.", lambda x, pe: x + pe[: x.shape[0], None]),
    Mistake("M16", "In eval mode some numbers were dropped.", "nn.Dropout knows the mode of its module."),
    Mistake("M16-none", "In train mode nothing is dropped.", "The given lines make a dropout layer, and use it last."),
    Mistake("M16-rate", "In train mode another share is dropped than the one that was asked for.",
            "nn.Dropout(dropout) is a given line."),
    _known("M11-minus", "The positions were subtracted.", "Add them.", lambda x, pe: add(x, -pe)),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """``output`` was made with the student's own table, ``with_table`` with the ready-made one."""
    x, own = case.inputs["x"].astype(np.float64), answers.arrays.get("pe")
    tables = {"output": _right_table(case), "with_table": ready_table(case.config["max_len"], x.shape[2])}
    checks = [compare_value("output", answers.arrays.get(name), add(x, pe), exercise) for name, pe in tables.items()]
    if any(check.passed for check in checks):
        wrong_rate = _wrong_rate(answers)
        return named(exercise, wrong_rate) if wrong_rate else right("output")
    if own is not None and own.shape == tables["output"].shape and np.isfinite(own).all():
        tables["output"] = own.astype(np.float64)  # to tell what was done with it
    for name, pe in tables.items():
        got = answers.arrays.get(name)
        mistake = None if got is None or got.shape != x.shape else _find(exercise, got, x, pe)
        if mistake is not None:
            return mistake.judgement()
        if got is not None and got.shape == x.shape and (got == 0).any():
            return named(exercise, "M16")
    return Judgement([checks[0]])


def _wrong_rate(answers: Answers) -> str:
    """The id of the mistake that the output in train mode shows, of many sentences; empty where there is none."""
    trained = answers.arrays.get("trained")
    if trained is None or trained.dtype.kind != "f":
        return ""
    share = float((trained == 0).mean())
    return "M16-none" if share < 0.01 else "M16-rate" if abs(share - RATE) > 0.1 else ""


def _find(exercise: Exercise, got: Array, x: Array, pe: Array) -> Mistake | None:
    for mistake in exercise.mistakes:
        if mistake.variant and np.allclose(got, mistake.variant(x, pe), atol=1e-4, rtol=1e-3):
            return mistake
    return None


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch", axes={"output": "b, t, k"})
