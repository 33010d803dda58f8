"""The attention block with its questions: what students hand in, and what becomes of it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import nbformat

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.authoring.trial import texts_of
from autograder.exercise.asking import find
from autograder.exercise.questions import Facts, digest_of, questions, right_choice
from autograder.model import cells
from autograder.model.questions import asking
from autograder.model.verdict import CellVerdict
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission
from autograder.references import loader
from tests.grading import REFERENCES, alone_with, assignment, cell_of, exercises_alone, filled, kernels, solution

A, N, CODE = "distilbert", "2_attention_block", "attention_block_answer"


@cache
def facts(code: str) -> Facts:
    found = import_module(f"course.check.{A}").questions.facts_of(sources(code), {"attention_block": "AttentionBlock"})
    read = Facts.from_json(found.to_json())
    assert read is not None
    return read


def sources(code: str) -> list[tuple[str, bool]]:
    notebook = assignment(A).source[N]
    index = next(i for i, cell in enumerate(notebook.cells) if asking(cell))
    found = []
    for cell in notebook.cells[:index]:
        if cell.cell_type == "code":
            text = code if cells.grade_id(cell) == CODE else cells.split_hidden(cell.source).visible
            found.append((text, not cells.is_solution(cell)))
    return found


def answers_to(code: str, student: str = "student", **others: str) -> str:
    """The cell with the right answers to a student's questions on this code."""
    found, known = find(sources(code), "AttentionBlock"), facts(code)
    assert found is not None
    right = {one.kind: right_choice(one, found, known) for one in questions(found, known, student)}
    return f"own_code = { ({'student': student, 'asked': digest_of(found, student)} | right | others)!r}"


def with_points(points: float) -> Assignment:
    """The notebook, its exercise alone, with points for the questions."""
    source, release = exercises_alone(A, N)
    for one in (source, release):
        next(cell for cell in one.cells if cells.grade_id(cell) == "own_code").metadata.nbgrader["points"] = points
    return alone_with(assignment(A), N, source, release)


def graded(
    answers: Mapping[str, str], points: float = 2, extra: str = "", student: str = "student", **of: Any
) -> CellVerdict:
    opened = replace(with_points(points), **of)
    data = filled(A, N, answers, opened.release[N])
    if extra:
        notebook = nbformat.reads(data.decode(), 4)
        place = next(i for i, cell in enumerate(notebook.cells) if cells.grade_id(cell) == CODE)
        notebook.cells.insert(place, nbformat.v4.new_code_cell(extra))
        data = nbformat.writes(notebook).encode()
    verdict = grade_submission(Submission(student, {N: data}, {}, ()), opened, kernels(), Limits())
    return cell_of(verdict.verdict.notebooks[0], "own_code")


def ordinary() -> str:
    return solution(A, N, CODE)


def masked() -> str:
    """With positions that are hidden."""
    return ordinary().replace("scores.softmax", "scores.masked_fill(scores.isfinite().triu(1), -1e9).softmax")


def other() -> str:
    right, _ = loader.sample_answers(REFERENCES.folder, f"{A}/attention_weights")
    by_hand = next(one for one in right if one.name == "softmax by hand, the largest score subtracted")
    return texts_of(by_hand, {CODE: ordinary()})[CODE]
