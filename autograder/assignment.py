"""An assignment as the teacher wrote it, and a submission to it as it lies on disk."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import cells
from autograder.errors import GradingError, NothingToGrade
from autograder.plain import few, is_writable
from autograder.plain import name as plain_name
from autograder.settings import Settings, read_settings
from autograder.store import References
from autograder.submitted import MAX_NOTEBOOK_BYTES

#: Where the instructor's own version of a file lies that students hand in beside the notebooks.
SOLUTIONS = Path(__file__).parent / "solutions"
MAX_FILE_BYTES = 1 << 20
_EXCHANGE_BYTES = 4096
EXCHANGE_FILES = ("timestamp.txt", "submission_secret.txt")
_MAX_LOOKED_AT, _MAX_DEPTH = 1000, 4
# stand for every student and every assignment while a pattern is made; no regular expression changes them
_ANY_STUDENT, _ANY_ASSIGNMENT = "anyxstudent", "anyxassignment"
#: So many notebooks of other names are searched for one that is missing.
_MAX_RENAMED = 20


@dataclass(frozen=True, init=False)
class Course:
    """The folder of an nbgrader course: its gradebook, and where everything lies, as ``nbgrader_config.py`` has it."""

    root: Path
    settings: Settings

    def __init__(self, root: Path, settings: Settings | None = None) -> None:
        """Raises GradingError for a configuration that fails."""
        settings = settings or read_settings(root)
        object.__setattr__(self, "root", settings.root)
        object.__setattr__(self, "settings", settings)

    @property
    def db_url(self) -> str:
        """SQLite beside the course, unless the configuration says otherwise (PostgreSQL, say)."""
        return self.settings.db_url

    def source(self, assignment: str) -> Path:
        return self._path(self.settings.source_directory, ".", assignment)

    def release(self, assignment: str) -> Path:
        return self._path(self.settings.release_directory, ".", assignment)

    def folder(self, step: str, assignment: str) -> Path:
        """Where the files of a step lie that has no students, whatever the step's folder is called."""
        return self._path(step, ".", assignment)

    def submitted(self, student: str, assignment: str) -> Path:
        return self._path(self.settings.submitted_directory, student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._path(self.settings.autograded_directory, student, assignment)

    def feedback(self, student: str, assignment: str) -> Path:
        return self._path(self.settings.feedback_directory, student, assignment)

    @property
    def every_feedback(self) -> Path:
        """The folder that holds everybody's feedback."""
        return next(path for path in self.feedback("*", "*").parents if "*" not in str(path))

    def assignments(self) -> list[str]:
        """Every assignment with a source notebook, in order."""
        folders = self._found(self.settings.source_directory, ".", None)
        return sorted(name for (_, name), folder in folders.items() if any(folder.glob("*.ipynb")))

    def everybody_submitted(self, assignment: str | None = None) -> list[str]:
        """The students with a folder for this assignment, or for any, in order; those that nbgrader would grade."""
        found = {student for student, _ in self._found(self.settings.submitted_directory, None, assignment)}
        return sorted(filter(self.takes, found))

    def takes(self, student: str) -> bool:
        """Whether ``CourseDirectory.student_id`` and ``student_id_exclude`` let commands work on this student."""
        return fnmatchcase(student, self.settings.student_id) and student not in self.settings.student_id_exclude

    def everybody_autograded(self, assignment: str) -> list[str]:
        """The students with a verdict, in order."""
        folders = self.autograded_folders(assignment)
        return sorted(student for student, folder in folders.items() if (folder / "verdicts.json").is_file())

    def autograded_folders(self, assignment: str) -> dict[str, Path]:
        """Student to what is there of their graded submission, which may be half of it."""
        found = self._found(self.settings.autograded_directory, None, assignment)
        return {student: folder for (student, _), folder in found.items()}

    def feedback_folders(self, assignment: str) -> dict[str, Path]:
        found = self._found(self.settings.feedback_directory, None, assignment)
        return {student: folder for (student, _), folder in found.items()}

    def students(self, assignment: str) -> list[str]:
        """Everybody with a submission, in order. Raises NothingToGrade where there is nobody."""
        found = self.everybody_submitted(assignment)
        if not found:
            expected = self.submitted("<student>", assignment)
            raise NothingToGrade(f"there is no submission to {assignment!r}: expected {expected}/")
        return found

    def _path(self, step: str, student: str, assignment: str) -> Path:
        structure = self.settings.directory_structure
        named = structure.format(nbgrader_step=step, student_id=student, assignment_id=assignment)
        return Path(os.path.normpath(self.root / named))

    def _found(self, step: str, student: str | None, assignment: str | None) -> dict[tuple[str, str], Path]:
        """(student, assignment) -> folder. None stands for every one. Hidden folders are nobody's."""
        fixed = self._path(step, student or _ANY_STUDENT, assignment or _ANY_ASSIGNMENT)
        pattern = glob.escape(str(fixed)).replace(_ANY_STUDENT, "*").replace(_ANY_ASSIGNMENT, "*")
        escaped = re.escape(str(fixed)).replace(_ANY_STUDENT, "(?P<student>[^/]+)", 1)
        expression = re.compile(escaped.replace(_ANY_ASSIGNMENT, "(?P<assignment>[^/]+)", 1))
        found = {}
        for path in glob.glob(pattern):
            match = expression.fullmatch(path)
            # a file or a link in a submission's place belongs to somebody, who is to be told
            handed_in = assignment is not None and step == self.settings.submitted_directory
            if match and (handed_in or os.path.isdir(path)):
                groups = match.groupdict()
                key = groups.get("student", student or ""), groups.get("assignment", assignment or "")
                found[key] = Path(path)
        return found


@dataclass(frozen=True)
class Assignment:
    """The trusted notebooks: with solutions and hidden tests (``source``), and as students got them (``release``).

    ``files`` are the teacher's files beside the notebooks; ``deliverables`` names those that a submission replaces;
    ``references`` are those of the course.
    ``ignore``: patterns of file names that nbgrader leaves out, in a submission too.
    """

    name: str
    source: Mapping[str, NotebookNode]
    release: Mapping[str, NotebookNode]
    files: Mapping[str, bytes]
    deliverables: frozenset[str]
    references: References
    ignore: tuple[str, ...] = ()

    @classmethod
    def open(cls, root: Path | Course, name: str, release: Path | None = None) -> Assignment:
        """Raises GradingError where there is no such assignment, or it was never released.

        release: where the students' notebooks lie as long as they are not in their place.
        """
        course = root if isinstance(root, Course) else Course(root)
        opened = cls.unreleased(course, name)
        folder = release or course.release(name)
        missing = [stem for stem in opened.source if not (folder / f"{stem}.ipynb").is_file()]
        if missing:
            expected = f"{missing[0]}.ipynb is not in {folder}"
            raise GradingError(f"{name} was never released ({expected}): run 'autograder release {name}'")
        return replace(opened, release={stem: _read(folder / f"{stem}.ipynb") for stem in opened.source})

    @classmethod
    def unreleased(cls, course: Course, name: str) -> Assignment:
        """An assignment before its release. Raises GradingError where there is no such assignment."""
        source = course.source(name)
        if not name or not source.is_dir():
            raise GradingError(unknown_assignment(course, name))
        found = sorted(source.glob(f"{course.settings.notebook_id}.ipynb"))
        solutions = [path.name for path in (SOLUTIONS / name).glob("*") if path.is_file()]
        return cls(
            name,
            {path.stem: _read(path) for path in found if path.is_file()},
            {},
            read_files(source, course.settings.ignore),
            frozenset(name for name in solutions if not course.settings.ignores(name)),
            References.of_course(course.root),
            course.settings.ignore,
        )

    @property
    def max_points(self) -> float:
        return sum(cells.max_points(cell) for nb in self.source.values() for cell in nb.cells if cells.is_graded(cell))

    def solution_files(self) -> dict[str, bytes]:
        """The instructor's own deliverables, for a run of the source notebooks. Never beside student code."""
        return {name: (SOLUTIONS / self.name / name).read_bytes() for name in self.deliverables}


def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def unknown_assignment(course: Course, name: str) -> str:
    known = course.assignments()
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known) or 'none'}"
    return f"unknown assignment {name!r}; {hint}"


