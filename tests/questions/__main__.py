"""``python -m tests.questions``: questions on every right answer of the main line, as a table.

Exit code 1 where a key is wrong, or where a form of choices says which is right. ``--answers ASSIGNMENT/NOTEBOOK``:
what the notebook's solution answers to the questions on itself.
"""

from __future__ import annotations

import argparse
import sys

from autograder.assignment.assignment import Assignment
from autograder.exercise.asking import find
from autograder.exercise.questions import questions, right_choice, token_for
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.questions import asking
from autograder.release.as_submitted import without_markers
from tests.grading import ROOT

#: The token's first half in the solutions.
RANDOM = "5eed5eed"


def answers_of(name: str) -> dict[str, str]:
    """The answers that are right for the notebook's own solution."""
    from importlib import import_module

    assignment, _, stem = name.partition("/")
    notebook = Assignment.unreleased(Course(ROOT), assignment).source[stem]
    index = next(number for number, cell in enumerate(notebook.cells) if asking(cell) is not None)
    asked = asking(notebook.cells[index])
    assert asked is not None
    code = [one for one in notebook.cells[:index] if one.cell_type == "code"]
    sources = [(without_markers(cells.split_hidden(one.source).visible), not cells.is_solution(one)) for one in code]
    facts = import_module(f"course.check.{assignment}").questions.facts_of(sources, dict(asked.asked))
    found = find(sources, facts.name)
    assert found is not None
    made = questions(found, facts, RANDOM)
    return {"token": token_for(found, RANDOM)} | {one.kind: right_choice(one, found, facts) for one in made}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", metavar="ASSIGNMENT/NOTEBOOK")
    parser.add_argument("--tokens", type=int, default=20, help="for each right answer")
    options = parser.parse_args(arguments)
    if options.answers:
        print(answers_of(options.answers))
        return 0
    from tests.questions.table import table

    return table(options.tokens)


if __name__ == "__main__":
    sys.exit(main())
