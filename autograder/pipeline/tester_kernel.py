"""The second kernel of a notebook with plain tests. It executes trusted cells and test cells, nothing of the student's.

What it asks of the student's kernel goes through the grader, as text that nobody here reads.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.errors import InfrastructureError
from autograder.kernel.execution import ENDED, Finished
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.running_kernel import ForkedShell, Kernel
from autograder.kernel.scratch import Scratch
from autograder.model import cells
from autograder.model.limits import Clock, Limits
from autograder.pipeline.outcomes import PartOutcome, TestOutcome
from autograder.pipeline.steps import Step
from autograder.pipeline.student_kernel import HIDDEN_OUTPUT_BYTES, StudentKernel
from autograder.tester.failure import line_that_raised
from autograder.tester.no_code import TEXT_AS_CODE

#: What the tester hears where there is no answer. It reads no JSON there, and so its cell stops.
_NO_MESSAGE = b"no answer"


class TesterKernel:
    """Started when the first cell needs it. When it ends, or the student's kernel whose objects it holds, the next one
    executes again what went well before.
    """

    def __init__(
        self, kernels: Kernels, limits: Limits, clock: Clock, files: Mapping[str, bytes], student: StudentKernel
    ) -> None:
        self._kernels, self._limits, self._clock, self._files, self._student = kernels, limits, clock, files, student
        self._kernel: Kernel | ForkedShell | None = None
        self._scratch: Scratch | None = None
        self._done: dict[int, tuple[str, Step]] = {}
        self._student_starts = student.starts
        self.log: list[str] = []

    def run(self, index: int, cell: str, step: Step, outputs: Outputs) -> TestOutcome:
        """Execute the tester's parts of a cell; ``outputs`` gets what the visible ones show."""
        if not self._is_ready():
            return TestOutcome("outside", PartOutcome("skipped", "Skipped", "the submission's time was up"))
        outcome = self._execute(cell, step, outputs)
        if outcome.ended.status in ("crashed", "timeout"):
            self.log.append(f"cell {index}: {outcome.ended.status} in the tester: {outcome.ended.evalue}")
        if outcome.ended.status == "ok" or step.role == "trusted":
            self._done[index] = cell, step
        return outcome

    def _execute(self, cell: str, step: Step, outputs: Outputs) -> TestOutcome:
        assert self._kernel is not None
        calls = _Calls(self._student)
        limit = self._clock.limit(cell)
        seconds = self._clock.allowed(limit)
        task = {
            "remote": step.remote,
            "unknown": step.unknown,
            "read": step.read,
            "given": step.given,
            "parts": [(part.source, part.hidden) for part in step.parts],
            "expected": step.expected,
            "tries": seconds / 3 if step.role == "outside" and step.expected is None else 0.0,
            "points": step.points,
        }
        finished = self._kernel.test(json.dumps(task), seconds=seconds, outputs=outputs, answer=calls.answer)
        if not finished.alive:
            self._stop()
        if calls.failed is not None or finished.status == "timeout":
            self._student.stop()  # an answer was lost, and with it what each side believes that the other knows
        ended = calls.failed or _stopped(finished)
        if ended.status == "timeout" and seconds == limit:
            self._clock.timed_out(finished.seconds)
        if ended.status != "ok":
            part = PartOutcome(ended.status, ended.ename, ended.evalue, finished.seconds)
            return TestOutcome("outside", part, own=calls.failed is not None, refused=_refused(ended))
        try:
            said: dict[str, Any] = json.loads(finished.values[ENDED])
            return _outcome(finished, said, step)
        except (KeyError, ValueError) as error:
            if not calls.asked:
                raise InfrastructureError("the tester did not say how its cell ended") from error
            part = PartOutcome("error", "NoOutcome", "the test did not say how it ended", finished.seconds)
            self.log.append(f"cell '{cell}': the tester did not say how it ended, after calls of the student's code")
            return TestOutcome("outside", part)

    def _is_ready(self) -> bool:
        """Have both kernels, of which neither knows objects of an earlier one; False where the time is up."""
        while self._student.ready():
            if self._done and self._student_starts != self._student.starts:
                self._stop()
            self._student_starts = self._student.starts
            if not self._revive():
                return False
            if self._student.ready() and self._student_starts == self._student.starts:
                return True
        return False

    def _revive(self) -> bool:
        while self._kernel is None and not self._clock.is_up:
            self._restart()
        return self._kernel is not None and not self._clock.is_up

    def start(self) -> None:
        """Begin with the first kernel, which will be needed."""
        self._scratch = self._kernels.new_scratch(self._files, {})
        limits = self._limits
        self._kernel = self._kernels.start_shell(
            self._scratch, limits.memory_bytes, limits.processes, limits.disk_bytes
        )

    def _restart(self) -> None:
        self.close()
        self.start()
        for index, (cell, step) in list(self._done.items()):
            ended = self._execute(cell, step, Outputs(HIDDEN_OUTPUT_BYTES)).ended
            if ended.status in ("crashed", "timeout"):  # not another time, so that this comes to an end
                del self._done[index]
            if self._kernel is None:
                return

    def _stop(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def close(self) -> None:
        self._kernels.retire(self._kernel, self._scratch)
        self._kernel, self._scratch = None, None


class _Calls:
    """The calls of one cell. The first that the student's kernel does not come back from fails the cell for good."""

    def __init__(self, student: StudentKernel) -> None:
        self._student = student
        self.asked = False
        self.failed: Finished | None = None

    def answer(self, request: bytes | None, seconds: float) -> bytes:
        self.asked = True
        if request is None:
            return _NO_MESSAGE
        if self.failed is None:
            said = self._student.call(request, seconds)
            if isinstance(said, bytes):
                return said
            self.failed = said if said.status != "ok" else Finished("error", "NoAnswer", "no answer came")
        return _NO_MESSAGE


_TEXT_AS_CODE = "a library was about to execute a text as code, where the student's values are tested"


def _stopped(finished: Finished) -> Finished:
    """The end of a tester in which a text was to become code is no crash of the student's."""
    if not finished.alive and f"(exit code {TEXT_AS_CODE})" in finished.evalue:
        return replace(finished, status="error", ename="TextAsCode", evalue=_TEXT_AS_CODE)
    return finished


def _refused(ended: Finished) -> str:
    return ended.evalue if ended.ename == "TextAsCode" else ""


def _outcome(finished: Finished, said: Mapping[str, Any], step: Step) -> TestOutcome:
    """What the tester says of a cell. It is trusted, but what it tells of exceptions and values was the student's.

    Raises KeyError where it says nothing.
    """
    places = said.get("places", {})
    if said["status"] == "ok":
        part = PartOutcome("ok", seconds=finished.seconds)
        return TestOutcome("outside", part, said["result"], places=places, visits=said["visits"], marks=said["marks"])
    hidden = said["hidden"] and not _is_visible(step, said)
    return TestOutcome(
        "outside",
        PartOutcome("error", said["ename"], said["evalue"], finished.seconds, line_that_raised(said["own_lines"])),
        statement="" if hidden else said["statement"],
        message=said["message"],
        asserted=said["asserted"],
        own=said["own"],
        own_lines=said["own_lines"],
        came=() if hidden else tuple(said["came"]),
        hidden=hidden,
        refused=said.get("refused", ""),
        places=places,
    )


def _is_visible(step: Step, said: Mapping[str, Any]) -> bool:
    """Whether a statement stands outside of the hidden regions of a cell that was executed in one piece."""
    line, source = said["lines"][0], step.parts[0].source
    if len(step.parts) != 1 or not line or cells.BEGIN_HIDDEN not in source:  # a hidden piece has no markers left
        return False
    before = source.split("\n")[:line]
    begins = max((n for n, line in enumerate(before) if cells.BEGIN_HIDDEN in line), default=-1)
    ends = max((n for n, line in enumerate(before) if cells.END_HIDDEN in line), default=-1)
    return ends >= begins
