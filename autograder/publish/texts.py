"""Texts of the published folder: README.md, and the rule for assistants in AGENTS.md and CLAUDE.md as they read it."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from jinja2 import Environment, StrictUndefined, TemplateError
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import SENTENCES, MainLine
from autograder.release.main_line import Lesson, in_order, lesson

AGENTS, CLAUDE = "AGENTS.md", "CLAUDE.md"
_TEMPLATE = Path(__file__).resolve().parent / "publish_files" / "AGENTS.md.j2"
_DEFINED = re.compile(r"(?m)^(?:def|class)\s+(\w+)|^(\w+)\s*=[^=]")
_GAP = "NotImplementedError"


def write_rules(course: Course, fresh: Path, folders: Sequence[Path], there: Path, before: set[str]) -> None:
    """Write both files into ``fresh``; none where the course has no rule.

    folders: the released assignments, as students get them. there, before: the published folder, and what an earlier
    publication wrote into it. Raises GradingError where somebody else wrote one of the files.
    """
    if not course.file.assistants:
        return
    for name in (AGENTS, CLAUDE):
        if name not in before and (there / name).is_file() and not _is_ours(there / name):
            raise GradingError(
                f"{there / name} was not written by 'publish': move it away, or leave 'assistants' out of course.toml"
            )
    answers = {folder.name: list(_answers(folder)) for folder in folders}
    tested = [folder.name for folder in folders if (folder / "tests").is_dir()]
    words = {"policy": course.file.assistants, "sentence": SENTENCES[course.file.assistants], "answers": answers,
             "tested": tested}  # fmt: skip
    template = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
    page = template.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(words)
    (fresh / AGENTS).write_text(page, encoding="utf-8")
    (fresh / CLAUDE).write_text(f"The rules of this course are in {AGENTS}: read and follow them.\n", encoding="utf-8")


def _is_ours(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return text.startswith(("# Rules for assistants\n", "The rules of this course are in"))


def _answers(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """(file, names of what students write in it), from what students get."""
    for path in sorted(folder.glob("*.ipynb")):
        found = [name for cell in nbformat.read(path, as_version=4).cells for name in _names(cell)]
        if found:
            yield path.name, list(dict.fromkeys(found))
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        written = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        gaps = [f"`{node.name}`" for node in written if _GAP in (ast.get_source_segment(text, node) or "")]
        if gaps:
            yield path.name, gaps


def _names(cell: NotebookNode) -> Iterator[str]:
    if cells.is_task(cell) or (cells.is_solution(cell) and cell.cell_type != "code"):
        yield f"the answer in cell {cells.grade_id(cell)}"
    elif cells.is_solution(cell):
        names = ["".join(found) for found in _DEFINED.findall(cell.source)]
        yield from (f"`{name}`" for name in names)
        if not names:
            yield f"the code in cell {cells.grade_id(cell)}"


_END = "<!-- /published -->"
#: Between these lines README.md is written anew each time; before and after them it is the instructor's.
_OURS = re.compile(r"<!-- published: .*? -->\n.*?<!-- /published -->\n?", re.DOTALL)


def students_readme(course: Course, template: str, lessons: Sequence[Lesson], repository: str) -> str:
    """The template, filled in. Raises GradingError where it cannot be."""
    words = {
        "title": course.file.title or course.root.name,
        "repository": repository,
        "notebooks": lessons,
        "start": next(iter(lessons), None),
        "deliverables": {one.assignment: course.file.deliverables[one.assignment] for one in lessons
                         if one.assignment in course.file.deliverables},
    }  # fmt: skip
    try:
        page = Environment(undefined=StrictUndefined, autoescape=False).from_string(template).render(words) + "\n"
    except (TemplateError, TypeError, ValueError) as error:  # the last two: a row is taken apart in another way
        raise GradingError(f"{course.file.publish.readme or 'README.md'} cannot be filled in: {error}") from error
    rule = SENTENCES.get(course.file.assistants, "")
    if not rule:
        return page
    return page.replace(_END, f"\n{rule}\n{_END}") if _END in page else f"{page}\n{rule}\n"


def with_own_words(path: Path, page: str) -> str:
    """The page, with what the instructor wrote before and after our part of the one that is there."""
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if not _OURS.search(before):
        return page
    return _OURS.sub(lambda _: page, before, count=1)


def lessons_of(line: MainLine, sheets: Sequence[Assignment], folder: Path, kept: Sequence[str]) -> list[Lesson]:
    """What is published now, and what lies in the folder since an earlier time, in the course's order."""
    found = [lesson(line, sheet.name, name, book) for sheet in sheets for name, book in sheet.release.items()]
    for assignment in kept:
        for path in (folder / "release" / assignment).glob("*.ipynb"):
            found.append(lesson(line, assignment, path.stem, nbformat.read(path, as_version=4)))
    return in_order(found)
