"""Hostile archives: what is refused, and that the rest is taken."""

from __future__ import annotations

import contextlib
import io
import stat
import struct
import zipfile

import pytest

from autograder.collect import archive
from autograder.gradebook.late.times import read_times
from autograder.model import submitted_cells as limits
from tests.collect.uploads import ONE, SHEET, TWO, collect, inner, packed, submitted


def test_a_zip_in_the_zip_is_opened_once(course, tmp_path, capsys):
    deeper = inner({TWO: b"too deep"})
    beside = {f"__MACOSX/work/._{ONE}": b"junk", "work/deeper.zip": deeper, "work/photo.png": b"p"}
    uploads = {
        "lovelaceada_101_9001_homework.zip": inner({f"work/{ONE}": b"mine", **beside}),
        "turingalan_102_9002_x.zip": b"PK no zip",
    }
    source = packed(tmp_path / "c.zip", uploads)
    assert collect(course, source) == 1
    assert submitted(course) == {f"lovelaceada-101/{ONE}": b"mine"}
    said = capsys.readouterr().out
    assert "deeper.zip" in said and "refused" in said


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../../escaped.ipynb", "leads out"),
        ("/etc/escaped.ipynb", "leads out"),
        ("C:/escaped.ipynb", "leads out"),
        ("work\\..\\escaped.ipynb", "leads out"),
        ("work/./escaped.ipynb", "leads out"),
        ("escaped\x07.ipynb", "control"),
        ("long" * 100 + ".ipynb", "too long"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_and_the_rest_is_taken(course, tmp_path, capsys, name, reason):
    held = inner({ONE: b"good", name: b"evil"})
    assert collect(course, packed(tmp_path / "c.zip", {"lovelaceada_101_9001_all.zip": held})) == 1
    assert submitted(course) == {f"lovelaceada-101/{ONE}": b"good"}
    assert reason in " ".join(capsys.readouterr().out.split())
    assert not list(tmp_path.rglob("*escaped*"))


def entry(name, kind):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(course, tmp_path, kind):
    held = inner([(entry(ONE, kind), b"/etc/passwd"), (TWO, b"good")])
    source = packed(tmp_path / "c.zip", {"lovelaceada_101_9001_all.zip": held})
    assert collect(course, source) == 1
    assert submitted(course) == {f"lovelaceada-101/{TWO}": b"good"}


def test_a_bomb_costs_its_own_upload_alone(course, tmp_path, capsys):
    bomb = inner({ONE: b"\0" * (40 << 20)})
    source = packed(tmp_path / "c.zip", {"mallory_666_1_all.zip": bomb, f"lovelaceada_101_2_{ONE}": b"good"})
    assert collect(course, source) == 1
    assert submitted(course) == {f"lovelaceada-101/{ONE}": b"good"}
    assert "200 times" in " ".join(capsys.readouterr().out.split())


def test_what_an_archive_says_of_its_sizes_counts_for_nothing(tmp_path):
    """The header claims three bytes; more are there."""
    data = bytearray(inner({ONE: b"x" * 5000}))
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 3)
    with archive.opened(io.BytesIO(bytes(data)), "it") as opened:
        entry, *_ = archive.sound_entries(opened)
        assert not entry.reason and entry.info.file_size == 3
        with contextlib.suppress(archive.Refused):
            assert len(entry.read(1000)) <= 1000


def test_a_file_above_the_limit_is_refused(course, tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.collect.gathering.MAX_NOTEBOOK_BYTES", 1000)
    files = {f"lovelaceada_101_1_{ONE}": b"x" * 1001, f"lovelaceada_101_2_{TWO}": b"x" * 1000}
    source = packed(tmp_path / "c.zip", files)
    assert collect(course, source) == 1
    assert set(submitted(course)) == {f"lovelaceada-101/{TWO}"}
    assert limits.MAX_NOTEBOOK_BYTES > 1000


def test_two_entries_of_one_name_and_entries_that_share_bytes_are_refused(tmp_path):
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


def test_an_encrypted_entry_is_refused(tmp_path):
    data = bytearray(inner({ONE: b"secret"}))
    struct.pack_into("<H", data, data.rindex(b"PK\x01\x02") + 8, 1)
    with archive.opened(io.BytesIO(bytes(data)), "it") as opened:
        assert [entry.reason for entry in archive.sound_entries(opened)] == ["it is encrypted"]


def test_too_many_entries_are_refused_as_a_whole(course, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    source = packed(tmp_path / "c.zip", {f"s_{number}_1_{ONE}": b"x" for number in range(4)})
    assert collect(course, source) == 2
    assert "at most 3" in capsys.readouterr().err


def test_a_students_own_timestamp_is_neither_written_nor_believed(course, tmp_path):
    upload = inner({ONE: b"x", "timestamp.txt": b"2020-01-01 00:00:00 UTC"})
    source = packed(tmp_path / "c.zip", {"ada_101_1_all.zip": upload})
    assert collect(course, source) == 0
    assert set(submitted(course)) == {f"ada-101/{ONE}"}
    assert read_times(course.root, SHEET) == {}
