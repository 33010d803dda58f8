"""Feedback goes back as Moodle and Canvas take it: the zips are read again as their own code reads them."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from autograder.cli import main
from tests.exports.conftest import rename
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
