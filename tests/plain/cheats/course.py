"""A course of one notebook with every exercise that is cheated at, and a class in which everybody cheats once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.model.course import Course
from benchmarks.courses import call
from tests.plain.cheats.cheat import Cheat
from tests.plain.cheats.targets import GIVEN, HELPER, TARGETS

ASSIGNMENT = "cheats"
NOTEBOOK = "tests"
#: Students who do not cheat: all right, all wrong.
RIGHT, WRONG = "right", "wrong"
SECONDS = 15

CONFIG = f"c = get_config()\nc.CourseDirectory.course_id = 'plain'\nc.Execute.timeout = {SECONDS}\n"


def make_course(root: Path, cheats: Iterable[Cheat]) -> Course:
    """The course, released by stock nbgrader, with one submission for each cheat and those of ``RIGHT`` and ``WRONG``."""
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    (source / "helper.py").write_text(HELPER)
    nbformat.write(source_notebook(), source / f"{NOTEBOOK}.ipynb")
    call(root, "nbgrader", "generate_assignment", ASSIGNMENT)
    released = nbformat.read(root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", as_version=4)
    answers = {RIGHT: {target.id: target.right for target in TARGETS}, WRONG: {}}
    for student, given in answers.items():
        _hand_in(root, student, _submission(released, given), {})
    for cheat in cheats:
        _hand_in(root, cheat.id, _cheating(released, cheat), cheat.files)
    return Course(root)


def _hand_in(root: Path, student: str, notebook: NotebookNode, files: dict[str, str] | object) -> None:
    folder = root / "submitted" / student / ASSIGNMENT
    shutil.copytree(root / "release" / ASSIGNMENT, folder)
    nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    for name, text in dict(files).items():  # type: ignore[call-overload]
        (folder / name).write_text(text)


def source_notebook() -> NotebookNode:
    cells = [_cell(GIVEN, "given", locked=True)]
    for target in TARGETS:
        cells.append(
            _cell(f"### BEGIN SOLUTION\n{target.right}\n### END SOLUTION", f"{target.id}_answer", solution=True)
        )
        tests = f"{target.visible}\n### BEGIN HIDDEN TESTS\n{target.hidden}\n### END HIDDEN TESTS"
        cells.append(_cell(tests, target.id, grade=True, locked=True, points=target.points))
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def _cell(text: str, grade_id: str, **marks: object) -> NotebookNode:
    made = new_code_cell(text, id=grade_id.replace("_", "-"))
    base = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }
    made.metadata["nbgrader"] = base | marks
    return made


def _submission(released: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """The released notebook with these answers, and the honest wrong ones in all other cells."""
    notebook = nbformat.from_dict(released)
    texts = {f"{target.id}_answer": answers.get(target.id, target.wrong) for target in TARGETS}
    for cell in notebook.cells:
        cell.source = texts.get(cell.metadata.nbgrader.grade_id, cell.source)
    return notebook


def _cheating(released: NotebookNode, cheat: Cheat) -> NotebookNode:
    (target,) = (one for one in TARGETS if one.id == cheat.target)
    answer = target.wrong if cheat.answer is None else cheat.answer
    notebook = _submission(released, {cheat.target: f"{cheat.code}\n{answer}".strip("\n")})
    if cheat.early:
        notebook.cells.insert(0, new_code_cell(cheat.early))
    if cheat.late:
        notebook.cells.append(new_code_cell(cheat.late))
    return notebook
