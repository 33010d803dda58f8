"""A submission as it lies on disk: raw bytes of the files that the assignment names, none of them looked into yet.

Browsers, mail programs and Windows rename files, and students work in copies. A file that is the assignment's notebook
under another name is taken, with a note; where two could be meant, or the work lies in a text beside it, a person
decides.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.errors import UnreadableSubmission
from autograder.model import cells
from autograder.model.plain_text import few, forms, is_writable, one_form
from autograder.model.plain_text import name as plain_name
from autograder.model.submitted_cells import MAX_NOTEBOOK_BYTES, UnreadableNotebook, read_submitted

#: So many files of other names are looked into.
MAX_LOOKED_INTO = 20
_ENDINGS = re.compile(r"(\.ipynb\b.*|\.(json|txt|html?|download))\s*$", re.IGNORECASE)
#: Files that people write; a table or a figure may come from the notebook's own cells.
WRITTEN = re.compile(r"\.(py|r|jl|ipynb|[qr]?md|html?|pdf|docx?|odt|rtf|tex|txt|zip|jpe?g|heic)$", re.IGNORECASE)
#: How jupytext begins a file, and a cell.
_JUPYTEXT = re.compile(r"(?m)\A(?:# )?---\n[\s\S]*?\n(?:# )?---$|^[ \t]*(?:# ?%%|# \+|# -$|```|~~~).*")
Files = Mapping[str, bytes]
Notebooks = Mapping[str, NotebookNode]


@dataclass(frozen=True)
class Candidate:
    """A file that may be the notebook. ``name``: as a note shows it."""

    name: str
    data: bytes
    release: NotebookNode

    @cached_property
    def state(self) -> str:
        """``solved`` where the student has written anything; ``untouched``, or ``unreadable``."""
        try:
            sent = read_submitted(self.data)
        except UnreadableNotebook:
            return "unreadable"
        released = {cell.source.strip() for cell in self.release.cells} | {""}
        return "untouched" if all(one.source.strip() in released for one in sent) else "solved"


@dataclass(frozen=True)
class Choice:
    """``data``: what was taken. ``blocked``: why it cannot be judged, although something was handed in."""

    data: bytes | None = None
    note: str = ""
    blocked: str = ""


def may_be_notebook(name: str) -> bool:
    return "." not in name.strip() or bool(_ENDINGS.search(name))


def candidates(stem: str, files: Files, release: Notebooks) -> Iterator[tuple[bool, Candidate]]:
    """Files that are notebooks and this one, the likeliest names first; each with whether it carries all marks."""
    marks = {other: _marks(notebook) for other, notebook in release.items()} if files else {}
    wanted = f"{stem}.ipynb".lower()
    for name in sorted(files, key=lambda one: (one.strip().lower() != wanted, one)):
        data = files[name]
        if not re.search(rb'"\x00?(c\x00?e\x00?l\x00?l\x00?s|w\x00?o\x00?r\x00?k\x00?s\x00?h)', data):
            continue
        plain = data.replace(b"\x00", b"")
        there = {other: sum(mark in plain for mark in ours) for other, ours in marks.items()}
        if there[stem] and there[stem] == max(there.values()):
            yield there[stem] == len(marks[stem]), Candidate(_shown(name), data, release[stem])
        elif not any(there.values()) and _is_alike(stem, name):
            yield False, Candidate(_shown(name), data, release[stem])


def _shown(name: str) -> str:
    return plain_name(name) if name == name.strip() else f"'{plain_name(name)}'"


def _marks(notebook: NotebookNode) -> set[bytes]:
    found = ((cells.grade_id(cell), cell) for cell in notebook.cells)
    return {f'"{grade_id}"'.encode() for grade_id, cell in found if grade_id and cells.is_solution(cell)}


def _is_alike(stem: str, name: str) -> bool:
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(stem.lower())}(?![a-z0-9])", name.lower()))


def choose(
    stem: str, named: bytes | None, others: list[tuple[bool, Candidate]], release: Notebooks, unread: Files
) -> Choice:
    """named: content of the file of the notebook's own name; others: :func:`candidates`; unread: the other files."""
    best = [one for whole, one in others if whole]
    if named is None:
        return _renamed(stem, _solved(best or [one for _, one in others]))
    ours = Candidate(f"{stem}.ipynb", named, release[stem])
    rivals = _different([one for one in best if one.data != named])
    if others and ours.state != "solved":
        solved = _different([one for _, one in others if one.state == "solved"])
        if len(solved) == 1:
            state = "is as it was handed out" if ours.state == "untouched" else "cannot be read"
            return Choice(solved[0].data, f"{stem}.ipynb {state}; {solved[0].name} was taken in its place")
        if solved:
            return Choice(blocked=_several(stem, solved))
    if unread and ours.state == "untouched" and (work := _work(stem, unread, release)):
        where = f"what stands in {' and '.join(work[:3])} was not judged: a person looks at it"
        return Choice(named, blocked=f"nothing was written into {stem}.ipynb, and {where}")
    if not rivals:
        return Choice(named)
    names = " and ".join([one.name for one in rivals][:3])
    several = len(rivals) > 1
    which = f"{names} {'carry' if several else 'carries'} its marks too"
    return Choice(named, f"{stem}.ipynb was taken; {which}, and {'differ' if several else 'differs'}: left out")


