"""A corrected notebook and a student's own one, made into one: the correction's cells, the student's text.

What is the student's: answer cells, cells that they added, and cells of ours that they changed. None of it is ever left
out. Notebooks are plain dictionaries, as in an ``.ipynb`` file.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

Cell = dict[str, Any]
#: Name of a cell -> digests of the texts that it had in this and earlier publications.
History = Mapping[str, Sequence[str]]

_DEFINED = re.compile(r"(?m)^(?:def|class) (\w+)")


@dataclass(frozen=True)
class Merged:
    """``corrected``: (cell, text before, text now); ``new`` and ``gone``: cells of the course; ``kept``: texts of the
    student's that the corrected notebook has no place for: they are cells of their own now.
    """

    notebook: dict[str, Any]
    corrected: tuple[tuple[str, str, str], ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.corrected or self.new or self.gone or self.kept)


def merge(published: Mapping[str, Any], own: Mapping[str, Any], history: History) -> Merged:
    """The corrected notebook with the student's text in it. Neither of the two is changed."""
    return _Merge(published["cells"], own["cells"], history).run(published, own)


def text_of(cell: Cell) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def name_of(cell: Cell) -> str:
    """The grade id, or else the id."""
    return str(_nbgrader(cell).get("grade_id") or cell.get("id") or "")


def digest(text: str) -> str:
    """Of a text without the spaces that editors add or take away at the ends of lines."""
    return hashlib.sha256("\n".join(line.rstrip() for line in text.strip().splitlines()).encode()).hexdigest()[:16]


def _nbgrader(cell: Cell) -> dict[str, Any]:
    found = cell.get("metadata", {}).get("nbgrader")
    return found if isinstance(found, dict) else {}


def _is_answer(cell: Cell) -> bool:
    return bool(_nbgrader(cell).get("solution") or _nbgrader(cell).get("task"))


