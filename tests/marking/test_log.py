"""Who marked what and when: kept before the mark counts, undone after a restart, gone with the student."""

import json
import os
import random
import signal
import time
import zipfile
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from autograder import cli
from autograder.errors import GradingError
from autograder.marking.desk import Desk, Marker, member
from autograder.marking.log import MarkLog
from autograder.model.course import Course
from tests.marking.classroom import ASSIGNMENT, NOTEBOOK, hand_in, held
from tests.marking.conftest import RIGHT
from tests.marking.test_marks import KEY, REST, answers, as_the_formgrader_does, dump, mark


def path_of(course: Course) -> Path:
    return course.root / ".autograder" / "marks" / f"{ASSIGNMENT}.jsonl"


def lines(course: Course) -> list[dict[str, object]]:
    return [json.loads(line) for line in path_of(course).read_text(encoding="utf-8").splitlines()]


def test_every_answer_of_a_click_has_a_line(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 1.5, "Why?", "ada", "bob")
    mark(desk, Marker("sam"), 0.0, "", "dan")
    found = lines(course)
    assert [(one["grader"], one["student"], one["exercise"]) for one in found] == [
        ("lin", "ada", "1_attention/scale"), ("lin", "bob", "1_attention/scale"), ("sam", "dan", "1_attention/scale"),
    ]  # fmt: skip
    assert found[0]["click"] == found[1]["click"] != found[2]["click"]
    assert found[0]["digest"] == answers(desk)["ada"].digest and str(found[0]["at"]).endswith("+00:00")
    assert found[0]["change"]["after"] == {"score": 1.5, "waits": False, "comment": "Why?"}  # type: ignore[index]
    assert path_of(course).stat().st_mode & 0o007 == 0


def test_undo_goes_on_after_a_restart_and_takes_back_own_marks_alone(course: Course, desk: Desk) -> None:
    before = dump(course)
    mark(desk, Marker("lin"), 1.0, "First.", "ada", "bob")
    mark(desk, Marker("sam"), 0.5, "", "dan")
    mark(desk, Marker("lin"), 2.0, "Second.", "ada", alone=True)
    lin = Marker("lin")
    for expected in ((1.0, None, False, "First."), (None, None, True, None)):
        assert Desk(course, ASSIGNMENT).undo(lin) is not None  # a command of its own each time
        assert held(course, "ada", "scale") == expected
    assert Desk(course, ASSIGNMENT).undo(lin) is None and held(course, "dan", "scale")[0] == 0.5
    assert Desk(course, ASSIGNMENT).undo(Marker("sam")) is not None
    assert dump(course) == before


def test_one_answer_of_a_click_is_taken_back_alone(course: Course, desk: Desk) -> None:
    lin = Marker("lin")
    mark(desk, lin, 1.0, "Why?", "ada", "bob", "cid")
    assert desk.undo(Marker("sam"), answers(desk)["bob"].row) is not None
    assert [held(course, one, "scale")[0] for one in ("ada", "bob", "cid")] == [1.0, None, 1.0]
    desk.undo(lin)
    assert lin.said == "2 answers put back as before."
    assert desk.undo(lin, "no such row") is None


def test_undo_leaves_what_somebody_else_or_a_new_answer_changed_since(course: Course, desk: Desk) -> None:
    lin = Marker("lin")
    mark(desk, lin, 1.0, "Why?", "ada", "bob", "cid", "dan")
    as_the_formgrader_does(course, "ada", 2.0, "Mine.")
    hand_in(course, "bob", {"scale": "Something else.", **REST})
    mark(desk, Marker("sam"), 0.0, "", "dan", alone=True)
    Desk(course, ASSIGNMENT).undo(lin)
    assert lin.said == "1 answer put back as before. 3 answers not: changed since."
    assert held(course, "dan", "scale")[0] == 0.0
    assert held(course, "ada", "scale") == (2.0, None, False, "Mine.") and held(course, "bob", "scale")[2]


def test_whose_a_mark_is_says_the_log_only_where_it_still_counts(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 1.0, "", "ada", "bob")
    as_the_formgrader_does(course, "ada", 2.0, None)
    log, now = desk.log, answers(desk)
    assert log.of(now["ada"]) is None and log.of(now["dan"]) is None
    assert (by := log.of(now["bob"])) is not None and by.grader == "lin"


