"""An instructor's notebook as nbgrader reads it: with header and footer, generated tests, markers of any name.

The stages behind know one form: nbgrader's own words for markers, cells with ids, Python.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.errors import GradingError
from autograder.model import cells

#: nbgrader's setting -> the marker by its default.
MARKERS = {
    "ClearSolutions.begin_solution_delimeter": "BEGIN SOLUTION",
    "ClearSolutions.end_solution_delimeter": "END SOLUTION",
    "ClearHiddenTests.begin_test_delimeter": "BEGIN HIDDEN TESTS",
    "ClearHiddenTests.end_test_delimeter": "END HIDDEN TESTS",
    "ClearMarkScheme.begin_mark_scheme_delimeter": "BEGIN MARK SCHEME",
    "ClearMarkScheme.end_mark_scheme_delimeter": "END MARK SCHEME",
}
#: nbgrader's settings for the notebooks whose cells are put around every other's.
BESIDE = ("IncludeHeaderFooter.header", "IncludeHeaderFooter.footer")
#: Kernels whose notebooks may not say which language they are written in.
_OTHER_KERNELS = {"ir": "R", "bash": "Bash", "octave": "Octave", "matlab": "MATLAB", "scala": "Scala"}
_OTHER_PREFIXES = {"julia": "Julia", "xcpp": "C++", "javascript": "JavaScript", "xr": "R"}
_PYTHON = re.compile(r"i?python\d*", re.IGNORECASE)


class OtherLanguage(GradingError):
    """A notebook that is not written in Python."""

    def __init__(self, message: str, notebook: NotebookNode) -> None:
        super().__init__(message)
        self.notebook = notebook


@dataclass(frozen=True)
class SourceForm:
    """How a course writes its notebooks.

    header, footer: notebooks whose cells are put around every other's.
    markers: (setting, the course's marker), for those that are not nbgrader's own.
    autotest: what announces a line of which nbgrader makes tests.
    """

    header: Path | None = None
    footer: Path | None = None
    markers: tuple[tuple[str, str], ...] = ()
    autotest: str = "AUTOTEST"


def read_notebook(path: Path) -> NotebookNode:
    """A notebook in format 4. Raises GradingError where the file is none."""
    try:
        return nbformat.read(path, as_version=4)
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # nbformat raises many kinds
        what = " ".join(str(error).split())[:100]
        raise GradingError(f"{path} is no Jupyter notebook ({type(error).__name__}: {what})") from error


def instructors_notebook(
    path: Path, form: SourceForm, generated: Callable[[], Mapping[str, str]] | None = None
) -> NotebookNode:
    """The notebook in ``path`` in the form that all stages know.

    generated: grade id -> text of the cell as nbgrader keeps it in its gradebook, asked where a cell wants tests made.
    Without it, what is to be tested stands there as code.
    Raises GradingError where it is no notebook or tests are missing, OtherLanguage where it is none in Python.
    """
    notebook = read_notebook(path)
    _require_python(path.name, notebook)
    notebook.cells = [
        *(read_notebook(form.header).cells if form.header else ()),
        *notebook.cells,
        *(read_notebook(form.footer).cells if form.footer else ()),
    ]
    for cell in notebook.cells:
        if _asks_for_tests(cell, form):
            cell.source = _with_tests(path.name, cell, form, generated) if generated else _with_snippets(cell, form)
        if form.markers:
            cell.source = _standard_markers(path.name, cell, form)
    name_cells(notebook)
    return notebook


def _require_python(name: str, notebook: NotebookNode) -> None:
    language = language_of(notebook)
    if not _PYTHON.fullmatch(language):
        kernel = notebook.metadata.get("kernelspec", {}).get("name", "")
        said = f" (kernel {kernel!r})" if kernel else ""
        raise OtherLanguage(
            f"{name} is written in {language}{said}: only notebooks in Python are graded; choose a Python kernel, give "
            "no points there, or take the notebook out of the assignment",
            notebook,
        )


def language_of(notebook: NotebookNode) -> str:
    """The language that its kernel speaks, Python where the notebook says nothing about it."""
    kernel, language = notebook.metadata.get("kernelspec", {}), notebook.metadata.get("language_info", {})
    said = kernel.get("language") or language.get("name")
    if said:
        return str(said)
    name = str(kernel.get("name", "")).lower()
    known = (other for prefix, other in _OTHER_PREFIXES.items() if name.startswith(prefix))
    return _OTHER_KERNELS.get(name) or next(known, "python")


def _standard_markers(notebook: str, cell: NotebookNode, form: SourceForm) -> str:
    """The cell's text with nbgrader's own markers in the place of the course's.

    Raises GradingError for one of nbgrader's own where the course has another: nobody would cut at it, so that what
    it hides would be handed out.
    """
    lines = []
    for line in cell.source.split("\n"):
        setting = next((setting for setting, marker in form.markers if marker in line), None)
        if setting is not None:
            indent = line[: len(line) - len(line.lstrip())]
            line = f"{indent}### {MARKERS[setting]}"
        elif cell.cell_type == "code":
            _refuse_others(notebook, cell, line, form)
        lines.append(line)
    return "\n".join(lines)


def _refuse_others(notebook: str, cell: NotebookNode, line: str, form: SourceForm) -> None:
    for setting, marker in form.markers:
        if MARKERS[setting] in line:
            raise GradingError(
                f"{notebook}, cell '{cells.grade_id(cell) or cell.get('id', '')}': {line.strip()!r} is no marker in "
                f"this course, where nbgrader_config.py sets {setting} to {marker!r}: write that, or drop the setting"
            )


def name_cells(notebook: NotebookNode) -> None:
    """Every cell gets an id, the same each time: notebooks of before format 4.5 have none."""
    taken: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if not cell.get("id") or cell.id in taken:  # a header may bring an id that is there already
            cell.id = f"cell-{number}"
        taken.add(cell.id)
    notebook.nbformat_minor = max(notebook.get("nbformat_minor", 0), 5)


def _with_tests(notebook: str, cell: NotebookNode, form: SourceForm, generated: Callable[[], Mapping[str, str]]) -> str:
    grade_id = cells.grade_id(cell) or ""
    made = generated().get(grade_id)
    if made is not None and _made_of(cell.source, made, form):
        return made
    why = f"nbgrader has made no tests of its {form.autotest} lines yet: release the assignment"
    if made is not None:
        why = f"its {form.autotest} lines were changed since nbgrader made tests of them: release the assignment again"
    raise GradingError(f"{notebook}, cell '{grade_id}': {why}")


def _with_snippets(cell: NotebookNode, form: SourceForm) -> str:
    lines = []
    for line in cell.source.split("\n"):
        snippets = _snippets(line, form)
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(line if snippets is None else indent + "; ".join(snippets))
    return "\n".join(lines)


def _asks_for_tests(cell: NotebookNode, form: SourceForm) -> bool:
    """Whether nbgrader makes tests for this cell when it is released."""
    lines = cell.source.split("\n")
    return cell.cell_type == "code" and cells.is_graded(cell) and any(_snippets(line, form) for line in lines)


def _snippets(line: str, form: SourceForm) -> list[str] | None:
    """What a line asks to be tested; None for a line that asks for nothing."""
    if form.autotest not in line or not line.strip().startswith("#"):
        return None
    found = line.partition(form.autotest)[2].strip(";").split(";")
    return [snippet.strip() for snippet in found if snippet.strip()]


def _made_of(source: str, made: str, form: SourceForm) -> bool:
    """Whether every other line of a cell stands in what was made of it, in order, and every snippet somewhere."""
    left = iter(line.strip() for line in made.split("\n"))
    asked = [(line.strip(), _snippets(line, form)) for line in source.split("\n") if line.strip()]
    others = (line for line, snippets in asked if snippets is None)
    return all(line in left for line in others) and all(
        snippet in made for _, snippets in asked for snippet in snippets or ()
    )


def form_of(config: Any, root: Path) -> SourceForm:
    """How ``nbgrader_config.py`` says that notebooks are written. Raises GradingError for a value that is no text."""
    steps = config.GenerateAssignment.get("preprocessors")
    used = {step.__name__ for step in steps} if isinstance(steps, list) else {"IncludeHeaderFooter"}
    beside = (_text(config, setting) for setting in BESIDE)
    header, footer = (root / path if path and "IncludeHeaderFooter" in used else None for path in beside)
    for setting, path in zip(BESIDE, (header, footer), strict=True):
        if path is not None and not path.is_file():
            raise GradingError(
                f"{root / 'nbgrader_config.py'} sets {setting} to a notebook that is not there: {path}. Put it there, "
                "or take the setting out"
            )
    said = ((setting, _text(config, setting)) for setting in MARKERS)
    markers = tuple((setting, marker) for setting, marker in said if marker and marker != MARKERS[setting])
    return SourceForm(header, footer, markers, _text(config, "InstantiateTests.autotest_delimiter") or "AUTOTEST")


def _text(config: Any, setting: str) -> str:
    section, _, name = setting.partition(".")
    value = config[section].get(name, "")
    if not isinstance(value, str):
        raise GradingError(f"nbgrader_config.py: c.{setting} must be a text, not {value!r}")
    return value
