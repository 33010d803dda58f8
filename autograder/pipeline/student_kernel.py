"""One submission's kernels, one after the other, and what has to be done again in the next."""

import ast
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.errors import InfrastructureError
from autograder.kernel.channels import TesterQuestion
from autograder.kernel.execution import Execution, Finished, too_long
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.running_kernel import ForkedShell, Kernel
from autograder.kernel.scratch import MAX_BYTES, MAX_OF_SUBMISSION, Inputs, Scratch, collect_answers
from autograder.model.limits import Clock, Limits
from autograder.pipeline.outcomes import PartOutcome, answers_folder
from autograder.plain.names import parse

HIDDEN_OUTPUT_BYTES = 1 << 16  # thrown away in any case
_CLOSING = 2.0  # seconds in which a kernel must come back from the conversation with the tester


class StudentKernel:
    """The kernel that executes the student's code. When it ends, the next one executes again what went well before."""

    def __init__(
        self,
        kernels: Kernels,
        limits: Limits,
        clock: Clock,
        files: Mapping[str, bytes],
        inputs: Inputs,
        answers: Path,
        unseen: bool = False,
        printed: bool = False,
    ) -> None:
        """unseen: nobody looks at what it shows, so that it needs no kernel's sockets; ``printed``: but at prints."""
        self._unseen, self._printed = unseen, printed
        self._kernels, self._limits, self._clock = kernels, limits, clock
        self._files, self._inputs, self._answers = files, inputs, answers
        self._kernel: Kernel | ForkedShell | None = None
        self._scratch: Scratch | None = None
        self._conversation: Execution | None = None
        self.starts = 0  # kernels so far: what another process holds of an earlier one's is lost
        self._done: dict[int, tuple[str, str]] = {}  # index -> (cell id, source) of what the next kernel needs
        self.read: set[str] = set()  # notebooks beside this one that its kernels read
        self.log: list[str] = []

    def part(
        self, index: int, cell: str, source: str, outputs: Outputs, remembered: bool, called: bool = False
    ) -> PartOutcome:
        """Execute a part of a cell. ``remembered`` ones count up, and are executed again after a restart.

        called: the tester is about to call what it binds, so that the kernel goes on to answer calls at once.
        """
        if not source.strip():
            return PartOutcome("ok")
        if not self.revive():
            return PartOutcome("skipped", "Skipped", "the submission's time was up")
        finished = self._execute(cell, runnable_here(source), outputs, remembered, called)
        if finished.status in ("crashed", "timeout"):
            self.log.append(f"cell {index}: {finished.status}: {finished.evalue}")
        if finished.status == "ok" and remembered:
            self._done[index] = cell, source
        return PartOutcome(finished.status, finished.ename, finished.evalue, finished.seconds, finished.raised)

    def hidden(self, index: int, cell: str, source: str, slugs: Sequence[str]) -> PartOutcome:
        """A hidden part: whatever lies at the answers' place before it is removed, what lies there after is taken."""
        clean = self.revive() and self._scratch is not None and self._scratch.clear_answers()
        outcome = self.part(index, cell, source, Outputs(HIDDEN_OUTPUT_BYTES), remembered=False)
        if clean and self._scratch is not None:
            for slug in slugs:
                self.log += [f"cell {index}: {note}" for note in self._take(index, slug)]
        return outcome

    def _take(self, index: int, slug: str) -> list[str]:
        assert self._scratch is not None
        try:
            taken = sum(file.stat().st_size for file in self._answers.rglob("*.safetensors"))
            most = min(MAX_BYTES, max(0, MAX_OF_SUBMISSION - taken))
            return collect_answers(self._scratch.out, slug, answers_folder(self._answers, index), most)
        except OSError as error:
            raise InfrastructureError(f"the answers cannot be stored: {error}") from error

    def _execute(self, cell: str, source: str, outputs: Outputs, remembered: bool, called: bool = False) -> Finished:
        assert self._kernel is not None
        limit = self._clock.limit(cell)
        seconds = self._clock.allowed(limit)
        if called:
            finished = self._execute_and_converse(source, seconds, outputs)
        else:
            finished = self._kernel.execute(source, seconds=seconds, outputs=outputs, remembered=remembered)
        if finished.status == "timeout" and seconds == limit:
            self._clock.timed_out(finished.seconds)
        if not finished.alive:
            self.stop()
        return finished

    def _execute_and_converse(self, source: str, seconds: float, outputs: Outputs) -> Finished:
        assert isinstance(self._kernel, Kernel)
        start = time.monotonic()
        conversation = self._kernel.converse(seconds=seconds, outputs=outputs, cell=source)
        if isinstance(said := conversation.proceed(), Finished):
            return self._kernel.blamed(said)
        self._conversation = conversation
        if conversation.took_too_long:
            self._hang_up()
            return too_long(seconds)
        return Finished("ok", seconds=time.monotonic() - start)

    def call(self, request: bytes, seconds: float) -> bytes | Finished:
        """What the student's kernel answers to a request of the tester; else how it ended over it.

        The kernel stays in the conversation with the tester until it is to execute a cell.
        """
        if not isinstance(self._kernel, Kernel):
            return Finished("crashed", "KernelDied", "the kernel died before it was called")
        if self._conversation is None:
            outputs = Outputs(HIDDEN_OUTPUT_BYTES)
            self._conversation = self._kernel.converse(seconds=seconds, outputs=outputs)
            if isinstance(ended := self._conversation.proceed(), Finished):
                return self._ended(ended)
        self._conversation.reply(request, max(0.0, seconds))
        said = self._conversation.proceed()
        if isinstance(said, Finished):
            return self._ended(said)
        if self._conversation.took_too_long:
            self._hang_up()  # the interrupt may still be on its way, and must not cost the next call
            return Finished("timeout", "Timeout", "the call took too long")
        return Finished("error", "TooLarge", "what it gave is too large") if said.data is None else said.data

    def ready(self) -> bool:
        """Have a kernel for the calls of the tester's next cell; False where the time is up."""
        if self._kernel is None or self._kernel.ended() is not None:
            return self.revive()
        return not self._clock.is_up

    def _ended(self, finished: Finished) -> Finished:
        self._conversation = None
        if not finished.alive or finished.status != "timeout":  # it answers no more: somebody closed the line, say
            self.stop()
        return finished

    def _hang_up(self) -> None:
        """End the conversation with the tester; a kernel that does not come back from it is replaced."""
        conversation, self._conversation = self._conversation, None
        if conversation is None:
            return
        conversation.reply(b"", _CLOSING)
        ended = conversation.proceed()
        if isinstance(ended, TesterQuestion) or not ended.alive:
            self.stop()

    def revive(self) -> bool:
        """Have a kernel that knows all that went well before; False where the time is up."""
        if self._kernel is not None and self._kernel.ended() is not None:
            self.stop()  # it ended after its last reply: that costs no cell
        self._hang_up()
        while self._kernel is None and not self._clock.is_up:
            self.restart()
        return self._kernel is not None and not self._clock.is_up

    def restart(self) -> None:
        """A new kernel in a new folder, in which the earlier cells that were ok are run again.

        One that crashes now is not run another time, so that this comes to an end.
        """
        self.close()
        self.starts += 1
        ahead = None if self._unseen else self._kernels.started_ahead(self._files, self._inputs)
        if ahead is not None:
            self._kernel, self._scratch = ahead
            if self._kernel.ended() is not None:
                self.close()
        if self._kernel is None:
            self._scratch = self._kernels.new_scratch(self._files, self._inputs)
            room = self._limits.memory_bytes, self._limits.processes, self._limits.disk_bytes
            if self._unseen:
                self._kernel = self._kernels.start_shell(self._scratch, *room, printed=self._printed)
            else:
                self._kernel = self._kernels.start(self._scratch, *room)
        for index, (cell, source) in list(self._done.items()):
            finished = self._execute(cell, source, Outputs(HIDDEN_OUTPUT_BYTES), remembered=True)
            if not finished.alive or finished.status == "timeout":
                self.log.append(f"cell {index}: {finished.status} when it was run again after a restart")
                del self._done[index]
            if not finished.alive:
                return

    def stop(self) -> None:
        """End the kernel and everything it started; what it wrote stays until :meth:`close`."""
        self._conversation = None
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def close(self) -> None:
        """Let go of the kernel and its folder, which are gone soon."""
        self._conversation = None
        if self._scratch is not None:
            self.read |= self._scratch.read_notebooks()
        self._kernels.retire(self._kernel, self._scratch)
        self._kernel, self._scratch = None, None


