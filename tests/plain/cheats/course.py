"""A course with every exercise that is cheated at, a few in each notebook, and a class in which all but two cheat."""

import shutil
from collections.abc import Mapping, Sequence
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
#: Exercises in each notebook.
EACH = 3
#: Stands in every hidden test, and so on no page that a student gets.
SECRET = "SECRET of"

CONFIG = f"c = get_config()\nc.CourseDirectory.course_id = 'plain'\nc.Execute.timeout = {SECONDS}\n"


def students(cheats: Sequence[Cheat], exercises: Sequence[Target] = TARGETS) -> dict[str, list[Cheat]]:
    """Who hands in which cheats: one each, or, where each has an exercise of its own, one in each notebook."""
    if exercises is TARGETS:
        return {cheat.id: [cheat] for cheat in cheats}
    return {f"cheats_{first}": list(cheats[first::EACH]) for first in range(min(EACH, len(cheats)))}


def make_course(root: Path, cheats: Sequence[Cheat], exercises: Sequence[Target] = TARGETS) -> Course:
    """The course, released by stock nbgrader, with the cheats' submissions and those of ``RIGHT`` and ``WRONG``.

    Exercises beside the attacked one are there to be hit.
    """
    notebooks = {str(at): exercises[at : at + EACH] for at in range(0, len(exercises), EACH)}
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
    place = {target.id: name for name, targets in notebooks.items() for target in targets}
    for student, theirs in students(cheats, exercises).items():
        given = {place[cheat.target]: _cheating(released[place[cheat.target]], cheat, wrong) for cheat in theirs}
        assert len(given) == len(theirs)  # each has a kernel of its own
        _hand_in(root, student, given, {name: text for cheat in theirs for name, text in cheat.files.items()})
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