def _work(stem: str, files: Files, release: Notebooks) -> list[str]:
    """The files that say more than was handed out, but for those that are called as another notebook is."""
    released = _lines("\n".join(cell.source for notebook in release.values() for cell in notebook.cells))
    return [
        plain_name(name) for name, data in files.items()
        if _is_alike(stem, name) or not any(_is_alike(other, name) for other in release)
        if (state := Candidate(name, data, release[stem]).state) == "solved"
        or (state == "unreadable" and _lines(data[: 1 << 20].decode(errors="replace")) - released)
    ]  # fmt: skip


def _lines(text: str) -> set[str]:
    return {line.strip("#> \t") for line in _JUPYTEXT.sub("", text).splitlines()} - {""}


def _renamed(stem: str, found: list[Candidate]) -> Choice:
    if not found:
        return Choice()
    different = _different(found)
    if len(different) > 1:
        return Choice(blocked=_several(stem, different))
    why = "it carries its marks" if any(mark in found[0].data for mark in _marks(found[0].release)) else "by its name"
    return Choice(found[0].data, f"{found[0].name} was taken for {stem}.ipynb: {why}")


def _several(stem: str, found: list[Candidate]) -> str:
    some = " and ".join(one.name for one in found[:3])
    return f"{some} could each be {stem}.ipynb, and differ: none was taken; give one of them that name"


def _different(found: list[Candidate]) -> list[Candidate]:
    return list({one.data: one for one in reversed(found)}.values())[::-1]


def _solved(found: list[Candidate]) -> list[Candidate]:
    """Of several files those in which somebody has written, where there are such."""
    if len(_different(found)) < 2:
        return found
    return [one for one in found if one.state == "solved"] or found


MAX_FILE_BYTES = 1 << 20
_EXCHANGE_BYTES = 4096
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")
_MAX_LOOKED_AT, _MAX_DEPTH = 1000, 4
#: So many files of the student's own are laid beside the notebooks, and so much in all.
_MAX_OWN, _MAX_OWN_BYTES = 50, 8 << 20
#: How the note on a file ends of which nothing more is to be said.
NOT_HANDED_IN = " was not handed in"


@dataclass(frozen=True)
class Submission:
    """What one student handed in: raw bytes, none of them looked into yet.

    ``notebooks`` and ``files`` hold what the assignment asks for and is there; ``beside`` what else the student handed
    in, for the student's own code to read; ``notes`` says what was left out. ``blocked``: notebook to the reason why
    it cannot be judged, although something was handed in.
    """

    student: str
    notebooks: Mapping[str, bytes]
    files: Mapping[str, bytes]
    notes: tuple[str, ...]
    beside: Mapping[str, bytes] = field(default_factory=dict)
    blocked: Mapping[str, str] = field(default_factory=dict)