def read_files(folder: Path, ignore: Sequence[str]) -> dict[str, bytes]:
    """What nbgrader copies along with the notebooks: path -> content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.suffix != ".ipynb"
        and "__pycache__" not in path.parts
        and not any(fnmatch(part, pattern) for part in path.relative_to(folder).parts for pattern in ignore)
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
    if not is_writable(student):
        raise NothingToGrade(f"{plain_name(str(folder))}: the student's name is no UTF-8; rename the folder")
    notes: list[str] = []
    present = {
        name: path
        for name, path in _present(folder, student).items()
        if not any(fnmatch(name, one) for one in assignment.ignore)
    }
    notebooks: dict[str, bytes] = {}
    for stem in assignment.source:
        data = _plain(present[f"{stem}.ipynb"], MAX_NOTEBOOK_BYTES, notes) if f"{stem}.ipynb" in present else None
        if data is None:
            data = _renamed(stem, present, assignment, notes)
        if data is not None:
            notebooks[stem] = data
        elif f"{stem}.ipynb" not in present:
            notes.append(f"{stem}.ipynb was not handed in")
            notes += _deeper(folder, f"{stem}.ipynb")
    if not notebooks:
        found = [note for note in notes if not note.endswith("was not handed in")]
        raise NothingToGrade(
            f"{plain_name(str(folder))} holds no notebook of {assignment.name!r}: expected "
            f"{', '.join(f'{stem}.ipynb' for stem in assignment.source)}"
            + "".join(f"; {note}" for note in few(tuple(found[:3])))
        )
    files = {
        name: data
        for name in sorted(assignment.deliverables)
        if name in present and (data := _plain(present[name], MAX_FILE_BYTES, notes)) is not None
    }
    notes += [f"{name} was not handed in" for name in sorted(assignment.deliverables) if name not in present]
    return Submission(student, notebooks, files, few(tuple(notes)))


def _present(folder: Path, student: str) -> dict[str, Path]:
    """What lies in a submission's folder. Raises NothingToGrade where it is no folder of its own."""
    shown = plain_name(str(folder))
    if folder.is_symlink() or (folder.parent.name == student and folder.parent.is_symlink()):
        raise NothingToGrade(f"{shown} is a link, perhaps to somebody else's work: put the student's own files there")
    try:
        return {path.name: path for path in folder.iterdir()}
    except NotADirectoryError:
        raise NothingToGrade(f"{shown} is a file: expected a folder with the notebooks") from None
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NothingToGrade(f"{shown} cannot be read: {error.strerror}") from error


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


