"""Every place that shows points shows the same ones, whatever graders, people and deadlines did before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.gradebook.gather import gather_from
from autograder.gradebook.graded_answers import NotebookRecord, settle
from autograder.gradebook.late.penalties import write_penalties
from autograder.gradebook.late.times import record_times
from autograder.gradebook.read import Grade
from autograder.gradebook.results import result_of
from autograder.model.verdict import CellVerdict, NotebookVerdict, SubmissionVerdict
from tests.silent.agreement import (
    agrees_in_ci,
    agrees_in_exports,
    agrees_in_feedback,
    agrees_in_the_report,
    agrees_on_the_screen,
    agrees_with_the_gradebook,
    agrees_with_the_rules,
)
from tests.silent.world import CELLS, DEADLINE, NOTEBOOKS, STUDENTS, Expected, World, open_world


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("agree")) as opened:
        yield opened


quarters = st.integers(0, 20).map(lambda number: number / 4)


@st.composite
def verdict(draw: Callable[..., Any], student: str) -> SubmissionVerdict:
    books = []
    for name in NOTEBOOKS:
        fate = draw(st.sampled_from(["run", "run", "run", "missing", "infrastructure"]))
        cells = []
        for (book, cell), (most, judged) in CELLS.items():
            if book != name:
                continue
            if fate != "run":
                cells.append(CellVerdict(cell, fate, None if fate == "infrastructure" else 0.0, most))
            elif judged:
                points = min(most, draw(quarters))
                status = "passed" if points == most else "partial" if points else "failed"
                cells.append(CellVerdict(cell, status, points, most))
            elif cell == "task" or draw(st.booleans()):
                cells.append(CellVerdict(cell, "manual", None, most))
            else:
                cells.append(CellVerdict(cell, "missing", 0.0, most))
        books.append(NotebookVerdict(student, "work", name, tuple(cells), seconds=1.0 if fate == "run" else 0.0))
    return SubmissionVerdict(student, "work", tuple(books))


def events(student: str) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    names = st.sets(st.sampled_from([cell for _, cell in CELLS]), max_size=3)
    graded = st.tuples(st.just("grade"), verdict(student), names)
    points = st.one_of(st.none(), quarters)
    extra = st.sampled_from([None, None, 0.5, 1.0])
    by_hand = st.tuples(st.just("decide"), st.sampled_from(list(CELLS)), points, extra)
    return st.lists(st.one_of(graded, by_hand, by_hand), max_size=6)


POLICIES = st.sampled_from(["", "per_day = 1", 'per_day = "20%"', 'hard_deadline = 2026-12-02T12:00:00Z\nper_day = 2',
                            'hard_deadline = 2026-12-02T12:00:00Z\nafter_hard_deadline = "refused"'])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40, deadline=None, database=None)
@given(st.data())
def test_table_feedback_report_exports_ci_and_gradebook_agree(world: World, data: st.DataObject) -> None:
    world.reset()
    for student in STUDENTS:
        for event in data.draw(events(student), label=student):
            getattr(world, event[0])(student, *event[1:])
    policy = data.draw(POLICIES, label="policy")
    if policy:
        text = f"[assignments.work]\ndeadline = {DEADLINE.isoformat()}\n{policy}\n"
        (world.course.root / "late_policy.toml").write_text(text)
    late = {student: data.draw(st.integers(-1, 4), label=f"days late: {student}") for student in STUDENTS}
    record_times(world.course.root, "work", {name: DEADLINE + timedelta(days=days) for name, days in late.items()})
    table = gather_from(world.course, "work", world.gradebook)
    if not policy and (student := data.draw(st.sampled_from((None, *STUDENTS)), label="nbgrader's own penalty")):
        world.gradebook.find_submission("work", student).notebooks[0].late_submission_penalty = 0.5
        world.gradebook.db.commit()
        table = gather_from(world.course, "work", world.gradebook)
    write_penalties(world.course, world.gradebook, table)

    for row in table.rows:
        agrees_with_the_rules(world, row)
        agrees_with_the_gradebook(world, row)
        if row.verdict is not None:
            agrees_on_the_screen(row)
            agrees_in_feedback(row)
            agrees_in_ci(world, row)
    if any(row.exercises for row in table.rows):
        agrees_in_exports(world, table)
        agrees_in_the_report(world, table)


@settings(max_examples=300, deadline=None, database=None)
@given(st.data())
def test_the_rules_hold_after_any_history(data: st.DataObject) -> None:
    """Without a database: verdicts and people's decisions in any order."""
    expected = {key: Expected() for key in CELLS}
    stored = {
        name: SimpleNamespace(
            grades=[
                SimpleNamespace(
                    id=cell, name=cell, auto_score=None, manual_score=None, extra_credit=None, needs_manual_grade=True
                )
                for book, cell in CELLS
                if book == name
            ],
            comments=[],
        )
        for name in NOTEBOOKS
    }
    rows = {(name, grade.name): grade for name, book in stored.items() for grade in book.grades}
    record: dict[str, NotebookRecord] = {}
    said: SubmissionVerdict | None = None
    for event in data.draw(events("ada")):
        if event[0] == "grade":
            said = event[1]
            for book in said.notebooks:
                for cell in book.cells:
                    expected[book.notebook, cell.cell].graded(cell, event[2])
                    rows[book.notebook, cell.cell].auto_score = cell.points
                answers = {cell: str(expected[name, cell].answer) for name, cell in CELLS if name == book.notebook}
                settled = settle(stored[book.notebook], book, answers, record.get(book.notebook))  # type: ignore[arg-type]
                record[book.notebook] = settled[0]
        elif said is not None:
            _, key, points, extra = event
            expected[key].decided(points, extra)
            grade = rows[key]
            grade.manual_score, grade.extra_credit = points, extra
            grade.needs_manual_grade = points is None and grade.auto_score is None
    for book in said.notebooks if said else ():
        for cell in book.cells:
            key, grade = (book.notebook, cell.cell), rows[book.notebook, cell.cell]
            row = Grade(
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit or 0.0,
                cell.max_points,
                grade.needs_manual_grade,
            )
            assert result_of(cell, row).points == expected[key].points, key
