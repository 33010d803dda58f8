"""Who sent what: the names that LMSs give to files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["canvas", "moodle", "github", "exchange"]

# Canvas's own code (instructure/canvas-lms, app/models/content_zipper.rb) names a file after the sortable name without
# what is no word character, LATE where it was late, the user's id, the attachment's id, and the file's own name.
_CANVAS = re.compile(r"(?=_(?:LATE_)?(\d+)_\d+_(.+)$)")
# Moodle's (moodle/moodle, mod/assign/locallib.php): full name, participant's number, plug-in; then folder or file.
_MOODLE = re.compile(r"(?=_(\d+)_assignsubmission_(?:file|onlinetext)_(.*)$)")
_RESUBMITTED = re.compile(r"(.+)-(\d{1,3})(\.[^.]+)")
# what browsers make of a file that is downloaded again, and LMSs of the space in it
_DOWNLOADED_AGAIN = re.compile(r"(.+?)(?:[ +_]|%20)*\(\d{1,3}\)(\.[^.]+)")


@dataclass(frozen=True)
class Person:
    """``id``: the LMS's own, which tells people of the same name apart; ``name``: as the LMS wrote it."""

    id: str
    name: str

    def student(self, names: Mapping[str, str]) -> str:
        """The student's id in the course: the instructor's, or one made of name and number."""
        if self.id in names:
            return names[self.id]
        if self.name == self.id:
            return re.sub(r"[^\w-]", "", self.id).lstrip("-") or "nobody"
        word = re.sub(r"\W", "", unicodedata.normalize("NFC", self.name)).strip("_")[:60]
        return f"{word}-{self.id}" if word else self.id


@dataclass(frozen=True)
class UploadedFile:
    """One file of one person. ``attempt`` counts up where it was handed in again; ``late``: so marked by the LMS."""

    person: Person
    filename: str
    attempt: int = 0
    late: bool = False


def canvas(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """Every way to read a name from Canvas's zip; more than one where a person's name imitates an id."""
    name = path.rsplit("/", 1)[-1]
    for match in _CANVAS.finditer(name):
        if name[: match.start()].endswith("_LATE"):
            continue  # the same way once more, without its mark
        filename, attempt = match[2], 0
        again = _RESUBMITTED.fullmatch(filename)
        if again and again[1] + again[3] in expected:
            filename, attempt = again[1] + again[3], int(again[2])
        late = name[match.start() :].startswith("_LATE_")
        yield UploadedFile(Person(match[1], name[: match.start()]), own_name(filename, expected), attempt, late)


def moodle(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """Every way to read a path from Moodle's zip, with folders or without."""
    first, _, rest = path.partition("/")
    for match in _MOODLE.finditer(first):
        filename = rest or match[2]
        if filename:
            yield UploadedFile(Person(match[1], first[: match.start()]), own_name(filename, expected))


def own_name(path: str, expected: frozenset[str]) -> str:
    """``1_attention (1).ipynb`` is ``1_attention.ipynb``, where that is expected."""
    folder, slash, name = path.rpartition("/")
    match = None if name in expected else _DOWNLOADED_AGAIN.fullmatch(name)
    if match and match[1] + match[2] in expected:
        name = match[1] + match[2]
    return f"{folder}{slash}{name}"
