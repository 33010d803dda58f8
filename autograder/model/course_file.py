"""``course.toml`` at a course's root: what is this course's own. nbgrader's settings lie in ``nbgrader_config.py``.

Every setting has a default, so a course needs no such file. A key that nobody knows and a value of the wrong type are
errors: a typo in here would be noticed much later, by students.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from autograder.errors import GradingError
from autograder.model.free import CHOICES, add_folds
from autograder.model.limits import Limits
from autograder.model.plain_text import meant, read_toml
from autograder.model.questions import drop_questions

if TYPE_CHECKING:
    from nbformat import NotebookNode


NAME = "course.toml"
#: Stands for the course's repository where nobody has named one.
NO_REPOSITORY = "OWNER/NAME"
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*|")
_PART = re.compile(r"[\w*]+(\.[\w*]+)+")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
#: A token must not go over the wire in the clear, but for a server on this machine.
_SERVER = re.compile(r"https://[\w.-]+(:\d+)?/?|http://(localhost|127\.0\.0\.1)(:\d+)?/?")
#: Limits that a course may set; the others follow from the assignment.
_LIMITS = ("cell_seconds", "submission_seconds", "memory_bytes", "processes", "disk_bytes")


#: What assistants may do in a course; grading cannot see who kept to it.
_WHO = "**Assistants** (Claude, ChatGPT, Copilot and the like)"
#: Policy -> what README and notebooks say.
SENTENCES = {
    "none": f"{_WHO} may help with installation, Jupyter and Git. They may not write, complete, correct or review what "
    "you hand in.",
    "tutor": f"{_WHO} may ask, explain and lead you to the next hint. They may not write what you hand in.",
    "open": f"{_WHO} may write code. You must be able to explain every line of it; name the parts that are your own at "
    "the top of the notebook.",
}


@dataclass(frozen=True)
class Publish:
    """What ``autograder publish`` takes from the course beside notebooks and library.

    files: paths within the course, copied as they are; pictures that a Markdown file shows come with it.
    readme: a Jinja template for README.md; empty for the grader's own, plain one.
    """

    files: tuple[str, ...] = ()
    readme: str = ""


@dataclass(frozen=True)
class CanvasCourse:
    """Where the course lies in Canvas. The token is in the environment, never here.

    url: of the Canvas server; course: its number there; assignments: assignment -> its number there.
    """

    url: str = ""
    course: int = 0
    assignments: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class TotalRules:
    """How the course total comes about.

    weights: assignment -> how often its points count (1 where nothing is said).
    drop_lowest: so many of a student's assignments with the lowest share of their points do not count.
    missing: what counts where nothing was handed in, or it was refused: 0 points, or nothing that is known.
    """

    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    drop_lowest: int = 0
    missing: str = "empty"


@dataclass(frozen=True)
class MainLine:
    """The order in which notebooks should be taken, each named "assignment/notebook".

    electives: notebook -> the step that should come before.
    """

    steps: tuple[str, ...] = ()
    electives: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class CourseFile:
    """The settings of ``course.toml``.

    term: the present term's name; empty where nobody has named it.
    repository: OWNER/NAME of the public repository; it takes the place of ``placeholder`` in every notebook that a
        student sees.
    library: import name of what students' notebooks import; empty where there is none.
    checks: package of the visible checks that notebooks call, for a look at whether they exist.
    drawings: module whose functions without arguments, as far as ``__all__`` lists them, are drawn once per worker.
    encoder: module whose ``encode(texts)`` makes vectors, by which ``autograder mark`` groups answers; empty: by words.
    warm: modules that are imported once, before the first kernel starts; what cannot be imported is skipped.
    deliverables: assignment -> files that students hand in beside the notebooks.
    free: "assignment/notebook" or "assignment/file.py" of those that are released as free versions (``model/free.py``).
    ready_made: what the report calls a ready-made part -> the functions and classes, as "module.name"; and "assignment/
        cell" -> those that this cell itself puts around the student's code. A star stands for any text.
    dates: assignment -> the moment from which it is published (aware).
    main_line: the order in which students should take the notebooks.
    assistants: what assistants may do, a key of ``SENTENCES``; empty where the course has no rule.
    total: how ``autograder export --total`` adds up the assignments.
    questions: "assignment/notebook" of those that ask about the student's own code (``model/questions.py``).
    stretch: "fold" where stretch goals have a fold with their solution (``model/free.py``); "none" otherwise.
    accepted: the tables that say which findings are meant so (``release/findings.py`` reads them).
    """

    title: str = ""
    term: str = ""
    repository: str = NO_REPOSITORY
    placeholder: str = NO_REPOSITORY
    library: str = ""
    checks: str = ""
    drawings: str = ""
    encoder: str = ""
    warm: tuple[str, ...] = ()
    deliverables: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    free: tuple[str, ...] = ()
    ready_made: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    limits: Limits = field(default_factory=Limits)
    publish: Publish = field(default_factory=Publish)
    canvas: CanvasCourse = field(default_factory=CanvasCourse)
    dates: Mapping[str, datetime] = field(default_factory=dict, hash=False)
    total: TotalRules = field(default_factory=TotalRules)
    main_line: MainLine = field(default_factory=MainLine)
    assistants: str = ""
    stretch: str = "none"
    questions: tuple[str, ...] = ()
    accepted: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def fill_in(self, notebook: "NotebookNode", name: str = "") -> "NotebookNode":
        """Put the public repository in the place of its placeholder, in every cell, the rule for assistants at the end
        of the first text, and folds below stretch goals; returns the same notebook.

        name: "assignment/notebook" of a source; where ``questions`` does not name it, its questions are left out.
        """
        if name and name not in self.questions:
            drop_questions(notebook)
        if self.stretch == "fold":
            add_folds(notebook)
        for cell in notebook.cells:
            cell.source = cell.source.replace(self.placeholder, self.repository)
        first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
        rule = SENTENCES.get(self.assistants, "")
        if first is not None and rule not in first.source:
            first.source = f"{first.source.rstrip()}\n\n{rule}"
        return notebook

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(name for label, names in self.ready_made.items() if "/" not in label for name in names)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages behind ``warm``, without the library: a grade can depend on their versions."""
        return tuple(sorted({name.partition(".")[0] for name in self.warm} - {self.library.partition(".")[0]}))


