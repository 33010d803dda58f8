"""Which file of a submission is the notebook that the assignment asks for: the one of its name, as a rule.

Browsers, mail programs and Windows rename files, and students work in copies. A file that is this notebook under
another name is taken, with a note; where two could be meant, or the work lies in a text beside it, a person decides.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.plain_text import name as plain_name
from autograder.model.submitted_cells import UnreadableNotebook, read_submitted

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