class _Merge:
    def __init__(self, published: list[Cell], own: list[Cell], history: History) -> None:
        self.published, self.own = published, own
        self.known = {name_of(cell): {digest(text_of(cell)), *history.get(name_of(cell), ())} for cell in published}
        self.earlier = {one: name for name, texts in history.items() for one in texts}
        self.earlier.update({one: name for name, texts in self.known.items() for one in texts})
        self.place: dict[int, int] = {}  # cell of ours -> cell of the student's
        self.taken: set[int] = set()

    def run(self, published: Mapping[str, Any], own: Mapping[str, Any]) -> Merged:
        self._match()
        corrected: list[tuple[str, str, str]] = []
        new, kept = [], []
        cells: list[Cell] = []
        extras = self._extras()
        for extra in extras.pop(-1, []):
            cells.append(extra)
        for number, cell in enumerate(self.published):
            made, theirs = deepcopy(cell), self.own[self.place[number]] if number in self.place else None
            cells.append(made)
            if theirs is None:
                new.append(name_of(cell))
            else:
                before, now = text_of(theirs), text_of(cell)
                if _is_answer(cell) and not self._untouched(cell, before):
                    made["source"] = deepcopy(theirs.get("source", ""))
                    _outputs(theirs, made)
                elif digest(before) == digest(now):
                    _outputs(theirs, made)
                else:
                    corrected.append((name_of(cell), before, now))
                    if not self._untouched(cell, before):  # changed by the student: below ours, as a cell of theirs
                        cells.append(_as_extra(theirs))
                        kept.append(before)
            cells += extras.pop(number, [])
        gone = [name_of(cell) for number, cell in enumerate(self.own) if self._is_gone(number, cell)]
        kept += [text_of(cell) for number, cell in enumerate(self.own) if self._lost_its_place(number, cell)]
        _distinct(cells)
        whole = {**deepcopy(dict(own)), **{key: deepcopy(published[key]) for key in published if key != "metadata"}}
        whole["cells"] = cells
        return Merged(whole, tuple(corrected), tuple(new), tuple(gone), tuple(kept))

    def _match(self) -> None:
        """From the surest sign to the weakest: grade id, id, a text that was published, defined names, place."""
        self._by(lambda cell: str(_nbgrader(cell).get("grade_id") or ""), prefer_edited=True)
        self._by(lambda cell: str(cell.get("id") or ""), prefer_edited=True)
        texts = {name_of(cell): number for number, cell in enumerate(self.published)}
        for number, cell in enumerate(self.own):
            name = self.earlier.get(digest(text_of(cell)), "") if text_of(cell).strip() else ""
            if number not in self.taken and name in texts:
                self._pair(texts[name], number)
        self._by(lambda cell: " ".join(_DEFINED.findall(text_of(cell))) if cell.get("cell_type") == "code" else "")
        self._by_place()

    def _by(self, key: Callable[[Cell], str], prefer_edited: bool = False) -> None:
        """Pair cells of one key, one kind (code or text); of several of the student's the first that they wrote in."""
        for ours, cell in enumerate(self.published):
            wanted = key(cell)
            if ours in self.place or not wanted:
                continue
            found = [
                number
                for number, theirs in enumerate(self.own)
                if number not in self.taken and key(theirs) == wanted and theirs.get("cell_type") == cell["cell_type"]
            ]
            if prefer_edited:
                found.sort(key=lambda number: self._untouched(cell, text_of(self.own[number])))
            if found:
                self._pair(ours, found[0])

    def _by_place(self) -> None:
        """An answer cell without any sign: the only cell of its kind between the same two neighbours."""
        for ours, cell in enumerate(self.published):
            if ours in self.place or not _is_answer(cell):
                continue
            before = max((self.place[one] for one in self.place if one < ours), default=-1)
            after = min((self.place[one] for one in self.place if one > ours), default=len(self.own))
            between = [
                number
                for number in range(before + 1, after)
                if number not in self.taken and self.own[number].get("cell_type") == cell["cell_type"]
            ]
            if len(between) == 1:
                self._pair(ours, between[0])

    def _pair(self, ours: int, theirs: int) -> None:
        if ours not in self.place and theirs not in self.taken:
            self.place[ours] = theirs
            self.taken.add(theirs)

    def _untouched(self, cell: Cell, text: str) -> bool:
        return digest(text) in self.known[name_of(cell)]

    def _was_ours(self, cell: Cell) -> bool:
        """Published at some time, and not written in since."""
        return digest(text_of(cell)) in self.earlier

    def _is_gone(self, number: int, cell: Cell) -> bool:
        return number not in self.taken and bool(text_of(cell).strip()) and self._was_ours(cell)

    def _lost_its_place(self, number: int, cell: Cell) -> bool:
        """The student's text in a cell that was the course's, and is none of the corrected notebook's."""
        return number not in self.taken and bool(_nbgrader(cell)) and not self._was_ours(cell)

    def _extras(self) -> dict[int, list[Cell]]:
        """The student's own cells, by the cell of ours that they follow; -1: before all of them."""
        places = {theirs: ours for ours, theirs in self.place.items()}
        found: dict[int, list[Cell]] = {}
        behind = -1
        for number, cell in enumerate(self.own):
            if number in places:
                behind = places[number]
            elif text_of(cell).strip() and not self._was_ours(cell):
                found.setdefault(behind, []).append(_as_extra(cell))
        return found


def _as_extra(cell: Cell) -> Cell:
    """A cell that is the student's alone: not locked, and not graded."""
    made = deepcopy(cell)
    drop = ("nbgrader", "deletable", "editable")
    made["metadata"] = {key: value for key, value in made.get("metadata", {}).items() if key not in drop}
    return made


def _outputs(theirs: Cell, made: Cell) -> None:
    for key in ("outputs", "execution_count"):
        if made["cell_type"] == "code" and key in theirs:
            made[key] = deepcopy(theirs[key])


def _distinct(cells: Iterable[Cell]) -> None:
    """An id for every cell, and each one once; those of the course come first in every file, so they stay."""
    cells = list(cells)
    used = {cell["id"] for cell in cells if _nbgrader(cell) and cell.get("id")}
    for number, cell in enumerate(cells):
        if _nbgrader(cell) and cell.get("id"):
            continue
        wanted = str(cell.get("id") or f"own-{number}")
        while wanted in used:
            wanted = f"{wanted[:50]}-{number}"
        used.add(wanted)
        cell["id"] = wanted
