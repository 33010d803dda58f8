"""An assignment as the teacher wrote it, and a submission to it as it lies on disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import cells
from autograder.errors import GradingError, NothingToGrade
from autograder.store import References

#: Where the instructor's own version of a file lies that students hand in beside the notebooks.
SOLUTIONS = Path(__file__).parent / "solutions"
MAX_FILE_BYTES = 1 << 20
_EXCHANGE_BYTES = 4096
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")
MAX_NOTEBOOK_BYTES = 256 << 20


@dataclass(frozen=True)
class Course:
    """The folder of an nbgrader course, and the address of its gradebook."""

    root: Path

    @property
    def db_url(self) -> str:
        """SQLite beside the course, unless ``NBGRADER_DB_URL`` says otherwise (PostgreSQL, say)."""
        return os.environ.get("NBGRADER_DB_URL") or f"sqlite:///{self.root / 'gradebook.db'}"

    def submitted(self, student: str, assignment: str) -> Path:
        return self.root / "submitted" / student / assignment

    def autograded(self, student: str, assignment: str) -> Path:
        return self.root / "autograded" / student / assignment

    def feedback(self, student: str, assignment: str) -> Path:
        return self.root / "feedback" / student / assignment

    def students(self, assignment: str) -> list[str]:
        """Everybody with a folder for this assignment, in order. Raises NothingToGrade where there is nobody."""
        folder = self.root / "submitted"
        found = sorted(path.parent.name for path in folder.glob(f"*/{assignment}") if path.is_dir())
        if not found:
            raise NothingToGrade(f"there is no submission to {assignment!r}: expected {folder}/<student>/{assignment}/")
        return found


@dataclass(frozen=True)
class Assignment:
    """The trusted notebooks: with solutions and hidden tests (``source``), and as students got them (``release``).

    ``files`` are the teacher's files beside the notebooks; ``deliverables`` names those that a submission replaces;
    ``references`` are those of the course.
    """

    name: str
    source: Mapping[str, NotebookNode]
    release: Mapping[str, NotebookNode]
    files: Mapping[str, bytes]
    deliverables: frozenset[str]
    references: References

    @classmethod
    def open(cls, root: Path, name: str) -> Assignment:
        """Raises GradingError where there is no such assignment, or it was never released."""
        source, release = root / "source" / name, root / "release" / name
        if not name or not source.is_dir():
            known = sorted(path.name for path in (root / "source").glob("*") if path.is_dir())
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known) or 'none'}"
            raise GradingError(f"unknown assignment {name!r}{hint}")
        names = sorted(path.stem for path in source.glob("*.ipynb"))
        missing = [stem for stem in names if not (release / f"{stem}.ipynb").is_file()]
        if missing:
            raise GradingError(f"{name} was never released ({missing[0]}.ipynb is not in release/): run 'make release'")
        return cls(
            name,
            {stem: _read(source / f"{stem}.ipynb") for stem in names},
            {stem: _read(release / f"{stem}.ipynb") for stem in names},
            _files(source),
            frozenset(path.name for path in (SOLUTIONS / name).glob("*") if path.is_file()),
            References.of_course(root),
        )

    @property
    def max_points(self) -> float:
        return sum(cells.max_points(cell) for nb in self.source.values() for cell in nb.cells if cells.is_graded(cell))

    def solution_files(self) -> dict[str, bytes]:
        """The instructor's own deliverables, for a run of the source notebooks. Never beside student code."""
        return {name: (SOLUTIONS / self.name / name).read_bytes() for name in self.deliverables}


def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and "__pycache__" not in path.parts
    }


@dataclass(frozen=True)
class Submission:
    """What one student handed in: raw bytes, none of them looked into yet.

    ``notebooks`` holds the files that the assignment asks for and that are there; ``notes`` says what was left out.
    """

    student: str
    notebooks: Mapping[str, bytes]
    files: Mapping[str, bytes]
    notes: tuple[str, ...]


def read_submission(folder: Path, student: str, assignment: Assignment) -> Submission:
    """Take only what the assignment names. Raises NothingToGrade where there is no notebook at all."""
    notes: list[str] = []
    present = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
    notebooks: dict[str, bytes] = {}
    for stem in assignment.source:
        path = present.get(f"{stem}.ipynb") or _renamed(stem, present, assignment, notes)
        data = _plain(path, MAX_NOTEBOOK_BYTES, notes) if path else None
        if data is not None:
            notebooks[stem] = data
        elif path is None:
            notes.append(f"{stem}.ipynb was not handed in")
    if not notebooks:
        raise NothingToGrade(
            f"{folder} holds no notebook of {assignment.name!r}: expected {', '.join(assignment.source)}"
        )
    files = {
        name: data
        for name in sorted(assignment.deliverables)
        if name in present and (data := _plain(present[name], MAX_FILE_BYTES, notes)) is not None
    }
    notes += [f"{name} was not handed in" for name in sorted(assignment.deliverables) if name not in present]
    return Submission(student, notebooks, files, tuple(notes))


def exchange_files(folder: Path) -> dict[str, bytes]:
    """What nbgrader's exchange put beside a submission and looks for beside its feedback; nothing else heeds it."""
    present = ((name, folder / name) for name in EXCHANGE_FILES if (folder / name).exists())
    read = ((name, _plain(path, _EXCHANGE_BYTES, [])) for name, path in present)
    return {name: data for name, data in read if data is not None}


def _renamed(stem: str, present: Mapping[str, Path], assignment: Assignment, notes: list[str]) -> Path | None:
    """A notebook under another name: the only one whose cells carry this notebook's marks."""
    marks = [
        f'"{grade_id}"'.encode()
        for cell in assignment.source[stem].cells
        if (grade_id := cells.grade_id(cell)) and cells.is_solution(cell)
    ]
    expected = {f"{other}.ipynb" for other in assignment.source}
    found = []
    for name, path in sorted(present.items()):
        if name in expected or not name.endswith(".ipynb"):
            continue
        data = _plain(path, MAX_NOTEBOOK_BYTES, [])
        if data and marks and all(mark in data for mark in marks):
            found.append(path)
    if len(found) != 1:
        return None
    notes.append(f"{found[0].name} was taken for {stem}.ipynb: it carries its marks")
    return found[0]


def _plain(path: Path, limit: int, notes: list[str]) -> bytes | None:
    """The bytes of a regular file of bounded size; links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        notes.append(f"{path.name} was left out: it is a link or cannot be read")
        return None
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            notes.append(f"{path.name} was left out: it is no plain file")
            return None
        if about.st_size > limit:
            notes.append(f"{path.name} was left out: {about.st_size >> 20} MB; at most {limit >> 20} MB are read")
            return None
        return stream.read(limit + 1)
