"""The course's nbgrader settings, read as nbgrader reads them: ``nbgrader_config.py`` is the instructor's own code.

It is executed, in the trusted process, so where it may come from matters: :func:`find_course` takes none that lies
among the files that students handed in, and none above the current folder that belongs to somebody else.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GradingError
from autograder.model.nbgrader import CONFIG, configuration, course_directory
from autograder.model.source import SourceForm, form_of

if TYPE_CHECKING:
    from traitlets.config import Config

#: Where the settings of a root without a configuration of its own were read: ``c.CourseDirectory.root`` points there.
_CONFIGURED_IN: dict[Path, Path] = {}


@dataclass(frozen=True)
class Settings:
    """``CourseDirectory.*`` and ``Exchange.*`` as plain values, so that they travel to workers.

    ``config``: the course's own file; None where nbgrader's defaults and the user's own Jupyter settings hold.
    ``form``: how the instructor's notebooks are written. ``handed_in``: (assignment, files that a submission replaces),
    nbgrader's ``Autograde.exclude_overwriting``. ``cell_seconds``: ``Execute.timeout``, None where nobody set it.
    """

    root: Path
    config: Path | None
    db_url: str
    course_id: str
    directory_structure: str
    source_directory: str
    release_directory: str
    submitted_directory: str
    autograded_directory: str
    feedback_directory: str
    student_id: str
    student_id_exclude: tuple[str, ...]
    notebook_id: str
    ignore: tuple[str, ...]
    include: tuple[str, ...]
    groupshared: bool
    exchange_root: Path
    check_owner: bool
    form: SourceForm
    handed_in: tuple[tuple[str, tuple[str, ...]], ...]
    cell_seconds: float | None


def read_settings(folder: Path) -> Settings:
    """The settings of the course in ``folder``. Raises GradingError, in one line, for a configuration that fails."""
    folder = Path(os.path.abspath(folder))
    if not (folder / CONFIG).is_file():
        folder = _CONFIGURED_IN.get(folder, folder)
    settings = _read(folder)
    if settings.root != folder:
        _CONFIGURED_IN[settings.root] = folder
    return settings


def find_course(start: Path, submission: Path | None = None) -> Path:
    """The root of the course that ``start`` lies in. Raises GradingError where there is none.

    submission: a folder that a student filled; no configuration is taken from there.
    """
    start = Path(os.path.abspath(start))
    if not start.is_dir():
        raise GradingError(f"there is no folder {start}: --course-dir takes the course's folder, with its {CONFIG}")
    found: Settings | None = None
    for folder in reversed([start, *start.parents]):  # from the top: a course's own folders hold no other course
        path = folder / CONFIG
        if not path.is_file() or not (folder == start or _own(path)) or (found and _in_class(found, folder)):
            continue
        if submission is not None and path.resolve().is_relative_to(submission.resolve()):
            raise GradingError(f"{path} came with the submission and is not read: say --course-dir FOLDER")
        found = read_settings(folder)
    return found.root if found is not None else _unconfigured(start)


def _unconfigured(start: Path) -> Path:
    """A folder that nbgrader's defaults hold for, or the root that the user's own Jupyter settings name."""
    for settings in (read_settings(start), _read(start, anywhere=True)):
        if (settings.root / settings.source_directory).is_dir():
            return read_settings(settings.root).root
    raise GradingError(
        f"{start} is no course, nor is a folder above it: expected {CONFIG} or source/; "
        "change into the course's folder or say --course-dir FOLDER"
    )


def _own(path: Path) -> bool:
    """Whether the file is this user's, or the administrator's: others do not get their code run by lying above."""
    return not hasattr(os, "getuid") or path.stat().st_uid in (0, os.getuid())


def _in_class(course: Settings, folder: Path) -> bool:
    """Whether a folder lies among the course's own directories: what stands there came from students, or is made."""
    if not folder.is_relative_to(course.root):
        return False
    inside = folder.relative_to(course.root).parts
    for step in (
        course.submitted_directory, course.autograded_directory, course.feedback_directory, course.release_directory,
        course.source_directory, ".autograder",
    ):  # fmt: skip
        before = course.directory_structure.partition("{nbgrader_step}")[0]
        fixed = [*Path(before.format(student_id="*", assignment_id="*")).parts, *Path(step).parts]
        if len(inside) >= len(fixed) and all(map(fnmatch, inside, fixed)):
            return True
    return False


