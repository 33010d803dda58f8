"""Submissions whose files are odd or hostile: each is laid out beside an honest class and costs itself alone.

``honest`` is a solved notebook with all its points; a folder is ``submitted/<student>/<assignment>``. The notebook is
one that needs no torch: a grader starts within a second.
"""

import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ASSIGNMENT, NOTEBOOK = "numpy_attention", "1_attention"
NAME = f"{NOTEBOOK}.ipynb"
FULL = 12


@dataclass(frozen=True)
class OddFiles:
    """``points`` of FULL, None where there is nothing to grade; ``said`` stands in a note, or in the failure."""

    id: str
    lay_out: Callable[[Path, bytes], None]
    points: float | None
    said: str = ""


def _with(change: Callable[[dict], None]) -> Callable[[Path, bytes], None]:
    def lay_out(folder: Path, honest: bytes) -> None:
        notebook = json.loads(honest)
        change(notebook)
        (folder / NAME).write_text(json.dumps(notebook))

    return lay_out


def _extra(notebook: dict, source: str, grade_id: str | None = None, kind: str = "code") -> None:
    marks = {"nbgrader": {"grade_id": grade_id, "grade": True, "solution": False}} if grade_id else {}
    notebook["cells"].append({"cell_type": kind, "metadata": marks, "source": source, "outputs": []})


def lone_surrogate(notebook: dict) -> None:
    _extra(notebook, "note = '\ud800'", "marked \ud800")
    _extra(notebook, "raise ValueError('\\ud800 and \\x1b[31mred')")


def escapes(notebook: dict) -> None:
    _extra(notebook, "1", "\x1b]0;owned\x07\x1b[2J[bold]5 of 5[/bold]\u202e\n\x85")


def long_ids(notebook: dict) -> None:
    for number in range(100):
        _extra(notebook, "1", f"{number}" + "x" * (100_000 if number % 2 else 3000))


def many_ids(notebook: dict) -> None:
    for number in range(5000):
        _extra(notebook, "1", f"mark {number}")


def odd_kinds(notebook: dict) -> None:
    _extra(notebook, "1", "self_attention", kind="\x1b[2J" + "k" * 100_000)


def folder_as_notebook(folder: Path, honest: bytes) -> None:
    (folder / NAME).mkdir()


def folder_as_notebook_beside_it(folder: Path, honest: bytes) -> None:
    (folder / NAME).mkdir()
    (folder / f"{NOTEBOOK} (1).ipynb").write_bytes(honest)


def stray_folder(folder: Path, honest: bytes) -> None:
    (folder / "old.ipynb").mkdir()
    (folder / "old.ipynb" / NAME).write_bytes(b"")
    (folder / "mine.ipynb").write_bytes(honest)


def no_utf8(folder: Path, honest: bytes) -> None:
    (folder / NAME).write_bytes(honest)
    for name in (b"caf\xe9.ipynb", b"\xff\xfe.txt", b"two\nlines\x1b[31m.ipynb"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(honest)


def no_utf8_alone(folder: Path, honest: bytes) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9\n\x1b[31m.ipynb")).write_bytes(honest)


def pipe(folder: Path, honest: bytes) -> None:
    os.mkfifo(folder / NAME)
    os.mkfifo(folder / "other.ipynb")


def unix_socket(folder: Path, honest: bytes) -> None:
    before = os.getcwd()
    os.chdir(folder)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(NAME)
    finally:
        os.chdir(before)


def link_to_itself(folder: Path, honest: bytes) -> None:
    (folder / NAME).symlink_to(folder / NAME)


def link_to_another(folder: Path, honest: bytes) -> None:
    (folder / NAME).symlink_to(folder.parent.parent / "honest" / folder.name / NAME)


def folder_is_a_link(folder: Path, honest: bytes) -> None:
    folder.rmdir()
    folder.symlink_to(folder.parent.parent / "honest" / folder.name)


def student_is_a_link(folder: Path, honest: bytes) -> None:
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(folder.parent.parent / "honest")


def folder_is_a_file(folder: Path, honest: bytes) -> None:
    folder.rmdir()
    folder.write_bytes(honest)


def other_capitals(folder: Path, honest: bytes) -> None:
    (folder / "1_Attention.IPYNB").write_bytes(honest)
    (folder / "1_ATTENTION.ipynb").write_bytes(honest)


def two_that_differ(folder: Path, honest: bytes) -> None:
    (folder / "1_Attention.ipynb").write_bytes(honest)
    (folder / "1_ATTENTION.ipynb").write_bytes(honest + b"\n")


def empty(folder: Path, honest: bytes) -> None:
    (folder / NAME).write_bytes(b"")


def truncated(folder: Path, honest: bytes) -> None:
    (folder / NAME).write_bytes(honest[: len(honest) // 2])


def braces(folder: Path, honest: bytes) -> None:
    (folder / NAME).write_bytes(b'{"cells": [' + b"{}," * 5_000_000 + b"{}]}")


def brackets(folder: Path, honest: bytes) -> None:
    (folder / NAME).write_bytes(b'{"cells": [{"outputs": [' + b"[]," * 5_000_000 + b"[]]}]}")


ODD_FILES = [
    OddFiles("surrogate", _with(lone_surrogate), FULL, r"marked ?"),
    OddFiles("escapes", _with(escapes), FULL, r"\x1b]0;owned\x07"),
    OddFiles("long-ids", _with(long_ids), FULL, "xxx …"),
    OddFiles("many-ids", _with(many_ids), FULL, "more marks that the assignment does not have"),
    OddFiles("odd-kinds", _with(odd_kinds), FULL, "was there 2 times"),
    OddFiles("folder-as-notebook", folder_as_notebook, None, "it is a folder"),
    OddFiles("folder-and-notebook", folder_as_notebook_beside_it, FULL, "was taken for 1_attention.ipynb"),
    OddFiles("stray-folder", stray_folder, FULL, "mine.ipynb was taken for"),
    OddFiles("no-utf8", no_utf8, FULL),
    OddFiles("no-utf8-alone", no_utf8_alone, FULL, r"caf\udce9\n\x1b[31m.ipynb was taken"),
    OddFiles("pipe", pipe, None, "it is no plain file"),
    OddFiles("socket", unix_socket, None, "it cannot be read"),
    OddFiles("link-to-itself", link_to_itself, None, "it is a link"),
    OddFiles("link-to-another", link_to_another, None, "it is a link"),
    OddFiles("folder-is-a-link", folder_is_a_link, None, "is a link, perhaps to somebody else's work"),
    OddFiles("student-is-a-link", student_is_a_link, None, "is a link, perhaps to somebody else's work"),
    OddFiles("folder-is-a-file", folder_is_a_file, None, "is a file: expected a folder"),
    OddFiles("other-capitals", other_capitals, FULL, "was taken for 1_attention.ipynb"),
    OddFiles("two-that-differ", two_that_differ, None, "and differ: none was taken"),
    OddFiles("empty", empty, 0, "could not be read"),
    OddFiles("truncated", truncated, 0, "could not be read"),
    OddFiles("braces", braces, 0, "could not be read"),
    OddFiles("brackets", brackets, 0, "could not be read"),
]
