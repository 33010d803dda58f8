"""A course with every exercise that is cheated at, a few in each notebook, and a class in which everybody cheats once."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.model.course import Course
from tests.plain.cheats.cheat import GIVEN, HELPER, TARGETS, Cheat, Target
from tools.bench.courses import call
from tools.bench.plain import cell

ASSIGNMENT = "cheats"
#: Students who do not cheat: all right, all wrong.
RIGHT, WRONG = "right", "wrong"
SECONDS = 15
#: Stands in every hidden test, and so on no page that a student gets.
SECRET = "SECRET of"

CONFIG = f"c = get_config()\nc.CourseDirectory.course_id = 'plain'\nc.Execute.timeout = {SECONDS}\n"


def make_course(root: Path, cheats: Iterable[Cheat], exercises: Sequence[Target] = TARGETS, beside: int = 2) -> Course:
    """The course, released by stock nbgrader, with one submission for each cheat and those of ``RIGHT`` and ``WRONG``.

    Who cheats hands in one notebook: exercises beside the attacked one are there to be hit.
    """
    notebooks = {str(at): exercises[at : at + beside + 1] for at in range(0, len(exercises), beside + 1)}
    wrong = {target.id: target.wrong for target in exercises}
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    (source / "helper.py").write_text(HELPER)
    for name, targets in notebooks.items():
        nbformat.write(source_notebook(targets), source / f"{name}.ipynb")
    call(root, "nbgrader", "generate_assignment", ASSIGNMENT)
    release = root / "release" / ASSIGNMENT
    released = {name: nbformat.read(release / f"{name}.ipynb", as_version=4) for name in notebooks}
    right = {target.id: target.right for target in exercises}
    for student, given in {RIGHT: right, WRONG: wrong}.items():
        _hand_in(root, student, {name: _submission(notebook, given) for name, notebook in released.items()}, {})
    for cheat in cheats:
        (name,) = (name for name, targets in notebooks.items() if cheat.target in {target.id for target in targets})
        _hand_in(root, cheat.id, {name: _cheating(released[name], cheat, wrong)}, cheat.files)
    return Course(root)


def _hand_in(root: Path, student: str, notebooks: Mapping[str, NotebookNode], files: Mapping[str, str]) -> None:
    folder = root / "submitted" / student / ASSIGNMENT
    shutil.copytree(root / "release" / ASSIGNMENT, folder, ignore=shutil.ignore_patterns("*.ipynb"))
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")
    for name, text in files.items():
        (folder / name).write_text(text)


def source_notebook(targets: Sequence[Target]) -> NotebookNode:
    more = dict.fromkeys(target.given.strip("\n") for target in targets)
    cells = [cell("\n".join([GIVEN, *more]), "given", locked=True)]
    for target in targets:
        cells.append(
            cell(f"### BEGIN SOLUTION\n{target.right}\n### END SOLUTION", f"{target.id}_answer", solution=True)
        )
        shown = [target.visible, *("" for _ in target.more)]
        for number, (visible, hidden) in enumerate(zip(shown, [target.hidden, *target.more], strict=True)):
            tests = f"{visible}\n### BEGIN HIDDEN TESTS\n# {SECRET} {target.id}\n{hidden}\n### END HIDDEN TESTS"
            name = f"{target.id}_{number}" if number else target.id
            cells.append(cell(tests.strip("\n"), name, grade=True, locked=True, points=target.points))
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def _submission(released: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """The released notebook with these answers."""
    notebook = nbformat.from_dict(released)
    texts = {f"{target}_answer": answer for target, answer in answers.items()}
    for one in notebook.cells:
        one.source = texts.get(one.metadata.nbgrader.grade_id, one.source)
    return notebook


def _cheating(released: NotebookNode, cheat: Cheat, wrong: Mapping[str, str]) -> NotebookNode:
    answer = wrong[cheat.target] if cheat.answer is None else cheat.answer
    notebook = _submission(released, {**wrong, cheat.target: f"{cheat.code}\n{answer}".strip("\n")})
    if cheat.early:
        notebook.cells.insert(0, new_code_cell(cheat.early))
    if cheat.late:
        notebook.cells.append(new_code_cell(cheat.late))
    return notebook
