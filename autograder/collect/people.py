"""Who sent what: the names that LMSs give to files.

A person chooses the names of their files, and on some servers their own name. So a file belongs to somebody only where
its whole name can be read in one way; :func:`owners` says of every other file why nobody has it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from autograder.model.plain_text import one_form

Kind = Literal["canvas", "moodle", "github", "exchange"]

# Canvas's own code (instructure/canvas-lms, lib/content_zipper.rb) names a file after the sortable name without what is
# no word character, LATE where it was late, the user's id, the attachment's id, and the file's own name. A name may
# have underscores and digits in it, so the first pair of numbers need not be the ids.
_CANVAS = re.compile(r"(?=_(?:LATE_)?(\d+)_\d+_(.+)$)", re.DOTALL)
# where the assignment is graded anonymously, five letters or digits stand for the user
_ANONYMOUS = re.compile(r"(?:LATE_)?anon_[0-9A-Za-z]{5}_\d+_")
HIDDEN = "Canvas hides whose it is: turn anonymous grading off for this assignment, and download the zip again"
# Moodle's (moodle/moodle, mod/assign): full name without underscores, participant's number, plug-in; then a folder
# (since 4.1 without an underscore at its end), or the file's own name.
_MOODLE = re.compile(r"([^_/]*)_(\d+)_assignsubmission_(?:file|onlinetext)(?:_?/(.+)|_([^/]+))", re.DOTALL)
_RESUBMITTED = re.compile(r"(.+)-(\d{1,3})(\.[^.]+)")
# what browsers make of a file that is downloaded again, and LMSs of the space in it
_DOWNLOADED_AGAIN = re.compile(r"(.+?)(?:[ +_]|%20)*\(\d{1,3}\)(\.[^.]+)")
_SAVED_AS_TEXT = re.compile(r"(.+\.ipynb)\.(?:txt|json)", re.IGNORECASE)


@dataclass(frozen=True)
class Person:
    """``id``: the LMS's own, which tells people of the same name apart; ``name``: as the LMS wrote it.

    ``logins``, ``email``: what a server's API says besides.
    """

    id: str
    name: str
    logins: tuple[str, ...] = ()
    email: str = ""

    def __post_init__(self) -> None:
        for field in ("id", "name"):
            object.__setattr__(self, field, one_form(getattr(self, field)))

    @property
    def fallback(self) -> str:
        """What they are called in a course that has no other name for them."""
        if self.name == self.id:
            return self.id
        word = re.sub(r"\W", "", self.name).strip("_")[:60]
        return f"{word}-{self.id}" if word else self.id


@dataclass(frozen=True)
class UploadedFile:
    """One file of one person. ``attempt`` counts up where it was handed in again; ``late``: so marked by the LMS."""

    person: Person
    filename: str
    attempt: int = 0
    late: bool = False


def owners(kind: Kind, paths: Iterable[str], expected: frozenset[str]) -> dict[str, UploadedFile | str]:
    """Path in the zip of Canvas or Moodle -> whose it is; or the reason why it is nobody's.

    expected: the names of the files that the assignment asks for.
    """
    read = canvas if kind == "canvas" else moodle
    found: dict[str, UploadedFile | str] = {path: _only(list(read(path, expected)), expected) for path in paths}
    if kind == "canvas":
        found |= {path: HIDDEN for path in found if _ANONYMOUS.match(path.rsplit("/", 1)[-1])}
    names: dict[str, set[str]] = {}
    for sent in found.values():
        if isinstance(sent, UploadedFile):
            names.setdefault(sent.person.id, set()).add(sent.person.name)
    for path, sent in found.items():
        if isinstance(sent, UploadedFile) and len(names[sent.person.id]) > 1:
            those = " and ".join(sorted(names[sent.person.id])[:3])
            found[path] = f"the number {sent.person.id} comes under two names, {those}"
    return found


def _only(ways: list[UploadedFile], expected: frozenset[str]) -> UploadedFile | str:
    """The reading, where there is one.

    Of several the first counts where it leaves exactly a file that the assignment asks for: any other would take a
    number out of the instructor's own file name for an attachment's.
    """
    if not ways:
        return "its name does not say whose it is"
    if len(ways) > 1 and ways[0].filename not in expected:
        return "its name can be read in more than one way: rename it in the zip, or collect by the LMS's API"
    return ways[0]


def canvas(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """Every way to read a name from Canvas's zip, from the left."""
    name = path.rsplit("/", 1)[-1]
    for match in _CANVAS.finditer(name):
        if name[: match.start()].endswith("_LATE"):
            continue  # the same way once more, without its mark
        filename, attempt = match[2], 0
        again = _RESUBMITTED.fullmatch(filename)
        if again and own_name(again[1] + again[3], expected) in expected:
            filename, attempt = again[1] + again[3], int(again[2])
        late = name[match.start() :].startswith("_LATE_")
        yield UploadedFile(Person(match[1], name[: match.start()]), own_name(filename, expected), attempt, late)


def moodle(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """The way to read a path from Moodle's zip, with folders or without."""
    match = _MOODLE.fullmatch(path)
    if match is not None:
        yield UploadedFile(Person(match[2], match[1]), own_name(match[3] or match[4], expected))


def own_name(path: str, expected: frozenset[str]) -> str:
    """What a browser or an editor made of an expected name, taken back; ``1_attention (1).ipynb`` is one.

    Any other notebook keeps its name, with ``.ipynb`` at its end.
    """
    folder, slash, name = path.rpartition("/")
    known = {one_form(one).casefold(): one for one in expected}
    fitting = (known[form] for form in (one_form(form).casefold() for form in _forms(name)) if form in known)
    return f"{folder}{slash}{next(fitting, None) or _as_notebook(name)}"


def _forms(name: str) -> Iterator[str]:
    bare = _without_second_ending(name.strip())
    again = _DOWNLOADED_AGAIN.fullmatch(bare)
    yield from (name, bare)
    if again:
        yield again[1] + again[2]
    if bare.lower().endswith(".json"):
        yield f"{bare[: -len('.json')]}.ipynb"


def _as_notebook(name: str) -> str:
    bare = _without_second_ending(name.strip())
    return f"{bare[: -len('.ipynb')]}.ipynb" if bare.lower().endswith(".ipynb") else name


def _without_second_ending(name: str) -> str:
    match = _SAVED_AS_TEXT.fullmatch(name)
    return match[1] if match else name
