"""Texts of the published folder: README.md, and the rule for assistants in AGENTS.md and CLAUDE.md as they read it.

Corrections of what students have already are noted on top of the notebooks and listed in the students' changelog.
``.published_cells.json`` in the published folder keeps the digests of the texts that each cell has had, by which
``course.update()`` tells a student's text from ours, and the corrections so far.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

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


TEXTS, CHANGELOG = ".published_cells.json", "CHANGELOG.md"
NOTE_ID = "correction-note"
_LISTED = re.compile(r"<!-- corrections: .*? -->\n.*?<!-- /corrections -->\n?", re.DOTALL)
_MARK = "<!-- corrections: 'autograder publish' writes this part anew; your own words before and after it stay -->"

#: Cell -> digests of its texts, the newest last.
Texts = dict[str, list[str]]


@dataclass(frozen=True)
class Correction:
    """``cells``: the names of those that changed; ``note``: what the instructor said about it."""

    day: str
    notebook: str
    cells: tuple[str, ...]
    note: str = ""


@dataclass
class PublishedTexts:
    """What earlier publications left: ``texts`` by notebook (``release/a/1_a.ipynb``)."""

    texts: dict[str, Texts] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    corrections: list[Correction] = field(default_factory=list)


def read_published(folder: Path) -> PublishedTexts:
    """Raises GradingError where the record is there and cannot be read."""
    path = folder / TEXTS
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        made = [
            Correction(one["day"], one["notebook"], tuple(one["cells"]), one["note"]) for one in said["corrections"]
        ]
        return PublishedTexts(said["texts"], said["order"], made)
    except FileNotFoundError:
        return PublishedTexts()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GradingError(f"{path} cannot be read ({error}): take it from the last publication") from error


def note_corrections(fresh: Path, folder: Path, notebooks: Iterable[str], note: str, today: date) -> list[Correction]:
    """Compare the notebooks in ``fresh`` with what was published before, write notes, changelog and record into
    ``fresh``; returns this time's corrections.

    notebooks: those that are published now, as paths in the folder. note: about this time's corrections.
    """
    before = read_published(folder)
    made = [one for name in notebooks if (one := _compare(fresh, folder, name, before, note, today)) is not None]
    corrections = [*before.corrections, *made]
    for name in notebooks:
        own = [one for one in corrections if one.notebook == name]
        if own:
            notebook = nbformat.read(fresh / name, as_version=4)
            notebook.cells.insert(0, _note(name, own))
            (fresh / name).write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    if corrections:
        (fresh / CHANGELOG).write_text(_changelog(folder / CHANGELOG, corrections), encoding="utf-8")
    record: dict[str, Any] = {
        "texts": before.texts,
        "order": before.order,
        "corrections": [vars(one) for one in corrections],
    }
    (fresh / TEXTS).write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    return made


def _compare(fresh: Path, folder: Path, name: str, before: PublishedTexts, note: str, today: date) -> Correction | None:
    """This time's correction of one notebook, where it was published before and has changed. Notes the new texts."""
    now = _texts(nbformat.read(fresh / name, as_version=4))
    if name not in before.texts and (folder / name).is_file():  # published before texts were kept
        earlier = _texts(nbformat.read(folder / name, as_version=4))
        before.texts[name], before.order[name] = {cell: [text] for cell, text in earlier.items()}, list(earlier)
    known = before.texts.setdefault(name, {})
    first = not known
    was = {cell: known[cell][-1] for cell in before.order.get(name, [])}
    changed = [cell for cell, text in now.items() if was.get(cell) != text] + [cell for cell in was if cell not in now]
    for cell, text in now.items():
        texts = known.setdefault(cell, [])
        if text in texts:
            texts.remove(text)
        texts.append(text)
    before.order[name] = list(now)
    return None if first or not changed else Correction(today.isoformat(), name, tuple(changed), note)


def _texts(notebook: NotebookNode) -> dict[str, str]:
    named = ((cells.grade_id(cell) or cell.get("id", ""), cell) for cell in notebook.cells)
    return {name: _digest(cell.source) for name, cell in named if name and name != NOTE_ID}


def _digest(text: str) -> str:
    """As ``course.merge.digest`` counts: without the spaces at the ends of lines."""
    return hashlib.sha256("\n".join(line.rstrip() for line in text.strip().splitlines()).encode()).hexdigest()[:16]


def _note(name: str, own: list[Correction]) -> NotebookNode:
    file = name.rpartition("/")[2]
    lines = [f"> - {_line(one)}" for one in own]
    text = "\n".join([
        "> **Corrected since it was first published.** Your own copy gets the corrections, and keeps your text, by",
        f'> `course.update("{file}")`.', ">", *lines,
    ])  # fmt: skip
    return nbformat.v4.new_markdown_cell(text, id=NOTE_ID)


def _line(one: Correction) -> str:
    said = f"{' '.join(one.note.split())} " if one.note else ""
    return f"{one.day}: {said}({', '.join(one.cells)})"


def _changelog(path: Path, corrections: list[Correction]) -> str:
    before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    by_day: dict[str, list[Correction]] = {}
    for one in reversed(corrections):
        by_day.setdefault(one.day, []).append(one)
    lines = [_MARK, "# Corrections", ""]
    for day, made in by_day.items():
        lines += [f"## {day}", ""]
        lines += [
            f"- [{one.notebook.removeprefix('release/')}]({one.notebook}): {_line(one).partition(': ')[2]}"
            for one in made
        ]
        lines.append("")
    page = "\n".join([*lines, "<!-- /corrections -->", ""])
    return _LISTED.sub(lambda _: page, before, count=1) if _LISTED.search(before) else page + before
