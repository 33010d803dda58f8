"""An assignment as the instructor wrote it: notebooks with solutions and hidden tests, and as students got them.

Of a file that students hand in beside the notebooks, such as ``models.py``, the stub is made of the solution:
``source/<assignment>/models.py`` holds the instructor's version, with nbgrader's markers around what students write.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.assignment.calibration import VERSION, Calibration, read_calibration
from autograder.errors import GradingError, NeverReleased
from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.course import Course, unknown_assignment
from autograder.model.free import widened
from autograder.model.nbgrader import stored_cells
from autograder.model.plain_text import one_form
from autograder.model.source import OtherLanguage, instructors_notebook, name_cells, read_notebook
from autograder.model.verdict import total
from autograder.references.store import References

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
#: What nbgrader puts in the place of a solution.
_PYTHON = ("# YOUR CODE HERE", "raise NotImplementedError()")


def stub(name: str, data: bytes, *, free: bool = False) -> bytes:
    """What students get in place of the instructor's file. A file without markers stays as it is.

    free: leave signatures and docstrings alone. Raises GradingError where a marker is missing.
    """
    if BEGIN not in (text := _text(name, data)) and END not in text:
        return data
    if free:
        text = widened(text, BEGIN, END)
    lines: list[str] = []
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        begins, ends = BEGIN in line, END in line
        if (begins and inside) or (ends and not inside):
            raise GradingError(f"{name}, line {number}: {line.strip()!r} without the marker that belongs to it")
        if begins:
            lines += _placeholder(name, line)
        elif not inside and not ends:
            lines.append(line)
        inside = (inside or begins) and not ends
    if inside:
        raise GradingError(f"{name}: the last '### {BEGIN}' has no '### {END}'")
    return "\n".join(lines).encode()


def _placeholder(name: str, line: str) -> list[str]:
    indent, carriage = re.match(r"\s*", line)[0], "\r" if line.endswith("\r") else ""  # type: ignore[index]
    if name.endswith(".py"):
        return [f"{indent}{word}{carriage}" for word in _PYTHON]
    return [f"{line.partition(BEGIN)[0]}YOUR CODE HERE{carriage}"]


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise GradingError(f"{name} is no UTF-8 text: {error}") from error


def solutions_of(course: Course, assignment: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """File name -> the instructor's version, for what ``course.toml`` or nbgrader's settings name.

    Raises GradingError where one that ``course.toml`` names is missing.

    files: those beside the source notebooks.
    """
    named = course.file.deliverables.get(assignment, ())
    if missing := [name for name in named if name not in files]:
        raise GradingError(
            f"course.toml names {missing[0]} as a file that students hand in, but {course.source(assignment)} holds no "
            "such file, or nbgrader ignores it"
        )
    not_overwritten = dict(course.settings.handed_in).get(assignment, ())
    return {name: files[name] for name in (*named, *not_overwritten) if name in files}


def require_markers(solutions: Mapping[str, bytes], files: Mapping[str, bytes], whole: Collection[str] = ()) -> None:
    """To be called before a release. Raises GradingError where a file would show its solution: it has markers and
    ``course.toml`` does not name it, or it is named and has none.

    files: those beside the source notebooks, as the instructor wrote them.
    whole: those that students get as they are, though they hand them in: nbgrader's ``exclude_overwriting``.
    """
    for name, data in files.items():
        marked = BEGIN.encode() in data or END.encode() in data
        if marked and name not in solutions:
            raise GradingError(
                f"{name} has solution markers, but course.toml does not name it under [deliverables]: students would "
                "get the solution"
            )
        if name in solutions and not marked and name not in whole:
            raise GradingError(
                f"{name}: students are to hand it in, but it has no '### {BEGIN}' and '### {END}' around their part"
            )


def write_stubs(course: Course, assignment: str, folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the students' versions of the deliverables into a released folder. Raises GradingError as above."""
    solutions = solutions_of(course, assignment, files)
    require_markers(solutions, files, dict(course.settings.handed_in).get(assignment, ()))
    for name, data in solutions.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stub(name, data, free=f"{assignment}/{name}" in course.file.free))


