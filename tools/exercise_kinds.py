"""``python -m tools.exercise_kinds``: what students write for each exercise, and of which parts a whole is made."""

import ast
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions
from autograder.exercise import Exercise
from autograder.model.course import Course


def kind(made: Exercise, solved: dict[str, str]) -> str:
    """function, method, class, whole, choice, or text: a dictionary or list that students fill in."""
    name = made.slug.partition("/")[2]
    if made.questions:
        return "choice"
    if made.parts and not made.method and not made.given and not isinstance(made.parts, dict):
        return "whole"
    if made.method:
        return "method"
    cell = made.cell or f"{name}_answer"
    kinds = {type(node) for node in ast.parse(solved[cell]).body} if cell in solved else {ast.ClassDef}
    return "class" if ast.ClassDef in kinds else "function" if ast.FunctionDef in kinds else "text"


def main() -> int:
    course, table, counts = Course(Path(__file__).parents[1]), Table("exercise", "kind", "parts"), Counter[str]()
    for assignment in course.assignments():
        opened = Assignment.unreleased(course, assignment)
        for slug, made in opened.references.exercises(assignment).items():
            found = kind(made, solutions(opened))
            counts[found] += 1
            table.add_row(slug, found, ", ".join(made.parts))
    Console(width=160).print(table)
    print(f"{counts.total()} exercises: {', '.join(f'{number} {name}' for name, number in counts.most_common())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
