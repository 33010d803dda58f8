"""``autograder export`` and ``nbgrader export`` as an instructor types them."""

import csv
import io
import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.exports import FORMATS
from autograder.feedback import write_feedback
from autograder.gradebook.late.file import read_policy
from autograder.gradebook.late.times import record_times
from tests.exports.conftest import cells, mark, rename
from tests.feedback.toy import hand_in
from tests.pipeline.conftest import nbgrader

POLICY = '[assignments.toy]\ndeadline = 2026-11-30T23:59:00Z\nper_day = "20%"\n'


@pytest.fixture
def type_(course, monkeypatch, capsys):
    monkeypatch.chdir(course.root)

    def type_(*words: str) -> tuple[int, str, str]:
        code = cli.main(["export", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return type_


def penalties(course, student: str) -> list[float | None]:
    with Gradebook(course.db_url) as gradebook:
        return [one.late_submission_penalty for one in gradebook.find_submission("toy", student).notebooks]


def test_a_file_of_ones_own_choice(course, type_):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    assert type_("toy", "--to", "json", "--out", "mine/grades.json")[:2] == (0, "mine/grades.json\n")
    assert json.loads((course.root / "mine" / "grades.json").read_text())["students"][0]["score"] == 5.0


def test_times_are_told_in_the_zone_of_the_deadline(course, type_):
    (course.root / "late_policy.toml").write_text('timezone = "Europe/Berlin"\n' + POLICY.replace("59:00Z", "59:00"))
    record_times(course.root, "toy", {"ada": datetime(2026, 11, 30, 22, 58, tzinfo=UTC)})
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    _, out, _ = type_("toy", "--to", "csv")
    assert "2026-11-30T23:58:00+01:00,0," in (course.root / out.strip()).read_text()
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_submission("toy", "ada").timestamp == datetime(2026, 11, 30, 22, 58)


def test_who_waits_is_counted_on_stderr(course, type_):
    hand_in(course, "ada", cells=cells(3.0, None))
    hand_in(course, "bob", cells=cells(None, None, "infrastructure"))
    hand_in(course, "eve", cells=cells(3.0, 2.0))
    code, _, err = type_("toy", "--to", "csv")
    assert code == 0
    assert "1 student (ada): 1 to be read by a person" in err
    assert "1 student (bob): not graded yet, or the grader failed" in err
    assert "eve" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("toys", "--to", "csv"), "nothing is graded for 'toys'"),
        (("toy", "--to", "csv", "--columns", "x.csv"), "--columns goes with --to canvas or moodle"),
        (("toy", "--to", "canvas", "--columns", "absent.csv"), "absent.csv cannot be read"),
        (("toy", "--to", "csv", "--out", "source"), "source cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_nothing_is_written(course, type_, words, said):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    code, out, err = type_(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert not (course.root / "exports").exists()


def test_a_wrong_policy_stops_the_export(course, type_):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    (course.root / "late_policy.toml").write_text("[assignments.toy]\ndeadlne = 1\n")
    code, _, err = type_("toy", "--to", "csv")
    assert code == 2
    assert err.count("\n") == 1
    assert "did you mean 'deadline'?" in err


def test_students_who_are_not_in_the_given_table_are_listed(course, type_):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    hand_in(course, "bob", cells=cells(3.0, 2.0))
    (course.root / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,Toy (9)\nAda,1,ada,A,\n")
    code, _, err = type_("toy", "--to", "canvas", "--columns", "canvas.csv")
    assert code == 1
    assert "left out, not in canvas.csv: bob" in err


def test_the_deduction_is_in_every_place_and_nowhere_twice(course, type_):
    (course.root / "late_policy.toml").write_text(POLICY)
    hand_in(course, "ada", cells=cells(3.0, None))
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 1, tzinfo=UTC)})
    mark(course, "ada", "why", 2.0)
    for _ in range(2):  # the second time the gradebook has the penalty already
        type_("toy", "--to", "csv")
        (line,) = csv.DictReader(io.StringIO((course.root / "exports" / "toy.csv").read_text("utf-8-sig")))
        assert (line["points"], line["deduction"], line["score"], line["days_late"]) == ("5", "1", "4", "1")
        assert penalties(course, "ada") == [1.0]
    (page,) = write_feedback(course, "toy", "ada")
    assert "5 of 5 points earned, 1 taken off (1 day late: 1 at 20 %), 4 count." in page.read_text()
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_submission("toy", "ada").timestamp == datetime(2026, 12, 1)


