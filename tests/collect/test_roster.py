"""One roster for all commands: who a person of an LMS is, and who is nobody's guess."""

from __future__ import annotations

import json

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.collect.lists import read_names
from autograder.collect.people import Person
from autograder.collect.whose import identify
from autograder.gradebook.late.times import read_times
from autograder.gradebook.read import Student
from autograder.gradebook.roster import Roster, read_roster
from tests.collect.uploads import MOODLE, ONE, collect, packed, submitted

WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission),Last modified (grade)\n"
)
ADA = Student("ada", "Lovelace", "Ada", "ada@uni.example")
BOB = Student("bob", "Byte", "Bob", "bob@uni.example")


def worksheet(path, people):
    """people: number -> (full name, address)"""
    lines = [f"Participant {number},{name},{email},,,5,-,-\n" for number, (name, email) in people.items()]
    path.write_text(WORKSHEET + "".join(lines), encoding="utf-8-sig")
    return path


def moodle(path, people, form="_/"):
    """A zip in which everybody sends a file with their number; ``form``: between plug-in and file."""
    names = {f"{name}_{number}_assignsubmission_file{form}{ONE}": str(number).encode() for number, name in people}
    return packed(path, names)


def enrol(course, *students):
    with Gradebook(course.db_url) as gradebook:
        for one in students:
            gradebook.add_student(one.id, first_name=one.first_name, last_name=one.last_name, email=one.email)


def whose(people, kind, students=(), listed=None, numbers=None, **known):
    roster = Roster({one.id: one for one in students}, {key: frozenset({who}) for key, who in (numbers or {}).items()})
    found = identify(people, kind, Roster(roster.students, roster.numbers, **known), listed)
    return dict(found.students), dict(found.refused)


def test_d2_moodles_worksheet_says_whose_number_is_whose(course, tmp_path, capsys):
    enrol(course, ADA, BOB)
    source = moodle(tmp_path / "m.zip", [(1001, "Ada Lovelace"), (1002, "Robert Byte")])
    people = {1001: ("Ada Lovelace", "ada@uni.example"), 1002: ("Robert Byte", "bob@uni.example"), 1003: ("Eve", "")}
    assert collect(course, source, "--names", str(worksheet(tmp_path / "w.csv", people))) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1001", f"bob/{ONE}": b"1002"}
    assert "nothing from: Eve" in capsys.readouterr().out
    assert read_roster(course, "moodle", "distilbert").number_of == {"ada": "1001", "bob": "1002"}
    assert read_roster(course, "moodle", "another").number_of == {}


def test_d2_the_worksheet_of_another_assignment_fits_nobody(course, tmp_path, capsys):
    enrol(course, ADA)
    source = moodle(tmp_path / "m.zip", [(2001, "Ada Lovelace")])
    listed = worksheet(tmp_path / "w.csv", {1001: ("Ada Lovelace", "ada@uni.example")})
    assert collect(course, source, "--names", str(listed)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "w.csv fits nobody" in line and "1001" in line and "2001" in line
    (tmp_path / "n.csv").write_text("id,student\n1001,ada\n")
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 2
    (tmp_path / "t.csv").write_text("id,time\n1001,2026-11-21T18:00:00+01:00\n")
    good = worksheet(tmp_path / "g.csv", {2001: ("Ada Lovelace", "ada@uni.example")})
    assert collect(course, source, "--names", str(good), "--times", str(tmp_path / "t.csv")) == 2
    assert "t.csv fits nobody" in capsys.readouterr().err
    assert submitted(course) == {}


def test_d2_a_number_that_could_be_somebodys_on_the_roster_is_not_given_another_name(course, tmp_path, capsys):
    """The second assignment's zip without its worksheet: before, everybody became a second student, with exit 0."""
    enrol(course, ADA, BOB)
    source = moodle(tmp_path / "m.zip", [(2001, "Ada Lovelace"), (2002, "Bob Byte")])
    assert collect(course, source) == 2
    assert "worksheet" in capsys.readouterr().err
    assert submitted(course) == {}


def test_d2_people_without_a_roster_keep_their_ids_from_one_assignment_to_the_next():
    first, _ = whose([Person("1001", "Ada Lovelace")], "moodle")
    assert first == {"1001": "AdaLovelace-1001"}
    met = {"AdaLovelace-1001": frozenset({"Ada Lovelace"})}
    assert whose([Person("2001", "Ada Lovelace")], "moodle", names=met)[1].keys() == {"2001"}


def test_d2_a_second_worksheet_finds_those_whom_the_first_brought(tmp_path):
    met = {"AdaLovelace-1001": frozenset({"Ada Lovelace"})}
    sheet = worksheet(tmp_path / "w.csv", {2001: ("Ada Lovelace", "a@x"), 2002: ("Bob Byte", "b@x")})
    people = [Person("2001", "Ada Lovelace"), Person("2002", "Bob Byte")]
    students, refused = whose(people, "moodle", listed=read_names(sheet), names=met)
    assert (students, refused) == ({"2001": "AdaLovelace-1001", "2002": "BobByte-2002"}, {})


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ({1: ("Ada Lovelace", ""), 2: ("Ada Lovelace", "")}, "two in the LMS's table"),
        ({1: ("Ada Lovelace", "mallory@uni.example")}, "has the address mallory@uni.example"),
        ({1: ("Someone", "ada@uni.example"), 2: ("Other", "ada@uni.example")}, "would both be ada"),
    ],
)
def test_d2_a_person_who_only_calls_themself_so_is_nobody(tmp_path, lines, why):
    sheet = read_names(worksheet(tmp_path / "w.csv", lines))
    people = [Person(str(number), name) for number, (name, _) in lines.items()]
    students, refused = whose(people, "moodle", [ADA], sheet)
    assert students == {} and all(why in reason for reason in refused.values())


