"""Submissions from Canvas, Moodle and students' repositories: sorted by person, whatever the archives hold beside."""

import contextlib
import io
import re
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from unicodedata import normalize

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.cli import main
from autograder.collect import archive, make_plan
from autograder.errors import GradingError
from autograder.gradebook.late.times import read_times
from autograder.model import submitted_cells as limits
from autograder.model.course import Course
from tests.collect.conftest import MOODLE, ONE, SHEET, TWO, collect, inner, packed, sent, submitted
from tests.pipeline.conftest import ROOT
from tools.demo import build_sample_class


def test_canvas_files_get_their_own_names_back_and_the_latest_counts(course):
    files = {
        f"lovelaceada_101_9001_{ONE}": b"first",
        "lovelaceada_101_9002_1_embedding-1.ipynb": b"second",
        "lovelaceada_101_9003_1_embedding-10.ipynb": b"eleventh",
        f"turingalan_LATE_102_9004_{ONE}": b"late",
        f"müllerjörg_103_9005_{TWO}": "für".encode(),
        f"לוי_104_9006_{ONE}": b"right to left",
    }
    assert sent(course, files) == 0
    assert submitted(course) == {
        f"lovelaceada-101/{ONE}": b"eleventh",
        f"turingalan-102/{ONE}": b"late",
        f"müllerjörg-103/{TWO}": "für".encode(),
        f"לוי-104/{ONE}": b"right to left",
    }


@pytest.mark.parametrize("separator", ["/", ""], ids=["folders", "flat"])
def test_moodle_with_folders_and_without(course, separator):
    people = {"7": "Seán O'Brien", "8": "Seán O'Brien", "9": "李 小龍"}
    files = {MOODLE.format(name=name, number=who) + separator + ONE: who.encode() for who, name in people.items()}
    assert sent(course, files) == 0
    assert submitted(course) == {f"SeánOBrien-7/{ONE}": b"7", f"SeánOBrien-8/{ONE}": b"8", f"李小龍-9/{ONE}": b"9"}


def test_the_instructors_list_names_students_and_tells_who_sent_nothing(course, capsys):
    names = "id,student\n101,ada\n102,alan\n".encode("utf-8-sig")
    assert sent(course, {f"lovelaceada_101_9001_{ONE}": b"1"}, names=names) == 0
    assert set(submitted(course)) == {f"ada/{ONE}"}
    assert "nothing from: alan" in capsys.readouterr().out
    (course.root / "groups.toml").write_text(f'[{SHEET}]\nred = ["ada", "alan"]\n')
    assert sent(course, {f"lovelaceada_101_9001_{ONE}": b"1"}, names=names) == 0
    assert "nothing from" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "lines",
    ["id,student\n1,../up\n", "id,student\n1,.hidden\n", "id,student\n1,a/b\n", "id,student\n1,a\n2,a\n",
     "a,b\n1,2\n", "\xff"],
)  # fmt: skip
def test_a_list_of_names_with_a_mistake_stops_before_anything_is_written(course, capsys, lines):
    assert sent(course, {f"lovelaceada_101_9001_{ONE}": b"1"}, names=lines.encode("latin-1")) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (course.root / "submitted").exists()


def test_a_name_that_imitates_a_number_is_never_guessed_at(course, capsys):
    files = {
        f"b_123_456_{ONE}": b"of 123",
        f"a_999_1_123_456_{ONE}": b"whose?",
        "a_999_1_123_456_other.ipynb": b"whose?",
        f"x_999_assignsubmission_file__123_assignsubmission_file_/{ONE}": b"whose?",
    }
    assert sent(course, files, "--from", "canvas") == 1
    assert submitted(course) == {f"b-123/{ONE}": b"of 123"}
    assert "more than one way" in capsys.readouterr().out
    again = {name: data for name, data in files.items() if name.startswith("x")}
    assert sent(course, again, "--from", "moodle") == 2
    capsys.readouterr()
    assert sent(course, {f"LATE_anon_x7Ub2_5001_{ONE}": b"whose?"}, "--from", "canvas") == 2
    assert "turn anonymous grading off" in capsys.readouterr().err


