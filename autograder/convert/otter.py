"""A notebook of otter-grader as an nbgrader source notebook, and one line for everything that was not carried over.

The format is that of ``otter assign``: raw cells with YAML delimit blocks, and ``# BEGIN QUESTION`` holds a question's
name and points. A raw cell may also be written as a Markdown cell with an ``otter`` fence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

from autograder.convert.otter_tests import (
    OtterTest,
    is_marked,
    plain,
    read_test,
    resolve_points,
    with_regions,
    without_ignored,
)
from autograder.errors import GradingError, said
from autograder.files.atomic import write_file
from autograder.model import cells
from autograder.model.course import Course

_BOUNDARY = re.compile(r"#\s+(?:(begin|end)\s+(question|prompt|solution|tests)|(assignment)\s+config)\b", re.I)
_FENCED = re.compile(r"(?ms)^```otter\n(.*?)\n```[ \t]*$")
_IGNORED = re.compile(r"##\s*ignore\s*##", re.I)


@dataclass
class Question:
    """``parts``: kind of block ("text", "prompt", "solution" or "tests") and cell, in the notebook's order."""

    config: dict[str, Any]
    parts: list[tuple[str, NotebookNode]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.config["name"])

    def cells(self, kind: str) -> list[NotebookNode]:
        return [cell for one, cell in self.parts if one == kind]


@dataclass
class OtterNotebook:
    """``parts``: questions, and the cells between them, in order."""

    config: dict[str, Any] = field(default_factory=dict)
    parts: list[Question | NotebookNode] = field(default_factory=list)
    ignored: int = 0


def read_blocks(notebook: NotebookNode) -> OtterNotebook:
    """Raises GradingError where the blocks do not fit together, or there is no question."""
    _require_this_format(notebook)
    found = OtterNotebook()
    question: Question | None = None
    block = ""
    for number, cell in enumerate(_unfenced(notebook.cells), start=1):
        if _IGNORED.match(cell.source.lstrip()):
            found.ignored += 1
            continue
        boundary = _BOUNDARY.match(cell.source) if cell.cell_type == "raw" else None
        if boundary is None:
            if question is None:
                found.parts.append(cell)
            else:
                question.parts.append((block or "text", cell))
            continue
        word, kind = (boundary[1] or "").lower(), (boundary[2] or "").lower()
        if boundary[3]:
            found.config |= _yaml(cell, number)
        elif kind == "question":
            if (word == "begin") == (question is not None) or block:
                raise _misplaced(cell, number)
            question = _question_of(cell, number) if word == "begin" else None
            if question:
                found.parts.append(question)
        elif question is None or (word == "begin") == bool(block) or (word == "end" and kind != block):
            raise _misplaced(cell, number)
        else:
            block = kind if word == "begin" else ""
    if question is not None:
        raise GradingError(f"question '{question.name}' has no '# END QUESTION'")
    return found


def _question_of(cell: NotebookNode, number: int) -> Question:
    config = _yaml(cell, number)
    if not config.get("name"):
        raise GradingError(f"cell {number}, '# BEGIN QUESTION', has no name: write 'name: q1' below it")
    return Question(config)


def _yaml(cell: NotebookNode, number: int) -> dict[str, Any]:
    try:
        read = yaml.safe_load(cell.source)
    except yaml.YAMLError as error:
        raise GradingError(f"cell {number} is no YAML: {' '.join(str(error).split())}") from error
    if read is not None and not isinstance(read, dict):
        raise GradingError(f"cell {number}: expected lines like 'name: q1' below its first, not {str(read)[:40]!r}")
    return read or {}


def _misplaced(cell: NotebookNode, number: int) -> GradingError:
    line = cell.source.split("\n")[0].strip()
    return GradingError(f"cell {number}, '{line}', does not fit the blocks before it: one was not begun or not ended")


