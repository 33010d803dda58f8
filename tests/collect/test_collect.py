"""Submissions from Canvas, Moodle and students' repositories: sorted by person, whatever the archives hold beside."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.cli import main
from autograder.collect import make_plan
from autograder.errors import GradingError
from autograder.gradebook.late.times import read_times
from autograder.model.course import Course
from tests.collect.uploads import MOODLE, ONE, SHEET, TWO, collect, packed, submitted
from tests.pipeline.conftest import ROOT
from tools.demo import build_sample_class


def test_canvas_files_get_their_own_names_back_and_the_latest_counts(course, tmp_path):
    files = {
        f"lovelaceada_101_9001_{ONE}": b"first",
        "lovelaceada_101_9002_1_embedding-1.ipynb": b"second",
        "lovelaceada_101_9003_1_embedding-10.ipynb": b"eleventh",
        f"turingalan_LATE_102_9004_{ONE}": b"late",
        f"müllerjörg_103_9005_{TWO}": "für".encode(),
        f"לוי_104_9006_{ONE}": b"right to left",
    }
    assert collect(course, packed(tmp_path / "c.zip", files)) == 0
    assert submitted(course) == {
        f"lovelaceada-101/{ONE}": b"eleventh",
        f"turingalan-102/{ONE}": b"late",
        f"müllerjörg-103/{TWO}": "für".encode(),
        f"לוי-104/{ONE}": b"right to left",
    }


@pytest.mark.parametrize("separator", ["/", ""], ids=["folders", "flat"])
def test_moodle_with_folders_and_without(course, tmp_path, separator):
    people = {"7": "Seán O'Brien", "8": "Seán O'Brien", "9": "李 小龍"}
    files = {MOODLE.format(name=name, number=who) + separator + ONE: who.encode() for who, name in people.items()}
    assert collect(course, packed(tmp_path / "m.zip", files)) == 0
    assert submitted(course) == {f"SeánOBrien-7/{ONE}": b"7", f"SeánOBrien-8/{ONE}": b"8", f"李小龍-9/{ONE}": b"9"}


def test_the_instructors_list_names_students_and_tells_who_sent_nothing(course, tmp_path, capsys):
    (tmp_path / "names.csv").write_text("id,student\n101,ada\n102,alan\n", encoding="utf-8-sig")
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1"})
    assert collect(course, source, "--names", str(tmp_path / "names.csv")) == 0
    assert set(submitted(course)) == {f"ada/{ONE}"}
    assert "nothing from: alan" in capsys.readouterr().out


@pytest.mark.parametrize(
    "lines",
    [
        "id,student\n1,../up\n",
        "id,student\n1,.hidden\n",
        "id,student\n1,a/b\n",
        "id,student\n1,a\n2,a\n",
        "a,b\n1,2\n",
        "\xff",
    ],
)
def test_a_list_of_names_with_a_mistake_stops_before_anything_is_written(course, tmp_path, capsys, lines):
    (tmp_path / "names.csv").write_bytes(lines.encode("latin-1"))
    source = packed(tmp_path / "c.zip", {f"lovelaceada_101_9001_{ONE}": b"1"})
    assert collect(course, source, "--names", str(tmp_path / "names.csv")) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (course.root / "submitted").exists()


def test_a_name_that_imitates_a_number_is_never_guessed_at(course, tmp_path, capsys):
    files = {
        f"b_123_456_{ONE}": b"of 123",
        f"a_999_1_123_456_{ONE}": b"whose?",
        "a_999_1_123_456_other.ipynb": b"whose?",
        f"x_999_assignsubmission_file__123_assignsubmission_file_/{ONE}": b"whose?",
    }
    assert collect(course, packed(tmp_path / "c.zip", files), "--from", "canvas") == 1
    assert submitted(course) == {f"b-123/{ONE}": b"of 123"}
    assert "more than one way" in capsys.readouterr().out
    again = packed(tmp_path / "m.zip", {name: data for name, data in files.items() if name.startswith("x")})
    assert collect(course, again, "--from", "moodle") == 2


def test_times_come_from_the_instructors_list(course, tmp_path, capsys):
    source = packed(tmp_path / "c.zip", {f"ada_101_1_{ONE}": b"x", f"alan_102_2_{ONE}": b"y"})
    (tmp_path / "times.csv").write_text("id,time\n101,2026-11-21T18:00:00+01:00\n999,2026-11-21T18:00:00+01:00\n")
    assert collect(course, source, "--times", str(tmp_path / "times.csv")) == 0
    assert {who: when.isoformat() for who, when in read_times(course.root, SHEET).items()} == {
        "ada-101": "2026-11-21T17:00:00+00:00"
    }
    assert "1 without a recorded time" in capsys.readouterr().out
    (tmp_path / "times.csv").write_text("id,time\n101,2026-11-21 18:00\n")
    assert collect(course, source, "--times", str(tmp_path / "times.csv")) == 2


def test_what_is_there_is_replaced_only_by_force_and_then_kept(course, tmp_path, capsys):
    first, second = ({f"ada_101_1_{ONE}": data} for data in (b"first", b"second"))
    assert collect(course, packed(tmp_path / "1.zip", first)) == 0
    assert collect(course, packed(tmp_path / "1.zip", first)) == 0
    assert "there already" in capsys.readouterr().out
    assert collect(course, packed(tmp_path / "2.zip", second)) == 1
    assert submitted(course) == {f"ada-101/{ONE}": b"first"}
    assert collect(course, packed(tmp_path / "2.zip", second), "--force") == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"second"}
    assert (course.root / ".autograder" / "replaced" / SHEET / "ada-101-1" / ONE).read_bytes() == b"first"


def test_nothing_is_written_without_a_yes(course, tmp_path, capsys, monkeypatch):
    source = packed(tmp_path / "c.zip", {f"ada_101_1_{ONE}": b"x"})
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["--course", str(course.root), "collect", SHEET, str(source)]) == 2
    shown = capsys.readouterr()
    assert "ada-101" in shown.out and "--yes" in shown.err
    assert not (course.root / "submitted").exists()
    assert not list((course.root / ".autograder").glob("collecting-*"))


@pytest.mark.parametrize("words", [[], ["--from", "github"]])
def test_an_archive_that_is_none_is_said_in_one_line(course, tmp_path, capsys, words):
    (tmp_path / "c.zip").write_bytes(b"this is no zip")
    for source in (tmp_path / "c.zip", tmp_path / "nowhere.zip", packed(tmp_path / "d.zip", {"readme.txt": b"hello"})):
        assert collect(course, source, *words) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_link_in_place_of_a_students_folder_is_not_written_through(course, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ada-101").symlink_to(tmp_path / "elsewhere")
    assert collect(course, packed(tmp_path / "c.zip", {f"ada_101_1_{ONE}": b"x"})) == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def git(folder: Path, *words: str) -> None:
    known = ["-c", "user.name=Student", "-c", "user.email=student@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="clones are made with git")
def test_clones_give_what_was_committed_and_nothing_of_a_repository_runs(course, tmp_path):
    clone = tmp_path / "clones" / f"{SHEET}-grace-hopper"
    clone.mkdir(parents=True)
    git(clone, "init", "-q")
    (clone / SHEET).mkdir()
    (clone / SHEET / ONE).write_bytes(b"committed")
    (clone / "old").mkdir()
    (clone / "old" / ONE).write_bytes(b"an old copy")
    (clone / TWO).symlink_to("/etc/passwd")
    (clone / ".gitattributes").write_text("*.ipynb filter=evil\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "done")
    git(clone, "config", "filter.evil.smudge", f"touch {tmp_path}/ran")
    (clone / ".git" / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (clone / ".git" / "hooks" / "post-checkout").chmod(0o755)
    (clone / SHEET / ONE).write_bytes(b"not committed")
    empty = tmp_path / "clones" / f"{SHEET}-nobody"
    empty.mkdir()
    git(empty, "init", "-q")
    assert collect(course, tmp_path / "clones") == 1  # one has no commit
    assert submitted(course) == {f"grace-hopper/{ONE}": b"committed"}
    assert not (tmp_path / "ran").exists()


def test_the_sample_class_from_canvas_is_the_sample_class(course, tmp_path):
    build_sample_class(course.root)
    assignment = Assignment.open(course.root, SHEET)
    before, files, names = {}, {}, ["id,student"]
    for number, student in enumerate(course.students(SHEET), start=100):
        before[student] = read_submission(course.submitted(student, SHEET), student, assignment)
        names.append(f"{number},{student}")
        for place, path in enumerate(sorted(course.submitted(student, SHEET).glob("*.ipynb"))):
            files[f"{student}_{number}_{number}{place}_{path.name}"] = path.read_bytes()
    (tmp_path / "names.csv").write_text("\n".join(names))
    shutil.rmtree(course.root / "submitted")
    assert collect(course, packed(tmp_path / "c.zip", files), "--names", str(tmp_path / "names.csv")) == 0
    for student, submission in before.items():
        assert read_submission(course.submitted(student, SHEET), student, assignment).notebooks == submission.notebooks


def test_a_folder_is_no_zip_of_canvas(released, tmp_path):
    with pytest.raises(GradingError, match="canvas gives a zip"):
        make_plan(Course(released), Assignment.open(released, SHEET), tmp_path, tmp_path / "aside", "canvas", None)


@pytest.mark.slow
def test_the_guides_commands_run_as_written(course, tmp_path):
    text = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")
    packed(course.root / "submissions.zip", {f"lovelaceada_101_9001_{ONE}": b"1"})
    (course.root / "students.csv").write_text("id,student\n101,ada\n")
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        command = [sys.executable, "-m", "autograder.cli", *block.split()[1:]]
        done = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert set(submitted(course)) == {f"ada/{ONE}", f"lovelaceada-101/{ONE}"}
