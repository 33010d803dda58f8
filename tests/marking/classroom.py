"""A course with three written questions, a figure and a task, and a class that has handed in; nothing is run for it."""

import random
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, NotebookVerdict
from autograder.pipeline.rebuild import SubmittedCell, rebuild
from tests.feedback.toy import marks, new_course, python_notebook, store
from tests.once import made_once

ASSIGNMENT, NOTEBOOK = "questions", "1_attention"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
QUESTIONS = tomllib.loads((Path(__file__).parent / "answers.toml").read_text(encoding="utf-8"))["question"]
#: Grade id to the question in ``answers.toml``.
WRITTEN = {"scale": QUESTIONS[0], "padding": QUESTIONS[1], "cls": QUESTIONS[2]}
SCHEME = "- 1 point: names what goes wrong\n- 1 point: says why\n- half a point: an example"
Answers = Mapping[str, str]


def instructor_notebook() -> NotebookNode:
    v4 = nbformat.v4
    made = [v4.new_markdown_cell("# Attention", id="intro")]
    for number, (name, question) in enumerate(WRITTEN.items()):
        model = next(iter(question["kinds"]["right"]))
        text = f"{model}\n\n=== BEGIN MARK SCHEME ===\n{SCHEME}\n=== END MARK SCHEME ==="
        made.append(
            v4.new_markdown_cell(f"## Question {number + 1} (2 points)\n\n{question['asks']}", id=f"ask-{name}")
        )
        made.append(v4.new_markdown_cell(text, id=name, metadata=marks(name, grade=True, solution=True, points=2)))
    drawn = "### BEGIN SOLUTION\nplt.plot(weights)\n### END SOLUTION"
    made.append(v4.new_markdown_cell("## A figure (1 point)\n\nDraw the weights.", id="ask-figure"))
    made.append(v4.new_code_cell(drawn, id="figure", metadata=marks("figure", grade=True, solution=True, points=1)))
    task = marks("project", grade=False, solution=False, points=3)
    task["nbgrader"] |= {"task": True, "locked": True}  # type: ignore[operator]
    words = "## A project (3 points)\n\nTry it.\n\n=== BEGIN MARK SCHEME ===\nThree points.\n=== END MARK SCHEME ==="
    made.append(v4.new_markdown_cell(words, id="project", metadata=task))
    return python_notebook(*made)


def make_course(folder: Path) -> Course:
    """Released, and nothing handed in."""
    notebooks = {f"{ASSIGNMENT}/{NOTEBOOK}": instructor_notebook()}
    return Course(shutil.copytree(made_once("marking-course", lambda root: new_course(root, notebooks)), folder))


FIGURE = nbformat.v4.new_output("display_data", {"image/png": PNG, "text/plain": "<Figure>"})


def hand_in(
    course: Course,
    student: str,
    answers: Answers,
    extra: tuple[SubmittedCell, ...] = (),
    outputs: tuple[NotebookNode, ...] = (FIGURE,),
) -> None:
    """Save a graded submission as the class pipeline would; code is as if it had drawn a figure."""
    opened = Assignment.open(course.root, ASSIGNMENT)
    sent = [SubmittedCell(text, "code" if name == "figure" else "markdown", name) for name, text in answers.items()]
    made = rebuild(opened.source[NOTEBOOK], opened.release[NOTEBOOK], [*sent, *extra])
    for cell in made.notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = list(outputs)
    points = {"scale": 2.0, "padding": 2.0, "cls": 2.0, "figure": 1.0, "project": 3.0}
    untouched = set(WRITTEN) - answers.keys()
    verdicts = tuple(
        CellVerdict(name, "missing" if name in untouched else "manual", 0.0 if name in untouched else None, most,
                    judged="manual")
        for name, most in points.items()
    )  # fmt: skip
    store(course, opened, made, NotebookVerdict(student, ASSIGNMENT, NOTEBOOK, verdicts, made.notes))
    course.submitted(student, ASSIGNMENT).mkdir(parents=True, exist_ok=True)


def drawn_answers(students: int, seed: int = 0) -> Iterator[tuple[str, dict[str, str]]]:
    """Student and answers, drawn from ``answers.toml``; the same answer in other case and punctuation, too."""
    chance = random.Random(seed)
    for number in range(students):
        answers = {}
        for name, question in WRITTEN.items():
            text = chance.choice([text for kind in question["kinds"].values() for text in kind])
            answers[name] = chance.choice([text, text.lower(), text.rstrip(".")])
        yield f"student{number:03}", answers


def held(course: Course, student: str, cell: str) -> tuple[float | None, float | None, bool, str | None]:
    """manual score, extra credit, whether it waits, and the comment, as the gradebook has them."""
    with Gradebook(course.db_url) as gradebook:
        place = (cell, NOTEBOOK, ASSIGNMENT, student)
        grade, comment = gradebook.find_grade(*place), gradebook.find_comment(*place)
        return grade.manual_score, grade.extra_credit, grade.needs_manual_grade, comment.manual_comment


@contextmanager
def gradebook_of(course: Course) -> Iterator[Gradebook]:
    with Gradebook(course.db_url) as gradebook:
        yield gradebook
        gradebook.db.commit()