def test_d2_canvass_own_export_says_whose_number_is_whose(course, tmp_path):
    enrol(course, ADA, BOB)
    lines = (
        "Student,ID,SIS User ID,SIS Login ID,Section,toy (7)\n    Points Possible,,,,,5\n"
        '"Lovelace, Ada",101,s1,ada@uni.example,A,\n"Byte, Bob",102,s2,bob,A,\n"Student, Test",109,,,A,\n'
    )
    (tmp_path / "export.csv").write_text(lines)
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1", f"bytebob_102_9002_{ONE}": b"2"})
    assert collect(course, source, "--names", str(tmp_path / "export.csv")) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1", f"bob/{ONE}": b"2"}
    again = packed(tmp_path / "c2.zip", {f"newname_101_9005_{ONE}": b"3"})
    assert collect(course, again, "--force") == 0  # the roster has the numbers now
    assert submitted(course)[f"ada/{ONE}"] == b"3"


def test_d2_a_list_of_the_instructors_fills_the_roster_and_is_needed_once(course, tmp_path, capsys):
    (tmp_path / "n.csv").write_text("id,student\n101,ada\n102,alan\n")
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1", f"eve_103_9002_{ONE}": b"3"})
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 1
    assert "not on the list: eve-103" in capsys.readouterr().out
    with Gradebook(course.db_url) as gradebook:
        assert {one.id for one in gradebook.students} == {"ada", "alan"}
    source = packed(tmp_path / "c2.zip", {f"turingalan_102_9003_{ONE}": b"2"})
    assert collect(course, source) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1", f"alan/{ONE}": b"2", f"eve-103/{ONE}": b"3"}


def test_a_number_moves_to_the_student_whom_the_newer_list_names(course, tmp_path):
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1"})
    assert collect(course, source) == 0
    for student in ("ada", "ada2"):
        (tmp_path / "n.csv").write_text(f"id,student\n101,{student}\n")
        assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 0
        assert read_roster(course, "canvas", "distilbert").numbers["101"] == {student}
    assert json.loads((course.root / ".autograder" / "lms_ids" / "canvas.json").read_text()) == {"ada2": "101"}


def test_two_records_of_one_number_are_nobodys(course, tmp_path, capsys):
    with Gradebook(course.db_url) as gradebook:
        for student in ("ada", "bob"):
            gradebook.add_student(student, lms_user_id="101")
    assert collect(course, packed(tmp_path / "c.zip", {f"x_101_9001_{ONE}": b"1"})) == 2
    assert "ada and bob both have the number 101" in capsys.readouterr().err


def test_a_user_at_a_forge_is_the_student_of_that_id_unless_a_list_says_otherwise(tmp_path):
    assert whose([Person("ada", "ada")], "github", [ADA])[0] == {"ada": "ada"}
    (tmp_path / "n.csv").write_text("id,student\ncountess,ada\n")
    listed = read_names(tmp_path / "n.csv")
    students, refused = whose([Person("ada", "ada"), Person("countess", "countess")], "github", [ADA], listed)
    assert students == {"countess": "ada"} and "ada" in refused


def test_erasing_a_student_takes_their_numbers_off_the_roster(course, tmp_path, capsys):
    (tmp_path / "n.csv").write_text("id,student\n101,ada\n102,alan\n")
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1", f"turingalan_102_9002_{ONE}": b"2"})
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 0
    assert main(["--course-dir", str(course.root), "student", "erase", "ada", "--yes"]) == 0
    assert read_roster(course, "canvas", "distilbert").number_of == {"alan": "102"}
    assert not any("101" in path.read_text() for path in (course.root / ".autograder").rglob("*.json"))


