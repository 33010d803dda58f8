"""A backup of the gradebook that is put back: a mark for an earlier answer waits for a person."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook.gather import gather
from autograder.model.course import Course
from tests.exports.conftest import cells, comment, mark
from tests.feedback.toy import NOTEBOOK, build_course
from tests.feedback.toy import hand_in as toy
from tests.pipeline.conftest import nbgrader
from tests.silent.small_class import SHEET, grade, hand_in, run, small_class, table

FIRST, OTHER = {"why": "Every row is normalised."}, {"why": "I do not know any more."}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Ada's essay has 3 points."""
    return small_class(tmp_path / "course")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return build_course(tmp_path_factory.mktemp("restored") / "course")


@pytest.fixture
def short(released: Course, tmp_path: Path) -> Course:
    """Ada's written answer has 1.5 of its 2 points, and a comment. No kernel is needed."""
    course = Course(shutil.copytree(released.root, tmp_path / "short"))
    save(course, FIRST)
    mark(course, "ada", "why", 1.5)
    comment(course, "ada", "why", "Say which axis.")
    return course


def save(course: Course, answer: dict[str, str]) -> None:
    toy(course, "ada", answer, cells=cells(3.0, None))


def backup(course: Course) -> Callable[[], object]:
    """Returns what puts it back."""
    there, kept = course.root / "gradebook.db", course.root / "gradebook.bak"
    shutil.copy(there, kept)
    return lambda: shutil.copy(kept, there)


def state(course: Course) -> tuple[str, float | None]:
    (row,) = (row for row in gather(course, "toy").rows if row.student.id == "ada")
    return row.state, row.score


def test_the_mark_waits_at_once_in_exports_and_after_grading(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    restore = backup(course)
    hand_in(course, "ada", essay="something else")
    assert grade(course) == 0
    restore()
    for words in (None, (), (), ("--force",)):
        assert words is None or grade(course, *words) == 0
        assert run(course, "export", SHEET, "--to", "csv") == 0
        lines = table(course.root / "exports" / "ps1.csv")
        assert (lines["ada"]["state"], lines["ada"]["score"]) == ("waiting", "")
        assert (lines["bob"]["state"], lines["bob"]["score"]) == ("graded", "1")
    capsys.readouterr()
    assert grade(course, "--json") == 0
    row = json.loads(capsys.readouterr().out)["students"][0]
    assert (row["waiting"], row["points"], row["points_so_far"]) == (["essay"], None, 3.0)
    with Gradebook(course.db_url) as gradebook:
        kept = gradebook.find_grade("essay", "2_essay", SHEET, "ada")
        assert (kept.manual_score, kept.needs_manual_grade) == (3.0, True)


def test_nbgraders_own_commands_say_the_same(course: Course) -> None:
    restore = backup(course)
    hand_in(course, "ada", essay="something else")
    assert grade(course) == 0
    restore()
    assert nbgrader(course.root, "export").returncode == 0
    assert table(course.root / "grades.csv")["ada"]["score"] == ""
    done = nbgrader(course.root, "autograde", SHEET, "--force")
    assert done.returncode == 0, done.said
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_grade("essay", "2_essay", SHEET, "ada").needs_manual_grade
        assert not gradebook.find_grade("essay", "2_essay", SHEET, "bob").needs_manual_grade


def test_who_decides_again_ends_the_waiting_and_a_second_restore_is_seen_too(short: Course) -> None:
    restore = backup(short)
    save(short, OTHER)
    for _ in range(2):
        restore()
        assert state(short) == ("waiting", None)
        save(short, OTHER)
        assert state(short) == ("waiting", None)
        mark(short, "ada", "why", 0.5)
        assert state(short) == ("graded", 3.5)
        save(short, OTHER)
        assert state(short) == ("graded", 3.5)


def test_the_comment_about_the_earlier_answer_stays_hidden(short: Course) -> None:
    restore = backup(short)
    save(short, OTHER)
    restore()
    save(short, OTHER)
    mark(short, "ada", "why", 0.5)
    (row,) = (row for row in gather(short, "toy").rows if row.student.id == "ada")
    assert row.comments == {}


def test_a_mark_for_the_answer_that_is_there_again_counts(short: Course) -> None:
    restore = backup(short)
    save(short, OTHER)
    restore()
    save(short, FIRST)
    assert state(short) == ("graded", 4.5)


def test_a_mark_that_waited_in_the_backup_is_not_taken_for_the_one_that_was_decided_after_it(short: Course) -> None:
    save(short, OTHER)
    restore = backup(short)
    mark(short, "ada", "why", 0.5)
    save(short, OTHER)
    restore()
    save(short, OTHER)
    assert state(short) == ("waiting", None)


def test_a_backup_from_after_the_last_answer_counts_as_it_is(short: Course) -> None:
    restore = backup(short)
    mark(short, "ada", "why", 0.5)
    save(short, FIRST)
    restore()
    save(short, FIRST)
    assert state(short) == ("graded", 4.5)


def test_records_of_an_earlier_version_are_read(short: Course) -> None:
    (path,) = (short.root / ".autograder" / "answers").rglob("ada.json")
    record = json.loads(path.read_text())
    old = json.dumps({name: {kind: one[kind] for kind in ("answers", "by_hand")} for name, one in record.items()})
    path.write_text(old)
    assert state(short) == ("graded", 4.5)
    save(short, FIRST)
    assert state(short) == ("graded", 4.5)
    assert json.loads(path.read_text())[NOTEBOOK]["rows"]
    path.write_text(old)
    save(short, OTHER)
    assert state(short) == ("waiting", None)