#: notebook -> grade id -> text of the cell, as nbgrader keeps it
Generated = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Assignment:
    """The trusted notebooks: with solutions and hidden tests (``source``), and as students got them (``release``).

    ``files`` are the files beside the notebooks as students get them; ``deliverables`` names those that a submission
    replaces, and ``solutions`` holds the instructor's versions of these, which never lie beside student code;
    ``references`` are those of the course.
    ``ignore``: patterns of file names that nbgrader leaves out, in a submission too.
    ``drawings``: the course's module of drawings; empty where it has none. ``library``: what students' notebooks import
    of the course. ``other_languages``: notebooks without points that are not in Python: released, and never graded.
    ``calibration``: where its plain tests are judged; None where nobody has found out yet.
    ``mates``: student -> the others of their group; None where nobody knows who hands in.
    """

    name: str
    source: Mapping[str, NotebookNode]
    release: Mapping[str, NotebookNode]
    files: Mapping[str, bytes]
    deliverables: frozenset[str]
    references: References
    ignore: tuple[str, ...] = ()
    drawings: str = ""
    solutions: Mapping[str, bytes] = field(default_factory=dict)
    library: str = ""
    other_languages: Mapping[str, NotebookNode] = field(default_factory=dict)
    calibration: Calibration | None = None
    mates: Mapping[str, tuple[str, ...]] | None = field(default_factory=dict)

    @classmethod
    def open(
        cls, root: Path | Course, name: str, release: Path | None = None, generated: Generated | None = None
    ) -> "Assignment":
        """Raises NeverReleased, or GradingError where there is no such assignment or a notebook cannot be read.

        release: where the students' notebooks lie as long as they are not in their place; ``generated``: the tests
        that nbgrader made for them, where its gradebook does not hold them yet.
        """
        course = root if isinstance(root, Course) else Course(root)
        opened = cls.unreleased(
            course, name, cache(lambda: generated if generated is not None else stored_cells(course.db_url, name))
        )
        folder = release or course.release(name)
        missing = [stem for stem in opened.source if not (folder / f"{stem}.ipynb").is_file()]
        if missing:
            expected = f"{missing[0]}.ipynb is not in {folder}"
            raise NeverReleased(f"{name} was never released ({expected}): run 'autograder release {name}'")
        released = {stem: _released(folder / f"{stem}.ipynb") for stem in opened.source}
        calibration = read_calibration(course.root, name, opened.version, opened.bundled_version)
        return replace(opened, release=released, calibration=calibration)

    @classmethod
    def unreleased(cls, course: Course, name: str, generated: Callable[[], Generated] | None = None) -> "Assignment":
        """An assignment before its release. Raises GradingError where there is no such assignment.

        generated: the tests that nbgrader made, for notebooks that ask for some.
        """
        source = course.source(name)
        if not name or not source.is_dir():
            raise GradingError(unknown_assignment(course, name))
        found = sorted(path for path in source.glob(f"{course.settings.notebook_id}.ipynb") if path.is_file())
        if not found:
            raise GradingError(_no_notebook(source))
        files = read_files(source, course.settings.ignore)
        solutions = solutions_of(course, name, files)
        free = course.file.free
        stubs = {file: stub(file, data, free=f"{name}/{file}" in free) for file, data in solutions.items()}
        notebooks, others = _sources(name, found, course, generated)
        return cls(
            name,
            notebooks,
            {},
            {**files, **stubs},
            frozenset(solutions),
            References.of_course(course.root),
            course.settings.ignore,
            course.file.drawings,
            solutions,
            course.file.library,
            others,
        )

    def together_with(self, student: str) -> tuple[str, ...]:
        """A student and the others of their group; nobody where nobody knows who hands in."""
        return () if self.mates is None else (student, *self.mates.get(one_form(student), ()))

    @property
    def max_points(self) -> float:
        graded = (cell for notebook in self.source.values() for cell in notebook.cells if cells.is_graded(cell))
        return total(map(cells.max_points, graded))

    @property
    def version(self) -> str:
        """Of what its plain tests depend on: changes with every text of a cell, and with files and their solutions."""
        texts = [[cell.source for cell in notebook.cells] for notebook in self.source.values()]
        return self._digest(texts, {name: hashlib.sha256(data).hexdigest() for name, data in self.solutions.items()})

    @property
    def bundled_version(self) -> str:
        """The same of a bundle, which holds no solution."""
        return self._digest("bundle", {})

    def _digest(self, texts: Any, solutions: Mapping[str, str]) -> str:
        """What students get is in both versions: stubs, tests and files."""
        tests = [[cell.cell_type, _test(cell)] for notebook in self.source.values() for cell in notebook.cells]
        files = {
            name: hashlib.sha256(data).hexdigest() for name, data in self.files.items() if name not in self.deliverables
        }
        python = sys.version_info[:2]  # another one numbers the places of a test in another way
        parts = [VERSION, python, list(self.source), texts, tests, files, solutions, sorted(self.deliverables)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _test(cell: NotebookNode) -> list[Any]:
    marks = cells.nbgrader(cell)
    return [marks.get("grade_id"), marks.get("points"), "" if marks.get("solution") else str(cell.source)]


def _no_notebook(source: Path) -> str:
    deeper = next(iter(sorted(source.rglob("*.ipynb"))), None)
    where = deeper.relative_to(source) if deeper else None
    advice = f"; {where} lies deeper, where nbgrader takes none: move it up" if where else ""
    return f"{source} holds no notebook that nbgrader would release{advice}"


def _sources(
    assignment: str, paths: Sequence[Path], course: Course, generated: Callable[[], Generated] | None
) -> tuple[dict[str, NotebookNode], dict[str, NotebookNode]]:
    """(notebooks in Python, notebooks in other languages). Raises GradingError where one of the latter has points."""
    notebooks: dict[str, NotebookNode] = {}
    others: dict[str, NotebookNode] = {}
    for path in paths:
        try:
            notebooks[path.stem] = _source(assignment, path, course, generated)
        except OtherLanguage as error:
            if len(others) + 1 == len(paths) or any(cells.max_points(cell) for cell in error.notebook.cells):
                raise
            others[path.stem] = error.notebook
    return notebooks, others


def _source(assignment: str, path: Path, course: Course, generated: Callable[[], Generated] | None) -> NotebookNode:
    of_notebook = None if generated is None else lambda: generated().get(path.stem, {})
    # graded notebooks are made of this one, and students see them too
    notebook = instructors_notebook(path, course.settings.form, of_notebook)
    return course.file.fill_in(notebook, f"{assignment}/{path.stem}")


def _released(path: Path) -> NotebookNode:
    notebook = read_notebook(path)
    name_cells(notebook)
    return notebook


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


def trusted(source: NotebookNode, release: NotebookNode) -> NotebookNode:
    """The instructor's notebook with its hidden tests, but with the released stubs for its solutions.

    Carries the checksums that nbgrader compares: a written answer whose text still has the stub's counts as none.
    """
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    notebook = nbformat.from_dict(source)
    for cell in notebook.cells:
        grade_id = cells.grade_id(cell)
        if not grade_id:
            continue
        if cells.is_solution(cell) or cells.is_task(cell):  # a task's source holds its mark scheme
            cell.source = stubs[grade_id]
        cell.metadata.nbgrader["checksum"] = checksum_of(cell)
    return notebook
