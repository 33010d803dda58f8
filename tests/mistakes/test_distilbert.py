"""Wrong and right answers to the DistilBERT sheet, as real notebooks through the real stations."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache

import pytest

from autograder.model import cells
from autograder.model.verdict import NotebookVerdict
from tests.grading import ROOT, assignment, grade_cells, mistakes_of
from tests.mistakes.distilbert_answer import PICTURE, StudentAnswer
from tests.mistakes.distilbert_right import RIGHT
from tests.mistakes.distilbert_wrong import WRONG


def submissions(answers: Sequence[StudentAnswer]) -> Iterator[object]:
    """One notebook for each answer; but notebook 4, which draws a lot, holds one of each of its three cells."""
    groups = [[answer] for answer in answers if answer.notebook != PICTURE]
    of_cell = {cell: [a for a in answers if a.cell == cell] for cell in ("tokens_answer", "head_average_answer")}
    for figure in (answer for answer in answers if answer.cell == "figure_answer"):
        groups.append([*(rest.pop(0) for rest in of_cell.values() if rest), figure])
    assert not any(of_cell.values()), "more tokens and averages than figures"
    for group in groups:
        slow = [] if any(answer.fast for answer in group) else [pytest.mark.slow]
        yield pytest.param(group, marks=slow, id=" + ".join(f"{a.notebook[0]} {a.name}" for a in group))


def graded(group: Sequence[StudentAnswer]) -> NotebookVerdict:
    return grade_cells("distilbert", group[0].notebook, {answer.cell: answer.source() for answer in group})


@pytest.mark.parametrize("group", submissions(WRONG))
def test_a_wrong_answer_costs_its_own_points_and_no_others_and_is_called_by_its_name(
    group: Sequence[StudentAnswer],
) -> None:
    verdict = graded(group)
    told = [(cell.cell, check.message) for cell in verdict.cells for check in cell.checks if not check.passed]
    lost = {cell.cell for cell in verdict.cells if cell.max_points and not cell.points}
    assert lost == {cell for answer in group for cell in answer.loses}, told
    kept = [cell for cell in verdict.cells if cell.max_points and cell.cell not in lost]
    assert all(cell.points == cell.max_points for cell in kept), told
    assert mistakes_of(verdict) == {answer.mistake for answer in group} - {None}, told


@pytest.mark.parametrize("group", submissions(RIGHT))
def test_a_right_answer_in_another_style_has_full_points(group: Sequence[StudentAnswer]) -> None:
    verdict = graded(group)
    told = [(cell.cell, check.message) for cell in verdict.cells for check in cell.checks if not check.passed]
    assert verdict.points == verdict.max_points, told


def visible_lines(notebook: str) -> dict[str, str]:
    """graded cell -> the visible part of its source: one call of a check"""
    source = assignment("distilbert").source[notebook]
    graded_cells = [cell for cell in source.cells if cells.is_autograded(cell) and cells.max_points(cell)]
    return {cells.nbgrader(cell)["grade_id"]: cells.split_hidden(cell.source).visible for cell in graded_cells}


@lru_cache
def said_by_checks() -> list[dict[str, str]]:
    """For WRONG and then RIGHT: check -> what it said, "" where it passed. One process for all of them."""
    asked = []
    for answer in (*WRONG, *RIGHT):
        of_cell = {"tokens_answer": "tokens", "head_average_answer": "head_average", "figure_answer": "figure"}
        lines = visible_lines(answer.notebook)
        wanted = [of_cell[answer.cell]] if answer.cell in of_cell else list(lines)
        asked.append([answer.source(), [lines[cell] for cell in wanted]])
    command = [sys.executable, "-m", "tests.mistakes.distilbert_visible"]
    done = subprocess.run(command, input=json.dumps(asked), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said: list[dict[str, str]] = json.loads(done.stdout)
    return said


@pytest.mark.slow
def test_the_visible_checks_reject_every_wrong_answer_that_they_can_see() -> None:
    passed = {}
    for answer, said in zip(WRONG, said_by_checks(), strict=False):
        lines = visible_lines(answer.notebook)
        accepted = [cell for cell in answer.loses if not said[lines[cell]]]
        if bool(accepted) != answer.unseen:
            passed[f"{answer.notebook}, {answer.name}"] = accepted
    assert passed == {}


@pytest.mark.slow
def test_the_visible_checks_accept_every_right_answer() -> None:
    for answer, said in zip(RIGHT, said_by_checks()[len(WRONG) :], strict=True):
        assert not any(said.values()), f"{answer.notebook}, {answer.name}: {said}"


@pytest.mark.slow
def test_the_visible_checks_speak_for_themselves_and_never_crash() -> None:
    for answer, said in zip(WRONG, said_by_checks(), strict=False):
        assert all(not words or words.startswith("CheckFailed") for words in said.values()), f"{answer.name}: {said}"


def test_there_are_enough_answers_and_most_mistakes_have_a_name() -> None:
    assert len(WRONG) >= 45
    assert sum(answer.mistake is not None for answer in WRONG) >= 35
    assert len(RIGHT) >= 22
    assert {answer.notebook for answer in WRONG} == {answer.notebook for answer in RIGHT}