def test_times_come_from_the_instructors_list(course, capsys):
    files = {f"ada_101_1_{ONE}": b"x", f"alan_102_2_{ONE}": b"y"}
    first = "id,time\n101,2026-11-21T18:00:00+01:00\n999,2026-11-21T18:00:00+01:00\n"
    assert sent(course, files, times=first) == 0
    assert {who: when.isoformat() for who, when in read_times(course.root, SHEET).items()} == {
        "ada-101": "2026-11-21T17:00:00+00:00"
    }
    assert "1 without a recorded time" in capsys.readouterr().out
    for day, outcome in (
        (23, "there already; its first time counts, 2026-11-21 18:00 UTC+01:00"),
        (20, "there already; its time is 2026-11-20 18:00 UTC+01:00 now and was 2026-11-21 18:00 UTC+01:00"),
    ):
        assert sent(course, files, times=f"id,time\n101,2026-11-{day}T18:00:00+01:00\n") == 0
        assert f"ada-101: {outcome}\n" in capsys.readouterr().out
    assert read_times(course.root, SHEET)["ada-101"].day == 20
    assert sent(course, files, times="id,time\n101,2026-11-21 18:00\n") == 2


def test_what_is_there_is_replaced_only_by_force_and_then_kept(course, capsys):
    first, second = ({f"ada_101_1_{ONE}": data} for data in (b"first", b"second"))
    assert sent(course, first) == 0
    assert sent(course, first) == 0
    assert "there already" in capsys.readouterr().out
    assert sent(course, second) == 1
    assert submitted(course) == {f"ada-101/{ONE}": b"first"}
    assert sent(course, second, "--force") == 0
    assert submitted(course) == {f"ada-101/{ONE}": b"second"}
    assert (course.root / ".autograder" / "replaced" / SHEET / "ada-101-1" / ONE).read_bytes() == b"first"


@pytest.mark.parametrize("forms", [("NFC", "NFD", "NFD"), ("NFD", "NFC", "NFD"), ("NFD", "NFD", "NFC")])
def test_a_name_is_one_name_in_zip_list_and_folder(course, capsys, forms):
    zipped, listed, folder = (normalize(form, "müllerjörg") for form in forms)
    (course.root / "submitted" / folder / SHEET).mkdir(parents=True)
    (course.root / "submitted" / folder / SHEET / ONE).write_bytes(b"x")
    assert sent(course, {f"{zipped}_103_9005_{ONE}": b"x"}, names=f"id,student\n103,{listed}\n") == 0
    assert "müllerjörg: there already" in capsys.readouterr().out
    assert submitted(course) == {f"{folder}/{ONE}": b"x"}


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
    assert sent(course, {f"ada_101_1_{ONE}": b"x"}) == 1
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


def test_the_sample_class_from_canvas_is_the_sample_class(course):
    build_sample_class(course.root)
    assignment = Assignment.open(course.root, SHEET)
    before, files, names = {}, {}, ["id,student"]
    for number, student in enumerate(course.students(SHEET), start=100):
        before[student] = read_submission(course.submitted(student, SHEET), student, assignment)
        names.append(f"{number},{student}")
        for place, path in enumerate(sorted(course.submitted(student, SHEET).glob("*.ipynb"))):
            files[f"{student}_{number}_{number}{place}_{path.name}"] = path.read_bytes()
    shutil.rmtree(course.root / "submitted")
    assert sent(course, files, names="\n".join(names)) == 0
    for student, submission in before.items():
        assert read_submission(course.submitted(student, SHEET), student, assignment).notebooks == submission.notebooks


def test_a_folder_is_no_zip_of_canvas(released, tmp_path):
    with pytest.raises(GradingError, match="canvas gives a zip"):
        make_plan(Course(released), Assignment.open(released, SHEET), tmp_path, tmp_path / "aside", "canvas", None)


@pytest.mark.slow
def test_the_guides_commands_run_as_written(course):
    text = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")
    packed(course.root / "submissions.zip", {f"lovelaceada_101_9001_{ONE}": b"1"})
    (course.root / "students.csv").write_text("id,student\n101,ada\n")
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        command = [sys.executable, "-m", "autograder.cli", *block.split()[1:]]
        done = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert set(submitted(course)) == {f"ada/{ONE}", f"lovelaceada-101/{ONE}"}


def test_a_zip_in_the_zip_is_opened_once(course, capsys):
    deeper = inner({TWO: b"too deep"})
    beside = {f"__MACOSX/work/._{ONE}": b"junk", "work/deeper.zip": deeper, "work/photo.png": b"p"}
    uploads = {
        "lovelaceada_101_9001_homework.zip": inner({f"work/{ONE}": b"mine", **beside}),
        "turingalan_102_9002_x.zip": b"PK no zip",
    }
    assert sent(course, uploads) == 1
    assert submitted(course) == {f"lovelaceada-101/{ONE}": b"mine"}
    said = capsys.readouterr().out
    assert "deeper.zip" in said and "refused" in said


