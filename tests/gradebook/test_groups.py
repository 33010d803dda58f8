"""``groups.toml``: one submission, one grade, every member's feedback, line in the exports and own late days."""

import csv
import io
import shutil
from datetime import UTC, datetime
from unicodedata import normalize

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.status import stale_grade_warnings
from autograder.errors import GradingError
from autograder.exports.formats import make
from autograder.gradebook.gather import gather, gather_one
from autograder.gradebook.groups import NAME
from autograder.gradebook.late.times import record_times
from autograder.report.statistics import read_results
from tests.regrade.conftest import SHEET, World

TOGETHER = '[sums]\nred = ["ada", "kim"]\nblue = ["lee", "bob"]\n'


def write(world: World, text: str = TOGETHER) -> None:
    (world.course.root / NAME).write_text(text)


def command(world: World, *words: str) -> int:
    return cli.main(["--course-dir", str(world.course.root), words[0], SHEET, *words[1:]])


def test_every_member_has_the_grade_of_the_one_who_handed_in(world):
    before = world.points()
    write(world)
    found = world.points()
    assert found == before | {"kim": before["ada"], "lee": before["bob"]}
    assert {row.student.id: row.submitted_by for row in gather(world.course, SHEET).rows} == {
        "ada": "", "bob": "", "eve": "", "kim": "ada", "lee": "bob",
    }  # fmt: skip
    alone = gather_one(world.course, SHEET, "kim")
    assert alone is not None and alone.points == 4.0


def test_a_manual_grade_is_every_members_and_the_submission_is_graded_once(world):
    write(world)
    world.mark("ada", "why", 0.0)
    found = world.points()
    assert found["kim"]["why"] == found["ada"]["why"] == 0.0
    assert [row.student for row in grade_class(world.course, GradingOptions(SHEET))] == ["ada", "bob", "eve"]


def test_every_member_has_feedback_that_names_no_other(world):
    write(world)
    assert command(world, "feedback") == 0
    pages = {path.parts[-3]: path.read_text() for path in world.course.every_feedback.rglob("*.html")}
    assert set(pages) == {"ada", "bob", "eve", "kim", "lee"}
    assert "feedback for kim" in pages["kim"] and "feedback for ada" not in pages["kim"]
    assert command(world, "feedback", "--student", "lee") == 0


def test_exports_list_every_member(world):
    write(world)
    for to in ("csv", "json", "canvas", "moodle"):
        data = make(gather(world.course, SHEET), to).data.decode("utf-8-sig")
        assert all(student in data for student in ("ada", "bob", "eve", "kim", "lee")), to
    lines = csv.DictReader(io.StringIO(make(gather(world.course, SHEET), "csv").data.decode("utf-8-sig")))
    assert {line["student"]: line["score"] for line in lines}["kim"] == "4"


@pytest.mark.parametrize("private", [False, True])
def test_late_days_are_each_members_own_also_where_an_extension_lies_in_the_private_file(world, private):
    write(world)
    record_times(world.course.root, SHEET, {"ada": datetime(2026, 11, 21, 8, tzinfo=UTC)})
    policy = '[assignments.sums]\ndeadline = 2026-11-20T09:00:00Z\nper_day = "50%"\n'
    (world.course.root / "late_policy.toml").write_text(policy + ("" if private else "extensions = { kim = 2 }\n"))
    if private:
        (world.course.root / "extensions.toml").write_text("[sums]\nkim = 2\n")
    scores = {row.student.id: row.score for row in gather(world.course, SHEET).rows}
    assert (scores["ada"], scores["kim"]) == (2.0, 4.0)


def test_the_report_counts_a_submission_once_and_lists_everybody(world):
    write(world)
    assert [row.student.id for row in read_results(world.course, SHEET).rows] == ["ada", "bob", "eve"]
    assert command(world, "report") == 0
    page = (world.course.root / "reports" / SHEET / "index.html").read_text()
    assert "<dd>3, of 5 students</dd>" in page and 'kim <span class="soft">with ada</span>' in page


def test_the_table_names_who_handed_in_together(world, capsys):
    write(world)
    assert command(world, "grade", "--no-isolation", "--force") == 0
    shown = capsys.readouterr().out
    assert "ada, kim" in shown and "bob, lee" in shown