def read_submission(folder: Path, student: str, assignment: Assignment) -> Submission:
    """Take only what the assignment names. Raises UnreadableSubmission where there is no notebook at all."""
    if not is_writable(student):
        raise UnreadableSubmission(f"{plain_name(str(folder))}: the student's name is no UTF-8; rename the folder")
    notes: list[str] = []
    present = {
        name: path
        for name, path in _present(folder, student).items()
        if not any(fnmatch(name, one) for one in assignment.ignore)
    }
    notebooks: dict[str, bytes] = {}
    blocked: dict[str, str] = {}
    others, release = _others(present, assignment), assignment.release or assignment.source
    alike = {stem: list(candidates(stem, others, release)) for stem in assignment.source}
    known = {one.data for found in alike.values() for _, one in found}
    unread = {name: data for name, data in others.items() if data not in known}
    for stem in assignment.source:
        before = len(notes)
        named = _plain(present[f"{stem}.ipynb"], MAX_NOTEBOOK_BYTES, notes) if f"{stem}.ipynb" in present else None
        choice = choose(stem, named, alike[stem], release, unread)
        notes += [note for note in (choice.note, choice.blocked) if note]
        if choice.data is not None:
            notebooks[stem] = choice.data
            blocked |= {stem: choice.blocked} if choice.blocked else {}
            continue
        if len(notes) == before:
            notes.append(f"{stem}.ipynb{NOT_HANDED_IN}")
            notes += _deeper(folder, f"{stem}.ipynb")
        if notes[-1] != f"{stem}.ipynb{NOT_HANDED_IN}":
            blocked[stem] = notes[-1]
    if not notebooks:
        found = [note for note in notes if not note.endswith(NOT_HANDED_IN)]
        there = sorted(name for name, path in present.items() if path.is_file() and name not in EXCHANGE_FILES)
        if not found and there:
            found = [f"found {', '.join(map(plain_name, there[:3]))}, which is no notebook with its marks"]
        raise UnreadableSubmission(
            f"{plain_name(str(folder))} holds no notebook of {assignment.name!r}: expected "
            f"{', '.join(f'{stem}.ipynb' for stem in assignment.source)}"
            + "".join(f"; {note}" for note in few(tuple(found[:3])))
        )
    files = {
        name: data
        for name in sorted(assignment.deliverables)
        if name in present and (data := _plain(present[name], MAX_FILE_BYTES, notes)) is not None
    }
    notes += [f"{name}{NOT_HANDED_IN}" for name in sorted(assignment.deliverables) if name not in present]
    beside = _own_files(folder, {f"{stem}.ipynb" for stem in assignment.source}, assignment, notes)
    return Submission(student, notebooks, files, few(tuple(notes)), beside, blocked)


def _others(present: Mapping[str, Path], assignment: Assignment) -> dict[str, bytes]:
    """Files of other names that may be notebooks of the assignment, or hold work in another form: name -> content."""
    expected = {f"{stem}.ipynb" for stem in [*assignment.source, *assignment.other_languages]}
    expected |= {*assignment.deliverables, *assignment.files, *EXCHANGE_FILES}
    names = sorted(name for name in present if name not in expected and (may_be_notebook(name) or WRITTEN.search(name)))
    names.sort(key=lambda name: ".ipynb" not in name.lower())
    found: dict[str, bytes] = {}
    room = MAX_NOTEBOOK_BYTES
    for name in names[:MAX_LOOKED_INTO]:
        if data := _plain(present[name], room, []):
            found[name] = data
            room -= len(data)
    return found


def _present(folder: Path, student: str) -> dict[str, Path]:
    """What lies in a submission's folder. Raises UnreadableSubmission where it is no folder of its own."""
    shown = plain_name(str(folder))
    own = next((path for path in (folder, folder.parent) if one_form(path.name) == one_form(student)), folder)
    if folder.is_symlink() or own.is_symlink():
        raise UnreadableSubmission(
            f"{shown} is a link, perhaps to somebody else's work: put the student's own files there"
        )
    try:
        inside = folder.relative_to(own)
        twins = [ascii(path.name) for path in own.parent.iterdir()
                 if one_form(path.name) == one_form(own.name) and os.path.lexists(path / inside)
                 ] if len(forms(own.name)) > 1 else []  # fmt: skip
        if len(twins) > 1:
            raise UnreadableSubmission(
                f"{shown} is there twice: {' and '.join(sorted(twins))} are one name; keep one of the two folders"
            )
        return {path.name: path for path in folder.iterdir()}
    except NotADirectoryError:
        raise UnreadableSubmission(f"{shown} is a file: expected a folder with the notebooks") from None
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnreadableSubmission(f"{shown} cannot be read: {error.strerror}") from error


