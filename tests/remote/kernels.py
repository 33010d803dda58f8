"""Both kernels in one process: two namespaces, and all that crosses is text."""

from collections.abc import Iterable
from contextlib import suppress
from textwrap import dedent
from typing import Any

from autograder.assignment.solution_run import SolutionRun
from autograder.remote import student
from autograder.remote.handle import RemoteRefused
from autograder.remote.tester import Remote


class Kernels:
    """code: the student's cells; trusted: cells that run in both kernels; names: those that a test loads."""

    def __init__(self, code: str, trusted: str = "", names: Iterable[str] | None = None) -> None:
        self._trusted = trusted
        self.student: dict[str, Any] = {"__name__": "__main__"}
        self.tester: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(dedent(trusted), "<trusted>", "exec", dont_inherit=True), self.student)
        exec(compile(dedent(trusted), "<trusted>", "exec", dont_inherit=True), self.tester)
        before = set(self.student)
        exec(compile(dedent(code), "<student>", "exec", dont_inherit=True), self.student)
        self.names = list(names) if names is not None else [name for name in self.student if name not in before]
        self.asked: list[str] = []
        self.remote = Remote(self._ask, self.tester)
        self.remote.bind(self.names, self.names)

    def _ask(self, request: str) -> str:
        self.asked.append(request)
        return student.answer(self.student, request, self.remote.answer)

    def test(self, body: str, solution: str = "") -> list[str]:
        """Run a test cell in the tester; how what came differs from what came from the solution. Raises what it raises.

        solution: what it was calibrated with; without, everything is allowed and noted.
        """
        right = None
        if solution:
            right = Kernels(solution, self._trusted, self.names)
            with suppress(Exception, RemoteRefused):
                right.test(body)
            noted = right.remote.places.noted
            asked = right.remote.places.visits.keys() | noted.keys()
            self.remote.places.expected = {place: sorted(noted.get(place, ())) for place in asked}
        exec(compile(dedent(body), "<test>", "exec", dont_inherit=True), self.tester)
        assert self.remote.failures == []
        given = SolutionRun.of(right.remote.places.visits, {}, None) if right is not None else None
        return (
            [one.words for one in given.differences(self.remote.places.visits, {}, None)] if given is not None else []
        )