def read_course_file(root: Path) -> CourseFile:
    """The course's settings; the defaults where it has no ``course.toml``. Raises GradingError, in one line."""
    try:
        data = read_toml(root / NAME)
    except FileNotFoundError:
        return CourseFile()
    except OSError as error:
        raise GradingError(f"{root / NAME} cannot be read: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise GradingError(f"{NAME} is not TOML: {error}") from error
    return CourseFile(**_read(data, _READERS, "at the top of the file"))


def _read(table: Mapping[str, Any], readers: Mapping[str, Callable[[str, Any], Any]], where: str) -> dict[str, Any]:
    for key in table:
        if key not in readers:
            hint = meant(key, readers) or f"known are {', '.join(readers)}"
            raise GradingError(f"{NAME}: unknown key {key!r} {where}; {hint}")
    return {key: readers[key](key, value) for key, value in table.items()}


def _wrong(key: str, expected: str, value: object) -> GradingError:
    return GradingError(f"{NAME}: {key}: expected {expected}, got {value!r}")


def _such(fits: Callable[[Any], Any], expected: str, key: str, value: Any) -> Any:
    if not fits(value):
        raise _wrong(key, expected, value)
    return value


def _one_of(choices: Iterable[str], key: str, value: Any) -> str:
    expected = " or ".join(f'"{choice}"' for choice in choices)
    return _such(lambda given: given in tuple(choices), expected, key, value)


def _list(read: Callable[[str, Any], str], key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong(key, "a list of texts", value)
    return tuple(read(key, entry) for entry in value)


def _path(key: str, value: Any) -> str:
    path = PurePosixPath(value) if isinstance(value, str) else PurePosixPath()
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in str(path):
        raise _wrong(key, "a path within its folder, with / between the names", value)
    return str(path)


def _table(key: str, value: Any) -> Mapping[str, Any]:
    return _such(lambda given: isinstance(given, dict), f"a table [{key}]", key, value)


def _each(read: Callable[[str, Any], Any], key: str, value: Any) -> Mapping[str, Any]:
    """A table in which ``read`` takes every entry."""
    return {name: read(f"{key}.{name}", entry) for name, entry in _table(key, value).items()}


def _part(kind: Callable[..., Any], readers: Mapping[str, Any], key: str, value: Any) -> Any:
    """A table whose keys are the fields of a dataclass."""
    return kind(**_read(_table(key, value), readers, f"in [{key}]"))


def _limits(key: str, value: Any) -> Limits:
    kinds = {one.name: type(one.default) for one in fields(Limits) if one.name in _LIMITS}
    readers = {name: partial(_positive, kind) for name, kind in kinds.items()}
    limits: Limits = _part(Limits, readers, key, value)
    return limits


def _positive(kind: type, key: str, value: Any) -> float:
    number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):
        raise _wrong(f"limits.{key}", "a whole number above 0" if kind is int else "a number above 0", value)
    return kind(value)


def _weights(key: str, value: Any) -> Mapping[str, float]:
    for name, weight in _table(key, value).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise _wrong(f"total.{key}.{name}", "a number, 0 or more", weight)
    return {name: float(weight) for name, weight in value.items()}


def _main_line(key: str, value: Any) -> MainLine:
    readers = {"steps": partial(_list, _path), "electives": partial(_each, _path)}
    line: MainLine = _part(MainLine, readers, key, value)
    for number, step in enumerate(line.steps):
        if step in line.steps[:number] or step in line.electives:
            raise _wrong(f"{key}.steps", "each notebook once, and no elective among them", step)
    for notebook, before in line.electives.items():
        if before not in line.steps:
            raise _wrong(f"{key}.electives.{notebook}", "one of the steps", before)
    return line


def _questions(key: str, value: Any) -> tuple[str, ...]:
    read = _read(_table(key, value), {"notebooks": partial(_list, _path)}, f"in [{key}]")
    found: tuple[str, ...] = read.get("notebooks", ())
    return found


def _date(key: str, value: Any) -> datetime:
    """Aware. A day begins at midnight, and a moment without a zone is UTC's."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if not isinstance(value, date):
        raise _wrong(key, "a day or a time, such as 2027-01-15 or 2027-01-15T08:00:00+01:00", str(value))
    return datetime(value.year, value.month, value.day, tzinfo=UTC)


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda given: type(given) is int and given >= least


def _text(pattern: re.Pattern[str] | None = None) -> Callable[[Any], Any]:
    return lambda given: isinstance(given, str) and (pattern is None or pattern.fullmatch(given))


def _part_names(key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(name, str) and _PART.fullmatch(name) for name in value):
        return tuple(value)
    raise _wrong(key, 'functions and classes, such as ["torch.nn.MultiheadAttention"], and no pattern', value)


def _accepted(key: str, value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _wrong(key, f"tables [[{key}]]", value)
    return tuple(value)


def _server(key: str, value: Any) -> str:
    return _such(_text(_SERVER), 'a server such as "https://canvas.example.edu"', key, value).rstrip("/")


def _count(key: str, value: Any) -> int:
    return _such(_whole(0), "a whole number, 0 or more", f"total.{key}", value)


def _missing(key: str, value: Any) -> str:
    return _one_of(("empty", "zero"), f"total.{key}", value)


_TEXT = partial(_such, _text(), "a text")
_NAME = partial(_such, _text(_REPOSITORY), f'OWNER/NAME, such as "{NO_REPOSITORY.lower()}"')
_IMPORTED = partial(_such, _text(_MODULE), 'the name of a module, such as "course" or "course.check"')
_NUMBER = partial(_such, _whole(1), "a whole number above 0")
_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "title": _TEXT,
    "term": _TEXT,
    "repository": _NAME,
    "placeholder": _NAME,
    "library": _IMPORTED,
    "checks": _IMPORTED,
    "drawings": _IMPORTED,
    "encoder": _IMPORTED,
    "warm": partial(_list, _IMPORTED),
    "deliverables": partial(_each, partial(_list, _path)),
    "free": partial(_list, _path),
    "ready_made": partial(_each, _part_names),
    "limits": _limits,
    "publish": partial(_part, Publish, {"files": partial(_list, _path), "readme": _path}),
    "canvas": partial(_part, CanvasCourse, {"url": _server, "course": _NUMBER, "assignments": partial(_each, _NUMBER)}),
    "dates": partial(_each, _date),
    "total": partial(_part, TotalRules, {"weights": _weights, "drop_lowest": _count, "missing": _missing}),
    "main_line": _main_line,
    "assistants": partial(_one_of, SENTENCES),
    "stretch": partial(_one_of, CHOICES),
    "questions": _questions,
    "accepted": _accepted,
}
