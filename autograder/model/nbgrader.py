"""nbgrader as the course has configured it: its settings, its steps of a release, its command, the cells it stores.

Beside it, only ``autograder/gradebook/`` (the database) and ``autograder/nbgrader/`` (our plug-ins) import nbgrader. It
takes its time to import, and therefore each function here does so when it is called.
"""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode

from autograder.errors import GradingError, gradebook_said

if TYPE_CHECKING:
    from nbgrader.apps.baseapp import NbGrader
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default import ExchangeCollect
    from traitlets.config import Config

CONFIG = "nbgrader_config.py"
_EXTENSIONS = [
    f"nbgrader.server_extensions.{name}"
    for name in ("assignment_list", "course_list", "validate_assignment", "formgrader")
]
#: nbgrader's program, but for the extensions of Jupyter's server.
_PROGRAM = (
    "from autograder.model.nbgrader import import_nbgrader; import_nbgrader(); "
    "from nbgrader.apps.nbgraderapp import main; main()"
)


def import_nbgrader() -> None:
    """Nearly half of nbgrader's import are extensions of Jupyter's server, which no command of ours uses.

    An extension that is imported later by its own name is the real one.
    """
    if "nbgrader" in sys.modules:
        return
    sys.modules.update({name: _stand_in(name) for name in _EXTENSIONS})
    try:
        import_module("nbgrader")
    except ImportError:  # another version, which takes more of them: whoever needs nbgrader imports it whole
        sys.modules.pop("nbgrader", None)
    finally:
        for name in _EXTENSIONS:
            del sys.modules[name]


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)

    def load_jupyter_server_extension(app: object) -> None:
        import_module(name).load_jupyter_server_extension(app)

    vars(module)["load_jupyter_server_extension"] = load_jupyter_server_extension
    return module


def configuration(folder: Path, anywhere: bool) -> "Config":
    """Everything that the configuration files say, for a course in ``folder``. Raises whatever they raise.

    anywhere: whether the user's own Jupyter settings may name another root.
    """
    from nbgrader.apps.baseapp import NbGrader

    app = NbGrader(log_level="ERROR")
    app.update_config(_merged(folder, app, anywhere))  # puts outdated names right, as nbgrader does
    config: Config = app.config
    if "root" not in config.CourseDirectory:
        config.CourseDirectory.root = str(folder)
    return config


def _merged(folder: Path, app: "NbGrader", anywhere: bool) -> "Config":
    """Every configuration that nbgrader reads, in its order: the machine's, the user's, the course's."""
    from traitlets.config import Config

    merged = Config()
    for name in ("jupyter_config", CONFIG.removesuffix(".py")):
        folders = [*app.config_file_paths]
        if name in CONFIG:
            folders.insert(0, str(folder))
        for part, path in app._load_config_files(name, folders, raise_config_file_errors=True):
            if not anywhere and not Path(path).is_relative_to(folder) and "CourseDirectory" in part:
                part.CourseDirectory.pop("root", None)
            merged.merge(part)
    return merged


def course_directory(config: "Config") -> "tuple[CourseDirectory, ExchangeCollect]":
    """nbgrader's own view of a course's folders and of its exchange, with nbgrader's defaults."""
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default import ExchangeCollect

    directory = CourseDirectory(config=config)
    return directory, ExchangeCollect(coursedir=directory, config=config)


@dataclass(frozen=True)
class CommandResult:
    """How a command of nbgrader's ended. said: what it printed, on both streams."""

    returncode: int
    said: str


def run_nbgrader(arguments: Sequence[str], folder: Path) -> CommandResult:
    """``nbgrader ARGUMENTS``, typed in ``folder``. Raises GradingError where the process was ended from outside."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM, *arguments], cwd=folder, env={**os.environ, "PYTHONWARNINGS": "ignore"},
        text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode < 0:
        raise GradingError(f"'nbgrader {' '.join(arguments)}' was ended from outside: is there too little memory?")
    return CommandResult(done.returncode, done.stdout)


def release_steps(config: "Config") -> list[Any]:
    """The preprocessors of ``nbgrader generate_assignment``: the course's own list, else nbgrader's."""
    from nbgrader.converters import GenerateAssignment

    steps = config.GenerateAssignment.get("preprocessors")
    return steps if isinstance(steps, list) else list(GenerateAssignment.class_traits()["preprocessors"].default())


def students_version(assignment: str, name: str, source: NotebookNode, config: "Config") -> NotebookNode:
    """What the steps of a release make of an instructor's notebook. Raises GradingError with nbgrader's reason.

    Left out are those that write into the gradebook or start a kernel.
    """
    from nbgrader.nbgraderformat import SchemaTooOldError
    from nbgrader.preprocessors import InstantiateTests, SaveCells

    notebook = nbformat.from_dict(source)
    names = {"assignment": assignment, "notebook": name, "student": ".", "db_url": "sqlite://"}
    resources: dict[str, Any] = {"nbgrader": names, "unique_key": name, "metadata": {"name": name}}
    try:
        for step in release_steps(config):
            if not issubclass(step, SaveCells | InstantiateTests):
                notebook, resources = step(config=config)(notebook, resources)
    except Exception as error:  # whatever nbgrader raises says what is wrong with the notebook
        advice = "; run 'nbgrader update .' in the course's folder" if isinstance(error, SchemaTooOldError) else ""
        raise GradingError(f"{assignment}: nbgrader cannot release {name}.ipynb: {error}{advice}") from error
    return notebook


def make_temporary_gradebook(path: Path) -> str:
    """An empty gradebook that will be thrown away; returns its address.

    It has the table by which nbgrader knows a gradebook's version: else nbgrader starts alembic to make it.
    """
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    return f"sqlite:///{path}"


def stored_cells(db_url: str, assignment: str) -> dict[str, dict[str, str]]:
    """notebook -> grade id -> text of each cell, as ``nbgrader generate_assignment`` wrote them into its gradebook."""
    from nbgrader.api import Gradebook, MissingEntry
    from sqlalchemy.exc import SQLAlchemyError

    path = db_url.removeprefix("sqlite:///")
    if path != db_url and not Path(path).exists():
        return {}
    try:
        with Gradebook(db_url) as gradebook:
            notebooks = gradebook.find_assignment(assignment).notebooks
            return {one.name: {cell.name: cell.source for cell in one.source_cells} for one in notebooks}
    except MissingEntry:
        return {}
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be read: {gradebook_said(error)}") from error


def submission_time(text: str) -> datetime | None:
    """The time in the name of a submission in the exchange, in UTC; None where the text is no time."""
    from nbgrader.utils import parse_utc

    try:
        time: datetime = parse_utc(text)
    except (ValueError, OverflowError):
        return None
    return time.replace(tzinfo=UTC)


def feedback_page(secret: str, notebook: str) -> str:
    """The name under which nbgrader releases the page on one notebook. secret: of the submission."""
    from nbgrader.utils import notebook_hash

    return f"{notebook_hash(secret=secret, notebook_id=notebook)}.html"
