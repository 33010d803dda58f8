"""Every place that shows points shows the same ones, whatever graders, people and deadlines did before."""

import csv
import io
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode, v4, write
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.ci.outcome import Disclosure, outcome_of, results_json
from autograder.classroom.rows import row_of, with_result
from autograder.exports import FORMATS
from autograder.exports.formats import make
from autograder.feedback import render_notebook
from autograder.gradebook.gather import gather_from
from autograder.gradebook.graded_answers import NotebookRecord, settle
from autograder.gradebook.late.penalties import write_penalties
from autograder.gradebook.late.times import record_times
from autograder.gradebook.read import Grade
from autograder.gradebook.results import ResultsTable, StudentResult, result_of
from autograder.gradebook.write import save
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Graded, NotebookVerdict, SubmissionVerdict
from autograder.nbgrader.exporters import _line
from autograder.release.generate import generate
from autograder.report.page import render
from autograder.report.statistics import Results, exercise_statistics
from tests.feedback.toy import marks

#: (notebook, cell) -> points, and whether the grader gives them. ``task`` is one of nbgrader's tasks.
CELLS = {
    ("1_first", "judged"): (3.0, True),
    ("1_first", "text"): (2.0, False),
    ("1_first", "code"): (1.0, False),
    ("2_second", "also_judged"): (4.0, True),
    ("2_second", "task"): (5.0, False),
}


NOTEBOOKS = ("1_first", "2_second")
STUDENTS = ("ada", "bob", "eve")
DEADLINE = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class Expected:
    """What the rules say about one cell, kept without the gradebook's own flags."""

    status: str = ""
    auto: float | None = None
    by_hand: float | None = None
    extra: float | None = None
    answer: int = 0
    about: int | None = None  # the answer that the points by hand are for
    after_failure: bool = False  # a person decided after the grader had failed

    def graded(self, cell: CellVerdict, changed: set[str]) -> None:
        self.status, self.auto, self.after_failure = cell.status, cell.points, False
        self.answer += cell.cell in changed

    def decided(self, points: float | None, extra: float | None) -> None:
        self.by_hand, self.extra, self.about, self.after_failure = points, extra, self.answer, True

    @property
    def points(self) -> float | None:
        extra = self.extra or 0.0
        if (
            self.by_hand is not None
            and self.about == self.answer
            and (self.status != "infrastructure" or self.after_failure)
        ):
            return self.by_hand + extra
        if self.status == "infrastructure" or self.by_hand is not None or self.auto is None:
            return None
        return self.auto + extra


@dataclass
class World:
    """A course in which only grades change, its open gradebook, and what is to be expected of it."""

    course: Course
    gradebook: Gradebook
    assignment: Assignment
    picture: Path
    cells: dict[str, dict[tuple[str, str], Expected]] = field(default_factory=dict)

    def reset(self) -> None:
        self.cells = {}
        for name in ("autograded", "submitted", ".autograder"):
            shutil.rmtree(self.course.root / name, ignore_errors=True)
        (self.course.root / "late_policy.toml").unlink(missing_ok=True)
        for student in STUDENTS:
            for notebook in self.gradebook.find_submission("work", student).notebooks:
                notebook.late_submission_penalty = None
                for grade in notebook.grades:
                    grade.auto_score = grade.manual_score = grade.extra_credit = None
                    grade.needs_manual_grade = True
        self.gradebook.db.commit()

    def grade(self, student: str, said: SubmissionVerdict, changed: set[str]) -> None:
        cells = self.cells.setdefault(student, {key: Expected() for key in CELLS})
        for notebook in said.notebooks:
            for cell in notebook.cells:
                cells[notebook.notebook, cell.cell].graded(cell, changed)
        answers = {
            name: {cell: str(one.answer) for (book, cell), one in cells.items() if book == name} for name in NOTEBOOKS
        }
        save(self.gradebook, Graded(said, {}, (), answers=answers), root=self.course.root)
        folder = self.course.autograded(student, "work")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "verdicts.json").write_text(verdicts.to_json(said), encoding="utf-8")

    def decide(self, student: str, key: tuple[str, str], points: float | None, extra: float | None) -> None:
        """What the formgrader does when a person types into its two boxes."""
        if student not in self.cells:
            return
        self.cells[student][key].decided(points, extra)
        grade = self.gradebook.find_grade(key[1], key[0], "work", student)
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = points is None and grade.auto_score is None
        self.gradebook.db.commit()