def _renamed(stem: str, present: Mapping[str, Path], assignment: Assignment, notes: list[str]) -> bytes | None:
    """A notebook under another name: the only one whose cells carry this notebook's marks."""
    marks = [
        f'"{grade_id}"'.encode()
        for cell in assignment.source[stem].cells
        if (grade_id := cells.grade_id(cell)) and cells.is_solution(cell)
    ]
    expected = {f"{other}.ipynb" for other in assignment.source}
    others = [name for name in present if name.lower().endswith(".ipynb") and name not in expected]
    # a name that differs in capitals alone comes first
    others.sort(key=lambda name: (name.lower() != f"{stem}.ipynb".lower(), name))
    found: bytes | None = None
    names: list[str] = []  # of those that differ
    for name in others[:_MAX_RENAMED]:
        data = _plain(present[name], MAX_NOTEBOOK_BYTES, [])
        if data and marks and data != found and all(mark in data for mark in marks):
            found = found or data
            names.append(plain_name(name))
    if len(names) > 1:
        some = " and ".join(names[:3])
        notes.append(f"{some} could each be {stem}.ipynb, and differ: none was taken; give one of them that name")
        return None
    if names:
        notes.append(f"{names[0]} was taken for {stem}.ipynb: it carries its marks")
    return found


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
