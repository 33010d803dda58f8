"""A course of one small notebook, so that feedback can be tested without running anything."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.classroom.autograded import write_autograded
from autograder.gradebook.write import open_gradebook, save
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, Graded, NotebookVerdict, SubmissionVerdict, answer_digests
from autograder.pipeline.judge import write_into
from autograder.pipeline.rebuild import RebuiltNotebook, SubmittedCell, rebuild
from autograder.release.generate import generate
from tests.once import made_once

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT, NOTEBOOK = "toy", "1_sums"

HIDDEN = 'for case in reference("toy/row_sums"):  # secret-of-the-grader'
EXPECTED = "3.14159265"
MODEL_ANSWER = "Because the softmax normalises each row, says the model answer."
MARK_SCHEME = "Two points for naming the axis, says the mark scheme."


def marks(
    grade_id: str, *, grade: bool = False, solution: bool = False, points: float | None = None, **more: bool
) -> dict[str, object]:
    """A cell's metadata for nbgrader. more: other marks, or another ``locked`` than that of a test."""
    about: dict[str, object] = {"grade": grade, "solution": solution, "locked": grade and not solution, "task": False}
    points_of_it = {} if points is None else {"points": points}
    return {"nbgrader": {**about, "grade_id": grade_id, "schema_version": 3, **points_of_it, **more}}


def python_notebook(*cells: NotebookNode) -> NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})
    notebook.nbformat_minor = 5
    return notebook


def plain_exercise(name: str, answer: str, test: str, points: float, arguments: str = "") -> list[NotebookNode]:
    """A function to be written, and its plain test."""
    solution = f"def {name}({arguments}):\n    ### BEGIN SOLUTION\n    {answer}\n    ### END SOLUTION"
    about = marks(f"{name}_answer", grade=False, solution=True)
    tested = marks(name, grade=True, solution=False, points=points)
    cell = nbformat.v4.new_code_cell
    return [cell(solution, id=f"{name}-a", metadata=about), cell(test, id=name, metadata=tested)]


def new_course(root: Path, notebooks: Mapping[str, NotebookNode]) -> Course:
    """A released course of these notebooks, by ``assignment/name``; with this course's configuration, or its own."""
    for place, notebook in notebooks.items():
        path = root / "source" / f"{place}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
    if not (root / "nbgrader_config.py").exists():
        shutil.copy(ROOT / "nbgrader_config.py", root)
    for assignment in dict.fromkeys(place.partition("/")[0] for place in notebooks):
        generate(Course(root), assignment)
    return Course(root)


def instructor_notebook() -> NotebookNode:
    v4 = nbformat.v4
    solution = "def row_sums(x):\n    ### BEGIN SOLUTION\n    return x.sum(-1)  # the-solution\n    ### END SOLUTION"
    hidden = f"### BEGIN HIDDEN TESTS\n{HIDDEN}\n    case.compare(out={EXPECTED})\n### END HIDDEN TESTS"
    graded = f"print('visible check')\n{hidden}"
    words = f"{MODEL_ANSWER}\n\n=== BEGIN MARK SCHEME ===\n{MARK_SCHEME}\n=== END MARK SCHEME ==="
    return python_notebook(
        v4.new_markdown_cell("# Sums\n\nEach row sums to $\\sum_j w_{ij} = 1$.", id="intro"),
        v4.new_code_cell(solution, id="a", metadata=marks("row_sums_answer", grade=False, solution=True)),
        v4.new_code_cell(graded, id="b", metadata=marks("row_sums", grade=True, solution=False, points=3)),
        v4.new_markdown_cell("Why is that so?", id="c"),
        v4.new_markdown_cell(words, id="d", metadata=marks("why", grade=True, solution=True, points=2)),
    )


def build_course(root: Path) -> Course:
    """A released course of one assignment, with its gradebook."""
    shutil.copytree(made_once("toy-course", _build), root, dirs_exist_ok=True)
    return Course(root)


def _build(root: Path) -> None:
    root.mkdir(parents=True)
    # a rule for assistants would stand in every notebook, and tests write settings of their own
    settings = (ROOT / "course.toml").read_text()
    (root / "course.toml").write_text(re.sub(r"(?m)^assistants = .*\n", "", settings))
    new_course(root, {f"{ASSIGNMENT}/{NOTEBOOK}": instructor_notebook()})


def wrong() -> tuple[CellVerdict, ...]:
    """One exercise that failed, one that waits for a human."""
    check = Check("sums", False, "The rows are summed over axis 0.", "Which axis holds the keys?", "axis-0")
    return (CellVerdict("row_sums", "failed", 0.0, 3.0, (check,)), CellVerdict("why", "manual", None, 2.0))


def hand_in(
    course: Course,
    student: str,
    answers: dict[str, str] | None = None,
    extra: tuple[SubmittedCell, ...] = (),
    outputs: tuple[NotebookNode, ...] = (),
    cells: tuple[CellVerdict, ...] | None = None,
    clean: bool = True,
) -> Graded:
    """Save one student's graded submission, as the class pipeline would; ``outputs`` come from the student's own cell.

    clean: as the pipeline saves it; False keeps the outputs as the kernel sent them.
    """
    opened = Assignment.open(course.root, ASSIGNMENT)
    texts = {"row_sums_answer": "def row_sums(x):\n    return x.sum(0)", "why": "It is a softmax."} | (answers or {})
    sent = [SubmittedCell(text, "markdown" if name == "why" else "code", name) for name, text in texts.items()]
    made = rebuild(opened.source[NOTEBOOK], opened.release[NOTEBOOK], [*sent, *extra])
    for cell in made.notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade_id") == "row_sums_answer":
            cell.outputs = list(outputs)
    verdict = NotebookVerdict(student, ASSIGNMENT, NOTEBOOK, cells or wrong(), made.notes, 1.5)
    return store(course, opened, made, verdict, clean)


def store(
    course: Course, opened: Assignment, made: RebuiltNotebook, verdict: NotebookVerdict, clean: bool = True
) -> Graded:
    """Save a submission of one notebook in the folder and in the gradebook."""
    name = verdict.notebook
    graded = Graded(
        SubmissionVerdict(verdict.student, verdict.assignment, (verdict,)),
        {name: write_into(made.notebook, verdict) if clean else made.notebook},
        ("a line of the log",),
        answers={name: answer_digests(made.notebook, {})},
    )
    write_autograded(course, graded, opened.source)
    with open_gradebook(course.db_url, verdict.assignment) as gradebook:
        save(gradebook, graded, root=course.root)
    return graded
