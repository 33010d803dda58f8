"""The instructor's own lists, of times and of the class: how they are read, and which are refused."""

from datetime import UTC

import pytest

from autograder.cli import main
from autograder.collect import read_moments, read_names
from autograder.errors import GradingError
from autograder.gradebook.roster import read_roster


def moments(tmp_path, text, zone=None):
    (tmp_path / "times.csv").write_text(text)
    found = read_moments(tmp_path / "times.csv", zone)
    utc = {key: when.astimezone(UTC) for key, when in {**found.by_number, **found.by_student}.items()}
    return {key: when.isoformat(timespec="minutes").removesuffix("+00:00") for key, when in utc.items()}


def test_moodles_worksheet_gives_the_times(tmp_path):
    from zoneinfo import ZoneInfo

    text = (
        "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,Grade can be changed,"
        '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
        'Participant 42,Ada L,s1,ada@uni.example,Submitted,,5.00,Yes,"Friday, 20 November 2026, 9:00 AM",-,\n'
        "Participant 43,Bob,,bob@uni.example,No submission,,5.00,Yes,-,-,\n"
    )
    expected = dict.fromkeys(("42", "s1", "ada@uni.example"), "2026-11-20T08:00")
    assert moments(tmp_path, text, ZoneInfo("Europe/Berlin")) == expected


@pytest.mark.parametrize(
    "text", ["2026-11-20 09:00", "2026-11-20T09:00", "20 November 2026 9:00 AM", "20.11.2026 09:00"]
)
def test_a_time_without_seconds_and_zone_is_taken_in_the_courses_zone(tmp_path, text):
    from zoneinfo import ZoneInfo

    assert moments(tmp_path, f"id;time\n7;{text}\n", ZoneInfo("Europe/Berlin")) == {"7": "2026-11-20T08:00"}


@pytest.mark.parametrize(
    "text", ["05/06/2026 9:00", "2026-11-20", "9:00", "Friday", "20 November 2026 9:00 XYZ", "soon"]
)
def test_a_time_that_can_be_read_in_two_ways_or_in_none_is_refused(tmp_path, text):
    with pytest.raises(GradingError, match="line 2: expected a time such as"):
        moments(tmp_path, f"id,time\n7,{text}\n", UTC)


def test_a_time_without_a_zone_anywhere_is_refused(tmp_path):
    with pytest.raises(GradingError, match=r"names no time zone: add one .* in late_policy.toml"):
        moments(tmp_path, "id,time\n7,2026-11-20 09:00\n")


def test_two_times_of_one_student_are_refused(tmp_path):
    with pytest.raises(GradingError, match="line 3: 7 is there twice"):
        moments(tmp_path, "id,time\n7,2026-11-20T09:00Z\n7,2026-11-21T09:00Z\n")


def test_a_list_of_names_may_have_semicolons(tmp_path):
    (tmp_path / "names.csv").write_text("id;student\n101;ada\n")
    people = read_names(tmp_path / "names.csv").people
    assert {number: one.student for number, one in people.items()} == {"101": "ada"}


@pytest.mark.parametrize("data", [
    "id,first_name,last_name,email\nmüller,Jo,Müller,jo@uni.example\n".encode("cp1252"),
    "id;last_name;first_name;email\r\nmüller;Müller;Jo;jo@uni.example\r\n".encode("utf-8-sig"),
    "email\tID\tlast_name\tfirst_name\njo@uni.example\tmu\u0308ller\tMu\u0308ller\tJo\n".encode("utf-16"),
    "Student,ID,SIS User ID,SIS Login ID,Section\n\"Müller, Jo\",7,9,müller,A\n".encode(),
    "Identifier,Full name,Email address,Username,First name,Last name\n"
    "Participant 7,Jo Müller,jo@uni.example,müller,Jo,Müller\n".encode(),
])  # fmt: skip
def test_a_class_is_entered_from_any_list(course, tmp_path, data, capsys):
    (tmp_path / "class.csv").write_bytes(data)
    for _ in range(2):
        assert main(["--course", str(course.root), "student", "import", str(tmp_path / "class.csv")]) == 0
    (student,) = read_roster(course, "moodle", "distilbert").students.values()
    assert (student.id, student.last_name, student.first_name) == ("müller", "Müller", "Jo")
    assert capsys.readouterr().out == "entered 1 student: müller\n" * 2


@pytest.mark.parametrize(("data", "said"), [
    ("id\na/b\n", "line 2: the id 'a/b' cannot name a folder"), ("id\na\na\n", "line 3: the id 'a' is there twice"),
    ("id\n", "names nobody"), ("name\nAda\n", "expected the columns id and student"),
])  # fmt: skip
def test_a_class_list_that_is_wrong_enters_nobody(course, tmp_path, data, said, capsys):
    (tmp_path / "class.csv").write_text(data)
    assert main(["--course", str(course.root), "student", "import", str(tmp_path / "class.csv")]) == 2
    assert said in capsys.readouterr().err and not read_roster(course, "moodle", "distilbert").students
