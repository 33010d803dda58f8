"""Submissions that nobody handed in: the instructor's solution, and the notebooks as students get them."""

import nbformat

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.model import cells

#: Whose submission the instructor's solution is.
SOLUTION = "solution"


def solved(assignment: Assignment) -> Submission:
    """The released notebooks with the instructor's solutions filled in, as if a student had handed them in."""
    notebooks = {}
    for name, released in assignment.release.items():
        student = nbformat.from_dict(released)
        solutions = {
            cells.grade_id(cell): cell.source for cell in assignment.source[name].cells if cells.is_solution(cell)
        }
        for cell in student.cells:
            if cells.is_solution(cell):
                cell.source = without_markers(solutions[cells.grade_id(cell)])
        notebooks[name] = nbformat.writes(student).encode()
    return Submission(SOLUTION, notebooks, dict(assignment.solutions), ())


def without_markers(source: str) -> str:
    """A solution cell as a student would have written it."""
    marks = ("### BEGIN SOLUTION", "### END SOLUTION")
    return "\n".join(line for line in source.split("\n") if line.strip() not in marks)


def untouched(assignment: Assignment) -> Submission:
    notebooks = {name: nbformat.writes(notebook).encode() for name, notebook in assignment.release.items()}
    return Submission("untouched", notebooks, {}, ())
