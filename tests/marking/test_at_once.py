"""Several commands beside one course, with SQLite and PostgreSQL: no mark is lost, given twice, or without a name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.marking.desk import Desk, Marker
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.grading import ROOT
from tests.marking.classroom import ASSIGNMENT, drawn_answers, hand_in, held, make_course
from tests.marking.test_marks import KEY, dump
from tests.pipeline.test_postgresql import server  # noqa: F401

pytestmark = pytest.mark.slow

STUDENTS = 15
#: Opens what waits for it, group by group, as its page does, and gives points of its own.
GRADER = """
import sys
from pathlib import Path
from autograder.marking.desk import Desk, Marker, member
from autograder.model.course import Course
root, name, points = sys.argv[1:]
desk, marker = Desk(Course(Path(root)), "questions", double=40), Marker(name)
for key in [one for one in desk.read().answers if one[1] == "scale"]:
    for _ in range(200):
        answers = desk.read_for(marker).answers[key]
        group = desk.next_group(key, desk.groups(key, answers, marker), marker)
        if group is None:
            break
        others = desk.claims.take(name, [one.row for one in group.waiting])
        free = [member(one) for one in group.waiting if one.row not in others]
        if free:
            desk.mark(marker, key, free, float(points), name, False)
    desk.claims.take(name, ())
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_commands_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, database: str
) -> None:
    course = make_course(tmp_path / "course")
    if database == "postgresql":
        monkeypatch.setenv("NBGRADER_DB_URL", request.getfixturevalue("server"))
        course = Course(course.root)
        generate(course, ASSIGNMENT)
    for student, answers in drawn_answers(STUDENTS):
        hand_in(course, student, answers)
    before, points = dump(course), {"lin": 1.0, "sam": 0.5}
    for _ in range(2):  # what somebody else was reading is marked the second time
        processes = [
            subprocess.Popen([sys.executable, "-c", GRADER, str(course.root), name, str(given)], cwd=ROOT)
            for name, given in points.items()
        ]
        assert [one.wait(timeout=300) for one in processes] == [0, 0]
    desk = Desk(course, ASSIGNMENT, double=40)
    log = desk.log
    answers = desk.read().answers[KEY]
    for one in answers:
        score, _, waits, comment = held(course, one.student, "scale")
        mark, second = log.of(one), log.seconds.get(one.row)
        assert mark is not None and not waits and (score, comment) == (points[mark.grader], mark.grader), one
        assert second is None or second.grader != mark.grader
    assert len(log.seconds) == STUDENTS * 0.4
    assert len(log.marks) == len({(one.change.row, one.second) for one in log.marks})
    for name in points:
        while desk.undo(Marker(name)):
            pass
    assert dump(course) == before and desk.log.marks == []
