"""A test cell in the tester and its answer on the student's side, both in this process: no kernel is started."""

from __future__ import annotations

import contextlib

from autograder.plain.names import names_of
from autograder.remote import student
from autograder.remote.places import Expected
from autograder.remote.tester import Remote
from tests.plain import one_process
from tests.plain.entries import Entry
from tests.plain.one_process import attempt, execute, main_module, silent


def points(entry: Entry, answer: str, expected: Expected | None = None) -> tuple[float, Expected]:
    """The points of one answer in the tester, 0 where it refused something, and what came at each place."""
    with silent(), main_module() as theirs:
        execute(entry.setup, theirs)
        with contextlib.suppress(Exception):
            execute(answer, theirs)
        with main_module() as ours:
            remote = Remote(lambda request: student.answer(theirs, request, remote.answer), ours)
            remote.places.expected = expected
            execute(entry.setup, ours)
            remote.bind(sorted(names_of(entry.test).loaded & names_of(entry.solution).bound))
            earned = attempt(entry, ours)
            noted = {place: sorted(kinds) for place, kinds in remote.places.noted.items()}
            return 0.0 if remote.failures else earned, noted


def of_all(entry: Entry) -> dict[str, float] | None:
    """answer -> points, the lower ones of the two judges, the solution first; None where that does not pass."""
    earned, expected = points(entry, entry.solution)
    if earned != entry.points:
        return None
    outside = {answer.source: points(entry, answer.source, expected)[0] for answer in entry.all_answers}
    return {source: min(earned, one_process.points(entry, source)) for source, earned in outside.items()}
