"""One student's files, put aside one by one: which are wanted, which of two counts, and what is said of the others."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import EXCHANGE_FILES, MAX_FILE_BYTES
from autograder.collect.archive import Refused, against_name, opened, sound_entries
from autograder.collect.lists import Person, own_name
from autograder.collect.whose import Whose
from autograder.errors import GradingError
from autograder.gradebook.late.times import Record
from autograder.model.submitted_cells import MAX_NOTEBOOK_BYTES

MAX_PER_STUDENT = 512 << 20  # bytes
#: What systems leave in archives and repositories; nobody handed these in.
_LITTER = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints", ".DS_Store"})


def is_litter(path: str) -> bool:
    return any(part in _LITTER or part.startswith("._") for part in path.split("/"))


@dataclass
class Collected:
    """One student's upload. ``folder`` holds the files for now; ``taken``: file -> where it came from.

    ``notes``: what is good to know; ``left_out``: what might be missed, and why.
    """

    student: str
    person: Person
    folder: Path
    taken: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    bytes: int = 0
    came_in: Record | None = None
    late: bool = False  # marked so by the LMS, which does not say when it came in


@dataclass(frozen=True)
class Wanted:
    """Which files an assignment takes, by their last name: its notebooks, what is handed in beside, other notebooks."""

    assignment: Assignment
    exchange: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset({f"{stem}.ipynb" for stem in self.assignment.source} | self.assignment.deliverables)

    def limit(self, name: str) -> int:
        return MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES

    def __contains__(self, name: str) -> bool:
        if self.exchange and name in EXCHANGE_FILES:
            return True
        return not name.startswith(".") and (name in self.names or name.endswith(".ipynb"))


class Gathering:
    """``people``: by the LMS's number. ``ignored``: what is nobody's, and why."""

    def __init__(self, wanted: Wanted, aside: Path) -> None:
        self.wanted, self.aside = wanted, aside
        self.people: dict[str, Collected] = {}
        self.ignored: list[tuple[str, str]] = []

    def of(self, person: Person, known: Whose, origin: str) -> Collected | None:
        """Whose upload it is; None where nobody can tell, and then ``origin`` is ignored."""
        if person.id in known.refused:
            self.ignored.append((origin, known.refused[person.id]))
            return None
        if person.id not in self.people:
            folder = self.aside / str(len(self.people))
            folder.mkdir(parents=True)
            self.people[person.id] = Collected(known.students[person.id], person, folder)
        return self.people[person.id]

    def add(
        self, one: Collected, filename: str, rank: tuple[int, ...], origin: str, read: Callable[[int], bytes]
    ) -> None:
        """Take one file, if it is wanted, sound, and no older than what is there. A refusal costs this file alone."""
        name = filename.rsplit("/", 1)[-1]
        if name not in self.wanted:
            one.notes.append(f"{origin} is not asked for")
            return
        rank = (*rank, int(origin.rsplit("/", 1)[-1].endswith(name)))  # a name as it should be comes first
        try:
            if reason := against_name(name):
                raise Refused(reason)
            data = read(self.wanted.limit(name))
            if one.bytes + len(data) > MAX_PER_STUDENT:
                raise Refused(f"more than {MAX_PER_STUDENT >> 20} MB in one submission")
        except Refused as reason:
            one.left_out.append(f"{origin} was refused: {reason}")
            return
        if name in one.taken:
            if (one.folder / name).read_bytes() == data:
                return
            self._say_which(one, name, rank, origin)
            if one.ranks[name] >= rank:
                return
        if "/" in filename:
            one.notes.append(f"{name} was found in {filename.rpartition('/')[0]}/")
        one.bytes += len(data)
        (one.folder / name).write_bytes(data)
        one.taken[name], one.ranks[name] = origin, rank

    def _say_which(self, one: Collected, name: str, rank: tuple[int, ...], origin: str) -> None:
        """Of two files for one place. That an earlier attempt is left out is as it should be."""
        taken = one.taken[name]
        loser, winner = (origin, taken) if one.ranks[name] >= rank else (taken, origin)
        if one.ranks[name][0] != rank[0]:
            one.notes.append(f"{loser} was left out: {winner} counts")
        else:
            one.left_out.append(f"{loser} was left out: {winner} was taken for {name}, and differs")

    def add_zip(self, one: Collected, data: bytes, rank: tuple[int, int], origin: str) -> None:
        """A zip that a student zipped: opened once, its own zips are not."""
        try:
            with opened(io.BytesIO(data), origin) as inner:
                for entry in sound_entries(inner):
                    if is_litter(entry.name):
                        continue
                    inside = f"{origin} / {entry.name}"
                    if entry.reason:
                        one.left_out.append(f"{inside!a} was refused: {entry.reason}")
                        continue
                    name = own_name(entry.name, self.wanted.names)
                    if name.lower().endswith(".zip"):
                        one.left_out.append(f"{inside} was refused: it is a zip in a zip")
                        continue
                    depth = -entry.name.count("/")
                    self.add(one, name, (rank[0], depth), inside, entry.read)
        except GradingError as error:
            one.left_out.append(f"{origin} was refused: {error}")
