"""What a run produced is kept and judged again; where it is missing, old or damaged, the notebook is run again."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult, do, judge
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.pipeline import running, stored_runs
from autograder.pipeline.stored_runs import MAX_BYTES, path_of
from tests.once import made_once
from tests.regrade.changing_course import CHANGES, FIRST, SECOND, SHEET, make, set_answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stored runs")]


def make_graded(root: Path) -> None:
    make(root)
    assert not any(row.failure for row in grade_class(Course(root), GradingOptions(SHEET)))


@pytest.fixture
def course(tmp_path, monkeypatch) -> Course:
    """Graded, with confined kernels; made once in a run, and only copied."""
    graded = made_once("graded with stored runs", make_graded)
    root = Path(shutil.copytree(graded, tmp_path / graded.name))
    return Course(root)


@pytest.fixture
def done(course, monkeypatch) -> list[JobResult]:
    """What became of each job, as the runs of :func:`grade` come by; they are made here, one after the other."""
    results: list[JobResult] = []

    def here(work, jobs):
        for job in jobs:
            results.append(work(replace(job, isolation="auto")))
            yield results[-1]

    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, start: here(do, todo))
    monkeypatch.setattr(classroom, "local_results", lambda jobs, workers, work: here(work, jobs))
    return results


def ran(course: Course, results: list[JobResult], **options: object) -> dict[str, tuple[str, ...]]:
    """Student -> the notebooks that were run, of those who were graded or judged."""
    results.clear()
    assert not any(row.failure for row in grade_class(course, GradingOptions(SHEET, **options)))
    return {one.job.student: one.graded.ran for one in results if one.graded is not None}


def test_only_the_notebooks_that_changed_are_run(course, done):
    set_answer("ada", "twice_answer", "def twice(x):\n    return x + x")(course.root)
    assert ran(course, done) == {"ada": (SECOND,)}


def test_a_notebook_that_reads_a_changed_one_is_run_too(course, done):
    set_answer("ada", "moving_average_answer", "def moving_average(values, window):\n    return values")(course.root)
    assert ran(course, done) == {"ada": (FIRST, SECOND)}


@pytest.mark.parametrize("change", ["a mistake's words", "a tolerance", "expected answers"])
def test_a_changed_rule_runs_nothing(course, change, capsys):
    CHANGES[change](course.root)
    assert cli.main(["--course", str(course.root), "grade", SHEET]) == 0
    said = capsys.readouterr().out
    assert "Judged again, by the last run (" in said and "2 students" in said and "Graded again" not in said


def test_changed_points_run_nothing(course, done):
    CHANGES["points"](course.root)
    assert ran(course, done) == {"ada": (), "bob": ()}


def test_force_runs_everything(course, done):
    assert ran(course, done, force=True) == {"ada": (FIRST, SECOND), "bob": (FIRST, SECOND)}


def test_what_a_killed_grader_had_run_is_not_run_again(course, done):
    (course.root / ".autograder" / f"{SHEET}.jsonl").unlink()  # it was killed before it noted that all was saved
    shutil.rmtree(course.root / "autograded")
    assert ran(course, done) == {"ada": (), "bob": ()}


def damages(path: Path) -> dict[str, bytes]:
    whole = path.read_bytes()
    other = path.with_suffix(".other")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "submission.json":
                data = json.dumps({**json.loads(data), "format": 0}).encode()
            new.writestr(name, data)
    without = path.with_suffix(".without")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(without, "w") as new:
        new.writestr("submission.json", old.read("submission.json"))
        new.writestr("0.json", b'{"name": 1}')
    return {
        "cut short": whole[: len(whole) // 2],
        "empty": b"",
        "zeros in the middle": whole[:200] + bytes(len(whole) - 400) + whole[-200:],
        "no archive": b"hello",
        "another format": other.read_bytes(),
        "no runs": without.read_bytes(),
    }


DAMAGES = ("cut short", "empty", "zeros in the middle", "no archive", "another format", "no runs")


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_read_is_run_again_and_the_log_says_so(course, done, damage):
    path = path_of(course.root, SHEET, "ada")
    path.write_bytes(damages(path)[damage])
    CHANGES["a mistake's words"](course.root)
    assert ran(course, done) == {"ada": (FIRST, SECOND), "bob": ()}
    log = (course.autograded("ada", SHEET) / "grading.log").read_text()
    assert "what was kept of its last run cannot be read" in log and "it is run again" in log
    assert stored_runs.read(path)[1] == ""


def test_an_archive_that_would_fill_the_memory_is_not_read(course):
    path = path_of(course.root, SHEET, "ada")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("submission.json", bytes(stored_runs.MAX_READ + 1))
    found, why = stored_runs.read(path)
    assert found is None and "larger than any that is written" in why


def test_answers_beyond_the_bound_are_not_kept(course):
    stored, _ = stored_runs.read(path_of(course.root, SHEET, "ada"))
    big = replace(stored.runs[FIRST], log=("x" * MAX_BYTES,))
    path = course.root / "big.zip"
    path.write_bytes(b"of an earlier run")
    noise = replace(big, answers={"0/a/0.safetensors": os.urandom(MAX_BYTES + 1)})
    why = stored_runs.write(path, replace(stored, runs={FIRST: noise}))
    assert "is not kept" in why and not path.exists()


def test_a_run_that_cannot_be_kept_costs_nobody_a_grade(course, done, monkeypatch):
    def full(path, data):
        raise GradingError(f"{path} cannot be written: No space left on device")

    monkeypatch.setattr(stored_runs, "write_file", full)
    set_answer("ada", "twice_answer", "def twice(x):\n    return x + x")(course.root)
    assert ran(course, done) == {"ada": (SECOND,)}
    assert "its run is not kept" in (course.autograded("ada", SHEET) / "grading.log").read_text()


def test_what_was_kept_comes_back_as_it_was(course):
    path = path_of(course.root, SHEET, "bob")
    stored, why = stored_runs.read(path)
    assert not why and set(stored.runs) == {FIRST, SECOND}
    assert not stored_runs.write(course.root / "again.zip", stored)
    assert stored_runs.read(course.root / "again.zip") == (stored, "")


def test_a_run_of_another_submission_is_not_judged(course):
    """The run of what was handed in and then taken back, while the grader was killed."""
    job = Job(course, SHEET, "ada", course.file.limits, "auto", basis="of another one")
    assert judge(job).graded is None


def test_explain_looks_at_the_last_run(course, capsys, monkeypatch):
    monkeypatch.setattr(running, "run", lambda *given, **more: pytest.fail("it was run again"))
    assert cli.main(["--course", str(course.root), "explain", "bob", SHEET, "moving_average"]) == 0
    assert "These are sums of the values in each window." in capsys.readouterr().out


def test_status_says_how_much_is_kept(course, capsys):
    assert cli.main(["--course", str(course.root), "status", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["assignments"]
    assert found["kept_bytes"] == sum(path.stat().st_size for path in (course.root / stored_runs.FOLDER).rglob("*.zip"))


@pytest.mark.parametrize("words", [("regrade", SHEET, "--diff"), ("check", SHEET, "--class")])
def test_an_author_sees_how_many_answers_a_new_name_matches(course, capsys, words):
    before = {path: path.read_bytes() for path in course.root.glob("autograded/**/*") if path.is_file()}
    rule = course.root / "exercises" / SHEET / "moving_average.py"
    rule.write_text(rule.read_text().replace('Mistake("sum"', 'Mistake("no-mean"'))
    assert cli.main(["--course", str(course.root), "references", SHEET]) == 0
    capsys.readouterr()
    assert cli.main(["--course", str(course.root), *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["mistakes"]
    assert told == [
        {"exercise": "moving_average", "mistake": "no-mean", "before": 0, "now": 1},
        {"exercise": "moving_average", "mistake": "sum", "before": 1, "now": 0},
    ]
    assert {path: path.read_bytes() for path in course.root.glob("autograded/**/*") if path.is_file()} == before
