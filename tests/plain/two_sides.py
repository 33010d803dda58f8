"""A test cell in the tester and its answer on the student's side, both in this process: no kernel is started."""

from __future__ import annotations

import ast
import contextlib

from autograder.plain.names import names_of, remote_names
from autograder.remote import student
from autograder.remote.tester import Remote
from tests.plain.entries import Entry, notebook
from tests.plain.one_process import attempt, execute, main_module, silent


def points(entry: Entry, answer: str) -> float:
    """The points of one answer where the test cell is judged outside; 0 where the tester refused something."""
    with silent(), main_module() as theirs:
        execute(entry.setup, theirs)
        with contextlib.suppress(Exception):
            execute(answer, theirs)
        with main_module() as ours:
            remote = Remote(lambda request: student.answer(theirs, request, remote.answer), ours)
            execute(entry.setup, ours)
            execute(imports_of(entry.solution), ours)
            source = notebook([entry])
            remote.bind(sorted(names_of(entry.test).loaded & remote_names(source, len(source.cells) - 1)))
            earned = attempt(entry, ours)
            return 0.0 if remote.failures else earned


def imports_of(solution: str) -> str:
    """What the instructor's solution imports: modules are nobody's answer."""
    return "\n".join(
        ast.unparse(one) for one in ast.parse(solution).body if isinstance(one, ast.Import | ast.ImportFrom)
    )
