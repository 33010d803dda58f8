"""Sinusoidal positions, and the rules of their exercises: no visible check judges by them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    compare_case,
    compare_value,
    find_mistake,
    in_float32,
    named,
    right,
    without_side_effects,
)

from .._attention import Array
from ._rules import RATE, showing


@cache
def transformers_table(max_len: int, emb_size: int) -> Array:
    """The sinusoids that ``transformers`` makes for DistilBERT: (max_len, emb_size)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    table = torch.zeros(max_len, emb_size)
    create_sinusoidal_embeddings(max_len, emb_size, table)
    return table.numpy()


#: What a right table of positions is worth where it is no buffer.
TABLE_SHARE = 0.75


def _values(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The table, then whether it is a buffer."""
    got, table = answers.arrays.get("pe"), case.expected["pe"]
    if got is not None and got.shape == table.shape and _grows(exercise, case, got):
        return named(exercise, "PE-sign")
    only_table = compare_case(exercise, replace(showing(case, "pe"), expected={"pe": table}), answers)
    if only_table.earned < 1:
        return Judgement(only_table.checks, 0.0)  # whatever is wrong besides
    whole = compare_case(exercise, case, answers)
    return Judgement(whole.checks, 1.0 if whole.earned == 1 else TABLE_SHARE)


def _grows(exercise: Exercise, case: Case, got: Array) -> bool:
    """Compared loosely: float32 knows the sine of a large angle to a few hundredths only."""
    growing = exercise.made_by(exercise.mistake("PE-sign"), case).get("pe")
    return growing is not None and bool(np.isclose(got, growing, atol=0.05).mean() > 0.9)


def _positions_added(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """``output`` was made with the student's own table, ``with_table`` with a ready-made one."""
    names = ("output", "with_table")
    checks = [compare_value("output", answers.arrays.get(name), case.expected[name], exercise) for name in names]
    if any(check.passed for check in checks):
        wrong_rate = _wrong_rate(answers)
        return named(exercise, wrong_rate) if wrong_rate else right("output")
    given = [name for name in names if answers.arrays.get(name, np.zeros(0)).shape == case.expected[name].shape]
    for name in given:
        if mistake := find_mistake(exercise, showing(case, name), answers):
            return mistake.judgement()
    # a row of the student's own table may be 0, none of the ready-made one
    dropped = bool(given) and (answers.arrays[given[-1]] == 0).any()
    return named(exercise, "M16") if dropped else Judgement([checks[0]])


def _wrong_rate(answers: Answers) -> str:
    """The id of the mistake that the output in train mode shows, of many sentences; empty where there is none."""
    trained = answers.arrays.get("trained")
    if trained is None or trained.dtype.kind != "f":
        return ""
    share = float((trained == 0).mean())
    return "M16-none" if share < 0.01 else "M16-rate" if abs(share - RATE) > 0.1 else ""


positional_values = in_float32(_values)
positional_forward = without_side_effects(in_float32(_positions_added, "with_table"))
