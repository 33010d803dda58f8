"""What each place that shows points must say of a student: as in the one table of results."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest

from autograder.ci.outcome import Disclosure, outcome_of
from autograder.ci.results import results_json
from autograder.classroom.rows import row_of, with_result
from autograder.exports import FORMATS
from autograder.exports.formats import make
from autograder.feedback import render_notebook
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.model.graded import Graded
from autograder.nbgrader.exporters import _line
from autograder.report.page import render
from autograder.report.statistics import Results, exercise_statistics
from tests.silent.world import World


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
    gradescope = {line["SID"]: line for line in csv.DictReader(io.StringIO(read["gradescope"], newline=""))}
    for student, row in rows.items():
        for name in ("points", "deduction", "score"):
            assert number(lines[student][name]) == near(getattr(row, name))
            assert whole[student][name] == getattr(row, name)
        assert [one["points"] for one in whole[student]["exercises"]] == [one.points for one in row.exercises.values()]
        assert number(gradescope[student]["Total Score"]) == near(row.score)
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