def test_a_deduction_that_is_lifted_leaves_the_gradebook_too(course, type_):
    (course.root / "late_policy.toml").write_text(POLICY)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 1, tzinfo=UTC)})
    type_("toy", "--to", "csv")
    (course.root / "late_policy.toml").write_text(POLICY + "[assignments.toy.extensions]\nada = 1\n")
    type_("toy", "--to", "csv")
    assert penalties(course, "ada") == [None]


def grades_csv(course) -> dict[str, dict[str, str]]:
    done = nbgrader(course.root, "export")
    assert done.returncode == 0, done.said
    with (course.root / "grades.csv").open(newline="", encoding="utf-8") as stream:
        return {row["student_id"]: row for row in csv.DictReader(stream, strict=True)}


def test_nbgrader_export_has_its_columns_and_no_zero_for_what_is_not_graded(course):
    (course.root / "late_policy.toml").write_text(POLICY)
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 1, tzinfo=UTC)})
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    hand_in(course, "bob", cells=cells(None, None, "infrastructure"))
    hand_in(course, "eve", cells=cells(0.0, 0.0))
    hand_in(course, "jo", cells=cells(3.0, None))
    rename(course, "ada", "Ada, Countess", '=Love"lace')
    rows = grades_csv(course)
    assert list(rows["ada"]) == [
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
        "late_submission_penalty", "score", "max_score",
    ]  # fmt: skip
    ada = rows["ada"]
    assert (ada["raw_score"], ada["late_submission_penalty"], ada["score"], ada["max_score"]) == ("5", "1", "4", "5")
    assert (ada["first_name"], ada["last_name"]) == ("Ada, Countess", "'=Love\"lace")
    assert [rows[student]["score"] for student in ("bob", "eve", "jo")] == ["", "0", ""]


def test_nbgrader_export_says_in_one_line_what_is_wrong_with_the_policy(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    (course.root / "late_policy.toml").write_text("[assignments.toy]\ndeadlne = 1\n")
    done = nbgrader(course.root, "export", "--log-level", "ERROR")
    assert done.returncode == 1
    assert done.said.count("\n") == 1
    assert "did you mean 'deadline'?" in done.said
    assert not (course.root / "grades.csv").exists()


GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "exports.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


def test_every_command_writes_the_file_that_the_guide_names(course, monkeypatch):
    monkeypatch.chdir(course.root)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    lines = [line.replace("distilbert", "toy") for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        command, _, said = line.partition("#")
        assert cli.main(shlex.split(command)[1:]) == 0
        path = Path(said.split(":")[0].strip())
        assert b"ada" in path.read_bytes(), line
        assert [left.name for left in path.parent.glob(".*")] == [".gitignore"]
    written = " ".join(lines)
    assert all(f"toy --to {to}" in written for to in FORMATS)


def test_the_late_policy_of_the_guide_is_one(tmp_path):
    text, private = blocks("toml")
    (tmp_path / "extensions.toml").write_text(private, encoding="utf-8")
    (tmp_path / "late_policy.toml").write_text(text, encoding="utf-8")
    policy = read_policy(tmp_path, {"distilbert"}, {"ada", "grace"})
    rules = policy.assignments["distilbert"]
    assert (policy.free_days, rules.per_day_share, rules.afterwards) == (3, 0.1, "refused")
    assert set(rules.extensions) == {"ada", "grace"}