def notebook(name: str) -> NotebookNode:
    made = []
    for (book, cell), (points, judged) in CELLS.items():
        if book == name:
            mark = marks(cell, grade=cell != "task", solution=not judged and cell != "task", points=points)
            mark["nbgrader"]["task"] = cell == "task"  # type: ignore[index]
            kind = v4.new_code_cell if judged or cell == "code" else v4.new_markdown_cell
            made.append(kind("pass", metadata=mark))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return v4.new_notebook(cells=made, metadata=kernel)


@contextmanager
def open_world(root: Path) -> Iterator[World]:
    (root / "source" / "work").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    for name in NOTEBOOKS:
        write(notebook(name), root / "source" / "work" / f"{name}.ipynb")
    course = Course(root)
    generate(course, "work")
    picture = root / "picture.png"
    picture.write_bytes(b"")
    with Gradebook(course.db_url) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader builds its rows outside of the session
        for student in STUDENTS:
            gradebook.add_student(student)
            gradebook.add_submission("work", student)
        yield World(course, gradebook, Assignment.open(course, "work"), picture)


# what each place that shows points must say of a student: as in the one table of results


def agrees_with_the_rules(world: World, row: StudentResult) -> None:
    expected = world.cells.get(row.student.id)
    if expected is None:
        assert row.score is None and row.points_so_far == 0
        return
    points = {key: one.points for key, one in expected.items()}
    assert {key: result.points for key, result in row.exercises.items()} == points
    waits = any(value is None for value in points.values())
    assert row.points == (None if waits else sum(value or 0.0 for value in points.values()))
    if waits:
        failed = any(one.points is None and one.status == "infrastructure" for one in expected.values())
        refused = row.lateness is not None and row.lateness.refused
        assert row.state == ("infrastructure" if failed else "refused" if refused else "waiting")
    assert (row.score is None) == (row.state != "graded")


def agrees_with_the_gradebook(world: World, row: StudentResult) -> None:
    submission = world.gradebook.find_submission("work", row.student.id)
    grades = {(book.name, grade.name): grade for book in submission.notebooks for grade in book.grades}
    for key, result in row.exercises.items():
        if row.verdict is not None:
            assert (result.points is None) == grades[key].needs_manual_grade
        if result.points is not None:
            assert grades[key].score == pytest.approx(result.points)
    if row.points is not None:
        assert submission.score == pytest.approx(row.points)
        penalty = sum(book.late_submission_penalty or 0.0 for book in submission.notebooks)
        taken_off = min(penalty, row.points)  # nbgrader's own penalty may be more than there is; no score is below 0
        assert taken_off == pytest.approx(row.points if row.state == "refused" else row.deduction)
        assert submission.max_score == row.max_points
    line = _line(world.gradebook.find_assignment("work"), row, submission.max_score)
    assert line[-4:-1] == [row.points, row.deduction, row.score]


def agrees_on_the_screen(row: StudentResult) -> None:
    assert row.verdict is not None
    shown = with_result(row_of(row.verdict), row)
    assert shown.total == row.points_so_far
    assert {name: points for name, points in shown.points.items() if points is None} == dict.fromkeys(
        {name for name, _ in row.waiting}
    )
    assert set(shown.waiting) == {key[1] for key in row.waiting if row.exercises[key].status == "manual"}