def _own_files(folder: Path, taken: set[str], assignment: Assignment, notes: list[str]) -> dict[str, bytes]:
    """What else lies in a submission's folder, as nbgrader leaves it beside the notebooks: path -> content.

    No notebook, no hidden file, nothing in the place of the assignment's own files or of the course's library, and
    no more than fits.
    """
    library = assignment.library.partition(".")[0]
    kept = [PurePosixPath(name) for name in {*assignment.files, *assignment.deliverables, *taken}]
    blocked = {*kept, *(parent for path in kept for parent in path.parents if parent.parts)}
    found: dict[str, bytes] = {}
    left_out = size = 0
    for path in _walk(folder, assignment.ignore):
        name = path.relative_to(folder).as_posix()
        within = PurePosixPath(name)
        if within in blocked or any(parent in kept for parent in within.parents) or not is_writable(name):
            continue
        if library and within.parts[0] in (library, f"{library}.py"):
            continue  # a whole repository was handed in: the library that is installed counts
        if len(found) == _MAX_OWN:
            left_out += 1
        elif (data := _plain(path, MAX_FILE_BYTES, notes)) is not None:
            if size + len(data) > _MAX_OWN_BYTES:
                left_out += 1
                continue
            found[name] = data
            size += len(data)
    if left_out:
        notes.append(f"{left_out} more files were left out: at most {_MAX_OWN} with {_MAX_OWN_BYTES >> 20} MB are read")
    return found


def _walk(folder: Path, ignore: tuple[str, ...]) -> Iterator[Path]:
    """Every file that a submission may bring along, in order, not deeper and not more than people unpack."""
    seen = 0
    for parent, folders, files in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if _brought(name, ignore)) if depth < _MAX_DEPTH else []
        for name in sorted(files):
            if (seen := seen + 1) > _MAX_LOOKED_AT:
                return
            if _brought(name, ignore) and name not in EXCHANGE_FILES:
                yield Path(parent, name)


def _brought(name: str, ignore: tuple[str, ...]) -> bool:
    odd = name.startswith(".") or name == "__pycache__" or "\\" in name or name.lower().endswith(".ipynb")
    return not odd and not any(fnmatch(name, one) for one in ignore)


def _deeper(folder: Path, name: str) -> list[str]:
    """Where a missing file lies further down. A look at so much as people unpack, not at what somebody dug."""
    seen = 0
    for parent, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if name in files and Path(parent) != folder:
            where = plain_name(str(Path(parent).relative_to(folder)))
            return [f"{name} was found in {where}/, where nothing is graded: move it up"]
        if seen > _MAX_LOOKED_AT or len(Path(parent).relative_to(folder).parts) >= _MAX_DEPTH:
            folders.clear()
    return []


def exchange_files(folder: Path) -> dict[str, bytes]:
    """What nbgrader's exchange put beside a submission and looks for beside its feedback; nothing else heeds it."""
    present = ((name, folder / name) for name in EXCHANGE_FILES if (folder / name).exists())
    read = ((name, _plain(path, _EXCHANGE_BYTES, [])) for name, path in present)
    return {name: data for name, data in read if data is not None}


def _plain(path: Path, limit: int, notes: list[str]) -> bytes | None:
    """The bytes of a regular file of bounded size; links are not followed."""
    shown = plain_name(path.name)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        why = "it is a link" if path.is_symlink() else f"it cannot be read ({error.strerror})"
        notes.append(f"{shown} was left out: {why}")
        return None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):  # a folder could not even be opened as a stream
        os.close(descriptor)
        notes.append(f"{shown} was left out: it is {'a folder' if stat.S_ISDIR(about.st_mode) else 'no plain file'}")
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if about.st_size > limit:
            notes.append(f"{shown} was left out: {about.st_size >> 20} MB; at most {limit >> 20} MB are read")
            return None
        try:
            return stream.read(limit + 1)
        except OSError as error:
            notes.append(f"{shown} was left out: it cannot be read ({error.strerror})")
            return None