def test_d3_moodle_before_and_since_41_mixed_with_texts(course, tmp_path, capsys):
    """The folder lost its underscore in 4.1; a text typed into Moodle is named, and nobody's work is missed."""
    folder = MOODLE.format(name="Ada Lovelace", number=1001)
    files = {
        f"{folder}/{ONE}": b"before",
        f"Grace Hopper_1002_assignsubmission_file/{ONE}": b"since",
        f"Bob Byte_1003_assignsubmission_file_{ONE}": b"flat",
        "Grace Hopper_1002_assignsubmission_onlinetext/onlinetext.html": b"typed",
    }
    assert collect(course, packed(tmp_path / "m.zip", files)) == 0
    assert submitted(course) == {
        f"AdaLovelace-1001/{ONE}": b"before",
        f"GraceHopper-1002/{ONE}": b"since",
        f"BobByte-1003/{ONE}": b"flat",
    }
    assert "onlinetext.html is not asked for" in capsys.readouterr().out


@pytest.mark.parametrize("data", ["sep=;\r\nid;student\r\n101.0;ada\r\n", "id\tstudent\n101,0\tada\n"])
def test_d9_a_list_of_excels_is_the_list(course, tmp_path, data):
    (tmp_path / "n.csv").write_bytes(data.encode("utf-16" if "\t" in data else "cp1252"))
    (tmp_path / "t.csv").write_text("id;time\n101.0;2026-11-21T18:00:00+01:00\n")
    source = packed(tmp_path / "c.zip", {f"x_101_9001_{ONE}": b"1"})
    assert collect(course, source, "--names", str(tmp_path / "n.csv"), "--times", str(tmp_path / "t.csv")) == 0
    assert set(submitted(course)) == {f"ada/{ONE}"} and set(read_times(course.root, "distilbert")) == {"ada"}


def test_d2_a_list_of_another_assignment_that_has_the_same_numbers_gives_nobody_anothers_work(course, tmp_path, capsys):
    enrol(course, ADA, BOB)
    source = moodle(tmp_path / "m.zip", [(1002, "Ada Lovelace"), (1001, "Bob Byte")])
    people = {1001: ("Ada Lovelace", "ada@uni.example"), 1002: ("Bob Byte", "bob@uni.example")}
    assert collect(course, source, "--names", str(worksheet(tmp_path / "w.csv", people))) == 2
    assert "is it another assignment's list?" in capsys.readouterr().err
    (tmp_path / "n.csv").write_text("id,student\n1001,ada\n1002,bob\n")
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 2
    (tmp_path / "n.csv").write_text("id,student\n1002,ada\n1001,bob\n")
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1002", f"bob/{ONE}": b"1001"}


def test_d2_where_moodle_hides_the_names_the_numbers_count(course, tmp_path):
    enrol(course, ADA, BOB)
    (tmp_path / "n.csv").write_text("id,student\n1002,ada\n1001,bob\n")
    source = moodle(tmp_path / "m.zip", [(1002, "Teilnehmer"), (1001, "Teilnehmer")])
    assert collect(course, source, "--names", str(tmp_path / "n.csv")) == 0
    assert submitted(course) == {f"ada/{ONE}": b"1002", f"bob/{ONE}": b"1001"}


def test_d2_a_time_is_found_by_moodles_number_and_by_no_other_number(course, tmp_path):
    """Ada's ID number is Bob's participant number."""
    sheet = tmp_path / "w.csv"
    sheet.write_text(
        "Identifier,Full name,ID number,Email address,Grade,Last modified (submission)\n"
        "Participant 1001,Ada Lovelace,1002,ada@x,,2026-11-20T09:00:00+01:00\n"
        "Participant 1002,Bob Byte,77,bob@x,,2026-11-22T09:00:00+01:00\n"
    )
    source = moodle(tmp_path / "m.zip", [(1001, "Ada Lovelace"), (1002, "Bob Byte")])
    assert collect(course, source, "--names", str(sheet), "--times", str(sheet)) == 0
    assert {who: when.day for who, when in read_times(course.root, "distilbert").items()} == {"1002": 20, "77": 22}


def test_h7_the_times_in_moodles_worksheet_are_kept_when_it_is_given_for_the_names_alone(course, tmp_path, capsys):
    sheet = tmp_path / "w.csv"
    text = (
        "Identifier,Full name,Status,Grade,Last modified (submission)\n"
        'Participant 1001,Ada Lovelace,"Submitted for grading - 2 days late",,2026-11-20T09:00:00{zone}\n'
    )
    sheet.write_text(text.format(zone="+01:00"))
    source = moodle(tmp_path / "m.zip", [(1001, "Ada Lovelace")])
    assert collect(course, source, "--names", str(sheet)) == 0
    assert [when.day for when in read_times(course.root, "distilbert").values()] == [20]
    capsys.readouterr()
    sheet.write_text(text.format(zone=""))
    assert collect(course, source, "--names", str(sheet), "--force") == 0
    said = capsys.readouterr().err
    assert "the times in" in said and "were not kept" in said and "names no time zone" in said
