"""Which answers are taken out of a kernel's folder: small plain files that the hidden part wrote, no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.kernel.collect_answers import collect_answers
from autograder.kernel.scratch import Scratch
from tests.isolation.conftest import Go, answer, cell, graded


def test_answers_that_lay_there_before_the_hidden_part_are_not_taken(go: Go) -> None:
    forged = (
        "import os, pathlib\nfolder = pathlib.Path(os.environ['AUTOGRADER_ANSWERS'], 'exercise/one')\n"
        "folder.mkdir(parents=True)\n(folder / '0.safetensors').write_text('forged')\n"
        "(folder / '1.safetensors').write_text('forged')"
    )
    ran = go(cell(forged), graded("", "'honest'"))
    assert [file.read_text() for file in ran.answers.glob("*/exercise/one/*")] == ["honest"]


def test_later_code_cannot_change_an_answer(go: Go) -> None:
    later = (
        "import os, pathlib\nfolder = pathlib.Path(os.environ['AUTOGRADER_ANSWERS'], 'exercise/one')\n"
        "folder.mkdir(parents=True, exist_ok=True)\n(folder / '0.safetensors').write_text('forged')"
    )
    assert answer(go(graded("", "'honest'"), cell(later))) == "honest"


def test_links_in_an_answers_place_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.safetensors"
    secret.write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "0.safetensors").write_text("elsewhere")
    scratch = Scratch(tmp_path / "scratch")
    folder = scratch.out / "answers" / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "0.safetensors").symlink_to(secret)
    (folder / "1.safetensors").hardlink_to(secret)
    (folder / "2.safetensors").mkdir()
    (folder / "3.safetensors").write_text("plain")
    (folder / "..safetensors").write_text("odd name")
    os.mkfifo(folder / "4.safetensors")
    (scratch.out / "answers" / "a" / "c").symlink_to(tmp_path / "elsewhere")
    answers = tmp_path / "taken"
    notes = collect_answers(scratch.out, "a/b", answers) + collect_answers(scratch.out, "a/c", answers)
    assert [str(file.relative_to(answers)) for file in answers.rglob("*.safetensors")] == ["a/b/3.safetensors"]
    assert len(notes) == 5
    with pytest.raises(ValueError):
        collect_answers(scratch.out, "../a", answers)


def test_answers_that_are_too_large_are_left(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    folder = scratch.out / "answers" / "a"
    folder.mkdir(parents=True)
    with open(folder / "0.safetensors", "wb") as sparse:
        sparse.truncate(17 << 20)
    assert len(collect_answers(scratch.out, "a", tmp_path / "taken")) == 1
    assert not (tmp_path / "taken").exists()
