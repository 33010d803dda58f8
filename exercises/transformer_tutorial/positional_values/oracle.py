"""The table of sinusoidal positions. The table is worth three quarters of the points, that it is a buffer the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, named

from .._positions import table, transformers_table

Array = np.ndarray
#: What a right table is worth where pe is no buffer.
TABLE_SHARE = 0.75


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for max_len, emb_size in ((9, 6), (24, 10)):
        expected = {"pe": transformers_table(max_len, emb_size), "buffer": np.array(True), "learned": np.array(0)}
        cases.append(Case({"emb_size": emb_size, "max_len": max_len}, expected=expected))
    return cases


def _table(**wrong: object) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"pe": table(case.config["max_len"], case.config["emb_size"], **wrong)}  # type: ignore[arg-type]


def _each_column(case: Case) -> Mapping[str, Array]:
    """Every column has a frequency of its own: sine and cosine of a pair no longer share one."""
    max_len, size = case.config["max_len"], case.config["emb_size"]
    angles = np.arange(max_len)[:, None] * 10000.0 ** (-np.arange(size)[None] / size)
    return {"pe": np.where(np.arange(size)[None] % 2 == 0, np.sin(angles), np.cos(angles))}


MISTAKES = [
    Mistake("PE-sign", "The frequencies grow from pair to pair; they must fall.",
            "Divided by a power, or multiplied?"),
    Mistake("PE-halves", "All sines come first, then all cosines.",
            "They alternate: even columns sine, odd columns cosine.", _table(order="halves")),
    Mistake("PE-swap", "Sine and cosine are swapped.", "Position 0 must read 0, 1, 0, 1, …",
            _table(waves=(np.cos, np.sin))),
    Mistake("PE-sine", "There are only sines.", "Odd columns hold cosines.", _table(waves=(np.sin, np.sin))),
    Mistake("PE-cosine", "There are only cosines.", "Even columns hold sines.", _table(waves=(np.cos, np.cos))),
    Mistake("PE-one", "Positions are counted from 1.", "The first token stands at position 0.", _table(first=1)),
    Mistake("PE-step", "The frequencies fall too slowly: they end near 1/100 instead of near 1/10000.",
            "In the exponent stands 2i / emb_size, where i counts the pairs.", _table(step=1.0)),
    Mistake("PE-step4", "The frequencies fall twice as fast as they should.",
            "Is the 2 of the exponent there twice? arange(0, emb_size, 2) already is 2i.", _table(step=4.0)),
    Mistake("PE-base", "The base is 1000; the assignment says 10000.", "Count the zeros.", _table(base=1000.0)),
    Mistake("PE-columns", "Sine and cosine of one pair have different frequencies.",
            "Columns 2i and 2i + 1 share the exponent 2i / emb_size.", _each_column),
    Mistake("PE-learned", "pe is a parameter: training would change it.",
            "A buffer travels with the module, unlearned.", lambda case: {"learned": np.array(1)}, share=TABLE_SHARE),
    Mistake("PE-plain", "pe is a plain attribute: it is left out when the model moves to the GPU or is saved.",
            "nn.Module can register a tensor that is no parameter.", lambda case: {"buffer": np.array(False)},
            share=TABLE_SHARE),
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("pe")
    if got is not None and got.shape == case.expected["pe"].shape and _grows(got, case):
        return named(exercise, "PE-sign")
    only_table = compare_case(exercise, replace(case, expected={"pe": case.expected["pe"]}), answers)
    if only_table.earned < 1:
        return Judgement(only_table.checks, 0.0)  # whatever is wrong besides
    whole = compare_case(exercise, case, answers)
    return Judgement(whole.checks, 1.0 if whole.earned == 1 else TABLE_SHARE)


def _grows(got: Array, case: Case) -> bool:
    """Compared loosely: float32 knows the sine of a large angle to a few hundredths only."""
    wrong = table(case.config["max_len"], case.config["emb_size"], sign=1)
    return bool(np.isclose(got, wrong, atol=0.05).mean() > 0.9)


EXERCISE = Exercise(make, judge, MISTAKES, atol=5e-5, framework="torch", axes={"pe": "seq_length, k"})
