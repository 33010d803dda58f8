"""A run that has nothing to do answers at once from what the last one found, until anything at all has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom import run as classroom
from autograder.classroom import unchanged
from autograder.classroom.trace import is_as_it_was
from autograder.model.course import Course
from benchmarks.courses import ASSIGNMENT
from tests.silent.without_kernels import NOTEBOOK, STUDENTS, copied_course, graded_course  # noqa: F401


@pytest.fixture
def looks(monkeypatch) -> list[str]:
    """One entry for every run that looked for itself."""
    found: list[str] = []
    real = classroom.grade_class

    def grade_class(*given):
        found.append("looked")
        return real(*given)

    monkeypatch.setattr(classroom, "grade_class", grade_class)
    # pytest says in it which part of a test is running
    monkeypatch.setattr(unchanged, "_PASSING", {*unchanged._PASSING, "PYTEST_CURRENT_TEST"})
    return found


@pytest.fixture(name="kept")
def kept_course(course, looks) -> Course:
    """A course whose last run had nothing to do, some time after everything was written."""
    time.sleep(0.1)
    for _ in range(3):  # another test worker may compile a module meanwhile, or make a folder beside the package
        looks.clear()
        assert grade(course) == 0
        if not looks:
            return course
    pytest.fail("every run looked again")


def grade(course: Course, *words: str) -> int:
    return cli.main(["grade", ASSIGNMENT, "--course-dir", str(course.root), "--workers", "1", *words])


def submitted(course: Course, student: str = STUDENTS[0]) -> Path:
    return course.submitted(student, ASSIGNMENT) / f"{NOTEBOOK}.ipynb"


def edit_a_submission_and_hide_it(course: Course) -> None:
    path = submitted(course)
    before, text = path.stat(), path.read_text()
    path.write_text(text.replace("import", "imp0rt", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns


def hand_in_one_more(course: Course) -> None:
    shutil.copytree(course.submitted(STUDENTS[0], ASSIGNMENT), course.submitted("zoe", ASSIGNMENT))


def hand_in_one_less(course: Course) -> None:
    shutil.rmtree(course.root / "submitted" / STUDENTS[0])


def hand_in_another_file(course: Course) -> None:
    (submitted(course).parent / "mine.py").write_text("x = 1\n")


def make_a_link_of_a_submission(course: Course) -> None:
    folder = submitted(course).parent
    other = course.root / "elsewhere"
    folder.rename(other)
    folder.symlink_to(other)


def grade_by_hand(course: Course) -> None:
    with Gradebook(course.db_url) as gradebook:
        submission = gradebook.find_submission(ASSIGNMENT, STUDENTS[0])
        submission.notebooks[0].grades[0].manual_score = 0.25
        gradebook.db.commit()


def change_a_points_entry(course: Course) -> None:
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade")).metadata.nbgrader.points = 77
    nbformat.write(notebook, path)


def append(path: Path, text: str = "\n# changed\n") -> None:
    path.write_text(path.read_text() + text)


#: What changes, and how; the run must look for itself, whatever it then finds.
CHANGES: dict[str, Callable[[Course], object]] = {
    "a submission, with its size and its time put back": edit_a_submission_and_hide_it,
    "a new submission": hand_in_one_more,
    "a submission that is gone": hand_in_one_less,
    "one more file in a submission": hand_in_another_file,
    "a submission that is a link now": make_a_link_of_a_submission,
    "the source": change_a_points_entry,
    "the release": lambda course: append(course.release(ASSIGNMENT) / f"{NOTEBOOK}.ipynb", "\n"),
    "a file beside the notebook": lambda course: append(course.source(ASSIGNMENT) / "words.csv", "bird\n"),
    "a rule": lambda course: append(course.root / "exercises" / ASSIGNMENT / "embeddings" / "oracle.py"),
    "a stored reference": lambda course: os.utime(
        course.root / "exercises" / ASSIGNMENT / "embeddings" / "expected.safetensors"
    ),
    "a manual grade": grade_by_hand,
    "no gradebook": lambda course: (course.root / "gradebook.db").unlink(),
    "a verdict": lambda course: append(course.autograded(STUDENTS[1], ASSIGNMENT) / "verdicts.json", " "),
    "no verdict": lambda course: (course.autograded(STUDENTS[1], ASSIGNMENT) / "verdicts.json").unlink(),
    "no journal": lambda course: (course.root / ".autograder" / f"{ASSIGNMENT}.jsonl").unlink(),
    "a late policy": lambda course: (course.root / "late_policy.toml").write_text(
        f"[assignments.{ASSIGNMENT}]\ndue = 2026-01-01T00:00:00Z\n"
    ),
    "groups": lambda course: (course.root / "groups.toml").write_text(""),
    "waivers": lambda course: (course.root / "waivers.toml").write_text(""),
    "extensions": lambda course: (course.root / "extensions.toml").write_text(""),
    "recorded times": lambda course: (
        (course.root / ".autograder" / "times").mkdir(exist_ok=True),
        (course.root / ".autograder" / "times" / f"{ASSIGNMENT}.json").write_text("{}"),
    ),
    "measured seconds": lambda course: (
        (course.root / ".autograder" / "seconds").mkdir(exist_ok=True),
        (course.root / ".autograder" / "seconds" / f"{ASSIGNMENT}.json").write_text("{}"),
    ),
    "the configuration": lambda course: append(course.root / "nbgrader_config.py"),
    "a configuration above": lambda course: (course.root.parent / "nbgrader_config.py").write_text(""),
    "the course file": lambda course: append(course.root / "course.toml"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_looks_for_itself_after_any_change(kept, looks, change):
    CHANGES[change](kept)
    grade(kept)
    assert looks == ["looked"]


def test_a_manual_grade_is_in_the_next_table(kept, capsys):
    grade_by_hand(kept)
    grade(kept, "--json")
    (ada, *_) = json.loads(capsys.readouterr().out)["students"]
    before = ada["max_points"]
    assert ada["points"] != before


@pytest.mark.parametrize("words", [("--force",), ("--student", STUDENTS[1]), ("--time-limit", "50")])
def test_another_question_is_another_answer(kept, looks, words):
    assert grade(kept, *words) == 0 and looks == ["looked"]


def test_another_environment_is_another_answer(kept, looks, monkeypatch):
    monkeypatch.setenv("NBGRADER_DB_URL", "sqlite:///other.db")
    grade(kept)
    assert looks == ["looked"]


@pytest.mark.parametrize("words", [(), ("--json",), ("--quiet",)])
def test_the_answer_is_the_same_as_that_of_a_run_that_looks(kept, looks, capsys, words):
    capsys.readouterr()
    grade(kept, *words)
    kept_answer = capsys.readouterr()
    shutil.rmtree(kept.root / ".autograder" / "unchanged")
    grade(kept, *words)
    looked = capsys.readouterr()
    assert looks == ["looked"]
    assert kept_answer.out == "".join(line for line in looked.out.splitlines(True) if not line.startswith("grading "))
    assert kept_answer.err == "".join(line for line in looked.err.splitlines(True) if not line.startswith("grading "))


@pytest.mark.parametrize("words", [(), ("--force",)])
def test_a_run_that_graded_leaves_the_answer_of_the_next(course, looks, words):
    hand_in_one_more(course)
    time.sleep(0.1)
    assert grade(course, *words) == 0
    journal = (course.root / ".autograder" / f"{ASSIGNMENT}.jsonl").read_text().splitlines()
    assert "forced" not in journal[-1] or json.loads(journal[-1]) == {"forced": None}
    for _ in range(3):  # as for the fixture above
        looks.clear()
        assert grade(course) == 0
        if not looks:
            return
        assert grade(course, "--force") == 0
    pytest.fail("every run looked again")


def command(course: Course) -> None:
    """The command as it is typed: a process that has imported nothing yet."""
    words = ["-m", "autograder.cli", "grade", ASSIGNMENT, "--workers", "1"]
    subprocess.run([sys.executable, *words], cwd=course.root, check=True, capture_output=True)


def is_kept(course: Course) -> bool:
    """Whether a run has kept its answer, and nothing has changed of what it has read."""
    if not kept_in(course).exists():  # something looked fresh
        return False
    return all(is_as_it_was(path, before) for path, before in stamps(course).items())


def stamps(course: Course) -> dict[str, list[int | str] | None]:
    return json.loads(kept_in(course).read_text())["stamps"]


def kept_in(course: Course) -> Path:
    return course.root / ".autograder" / "unchanged" / f"{ASSIGNMENT}.json"


def test_the_library_the_grader_and_what_the_configuration_reads_are_watched(course):
    (course.root / "deep").mkdir()
    (course.root / "deep" / "settings.txt").write_text("x")
    (course.root / "own_settings.py").write_text("from pathlib import Path\nPath('deep/settings.txt').read_text()\n")
    append(course.root / "nbgrader_config.py", "\nimport own_settings\n")
    time.sleep(0.1)
    for _ in range(4):  # Python compiles the new module, which changes the folder
        command(course)
        if is_kept(course):
            break
    assert is_kept(course)
    for module in (
        "autograder/pipeline/judge.py", "course/pretrained.py", "course/check/distilbert/embeddings.py",
        "exercises/distilbert/embeddings/oracle.py", "own_settings.py", "deep/settings.txt", "late_policy.toml",
        "/.jupyter/nbgrader_config.py", "gradebook.db", f"{NOTEBOOK}.ipynb", "/submitted", "site-packages",
    ):  # fmt: skip
        assert any(path.endswith(module) for path in stamps(course)), module
    append(course.root / "deep" / "settings.txt", "y")
    assert not is_kept(course)


def test_nothing_is_kept_where_a_remark_is_due_each_time(course, looks, capsys):
    path = course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    text = next(one for one in notebook.cells if one.cell_type == "markdown" and "nbgrader" not in one.metadata)
    text.source += " (corrected)"
    nbformat.write(notebook, path)
    time.sleep(0.1)
    for _ in range(2):
        grade(course)
        assert "is not what the source makes of itself now" in capsys.readouterr().err
    assert looks == ["looked"] * 2


def test_nothing_is_kept_of_a_large_class(course, looks, monkeypatch):
    monkeypatch.setattr(unchanged, "MAX_STUDENTS", len(STUDENTS) - 1)
    time.sleep(0.1)
    assert grade(course) == 0 and grade(course) == 0
    assert looks == ["looked"] * 2 and not (course.root / ".autograder" / "unchanged").exists()


def test_nothing_is_kept_while_a_submission_cannot_be_graded(course, looks):
    submitted(course).write_text("no notebook")
    submitted(course).rename(submitted(course).with_suffix(".txt"))
    time.sleep(0.1)
    assert grade(course) == 1 and grade(course) == 1
    assert looks == ["looked"] * 2
