"""A large class is gathered a part at a time: the rows are those of the whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, Row, grade_class
from autograder.gradebook import gather as gathering
from autograder.gradebook import read
from autograder.gradebook.gather import gather_from, gather_in_parts
from autograder.gradebook.late.times import record_times
from autograder.gradebook.read import open_book
from tests.regrade.conftest import NOTEBOOK, SHEET, STUDENTS, World

pytestmark = pytest.mark.slow


def of_parts(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module in (read, gathering):
        monkeypatch.setattr(module, "PART", size)


def verdict_path(world: World, student: str) -> Path:
    return world.course.autograded(student, SHEET) / "verdicts.json"


def of_another_version(world: World) -> None:
    said = json.loads(verdict_path(world, "bob").read_text())
    said["notebooks"][0]["cells"].insert(0, {**said["notebooks"][0]["cells"][0], "cell": "gone"})
    verdict_path(world, "bob").write_text(json.dumps(said))


def late(world: World) -> None:
    text = f'[assignments.{SHEET}]\ndeadline = 2026-11-30T12:00:00Z\nper_day = 1\nextensions = {{ "zoe" = 2 }}\n'
    with Gradebook(world.course.db_url) as gradebook:
        gradebook.add_student("zoe")  # has not handed in
    (world.course.root / "late_policy.toml").write_text(text)
    record_times(world.course.root, SHEET, dict.fromkeys(STUDENTS, datetime(2026, 12, 1, 13, tzinfo=UTC)))


def waived(world: World) -> None:
    (world.course.root / "waivers.toml").write_text(
        f'[[waiver]]\nassignment = "{SHEET}"\nnotebook = "{NOTEBOOK}"\nexercise = "first"\ncounts = "full"\n'
        'reason = "unclear"\ndate = 2026-11-20\n'
    )


CHANGES: dict[str, Callable[[World], object]] = {
    "nothing": lambda world: None,
    "a mark by hand": lambda world: world.mark("ada", "why", 1.0),
    "an exercise that one verdict alone has": of_another_version,
    "no verdict": lambda world: verdict_path(world, "ada").unlink(),
    "a verdict that cannot be read": lambda world: verdict_path(world, "eve").write_text("{"),
    "groups": lambda world: (world.course.root / "groups.toml").write_text(f'[{SHEET}]\nred = ["kim", "eve"]\n'),
    "no gradebook": lambda world: (world.course.root / "gradebook.db").unlink(),
    "late": late,
    "waived": waived,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_rows_of_parts_are_those_of_the_whole(world, monkeypatch, change):
    CHANGES[change](world)
    students = ["kim", *STUDENTS] if change == "groups" else list(STUDENTS)
    with open_book(world.course.db_url) or nullcontext() as book:
        whole = gather_from(world.course, SHEET, book, students).rows
        for size in (1, 2):
            of_parts(monkeypatch, size)
            rows = tuple(gather_in_parts(world.course, SHEET, book, students))
            assert rows == whole
            assert [list(row.exercises) for row in rows] == [list(row.exercises) for row in whole]
    assert [row.student.id for row in whole] == sorted(students)


def graded_twice(world: World) -> list[list[Row]]:
    return [grade_class(world.course, GradingOptions(SHEET, force=force)) for force in (True, False)]


def test_grading_in_parts_gives_the_same_table_first_and_again(world, monkeypatch):
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(world.judge, todo))
    whole = graded_twice(world)
    of_parts(monkeypatch, 2)
    assert graded_twice(world) == whole


def test_who_is_not_in_a_new_gradebook_is_found_in_parts(world, monkeypatch):
    of_parts(monkeypatch, 2)
    with Gradebook(world.course.db_url) as gradebook:
        gradebook.remove_submission(SHEET, "bob")
    rows = grade_class(world.course, GradingOptions(SHEET))
    assert [row.student for row in rows if row.rewritten] == ["bob"]
    assert all(row.skipped for row in rows)
