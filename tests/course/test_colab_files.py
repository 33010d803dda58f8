"""What a student writes on Colab outlives the machine: tried with a stand-in for ``google.colab`` and its Drive."""

import io
import json
import os
import sys
import types
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course import colab, parts

OWN = "class Part:\n    pass\n"


class StandIn:
    """Colab with a Drive that is a folder; ``uploads``: what the student chooses, the next one last."""

    def __init__(self, folder: Path) -> None:
        self.drive, self.uploads, self.refused = folder / "drive", list[dict[str, bytes]](), False

    def mount(self, place: str) -> None:
        if self.refused:
            raise ValueError("mount failed")
        (self.drive / "MyDrive").mkdir(parents=True, exist_ok=True)

    def upload(self) -> dict[str, bytes]:
        given = self.uploads.pop()
        for name, data in given.items():
            Path(name).write_bytes(data)
        return given

    def in_drive(self, name: str, text: str, age: float = 0) -> None:
        path = self.drive / "MyDrive" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1e9 - age, 1e9 - age))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A fresh machine of Colab's, in its empty folder."""
    made = StandIn(tmp_path)
    for name, functions in (("", {}), (".drive", {"mount": made.mount}), (".files", {"upload": made.upload})):
        module = types.ModuleType(f"google.colab{name}")
        module.__dict__.update(functions)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(colab, "MOUNT", made.drive)
    (tmp_path / "content").mkdir()
    monkeypatch.chdir(tmp_path / "content")
    return made


def notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text}], "nbformat": 4})


def test_what_is_written_in_the_drives_folder_is_there_in_the_next_session(machine: StandIn, tmp_path: Path) -> None:
    colab.drive("encoder_lab")
    Path("models.py").write_text(OWN)
    os.chdir(tmp_path / "content")  # the next machine begins here
    colab.drive("encoder_lab")
    assert Path("models.py").read_text() == OWN
    assert Path.cwd() == machine.drive / "MyDrive" / "transformer-course" / "encoder_lab"


def test_what_was_written_before_goes_along_and_replaces_nothing(machine: StandIn, capsys: Any) -> None:
    machine.in_drive("transformer-course/encoder_lab/models.py", OWN)
    Path("models.py").write_text("# the empty file of a new machine\n")
    Path("1_attention.ipynb").write_text("{}")
    colab.drive("encoder_lab")
    assert Path("models.py").read_text() == OWN
    assert "There now: 1_attention.ipynb, models.py." in capsys.readouterr().out
    colab.drive("encoder_lab")  # a second time, and nothing changes
    assert Path("models.py").read_text() == OWN


def test_without_drive_the_student_is_told_how_to_keep_files(machine: StandIn, capsys: Any) -> None:
    machine.refused, before = True, Path.cwd()
    colab.drive("encoder_lab")
    assert Path.cwd() == before
    assert "Google Drive is not connected (ValueError)." in capsys.readouterr().out


def answering(files: dict[str, bytes]) -> Callable[..., io.BytesIO]:
    def urlopen(address: str, timeout: float) -> io.BytesIO:
        name = address.removeprefix("https://raw.githubusercontent.com/o/r/main/release/encoder_lab/")
        if name not in files:
            raise OSError("HTTP Error 404")
        return io.BytesIO(files[name])

    return urlopen


def test_the_file_to_write_and_its_tests_are_fetched_once(machine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("models.py", "tests/test_models.py")
    monkeypatch.setattr(urllib.request, "urlopen", answering(dict.fromkeys(names, b"as published")))
    Path("models.py").write_text(OWN)
    colab.fetch("o/r", "encoder_lab", *names)
    assert Path("models.py").read_text() == OWN
    assert Path("tests/test_models.py").read_text() == "as published"


def test_a_file_that_cannot_be_fetched_is_named(machine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", answering({}))
    with pytest.raises(SystemExit, match=r"models.py could not be fetched \(HTTP Error 404\)"):
        colab.fetch("o/r", "encoder_lab", "models.py")


@pytest.mark.parametrize(
    "saved", ["1_first.ipynb", "Copy of 1_first.ipynb", "Kopie von 1_first.ipynb", "1_first (1).ipynb"]
)
def test_a_notebook_that_colab_saved_is_found_under_the_name_it_was_given(machine: StandIn, saved: str) -> None:
    machine.in_drive(f"Colab Notebooks/{saved}", notebook(OWN))
    machine.in_drive("Colab Notebooks/2_second.ipynb", notebook(""))
    colab.bring("1_first.ipynb")
    assert Path("1_first.ipynb").read_text() == notebook(OWN)


def test_of_several_copies_the_newest_is_taken(machine: StandIn) -> None:
    machine.in_drive("Colab Notebooks/1_first.ipynb", "old", age=100)
    machine.in_drive("transformer-course/distilbert/1_first.ipynb", "new", age=1)
    machine.in_drive("Colab Notebooks/Copy of 1_first.ipynb", "older", age=200)
    colab.bring("1_first.ipynb")
    assert Path("1_first.ipynb").read_text() == "new"


def test_a_file_in_this_folder_stays_as_it_is(machine: StandIn) -> None:
    machine.in_drive("Colab Notebooks/1_first.ipynb", "another")
    Path("1_first.ipynb").write_text("this one")
    colab.bring("1_first.ipynb")
    assert Path("1_first.ipynb").read_text() == "this one"


@pytest.mark.parametrize("refused", [True, False])
def test_what_is_not_in_drive_is_uploaded_and_gets_its_name(machine: StandIn, refused: bool) -> None:
    machine.refused = refused
    machine.uploads = [{"1_first (1).ipynb": notebook(OWN).encode()}]
    colab.bring("1_first.ipynb")
    assert [path.name for path in Path().iterdir()] == ["1_first.ipynb"]


def test_an_upload_of_nothing_is_said(machine: StandIn, capsys: Any) -> None:
    machine.uploads = [{}]
    colab.bring("1_first.ipynb")
    assert "0 files came; one is needed, 1_first.ipynb." in capsys.readouterr().out


def test_an_earlier_part_says_how_to_bring_it_and_then_is_the_students_own(machine: StandIn, capsys: Any) -> None:
    def check(part: type) -> None:
        part()

    assert parts.earlier("1_first.ipynb", "Part", check, "ready") == "ready"
    said = capsys.readouterr().out
    assert "because 1_first.ipynb is not in this folder. To take your own, run this first: " in said
    machine.in_drive("Colab Notebooks/Copy of 1_first.ipynb", notebook(OWN))
    exec(said.split("run this first: ")[1], {})
    assert parts.earlier("1_first.ipynb", "Part", check, "ready").__name__ == "Part"
    assert "Part: your own, from 1_first.ipynb." in capsys.readouterr().out


def test_elsewhere_than_on_colab_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    colab.drive("encoder_lab")
    colab.fetch("o/r", "encoder_lab", "models.py")
    colab.bring("1_first.ipynb")
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr().out == "" and colab.hint("1_first.ipynb") == ""