def runnable_here(source: str) -> str:
    """The cell as the kernel executes it: objects that do nothing in the place of ``google.colab``.

    Only imports that would stop the cell are replaced, and none within ``try``: by such a one a notebook finds out
    where it runs.
    """
    if "colab" not in source:
        return source
    try:
        imports = [*_imports(parse(source))]
    except SyntaxError:
        return source
    lines = source.encode().split(b"\n")
    for node in reversed(imports):
        names, last = _names(node), (node.end_lineno or node.lineno) - 1
        if names:
            bound = "".join(f"{name} = " for name in names)
            inert = f"import unittest.mock as _inert; {bound}_inert.MagicMock()".encode()
            rest = lines[last][node.end_col_offset :]
            lines[node.lineno - 1 : last + 1] = [
                lines[node.lineno - 1][: node.col_offset] + inert + rest, *[b""] * (last + 1 - node.lineno)
            ]  # fmt: skip
    return b"\n".join(lines).decode()


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that is not within ``try``, in the order of the text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.Try | ast.TryStar):
            yield from _imports(child)


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The names that an import from ``google.colab``, and from nothing else, binds."""
    if isinstance(node, ast.ImportFrom):
        within = node.level == 0 and f"{node.module}.".startswith("google.colab.")
        given = node.module == "google" and all(alias.name == "colab" for alias in node.names)
        return [alias.asname or alias.name for alias in node.names if alias.name != "*"] if within or given else []
    if not all(f"{alias.name}.".startswith("google.colab.") for alias in node.names):
        return []
    return [alias.asname or "google" for alias in node.names]