def test_what_could_not_be_stored_has_no_line_that_counts(
    course: Course, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, commit = answers(desk)["ada"], Session.commit

    def fails(session: Session) -> None:
        if not path_of(course).exists():  # nbgrader commits when it opens a gradebook
            return commit(session)
        raise OperationalError("commit", {}, Exception("disk full"))

    with monkeypatch.context() as patched:
        patched.setattr(Session, "commit", fails)
        with pytest.raises(GradingError, match="nothing was stored"):
            desk.mark(Marker("lin"), KEY, [member(seen)], 1.0, "", False)
    assert desk.log.marks == [] and held(course, "ada", "scale")[0] is None


def test_a_log_that_cannot_be_written_stores_no_mark(course: Course, desk: Desk) -> None:
    path_of(course).mkdir(parents=True)
    with pytest.raises(GradingError, match=r"questions\.jsonl cannot be"):
        mark(desk, Marker("lin"), 1.0, "", "ada")
    assert held(course, "ada", "scale")[0] is None


def test_signs_that_end_a_line_elsewhere_cost_no_line(course: Course, desk: Desk) -> None:
    said = "Why?\u2028Say\u2029so.\x85\x0b\x1e\n\nAnd “jürgen” \\u2028"
    mark(desk, Marker("lin"), 1.0, said, "ada")
    assert len(lines(course)) == 1 and desk.log.marks[0].change.after.comment == held(course, "ada", "scale")[3]
    assert Desk(course, ASSIGNMENT).undo(Marker("lin")) is not None and held(course, "ada", "scale")[0] is None


def test_a_line_that_was_cut_off_costs_itself_alone(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 1.0, "", "ada")
    with path_of(course).open("a") as file:
        file.write('{"click": "x", "gra')
    mark(desk, Marker("lin"), 1.0, "", "bob")
    for damage in ("[]", "3", '{"undone": []}', '{"click": 1}', "\x00"):
        with path_of(course).open("a") as file:
            file.write(f"{damage}\n")
    assert [one.student for one in MarkLog(course.root, ASSIGNMENT).read().marks] == ["ada", "bob"]


@pytest.mark.slow
def test_no_mark_is_lost_and_none_is_without_a_line_when_marking_is_killed(course: Course, desk: Desk) -> None:
    """A process marks one answer again and again, and is killed while it does."""
    chance, expected = random.Random(0), 0.0
    row = answers(desk)["ada"].row
    for _ in range(int(os.environ.get("KILLS", "20"))):
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:  # pragma: no cover - it is killed
            own = Desk(course, ASSIGNMENT)
            for number in range(1000):
                points = (number % 20) / 10
                own.mark(Marker("lin"), KEY, [member(answers(own)["ada"])], points, "", True)
                os.write(writing, f"{points}\n".encode())
            os._exit(0)
        os.close(writing)
        said = os.read(reading, 100)  # it has begun
        time.sleep(chance.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reading, 1000):
            said += more
        os.close(reading)
        expected = float(said.decode().split()[-1])
        following = round((expected + 0.1) % 2, 1)
        score = held(course, "ada", "scale")[0]
        assert score in (expected, following), "only the click in flight may be lost"
        last = Desk(course, ASSIGNMENT).log.last[row].change
        assert score in (last.after.score, last.before.score)
        assert any(one.change.after.score == score for one in Desk(course, ASSIGNMENT).log.marks[-2:])


def test_erasing_a_student_leaves_nothing_of_the_marking(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 1.0, "Why?", "ada", "bob")
    mark(desk, Marker("lin"), 2.0, "Good.", "ada", alone=True)
    desk.undo(Marker("lin"))
    desk.claims.take("lin", [one.row for one in answers(desk).values()])
    kept = "".join(path.read_text() for path in (course.root / ".autograder" / "marks").rglob("*.json"))
    named = [f'"{student}"' for student in answers(desk)]  # in quotes: digests hold "ada" by chance
    assert json.loads(kept) and not any(name in kept for name in named)
    assert cli.main(["--course-dir", str(course.root), "student", "erase", "ada", "--yes"]) in (0, 1)
    assert {one["student"] for one in lines(course)} == {"bob"} and '"ada"' not in path_of(course).read_text()
    assert Desk(course, ASSIGNMENT).undo(Marker("lin")) is not None and held(course, "bob", "scale")[0] is None


def test_the_archive_of_a_term_holds_who_marked_unless_it_is_pseudonymised(course: Course, desk: Desk) -> None:
    (course.root / "course.toml").write_text('term = "2026w"\n')
    mark(desk, Marker("lin"), 1.0, "Why?", "ada", "bob")
    desk.undo(Marker("lin"), answers(desk)["bob"].row)
    run = ["--course-dir", str(course.root), "term", "archive"]
    archive = course.root / "archives" / "2026w.zip"
    for more, expected in (([], 1), (["--pseudonymise"], None)):
        archive.unlink(missing_ok=True)
        assert cli.main([*run, *more]) == 0
        with zipfile.ZipFile(archive) as kept:
            name = f"marks/{ASSIGNMENT}.json"
            assert (name in kept.namelist()) == (expected is not None)
            if expected:
                (one,) = json.loads(kept.read(name))
                assert (one["student"], one["grader"], one["exercise"], one["points"]) == (
                    "ada", "lin", f"{NOTEBOOK}/scale", 1.0,
                )  # fmt: skip


def test_a_mark_of_the_same_answer_after_a_regrade_is_still_known(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 1.0, "Good.", "ada")
    hand_in(course, "ada", {"scale": RIGHT, **REST})
    assert held(course, "ada", "scale") == (1.0, None, False, "Good.")
    assert desk.log.of(answers(desk)["ada"]) is not None
    desk.undo(Marker("lin"))
    assert held(course, "ada", "scale")[0] is None