def entry(name, kind):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


def test_paths_that_lead_elsewhere_are_refused_and_the_rest_is_taken(course, tmp_path, capsys):
    leads_out = ["../../../escaped.ipynb", "/etc/escaped.ipynb", "C:/escaped.ipynb", "work\\..\\escaped.ipynb",
                 "work/./escaped.ipynb"]  # fmt: skip
    names = [*leads_out, "escaped\x07.ipynb", "long" * 100 + ".ipynb"]
    files = {f"s_{place}_1_all.zip": inner({ONE: b"good", name: b"evil"}) for place, name in enumerate(names, 101)}
    assert sent(course, files) == 1
    assert submitted(course) == {f"s-{place}/{ONE}": b"good" for place in range(101, 101 + len(names))}
    said = " ".join(capsys.readouterr().out.split())
    assert [said.count(reason) for reason in ("leads out", "control", "too long")] == [len(leads_out), 1, 1]
    assert not list(tmp_path.rglob("*escaped*"))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(course, kind):
    held = inner([(entry(ONE, kind), b"/etc/passwd"), (TWO, b"good")])
    assert sent(course, {"lovelaceada_101_9001_all.zip": held}) == 1
    assert submitted(course) == {f"lovelaceada-101/{TWO}": b"good"}


def test_a_bomb_costs_its_own_upload_alone(course, capsys):
    bomb = inner({ONE: b"\0" * (40 << 20)})
    assert sent(course, {"mallory_666_1_all.zip": bomb, f"lovelaceada_101_2_{ONE}": b"good"}) == 1
    assert submitted(course) == {f"lovelaceada-101/{ONE}": b"good"}
    assert "200 times" in " ".join(capsys.readouterr().out.split())


def test_what_an_archive_says_of_its_sizes_counts_for_nothing():
    """The header claims three bytes; more are there."""
    data = bytearray(inner({ONE: b"x" * 5000}))
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 3)
    with archive.opened(io.BytesIO(bytes(data)), "it") as opened:
        entry, *_ = archive.sound_entries(opened)
        assert not entry.reason and entry.info.file_size == 3
        with contextlib.suppress(archive.Refused):
            assert len(entry.read(1000)) <= 1000


def test_a_file_above_the_limit_is_refused(course, monkeypatch):
    monkeypatch.setattr("autograder.collect.plan.MAX_NOTEBOOK_BYTES", 1000)
    files = {f"lovelaceada_101_1_{ONE}": b"x" * 1001, f"lovelaceada_101_2_{TWO}": b"x" * 1000}
    assert sent(course, files) == 1
    assert set(submitted(course)) == {f"lovelaceada-101/{TWO}"}
    assert limits.MAX_NOTEBOOK_BYTES > 1000


def test_two_entries_of_one_name_and_entries_that_share_bytes_are_refused():
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = inner([(ONE, b"one"), (ONE, b"two"), (TWO, b"good")])
    with archive.opened(io.BytesIO(twice), "it") as opened:
        reasons = [entry.reason for entry in archive.sound_entries(opened)]
    assert ["two entries" in reason for reason in reasons] == [True, True, False]
    data = bytearray(inner({ONE: b"x" * 2000, TWO: b"y" * 2000}))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 0)  # the second entry begins where the first does
    with archive.opened(io.BytesIO(bytes(data)), "it") as opened:
        assert all("shares bytes" in entry.reason for entry in archive.sound_entries(opened))


def test_an_encrypted_entry_is_refused():
    data = bytearray(inner({ONE: b"secret"}))
    struct.pack_into("<H", data, data.rindex(b"PK\x01\x02") + 8, 1)
    with archive.opened(io.BytesIO(bytes(data)), "it") as opened:
        assert [entry.reason for entry in archive.sound_entries(opened)] == ["it is encrypted"]


def test_too_many_entries_are_refused_as_a_whole(course, monkeypatch, capsys):
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    assert sent(course, {f"s_{number}_1_{ONE}": b"x" for number in range(4)}) == 2
    assert "at most 3" in capsys.readouterr().err


def test_a_students_own_timestamp_is_neither_written_nor_believed(course):
    upload = inner({ONE: b"x", "timestamp.txt": b"2020-01-01 00:00:00 UTC"})
    assert sent(course, {"ada_101_1_all.zip": upload}) == 0
    assert set(submitted(course)) == {f"ada-101/{ONE}"}
    assert read_times(course.root, SHEET) == {}
