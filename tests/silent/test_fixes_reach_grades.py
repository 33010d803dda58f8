"""What a grade depends on is graded again when it changes, and the table says why. Nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.classroom import run as classroom
from autograder.classroom import workers
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.pipeline.cell_times import record_pace
from autograder.pipeline.execute import Limits
from autograder.pipeline.fingerprint import content_parts, digest
from autograder.references.store import References
from tests.regrade.changing_course import store_other_answers
from tests.silent.without_kernels import NOTEBOOK, STUDENTS, copied_course, full_marks, grade, graded_course, why  # noqa: F401
from tools.bench.courses import ASSIGNMENT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fixes")]


def edit(course: Course, change: Callable[[nbformat.NotebookNode], None]) -> None:
    """Change the notebook in source and release alike."""
    for folder in (course.source(ASSIGNMENT), course.release(ASSIGNMENT)):
        path = folder / f"{NOTEBOOK}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        change(notebook)
        nbformat.write(notebook, path)


def cell(notebook: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    return next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def test_nothing_is_graded_again_where_nothing_has_changed(course):
    assert why(course) == {"graded before"}


def test_text_that_no_grade_depends_on_is_no_reason(course):
    def correct_a_word(notebook):
        text = next(one for one in notebook.cells if one.cell_type == "markdown" and "nbgrader" not in one.metadata)
        text.source += " (corrected)"

    edit(course, correct_a_word)
    (course.source(ASSIGNMENT) / "README.md").write_text("Welcome.\n")
    assert why(course) == {"graded before"}


def test_a_changed_rule_is_named(course, monkeypatch):
    slug = f"{ASSIGNMENT}/embeddings"
    exercises = References.of_course(course.root).exercises(ASSIGNMENT)
    monkeypatch.setitem(exercises, slug, replace(exercises[slug], atol=1e-2))
    assert why(course) == {"rule of embeddings changed"}
    assert why(course) == {"graded before"}
    monkeypatch.setitem(exercises, slug, replace(exercises[slug], mistakes=()))
    assert why(course) == {"rule of embeddings changed"}
    monkeypatch.undo()


def test_a_rule_that_was_changed_back_takes_the_points_back(course, monkeypatch):
    slug = f"{ASSIGNMENT}/embeddings"
    exercises = References.of_course(course.root).exercises(ASSIGNMENT)
    before = exercises[slug]
    monkeypatch.setitem(exercises, slug, replace(before, atol=1e-2))
    grade(course, force=True)
    monkeypatch.setitem(exercises, slug, before)
    assert why(course) == {"rule of embeddings changed"}


def test_changed_points_are_named(course):
    def more(notebook):
        cell(notebook, "embeddings").metadata.nbgrader.points += 1

    edit(course, more)
    assert why(course) == {"points of embeddings changed"}


def test_changed_code_of_a_notebook_is_named(course):
    def add_a_line(notebook):
        next(
            one for one in notebook.cells if one.cell_type == "code" and "nbgrader" not in one.metadata
        ).source += "\n0"

    edit(course, add_a_line)
    assert why(course) == {f"notebook {NOTEBOOK} changed"}


def test_a_changed_hidden_test_is_named(course):
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    tested = cell(notebook, "embeddings")
    tested.source = tested.source.replace("### END HIDDEN TESTS", "0\n### END HIDDEN TESTS")
    nbformat.write(notebook, path)
    assert why(course) == {"cell embeddings changed"}


def test_a_better_solution_of_the_instructor_is_no_reason(course):
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    solution = next(one for one in notebook.cells if "### BEGIN SOLUTION" in one.source and one.cell_type == "code")
    solution.source = solution.source.replace("### BEGIN SOLUTION", "### BEGIN SOLUTION\n    # shorter", 1)
    nbformat.write(notebook, path)
    assert why(course) == {"graded before"}


def test_a_changed_data_file_is_named(course):
    for folder in (course.source(ASSIGNMENT), course.release(ASSIGNMENT)):
        (folder / "words.csv").write_text("cat,mouse\n")
    assert why(course) == {"file words.csv changed"}


def test_a_changed_reference_is_named(course):
    store_other_answers(course.root / "exercises" / ASSIGNMENT, "embeddings", 1.0)
    assert why(course) == {"expected answers of embeddings changed"}


def test_another_grader_is_named(course, monkeypatch):
    monkeypatch.setattr(
        classroom, "machine_parts", lambda file: {"grader": "other", "course library": "", "environment": ""}
    )
    assert why(course) == {"the grader changed, the course library changed, Python or a library changed"}


def test_a_new_submission_is_named_and_the_others_stay(course):
    path = course.submitted(STUDENTS[0], ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    path.write_text(path.read_text().replace("import", "import  ", 1))
    assert [row.again for row in grade(course)] == ["a new submission", "", ""]


def test_another_time_limit_matters_to_what_it_would_have_cut_off_alone(course):
    assert why(course, limits=Limits(cell_seconds=30.0)) == {"graded before"}
    assert why(course, limits=Limits(cell_seconds=1.0)) == {"time limit changed"}


def test_the_table_says_why_and_how_many(course, monkeypatch, capsys):
    exercises = References.of_course(course.root).exercises(ASSIGNMENT)
    slug = f"{ASSIGNMENT}/embeddings"
    monkeypatch.setitem(exercises, slug, replace(exercises[slug], atol=1e-2))
    assert cli.main(["--course", str(course.root), "grade", ASSIGNMENT, "--no-isolation"]) == 0
    assert "Graded again (rule of embeddings changed): 3 students" in capsys.readouterr().out


def test_a_new_gradebook_gets_the_grades_that_stand(course):
    with Gradebook(course.db_url) as gradebook:
        for student in STUDENTS:
            gradebook.remove_submission(ASSIGNMENT, student)
    rows = grade(course)
    assert all(row.skipped and row.rewritten for row in rows)
    with Gradebook(course.db_url) as gradebook:
        scores = {student: gradebook.find_submission(ASSIGNMENT, student).score for student in STUDENTS}
    assert scores == {row.student: row.total for row in rows}
    assert not any(row.rewritten for row in grade(course))


def test_what_took_long_is_handed_out_first(course, monkeypatch):
    path = course.root / ".autograder" / f"{ASSIGNMENT}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    seconds = {STUDENTS[0]: 1.0, STUDENTS[1]: 9.0, STUDENTS[2]: 4.0}
    for line in lines:
        if "student" in line:
            line |= {"seconds": seconds[line["student"]], "cut": line["student"] == STUDENTS[2]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seen: list[str] = []
    monkeypatch.setattr(
        classroom,
        "_results",
        lambda course, todo, order, server: (seen.extend(job.student for job in todo), map(full_marks, todo))[1],
    )
    grade(course, force=True)
    assert seen == [STUDENTS[2], STUDENTS[1], STUDENTS[0]]


def test_cells_have_the_limits_of_the_solution_s_time_unless_one_is_given(course, monkeypatch):
    record_pace(course.root, ASSIGNMENT, {NOTEBOOK: {"embeddings": 0.1}})
    given: list[Limits] = []

    def results(course, todo, order, server):
        given.extend(job.limits for job in todo)
        return map(full_marks, todo)

    monkeypatch.setattr(classroom, "_results", results)
    grade(course, force=True, students=(STUDENTS[0],))
    grade(course, force=True, students=(STUDENTS[0],), limits=Limits(cell_seconds=5.0))
    assert [limits.cells for limits in given] == [{NOTEBOOK: {"embeddings": 10.0}}, {}]


def test_a_worker_takes_the_notebooks_of_the_release_it_is_asked_for(course):
    before = Assignment.open(course, ASSIGNMENT)
    old = digest(content_parts(before))
    assert workers._assignment(course, ASSIGNMENT, old).release == before.release

    def add_a_line(notebook):
        next(
            one for one in notebook.cells if one.cell_type == "code" and "nbgrader" not in one.metadata
        ).source += "\n0"

    edit(course, add_a_line)
    after = Assignment.open(course, ASSIGNMENT)
    assert workers._assignment(course, ASSIGNMENT, digest(content_parts(after))).release == after.release
    with pytest.raises(GradingError, match="is not the same on"):
        workers._assignment(course, ASSIGNMENT, "0" * 16)
