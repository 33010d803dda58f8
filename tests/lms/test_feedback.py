"""Feedback goes back: as zips, read as Moodle and Canvas read them, and as a commit in each clone."""

import csv
import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from tests.exports.conftest import rename
from tests.exports.importers import moodle_worksheet
from tests.feedback.toy import new_course, plain_exercise, python_notebook
from tests.lms.conftest import CLASS, came_from

pytestmark = pytest.mark.slow


def feedback(course, *words):
    return main(["--course-dir", str(course.root), "feedback", "toy", *words])


def page(course, student):
    return (course.root / "feedback" / student / "toy" / "1_sums.html").read_bytes()


def everything(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def as_moodle_reads(files, participants):
    """(participant, file) -> bytes, by the rules of Moodle's importziplib.php."""
    taken = {}
    for path, data in files.items():
        parts = f"/import/{path}".split("/")
        if parts[-1].startswith((".", "~")):
            continue
        while parts:
            pieces = parts.pop(0).split("_", 4)
            if len(pieces) < 5 or not pieces[1].isnumeric() or int(pieces[1]) not in participants:
                continue
            assert (pieces[2], pieces[3]) == ("assignsubmission", "file")
            taken[int(pieces[1]), "/".join([pieces[4], *parts]).lstrip("/")] = data
            break
    return taken


def as_canvas_reads(names, users, attachments):
    """name -> (user, attachment), by the rules of Canvas's infer_comment_context_from_filename."""
    taken = {}
    for name in names:
        pieces = name.rsplit("/", 1)[-1].split("_")
        numbers = [piece for piece in pieces if re.fullmatch(r"\d+", piece)][:2]
        if len(numbers) < 2 or pieces[-1].startswith("link"):
            continue
        user, attachment = map(int, numbers)
        if user in users and attachment in attachments[user]:
            taken[name] = user, attachment
    return taken


def test_moodle_gives_everybody_their_own_pages(course):
    came_from(course, "moodle")
    assert feedback(course, "--to", "moodle") == 0
    files = everything(course.root / "exports" / "toy-feedback-moodle.zip")
    assert as_moodle_reads(files, {101, 102, 103}) == {
        (number, "1_sums.html"): page(course, student) for number, student in enumerate(CLASS, start=101)
    }
    assert {name.partition("/")[0] for name in files} == {
        "Ada Lovelace_101_assignsubmission_file_", "Bob Byte Ohm_102_assignsubmission_file_",
        "Seán O Neill 42_103_assignsubmission_file_",
    }  # fmt: skip


def test_the_same_pages_make_the_same_bytes(course, tmp_path):
    came_from(course, "moodle")
    for name in ("one.zip", "two.zip"):
        assert feedback(course, "--to", "moodle", "--out", str(tmp_path / name)) == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_moodles_own_worksheet_says_who_is_who(course, tmp_path):
    rename(course, "ada", "Ada", "Lovelace", email="ada@uni.example")
    (tmp_path / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Grade,Last modified (grade)\n"
        "Participant 7,Ada Lovelace,ada@uni.example,,-\nParticipant 8,Bob,bob@uni.example,,-\n"
    )
    assert feedback(course, "--to", "moodle", "--columns", str(tmp_path / "worksheet.csv")) == 1
    files = everything(course.root / "exports" / "toy-feedback-moodle.zip")
    read = as_moodle_reads(files, {7, 8})
    assert read == {(7, "1_sums.html"): page(course, "ada"), (8, "1_sums.html"): page(course, "bob")}


def test_who_is_not_known_there_is_said_and_the_others_are_packed(course, capsys):
    came_from(course, "moodle")
    path = course.root / ".autograder" / "origins" / "toy.json"
    path.write_text(path.read_text().replace('"103"', '"../103"'))
    assert feedback(course, "--to", "moodle") == 1
    assert "o_neill is left out" in capsys.readouterr().err
    assert len(everything(course.root / "exports" / "toy-feedback-moodle.zip")) == 2


def test_canvas_gives_everybody_their_own_pages(course):
    came_from(course, "canvas")
    assert feedback(course, "--to", "canvas") == 0
    files = everything(course.root / "exports" / "toy-feedback-canvas.zip")
    read = as_canvas_reads(files, {101, 102, 103}, {number: {9000 + number} for number in (101, 102, 103)})
    assert {user: files[name] for name, (user, _) in read.items()} == {
        number: page(course, student) for number, student in enumerate(CLASS, start=101)
    }
    assert len(read) == len(files) == 3
    folder = course.root / "exports" / "toy-feedback-canvas"
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."} == files


@pytest.mark.parametrize("to", ["moodle", "canvas"])
def test_nothing_is_packed_where_nobody_is_known(course, capsys, to):
    came_from(course, "github")
    assert feedback(course, "--to", to) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "nothing was packed" in line and "collect" in line
    assert not list(Path(course.root).glob("exports/*.zip"))


@pytest.mark.parametrize(
    "words", [["--to", "git"], ["--clones", "x"], ["--out", "x.zip"], ["--to", "canvas", "--columns", "x.csv"]]
)
def test_options_that_do_not_go_together_are_one_line(course, capsys, words):
    assert feedback(course, *words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


BRANCH = "autograder-feedback"


def git(folder, *words):
    known = ["-c", "user.name=Student", "-c", "user.email=student@example.org"]
    return subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clones(tmp_path):
    """The users are the numbers of the origins; each repository would run something if it could."""
    if shutil.which("git") is None:
        pytest.skip("clones are made with git")
    for number in range(101, 101 + len(CLASS)):
        clone = tmp_path / "clones" / f"toy-{number}"
        clone.mkdir(parents=True)
        git(clone, "init", "-q", "-b", "main")
        (clone / "1_sums.ipynb").write_text("mine")
        (clone / ".gitattributes").write_text("* filter=evil\n")
        git(clone, "add", ".")
        git(clone, "commit", "-q", "-m", "done")
        git(clone, "config", "filter.evil.clean", f"touch {tmp_path}/ran")
        for name in ("post-commit", "reference-transaction", "post-index-change"):
            (clone / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            (clone / ".git" / "hooks" / name).chmod(0o755)
    return tmp_path / "clones"


def feedback_in(course, clones):
    return main(["--course-dir", str(course.root), "feedback", "toy", "--to", "git", "--clones", str(clones)])


def test_each_clone_has_its_students_pages_on_a_branch_of_their_own(course, clones, tmp_path, capsys):
    came_from(course, "github")
    before = {clone.name: git(clone, "rev-parse", "main") for clone in clones.iterdir()}
    assert feedback_in(course, clones) == 0
    for number, student in enumerate(CLASS, start=101):
        clone = clones / f"toy-{number}"
        shown = git(clone, "show", f"{BRANCH}:feedback/toy/1_sums.html")
        assert shown == (course.root / "feedback" / student / "toy" / "1_sums.html").read_text()
        assert git(clone, "rev-parse", "main") == before[clone.name]
        assert git(clone, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
        assert sorted(path.name for path in clone.iterdir()) == [".git", ".gitattributes", "1_sums.ipynb"]
        assert git(clone, "ls-tree", "-r", "--name-only", BRANCH).split() == ["feedback/toy/1_sums.html"]
    assert not (tmp_path / "ran").exists()
    assert f"push origin {BRANCH}" in capsys.readouterr().out


def test_the_same_pages_are_committed_once_and_other_assignments_stay(course, clones):
    came_from(course, "github")
    assert feedback_in(course, clones) == 0
    clone = clones / "toy-101"
    git(clone, "config", "--unset", "filter.evil.clean")
    git(clone, "checkout", "-q", BRANCH)
    (clone / "feedback" / "earlier").mkdir()
    (clone / "feedback" / "earlier" / "a.html").write_text("earlier")
    (clone / "feedback" / "toy" / "gone.html").write_text("of a notebook that is no more")
    git(clone, "add", "-f", "feedback")
    git(clone, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "more")
    git(clone, "checkout", "-q", "main")
    assert feedback_in(course, clones) == 0
    listed = git(clone, "ls-tree", "-r", "--name-only", BRANCH).split()
    assert listed == ["feedback/earlier/a.html", "feedback/toy/1_sums.html"]
    count = git(clone, "rev-list", "--count", BRANCH)
    assert feedback_in(course, clones) == 0
    assert git(clone, "rev-list", "--count", BRANCH) == count
    assert git(clones / "toy-102", "rev-list", "--count", BRANCH).strip() == "1"


def test_who_has_no_clone_is_said(course, clones, capsys):
    came_from(course, "github")
    shutil.rmtree(clones / "toy-102")
    assert feedback_in(course, clones) == 1
    assert "bob is left out" in capsys.readouterr().err
    assert feedback_in(course, clones / "nowhere") == 2


ANSWERS = {"square": "return x * x", "cube": "return x ** 3"}
POINTS = {"square": 2, "cube": 3}
#: address -> full name; two have the same.
PEOPLE = {
    "ada@uni.example": "Ada Lovelace", "bob@uni.example": "Bob O'Neil", "sam@uni.example": "Sam Lee",
    "samuel@uni.example": "Sam Lee", "=1+1@uni.example": "=HYPERLINK(A1)",
}  # fmt: skip
#: Assignment -> address -> Moodle's number. A number is one person's in the first, and another's in the second.
NUMBERS = {
    "first": dict(zip(PEOPLE, (1001, 1002, 1003, 1004, 1005), strict=True)),
    "second": dict(zip(PEOPLE, (1002, 1003, 1001, 2004, 1004), strict=True)),
}
#: Assignment -> address -> the functions that are right.
RIGHT = {
    "first": {"ada@uni.example": "square cube", "bob@uni.example": "square", "sam@uni.example": "cube",
              "samuel@uni.example": "square cube", "=1+1@uni.example": ""},
    "second": {"ada@uni.example": "cube", "bob@uni.example": "square cube", "sam@uni.example": "square",
               "=1+1@uni.example": "square"},
}  # fmt: skip


def notebook():
    tests = {name: f"assert {name}(3) == {value}" for name, value in (("square", 9), ("cube", 27))}
    exercises = [plain_exercise(name, ANSWERS[name], tests[name], POINTS[name], "x") for name in ANSWERS]
    return python_notebook(*(cell for cells in exercises for cell in cells))


def answered(right):
    made = notebook()
    for cell in made.cells[::2]:
        name = cell.metadata["nbgrader"]["grade_id"].removesuffix("_answer")
        cell.source = f"def {name}(x):\n    {ANSWERS[name] if name in right.split() else 'return 0'}"
    return nbformat.writes(made).encode()


@pytest.fixture
def two_assignments(tmp_path):
    return new_course(tmp_path / "course", {f"{assignment}/p1": notebook() for assignment in NUMBERS})


def downloads(folder, assignment):
    """Moodle's zip and its worksheet."""
    numbers = NUMBERS[assignment]
    form = {"first": "{name}_{number}_assignsubmission_file_/p1.ipynb",
            "second": "{name}_{number}_assignsubmission_file/p1.ipynb"}[assignment]  # fmt: skip
    with zipfile.ZipFile(folder / f"{assignment}.zip", "w") as made:
        for email, right in RIGHT[assignment].items():
            name = re.sub(r"[&<>\"`|':\\/]", "", PEOPLE[email])
            made.writestr(form.format(name=name, number=numbers[email]), answered(right))
    with (folder / f"{assignment}.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        sheet = csv.writer(stream)
        sheet.writerow(["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
                        "Last modified (submission)", "Last modified (grade)", "Feedback comments"])  # fmt: skip
        for email, number in numbers.items():
            when = "2026-11-20T09:00:00+01:00" if email in RIGHT[assignment] else "-"
            sheet.writerow([f"Participant {number}", PEOPLE[email], email, "", "", 5, when, "-", ""])
    return str(folder / f"{assignment}.zip"), str(folder / f"{assignment}.csv")


def test_two_assignments_from_moodle_and_back_are_one_row_per_person(two_assignments, tmp_path, capsys):
    def say(*words):
        return main(["--course-dir", str(two_assignments.root), *words])

    for assignment in NUMBERS:
        source, sheet = downloads(tmp_path, assignment)
        if assignment == "second":  # the first one's worksheet has the same numbers, of other people
            assert say("collect", assignment, source, "--names", str(tmp_path / "first.csv"), "--yes") == 2
        assert say("collect", assignment, source, "--names", sheet, "--times", sheet, "--yes") == 0
    assert len(two_assignments.everybody_submitted()) == len(PEOPLE)
    capsys.readouterr()
    for assignment in NUMBERS:
        assert say("grade", assignment, "--no-isolation") == 0
        sheet = tmp_path / f"{assignment}.csv"
        assert say("export", assignment, "--to", "moodle", "--columns", str(sheet)) == 0
        assert say("feedback", assignment, "--to", "moodle") == 0
        exported = (two_assignments.root / "exports" / f"{assignment}-moodle.csv").read_bytes()
        people = [{"participant": number, "username": email} for email, number in NUMBERS[assignment].items()]
        expected = {
            email: f"{sum(POINTS[name] for name in right.split()):g}" for email, right in RIGHT[assignment].items()
        }
        grades = {email: grade for email, (grade, _) in moodle_worksheet(exported, people).items()}
        assert grades == expected
        packed = as_moodle_reads(
            everything(two_assignments.root / "exports" / f"{assignment}-feedback-moodle.zip"),
            set(NUMBERS[assignment].values()),
        )
        assert {number for number, _ in packed} == {NUMBERS[assignment][email] for email in RIGHT[assignment]}
    for command in ("export", "feedback"):
        capsys.readouterr()
        assert say(command, "second", "--to", "moodle", "--columns", str(tmp_path / "first.csv")) == 2
        assert "looks like another assignment's worksheet" in capsys.readouterr().err
    assert say("export", "--total", "--to", "csv") == 0
    total = (two_assignments.root / "exports" / "course-total.csv").read_text(encoding="utf-8-sig")
    rows = {row["email"]: row for row in csv.DictReader(io.StringIO(total))}
    assert len(rows) == total.count("\n") - 1 == len(PEOPLE)
    assert rows["ada@uni.example"]["points"] == "8" and rows["bob@uni.example"]["points"] == "7"
    assert rows["'=1+1@uni.example"]["points"] == "2"
