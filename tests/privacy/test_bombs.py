"""What ``student erase`` unpacks is bounded as a whole; an archive beyond that stays, and is named."""

import io
import zipfile

import pytest

from autograder.cli import main
from autograder.collect.archive import PackedFile
from autograder.privacy import clean
from autograder.privacy.clean import ErasedPerson, TooLarge, Unpacking, names_person

WHO = ErasedPerson("qx71zu")
MEGABYTE = 1 << 20


def packed(*members: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return made.getvalue()


def inside(data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = packed(("inner.zip", data))
    return data


ZEROS = bytes(8 * MEGABYTE)
BOMBS = {
    "zeros": packed(("zeros.txt", bytes(64 * MEGABYTE))),
    "many small ones": packed(*((f"{number}.txt", ZEROS) for number in range(6))),
    "many files": packed(*((f"{number}.txt", b"") for number in range(50_001))),
    "one in another": packed(("inner.zip", packed(*((f"{number}.txt", ZEROS) for number in range(6))))),
    "deep": inside(b"x", 5),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_left_as_it_is_by_both_that_unpack(bomb: str) -> None:
    for look in (clean.clean, names_person):
        with pytest.raises(TooLarge):
            look("submission.zip", BOMBS[bomb], WHO)


def test_no_more_is_ever_unpacked_than_the_whole_file_may(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    read = PackedFile.read

    def counted(entry: PackedFile, limit: int) -> bytes:
        nonlocal taken
        data = read(entry, limit)
        taken += len(data)
        return data

    monkeypatch.setattr(PackedFile, "read", counted)
    for bomb in BOMBS.values():
        taken = 0
        with pytest.raises(TooLarge):
            names_person("submission.zip", bomb, WHO)
        assert taken <= Unpacking.of(bomb).size


def test_an_ordinary_archive_is_cleaned_and_a_damaged_one_is_searched() -> None:
    table = b"id,points\nqx71zu,3\nother,2\n"
    kept = clean.clean("all.zip", packed(("grades.csv", table), ("folder/", b"")), WHO)
    with zipfile.ZipFile(io.BytesIO(kept)) as archive:
        assert archive.read("grades.csv") == b"id,points\nother,2\n"
    damaged = bytearray(packed(("grades.csv", table * 100)))
    damaged[60:80] = bytes(20)
    assert names_person("all.zip", bytes(damaged), WHO) is False


@pytest.mark.slow
def test_the_command_goes_on_and_names_the_archive(term, capsys) -> None:
    (term / "submissions.zip").write_bytes(BOMBS["zeros"])
    assert main(["--course", str(term), "student", "erase", "qx71zu", "--yes"]) == 1
    said = capsys.readouterr()
    assert "submissions.zip: was not searched: zeros.txt: it unpacks to more than 200 times" in said.out + said.err
    assert (term / "submissions.zip").read_bytes() == BOMBS["zeros"]