def agrees_in_feedback(row: StudentResult) -> None:
    assert row.verdict is not None
    for book in row.verdict.notebooks:
        page = render_notebook(None, book, row)
        here = row.notebook(book.notebook)
        total = re.search(r'class="total"><strong>([\d.]+|–)</strong>', page)[1]  # type: ignore[index]
        if any(result.points is not None for result in here.exercises.values()):
            assert float(total) == pytest.approx(here.points_so_far, abs=0.006)
        else:
            assert total == "–"  # nothing has points yet: that is no 0
        numbers = re.findall(r'<td class="number">([\d.]+|–)&thinsp;/', page)
        shown = [None if text == "–" else float(text) for text in numbers]
        assert shown == [result.points for result in here.exercises.values()]
        whole = "\n".join(re.findall(r'class="whole">(.*)</p>', page))
        if row.deduction and row.state == "graded":
            assert float(re.search(r"([\d.]+) count\.", whole)[1]) == pytest.approx(row.score, abs=0.006)  # type: ignore[index]
        elif row.state == "graded":
            assert float(re.search(r"All notebooks: ([\d.]+) of", whole)[1]) == row.score  # type: ignore[index]
        elif row.state == "refused":
            assert "no score" in whole and "count" not in whole
        else:
            assert f"{row.points_so_far:g} of {row.max_points:g} points so far" in whole


def agrees_in_ci(world: World, row: StudentResult) -> None:
    """CI has no gradebook: it says what the grader said."""
    assert row.verdict is not None
    outcome = outcome_of(Graded(row.verdict, {}, ()), world.assignment)
    points = {(book.name, one.cell): one.points for book in outcome.notebooks for one in book.exercises}
    for key, result in row.exercises.items():
        if result.decided_by == "grader" and not result.extra_credit:
            assert points[key] == result.points
    score = json.loads(results_json(outcome, Disclosure.NOW)).get("score")
    assert score == (None if outcome.failure else sum(value or 0.0 for value in points.values()))


def agrees_in_exports(world: World, table: ResultsTable) -> None:
    read = {to: make(table, to).data.decode("utf-8-sig") for to in FORMATS}
    rows = {row.student.id: row for row in table.rows}
    lines = {line["student"]: line for line in csv.DictReader(io.StringIO(read["csv"], newline=""))}
    whole = {one["student"]: one for one in json.loads(read["json"])["students"]}
    canvas = {line[3]: line[5] for line in csv.reader(io.StringIO(read["canvas"], newline=""))}
    moodle = {line[2]: line[4] for line in csv.reader(io.StringIO(read["moodle"], newline=""))}
    for student, row in rows.items():
        for name in ("points", "deduction", "score"):
            assert number(lines[student][name]) == near(getattr(row, name))
            assert whole[student][name] == getattr(row, name)
        assert [one["points"] for one in whole[student]["exercises"]] == [one.points for one in row.exercises.values()]
        if row.exercises:
            assert number(canvas[student]) == near(row.score, 0.006)
            assert number(moodle[student]) == near(row.score, 0.006)
        else:
            assert student not in canvas and student not in moodle


def agrees_in_the_report(world: World, table: ResultsTable) -> None:
    results = Results(table)
    if not results.rows:
        return
    names = ("distribution", "exercises", "class")
    page = render(results, exercise_statistics(results.verdicts), [], dict.fromkeys(names, world.picture), {}, {})
    body = page[page.index("All totals as a table") :]
    for row in results.rows:
        (line,) = re.findall(rf"<tr><td>{row.student.id}</td>.*?</tr>", body, re.DOTALL)
        points, *_, score = re.findall(r'<td class="number">(.*?)</td>', line)
        assert number(score) == near(row.score, 0.006)
        if row.points is not None:
            assert float(points) == near(row.points, 0.006)
        elif len(row.waiting) < len(row.exercises):
            assert points == f"{row.points_so_far:g} so far"
        else:
            assert points == "–"


def number(text: str) -> float | None:
    return None if text in ("", "–") else float(text)


def near(value: float | None, within: float = 1e-6) -> Any:
    return None if value is None else pytest.approx(value, abs=within)


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