def test_two_submissions_of_a_group_stop_before_anything_is_graded(world, capsys):
    write(world, '[sums]\nred = ["ada", "bob"]\n')
    assert command(world, "grade", "--no-isolation") == 2
    assert "ada and bob of the group red both handed in sums" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[summs]\nred = ["ada"]', "unknown assignment 'summs'"),
        ('[sums]\nred = ["ada"]\nblue = ["ada"]', "ada is named in red and in blue"),
        ('[sums]\nred = "ada"', "expected a group and its members"),
        ("[sums]\nred = [1]", "expected a group and its members"),
        ("sums = 1", "expected a group and its members"),
        ("[sums", "cannot be read"),
    ],
)
def test_a_wrong_file_is_one_line(world, text, said):
    write(world, text)
    with pytest.raises(GradingError, match=NAME) as error:
        gather(world.course, SHEET)
    assert said in str(error.value)


@pytest.mark.parametrize(("folder", "lists"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_member_is_one_person_in_every_unicode_form(world, capsys, folder, lists):
    course, there, named = world.course, normalize(folder, "müller"), normalize(lists, "müller")
    with Gradebook(course.db_url) as book:
        book.add_student(named, last_name="Müller")
    shutil.copytree(course.submitted("eve", SHEET), course.root / "submitted" / there / SHEET)
    write(world, f'[sums]\nred = ["{named}", "kim"]\n')
    (course.root / "late_policy.toml").write_text("[assignments.sums]\ndeadline = 2026-11-20T09:00:00Z\n")
    (course.root / "extensions.toml").write_text(f'[sums]\n"{named}" = 2\n')
    for form in ("NFD", "NFC"):
        assert command(world, "grade", "--no-isolation", "--student", normalize(form, "müller")) == 0
    rows = {row.student.id: row for row in gather(course, SHEET).rows}
    assert set(rows) == {"ada", "bob", "eve", "kim", "müller"} and rows["kim"].submitted_by == "müller"
    assert rows["müller"].student.last_name == "Müller" and rows["müller"].verdict
    assert "1 student (kim): in groups.toml, but neither in the gradebook" in capsys.readouterr().out
    shutil.copytree(course.root / "submitted" / there, course.root / "submitted" / named)
    assert command(world, "grade", "--no-isolation") == 1
    assert "is there twice" in capsys.readouterr().out
    assert cli.main(["--course-dir", str(course.root), "student", "erase", there, "--yes"]) == 0
    assert {path.name for path in (course.root / "submitted").iterdir()} == {"ada", "bob", "eve"}
    assert "ller" not in (course.root / "groups.toml").read_text()


def test_a_group_whose_members_were_erased_stops_nothing(world):
    before = world.points()
    write(world, '[sums]\nred = []\nblue = ["kim"]\n')
    assert {**world.points(), "kim": {}} == before | {"kim": {}}
    assert "nobody of the group blue (kim) has handed in" in stale_grade_warnings(world.course, SHEET)


def test_the_same_files_from_two_of_a_group_are_one_submission_and_the_last_counts(world):
    for student in ("ada", "bob"):
        world.hand_in(student, "We say the same.")
    (world.course.submitted("bob", SHEET) / "timestamp.txt").write_text("2026-11-20 09:00:00 UTC")
    write(world, '[sums]\nred = ["ada", "bob", "kim"]\n')
    rows = grade_class(world.course, GradingOptions(SHEET))
    assert not any(row.failure for row in rows)
    for ada, bob, last in ((8, 9, "bob"), (10, 9, "ada")):
        days = {"ada": datetime(2026, 11, ada, tzinfo=UTC), "bob": datetime(2026, 11, bob, tzinfo=UTC)}
        record_times(world.course.root, SHEET, days)
        rows = {row.student.id: row for row in gather(world.course, SHEET).rows}
        assert {(row.submitted_by or name) for name, row in rows.items() if name in ("ada", "bob", "kim")} == {last}
        assert f"handed in the same files: {last}'s count" in " ".join(stale_grade_warnings(world.course, SHEET))


def test_of_a_group_the_submission_that_is_still_there_counts(world):
    write(world, '[sums]\nred = ["ada", "bob"]\n')
    shutil.rmtree(world.course.submitted("ada", SHEET))  # as the message says
    assert {row.student.id: row.submitted_by for row in gather(world.course, SHEET).rows}["ada"] == "bob"