def _read(folder: Path, anywhere: bool = False) -> Settings:
    """anywhere: whether the user's own Jupyter settings may name another root."""
    with _standing_in(folder):
        return _settings(folder, configuration(folder, anywhere))


def read_config(root: Path) -> "Config":
    """Everything that the configuration says, for whoever starts parts of nbgrader. Raises GradingError."""
    root = Path(os.path.abspath(root))
    folder = root if (root / CONFIG).is_file() else _CONFIGURED_IN.get(root, root)
    with _standing_in(folder):
        return configuration(folder, anywhere=False)


def _settings(folder: Path, config: "Config") -> Settings:
    directory, exchange = course_directory(config)
    root = Path(directory.root)
    return Settings(
        root=root,
        config=folder / CONFIG if (folder / CONFIG).is_file() else None,
        db_url=_absolute(directory.db_url, root),
        course_id=directory.course_id,
        directory_structure=directory.directory_structure,
        source_directory=directory.source_directory,
        release_directory=directory.release_directory,
        submitted_directory=directory.submitted_directory,
        autograded_directory=directory.autograded_directory,
        feedback_directory=directory.feedback_directory,
        student_id=directory.student_id,
        student_id_exclude=tuple(filter(None, directory.student_id_exclude.split(","))),
        notebook_id=directory.notebook_id,
        ignore=tuple(directory.ignore),
        include=tuple(directory.include),
        groupshared=directory.groupshared,
        exchange_root=Path(exchange.root),
        check_owner=exchange.check_owner,
        form=form_of(config, root),
        handed_in=_handed_in(config),
        cell_seconds=_cell_seconds(config),
    )


def _handed_in(config: "Config") -> tuple[tuple[str, tuple[str, ...]], ...]:
    said = config.Autograde.get("exclude_overwriting", {})
    if not isinstance(said, dict):
        raise GradingError(f"c.Autograde.exclude_overwriting must be a dictionary, not {said!r}")
    return tuple((str(name), tuple(map(str, files))) for name, files in said.items())


def _cell_seconds(config: "Config") -> float | None:
    """nbgrader's time limit for a cell, under its own name or the one that its preprocessor inherits."""
    said = config.Execute.get("timeout", config.ExecutePreprocessor.get("timeout"))
    return float(said) if isinstance(said, int | float) and said > 0 else None


def _absolute(db_url: str, root: Path) -> str:
    """nbgrader runs in the course's root; a gradebook ``sqlite:///grades.db`` must not depend on where we run."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(db_url)
    except ArgumentError as error:
        raise GradingError(f"c.CourseDirectory.db_url is no address of a database: {db_url!r}") from error
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return db_url
    return url.set(database=str(root / url.database)).render_as_string(hide_password=False)


@contextlib.contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    """As nbgrader does it: relative paths and imports of a configuration begin at the course's folder.

    What it prints goes to stderr, because stdout may be a JSON document.

    Raises GradingError, in one line, for whatever goes wrong meanwhile.
    """
    sys.path.insert(0, str(folder))
    try:
        with (
            contextlib.redirect_stdout(sys.stderr),
            contextlib.chdir(folder) if folder.is_dir() else contextlib.nullcontext(),
        ):
            yield
    except GradingError:
        raise
    except (Exception, SystemExit) as error:
        raise GradingError(_said(folder, error)) from error
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


#: Of a configuration that imports what an older grader had.
OLDER = (
    "; an older autograder wrote it. Put 'from autograder.nbgrader.plug_in import plug_in' in the place of its imports "
    "of autograder.nbgrader, and 'plug_in(c, __file__)' in the place of the lists that name what they import"
)


def _said(folder: Path, error: BaseException) -> str:
    """One line: which file, which line, what is wrong."""
    if isinstance(error, SyntaxError):
        path, line = error.filename or CONFIG, error.lineno
        what = f"SyntaxError: {error.msg}"
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "_config." in frame.filename]
        path, line = (frames[-1].filename, frames[-1].lineno) if frames else (str(folder / CONFIG), None)
        what = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
    older = isinstance(error, ImportError) and str(error.name).startswith("autograder.nbgrader")
    return f"{path}{f', line {line}' if line else ''}: {what}{OLDER if older else ''}"
