"""A class is graded again where what a grade depends on has changed, and nowhere else; a run that fails leaves no old
grade, and the next one goes on.
"""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import OperationalError

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.classroom import run as classroom
from autograder.classroom import workers
from autograder.classroom.journal import only_run
from autograder.classroom.workers import Job, JobResult
from autograder.errors import GradingError
from autograder.gradebook import write as gradebook_module
from autograder.gradebook.gather import gather
from autograder.model import cells
from autograder.model.course import Course
from autograder.pipeline.execute import Limits
from autograder.pipeline.fingerprint import content_parts, digest
from autograder.pipeline.outcomes import record_pace
from autograder.references import loader
from autograder.references.store import References
from tests.classroom.conftest import STUDENTS, full_marks, grade, results_of, why
from tests.regrade.changing_course import CHANGES, SECOND, SHEET, Change

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fixes")]

SLUG = f"{SHEET}/moving_average"


def change_rule(course: Course, monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    exercises = References.of_course(course.root).exercises(SHEET)
    monkeypatch.setitem(exercises, SLUG, replace(exercises[SLUG], **changes))


def other_grader(course, monkeypatch):
    parts = {"grader": "other", "course library": "", "environment": ""}
    monkeypatch.setattr(classroom, "machine_parts", lambda file: parts)


def edit(grade_id: str | None, change: Callable[[nbformat.NotebookNode], object], *stages: str) -> Change:
    """Changes the cells of this id (None: those without one) in the notebooks of these stages."""

    def do(root: Path) -> None:
        for path in (path for stage in stages for path in (root / stage / SHEET).glob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            for cell in notebook.cells:
                if cells.grade_id(cell) == grade_id:
                    change(cell)
            nbformat.write(notebook, path)

    return do


def replaced(old: str, new: str) -> Callable[[nbformat.NotebookNode], object]:
    return lambda cell: cell.update(source=cell.source.replace(old, new, 1))


def corrected(cell: nbformat.NotebookNode) -> None:
    if cell.cell_type == "markdown":
        cell.source += " (corrected)"


BOTH = ("source", "release")
OTHER_CODE = edit("imports", lambda cell: cell.update(source=f"{cell.source}\nimport math"), *BOTH)
#: A change of the course, and why the table says that everybody is graded again.
AGAIN: dict[str, tuple[Change, str]] = {
    "nothing": (lambda root: None, "graded before"),
    "a text": (edit(None, corrected, *BOTH), "graded before"),
    "a page beside": (lambda root: (root / "source" / SHEET / "README.md").write_text("Hi."), "graded before"),
    "a better solution": (edit("twice_answer", replaced("return", "# shorter\n    return"), "source"), "graded before"),
    "a tolerance": (CHANGES["a tolerance"], "rule of moving_average changed"),
    "a mistake's words": (CHANGES["a mistake's words"], "rule of moving_average changed"),
    "points": (
        edit("moving_average", lambda cell: cell.metadata.nbgrader.update(points=9), *BOTH),
        "points of moving_average changed",
    ),
    "code": (OTHER_CODE, "notebook 1_smoothing changed"),
    "a hidden test": (edit("twice", replaced("twice(3) == 6", "twice(4) == 8"), "source"), "cell twice changed"),
    "a data file": (CHANGES["a file beside"], "file words.csv changed"),
    "a reference": (CHANGES["expected answers"], "expected answers of moving_average changed"),
}


@pytest.mark.parametrize("change", AGAIN)
def test_what_a_grade_depends_on_is_graded_again_and_named_and_nothing_else(course, change):
    do, said = AGAIN[change]
    do(course.root)
    loader.forget()
    assert why(course) == {said}
    assert why(course) == {"graded before"}


def test_another_grader_is_named(course, monkeypatch):
    parts = {"grader": "other", "course library": "", "environment": ""}
    monkeypatch.setattr(classroom, "machine_parts", lambda file: parts)
    assert why(course) == {"the grader changed, the course library changed, Python or a library changed"}


def test_a_rule_that_was_changed_back_takes_the_points_back(course, monkeypatch):
    with monkeypatch.context() as patched:
        change_rule(course, patched, atol=1e-2)
        grade(course, force=True)
    assert why(course) == {"rule of moving_average changed"}


def test_a_new_submission_is_named_and_the_others_stay(course):
    path = course.submitted(STUDENTS[0], SHEET) / f"{SECOND}.ipynb"
    path.write_text(path.read_text().replace("import", "import  ", 1))
    assert [row.again for row in grade(course)] == ["a new submission", "", ""]


def test_another_time_limit_matters_to_what_it_would_have_cut_off_alone(course):
    assert why(course, limits=Limits(cell_seconds=30.0)) == {"graded before"}
    assert why(course, limits=Limits(cell_seconds=1.0)) == {"time limit changed"}


def test_the_table_says_why_and_how_many(course, monkeypatch, capsys):
    change_rule(course, monkeypatch, atol=1e-2)
    assert cli.main(["--course", str(course.root), "grade", SHEET, "--no-isolation"]) == 0
    assert "Graded again (rule of moving_average changed): 3 students" in capsys.readouterr().out


def test_a_new_gradebook_gets_the_grades_that_stand(course):
    with Gradebook(course.db_url) as gradebook:
        for student in STUDENTS:
            gradebook.remove_submission(SHEET, student)
    rows = grade(course)
    assert all(row.skipped and row.rewritten for row in rows)
    with Gradebook(course.db_url) as gradebook:
        scores = {student: gradebook.find_submission(SHEET, student).score for student in STUDENTS}
    assert scores == {row.student: row.total for row in rows}
    assert not any(row.rewritten for row in grade(course))


def test_what_took_long_is_handed_out_first(course, monkeypatch):
    path = course.root / ".autograder" / f"{SHEET}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    seconds = {STUDENTS[0]: 1.0, STUDENTS[1]: 9.0, STUDENTS[2]: 4.0}
    for line in lines:
        if "student" in line:
            line |= {"seconds": seconds[line["student"]], "cut": line["student"] == STUDENTS[2]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seen: list[str] = []
    results_of(monkeypatch, lambda job: (seen.append(job.student), full_marks(job))[1])
    grade(course, force=True)
    assert seen == [STUDENTS[2], STUDENTS[1], STUDENTS[0]]


def test_cells_have_the_limits_of_the_solution_s_time_unless_one_is_given(course, monkeypatch):
    record_pace(course.root, SHEET, {SECOND: {"twice": 0.1}})
    given: list[Limits] = []
    results_of(monkeypatch, lambda job: (given.append(job.limits), full_marks(job))[1])
    grade(course, force=True, students=(STUDENTS[0],))
    grade(course, force=True, students=(STUDENTS[0],), limits=Limits(cell_seconds=5.0))
    assert [limits.cells for limits in given] == [{SECOND: {"twice": 10.0}}, {}]


def test_a_worker_takes_the_notebooks_of_the_release_it_is_asked_for(course):
    before = Assignment.open(course, SHEET)
    assert workers._assignment(course, SHEET, digest(content_parts(before))).release == before.release
    OTHER_CODE(course.root)
    after = Assignment.open(course, SHEET)
    assert workers._assignment(course, SHEET, digest(content_parts(after))).release == after.release
    with pytest.raises(GradingError, match="is not the same on"):
        workers._assignment(course, SHEET, "0" * 16)


# runs that fail or are cut off


def test_an_old_grade_does_not_pass_for_that_of_a_failed_run_and_the_next_run_grades_it(course, monkeypatch):
    failing = STUDENTS[1]

    def fail(job: Job) -> JobResult:
        return JobResult(job, None, "the worker died", "details") if job.student == failing else full_marks(job)

    with monkeypatch.context() as patched:
        results_of(patched, fail)
        rows = {row.student: row for row in grade(course, force=True)}
    log = Path(".autograder") / "logs" / SHEET / f"{failing}.log"
    assert rows[failing].failure == f"the worker died (log: {log})"
    assert "details" in (course.root / log).read_text()
    states = {row.student.id: (row.state, row.score) for row in gather(course, SHEET).rows}
    assert states.pop(failing) == ("infrastructure", None)
    assert all(state == "graded" for state, _ in states.values())
    again = {row.student: row for row in grade(course)}
    assert not again[failing].failure
    assert [student for student, row in again.items() if not row.skipped] == [failing]


def test_an_old_grade_does_not_pass_for_that_of_a_submission_without_notebooks(course):
    for path in course.submitted(STUDENTS[2], SHEET).glob("*.ipynb"):
        path.unlink()
    grade(course)
    states = {row.student.id: row.state for row in gather(course, SHEET).rows}
    assert states == {STUDENTS[0]: "graded", STUDENTS[1]: "graded", STUDENTS[2]: "infrastructure"}


def interrupt(course: Course, monkeypatch: pytest.MonkeyPatch, after: int, **options: object) -> None:
    """A forced run that is stopped after some submissions."""

    def stopped(jobs: list[Job]) -> Iterator[JobResult]:
        yield from map(full_marks, jobs[:after])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(classroom, "_results", lambda course, todo, order, server: stopped(todo))
        grade(course, force=True, **options)


@pytest.mark.parametrize("force", [True, False])
def test_a_forced_run_goes_on_where_it_was_interrupted(course, monkeypatch, force):
    interrupt(course, monkeypatch, 2)
    assert [row.skipped for row in grade(course, force=force)] == [True, True, False]
    assert not any(row.skipped for row in grade(course, force=True)), "complete: the next one begins anew"


def test_an_interrupted_run_for_some_spares_nobody_when_all_are_forced(course, monkeypatch):
    interrupt(course, monkeypatch, 1, students=(STUDENTS[0], STUDENTS[1]))
    assert not any(row.skipped for row in grade(course, force=True))


def one_line_and_exit_code_2(course: Course, capsys) -> str:
    assert cli.main(["--course", str(course.root), "grade", SHEET, "--force", "--no-isolation"]) == 2
    said = capsys.readouterr()
    assert len(said.err.strip().splitlines()) == 1 and "Traceback" not in said.out + said.err
    return said.err


def test_a_full_disk_is_said_in_one_line_and_the_run_goes_on_later(course, capsys, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device", "verdicts.json")

    with monkeypatch.context() as patched:
        patched.setattr(classroom, "write_autograded", full)
        assert "verdicts.json: No space left on device, " in one_line_and_exit_code_2(course, capsys)
    assert not any(row.failure for row in grade(course, force=True))


def test_a_folder_that_cannot_be_written_is_said_in_one_line(course, capsys):
    lock = course.root / ".autograder" / f"{SHEET}.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    assert ".autograder cannot be written: Is a directory" in one_line_and_exit_code_2(course, capsys)


@pytest.mark.parametrize("reason", ["database or disk is full", "attempt to write a readonly database"])
def test_a_gradebook_that_cannot_be_written_is_not_waited_for(course, capsys, monkeypatch, reason):
    def refuse(*given):
        raise OperationalError("UPDATE", {}, sqlite3.OperationalError(reason))

    monkeypatch.setattr(gradebook_module, "_save", refuse)
    monkeypatch.setattr(gradebook_module.time, "sleep", lambda seconds: pytest.fail("it waited"))
    assert f"gradebook.db could not be written: {reason}" in one_line_and_exit_code_2(course, capsys)


def test_what_a_run_left_half_written_is_removed(course):
    left = course.autograded(STUDENTS[0], SHEET).with_name(f".{SHEET}.new")
    left.mkdir()
    grade(course)
    assert not left.exists()


# one run at a time for each assignment


def test_a_second_run_is_told_who_is_grading(tmp_path):
    with only_run(tmp_path, "toy"), pytest.raises(GradingError) as refused, only_run(tmp_path, "toy"):
        pass
    assert f"another run is grading toy (pid {os.getpid()})" in str(refused.value)


def test_another_assignment_may_be_graded_beside(tmp_path):
    with only_run(tmp_path, "toy"), only_run(tmp_path, "other"):
        pass


def test_a_run_that_was_killed_holds_nobody_up(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from autograder.classroom.journal import only_run\n"
        "with only_run(Path(sys.argv[1]), 'toy'): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline()
    with pytest.raises(GradingError, match=f"pid {holder.pid}"), only_run(tmp_path, "toy"):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with only_run(tmp_path, "toy"):
        pass