def _unfenced(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells, with each Markdown fence called ``otter`` as the raw cell that it stands for."""
    for cell in cells:
        if cell.cell_type != "markdown" or not _FENCED.search(cell.source):
            yield cell
            continue
        for place, text in enumerate(_FENCED.split(cell.source)):
            if place % 2:
                yield nbformat.v4.new_raw_cell(text)
            elif text.strip():
                yield nbformat.v4.new_markdown_cell(text.strip("\n"))


def _require_this_format(notebook: NotebookNode) -> None:
    language = notebook.metadata.get("kernelspec", {}).get("language") or "python"
    if language.lower() != "python":
        raise GradingError(f"the notebook is written in {language}; only Python can be converted")
    if any(_BOUNDARY.match(cell.source) for cell in _unfenced(notebook.cells) if cell.cell_type == "raw"):
        return
    old = any(re.search(r"(?m)^\s*BEGIN (?:QUESTION|ASSIGNMENT)\s*$", cell.source) for cell in notebook.cells)
    raise GradingError(
        "the notebook is in otter's old format (v0); otter's own converter makes it one with raw cells: "
        "python -m otter.assign.v0.convert"
        if old
        else "the notebook has no raw cell '# BEGIN QUESTION' or '# ASSIGNMENT CONFIG': expected the master notebook "
        "that 'otter assign' takes, not what it makes"
    )


_OTTER_LINE = re.compile(r"^\s*(?:import otter|from otter\b.*|.*\botter\.Notebook\(.*|\w+\.(?:check|check_all|export)\(.*\))\s*;?$")  # noqa: E501  # fmt: skip
_PLUGIN = re.compile(r"(\"{3}|''')\s*#\s*BEGIN PLUGIN\n.*?\1;?\s*#\s*END PLUGIN[^\n]*", re.S)
_TYPE_HERE = re.compile(r"type your answer here", re.I)
#: Key of the assignment's configuration -> what becomes of it. Keys that only arrange otter's own files: "".
_CONFIG = {
    "name": "", "init_cell": "", "check_all_cell": "", "run_tests": "", "save_environment": "", "variables": "",
    "ignore_modules": "", "tests": "", "files": "", "show_question_points": "", "export_cell": "",
    "solutions_pdf": "no PDF is made", "template_pdf": "no PDF is made", "export_pdf_failure_message": "no PDF is made",
    "requirements": "install these packages where you grade",
    "overwrite_requirements": "install these packages where you grade",
    "environment": "install these packages where you grade", "python_version": "the Python that runs autograder grades",
    "generate": "grade with 'autograder grade', or make Gradescope's zip with 'autograder bundle gradescope'",
    "plugins": "plug-ins of otter do not run",
    "seed": "no cell is seeded before it runs: call the seed in the test, or give it as a value in the notebook",
    "autograder_files": "not copied: what lies beside a source notebook is released to students",
    "runs_on": "release the notebook as it is", "colab": "release the notebook as it is",
}  # fmt: skip


@dataclass
class Converted:
    """``files``: paths beside the notebook that belong to the assignment; ``notes``: what was not carried over."""

    notebook: NotebookNode
    name: str | None
    files: list[str]
    notes: list[str] = field(default_factory=list)
    questions: int = 0

    @property
    def points(self) -> float:
        return sum(cells.max_points(cell) for cell in self.notebook.cells if cells.is_graded(cell))


def convert(notebook: NotebookNode) -> Converted:
    """Raises GradingError, with the name of the question, where a block or a test cannot be read."""
    blocks = read_blocks(notebook)
    files = blocks.config.get("files") or []
    made = Converted(nbformat.v4.new_notebook(), _name(blocks.config), [str(one) for one in files])
    ok_format = bool((blocks.config.get("tests") or {}).get("ok_format", True))
    for part in blocks.parts:
        if isinstance(part, Question):
            made.notebook.cells += _question(part, ok_format, made.notes)
            made.questions += 1
        else:
            made.notebook.cells += _outside(part, made.notes)
    made.notes[:0] = _about_config(blocks)
    _finish(made, notebook)
    return made


def _question(question: Question, ok_format: bool, notes: list[str]) -> Iterator[NotebookNode]:
    """The cells of a question: text, answers, tests."""
    name, manual = re.sub(r"[^\w-]+", "_", question.name, flags=re.A), bool(question.config.get("manual"))
    tests = iter(_graded_tests(question, name, manual, ok_format, notes))
    hints = [line for cell in question.cells("prompt") if cell.cell_type == "code" for line in cell.source.split("\n")]
    answers = [cell for cell in question.cells("solution") if cell.cell_type != "raw"]
    # points of a question that a person reads belong to its text, or else to its last cell of code
    read = next((cell for cell in answers if cell.cell_type == "markdown"), answers[-1] if answers else None)
    if read is None:
        given = "students write into the cell that stands for it" if manual else "students add a cell of their own"
        notes.append(f"{question.name}: has no solution block: {given}, and its solution is not tried")
    for kind, cell in question.parts:
        if kind == "tests":
            yield next(tests)
        elif kind == "solution" and cell.cell_type != "raw":
            number = next(at for at, one in enumerate(answers, 1) if one is cell)
            marks: dict[str, Any] = {"solution": True, "locked": False}
            if manual and cell is read:
                marks |= {"grade": True, "points": _manual_points(question, notes)}
            yield _answer(cell, f"{name}_answer" + (f"_{number}" if number > 1 else ""), marks, hints, notes)
            hints = []
        elif kind == "text" or (cell.cell_type == "markdown" and not _TYPE_HERE.search(cell.source)):
            yield from _outside(cell, notes)
    if manual and read is None:
        marks = {"solution": True, "locked": False, "grade": True, "points": _manual_points(question, notes)}
        yield _cell(nbformat.v4.new_markdown_cell("YOUR ANSWER HERE"), f"{name}_answer", marks)
    if question.cells("prompt") and any(cell.cell_type == "code" for cell in question.cells("prompt")):
        notes.append(f"{question.name}: its prompt stands as comments above nbgrader's stub")
    for key in sorted(question.config.keys() - {"name", "points", "manual", "export", "check_cell"}):
        notes.append(f"{question.name}: '{key}' means nothing here")


def _graded_tests(
    question: Question, name: str, manual: bool, ok_format: bool, notes: list[str]
) -> Iterator[NotebookNode]:
    """One graded cell for each test case, as otter gives points to each."""
    sources = question.cells("tests")
    tests = []
    for number, cell in enumerate(sources, start=1):
        try:
            tests.append(read_test(cell, ok_format))
        except GradingError as error:
            raise GradingError(f"question '{question.name}', test {number} {error}") from error
        notes += [f"{question.name}, test {number}: {note}" for note in tests[-1].notes]
    try:
        points = [0.0] * len(tests) if manual else resolve_points(question.config.get("points"), tests)
    except GradingError as error:
        raise GradingError(f"question '{question.name}' {error}") from error
    if manual and tests:
        notes.append(f"{question.name}: a person gives its points, so its tests have none")
    for number, (test, worth) in enumerate(zip(tests, points, strict=True), start=1):
        cell_id = name if len(tests) == 1 else f"{name}_{number}"
        marks = {"grade": True, "locked": True, "points": plain(worth)}
        yield _cell(nbformat.v4.new_code_cell(_graded_source(question.name, test)), cell_id, marks)


def _graded_source(name: str, test: OtterTest) -> str:
    if not test.hidden:
        return test.source
    return f"# {name}: hidden tests\n### BEGIN HIDDEN TESTS\n{test.source}\n### END HIDDEN TESTS"


def _answer(
    cell: NotebookNode, cell_id: str, marks: dict[str, Any], hints: list[str], notes: list[str]
) -> NotebookNode:
    if cell.cell_type == "markdown":
        return _cell(nbformat.v4.new_markdown_cell(cell.source), cell_id, marks)
    if not is_marked(cell.source):
        notes.append(f"{cell_id}: no line is marked as a solution, so all of it is, and students get nbgrader's stub")
    try:
        source = with_regions(cell.source)
    except GradingError as error:
        raise GradingError(f"'{cell_id}': {error}") from error
    said = [line if line.startswith("#") or not line.strip() else f"# {line}" for line in hints]
    return _cell(nbformat.v4.new_code_cell("\n".join([*said, source])), cell_id, marks)


def _manual_points(question: Question, notes: list[str]) -> float:
    points = question.config.get("points")
    if isinstance(points, int | float) and not isinstance(points, bool):
        return plain(points)
    if isinstance(points, list) and points and all(isinstance(one, int | float) for one in points):
        notes.append(f"{question.name}: its points {points} are added up, for a person gives one number")
        return plain(sum(points))
    given = "no points are given" if points is None else f"its points ({points!r}) are no number"
    notes.append(f"{question.name}: {given}; its cell has 1 point, which you can change there")
    return 1


def _outside(cell: NotebookNode, notes: list[str]) -> Iterator[NotebookNode]:
    """A cell that is neither answer nor test: as it is, without otter's own calls."""
    if cell.cell_type != "code":
        yield cell
        return
    if is_marked(cell.source):
        line = next(line for line in cell.source.split("\n") if is_marked(line)).strip()
        raise GradingError(
            f"{line[:60]!r} is marked outside of a '# BEGIN SOLUTION' block, where otter shows it to students: "
            "put it into the block of a question, or take the mark away"
        )
    source = without_ignored(cell.source)
    if _PLUGIN.search(source):
        notes.append("a call of one of otter's plug-ins was left out")
        source = _PLUGIN.sub("", source)
    kept = [line for line in source.split("\n") if not _OTTER_LINE.match(line)]
    if any(line.strip() for line in kept):
        made = nbformat.v4.new_code_cell("\n".join(kept).strip("\n"))
        made.id = cell.get("id", made.id)
        yield made


def _cell(cell: NotebookNode, grade_id: str, marks: dict[str, Any]) -> NotebookNode:
    base = {"schema_version": 3, "grade_id": grade_id, "grade": False, "solution": False, "locked": False}
    cell.metadata["nbgrader"] = base | {"task": False} | marks
    return cell


def _name(config: dict[str, Any]) -> str | None:
    name = config.get("name")
    return re.sub(r"[^\w-]+", "_", str(name), flags=re.A).strip("_") or None if name else None


def _about_config(blocks: OtterNotebook) -> Iterator[str]:
    for key, value in blocks.config.items():
        if key not in _CONFIG:
            yield f"{key}: means nothing here"
        elif _CONFIG[key] and value:
            yield f"{key}: {_CONFIG[key]}"


def _finish(made: Converted, original: NotebookNode) -> None:
    """Ids that stay the same in every conversion, and the notebook's own settings without otter's."""
    made.notebook.metadata.update({key: value for key, value in original.metadata.items() if key != "otter"})
    used: set[str] = set()
    for number, cell in enumerate(made.notebook.cells):
        grade_id = cells.grade_id(cell)
        if grade_id and grade_id in used:
            raise GradingError(f"two cells would be called '{grade_id}': give the questions names that differ")
        cell.id = (grade_id or f"cell-{number}").replace("_", "-")[:64] + ("" if grade_id else "-text")
        used |= {grade_id} if grade_id else set()
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(made.notebook)


@dataclass(frozen=True)
class Written:
    path: Path
    converted: Converted
    copied: tuple[str, ...]
    notes: tuple[str, ...]


def convert_into(course: Course, path: Path, assignment: str | None) -> Written:
    """Write the notebook at ``path``, converted, into ``source/<assignment>/``.

    Raises GradingError, and writes nothing, where it cannot be read or converted, or would replace another file.
    """
    converted = _converted(path)
    name = assignment or converted.name or re.sub(r"[^\w-]+", "_", path.stem, flags=re.A)
    if not re.fullmatch(r"\w[\w-]*", name, flags=re.A):
        raise GradingError(f"{name!r} is no name of an assignment: use letters, digits, _ and -")
    folder = course.source(name)
    target = folder / f"{path.stem}.ipynb"
    if target.exists():
        raise GradingError(f"{target} is there already; nothing was written: move it, or name another --assignment")
    copied, notes = {}, []
    for one in converted.files:
        file = path.parent / one
        if ".." in Path(one).parts or Path(one).is_absolute() or not file.is_file():
            notes.append(f"files: {one} is no file beside the notebook; put it into {folder} yourself")
        elif (folder / one).exists():
            notes.append(f"files: {folder / one} is there already and was left as it was")
        else:
            copied[one] = file.read_bytes()
    for one, data in copied.items():
        write_file(folder / one, data)
    write_file(target, nbformat.writes(converted.notebook).encode())
    return Written(target, converted, tuple(copied), (*converted.notes, *notes))


def _converted(path: Path) -> Converted:
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except OSError as error:
        raise GradingError(said(error)) from error
    except (UnicodeDecodeError, nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError) as error:
        raise GradingError(f"{path} is no notebook: expected the .ipynb that 'otter assign' takes") from error
    try:
        return convert(notebook)
    except GradingError as error:
        raise GradingError(f"{path}: {error}") from error
