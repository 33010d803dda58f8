"""A kernel that runs, as the grader sees it: code goes in, what it shows and how it ended come out."""

import time
from collections.abc import Callable, Mapping

import zmq
from jupyter_client.manager import KernelManager

from autograder.kernel.channels import KernelChannels
from autograder.kernel.disk_quota import DiskQuota
from autograder.kernel.errors import InfrastructureError
from autograder.kernel.execution import DISK_FULL, ENDED, Execution, Finished, ProcessHandle
from autograder.kernel.forked_kernel import ForkedKernel
from autograder.kernel.line import SocketLine, StdinLine
from autograder.kernel.outputs import Outputs

_START_SECONDS = 60.0
_TEST = "__import__('autograder.tester.cell', fromlist=['run']).run({!r})"
_SERVE = "__import__('autograder.tester.serve', fromlist=['serve']).serve()"
_LOOK_EVERY = 50  # milliseconds between looks whether it has ended
_ASK_UNANSWERED = 1.0  # seconds: a request waits for its kernel to come up, and no second one is needed
_ASK_AGAIN = 0.05  # seconds, once one channel has answered: the other may have been connected too late


class Kernel:
    """A kernel that serves. To be closed; then every process it started is gone."""

    def __init__(self, manager: ForkedKernel | KernelManager, channels: KernelChannels, quota: DiskQuota) -> None:
        self._manager, self._channels = manager, channels
        forked = manager if isinstance(manager, ForkedKernel) else None
        self._confined = forked.confined if forked else None
        descriptor = self._confined.fileno() if self._confined else None
        self._process_handle = ProcessHandle(manager.interrupt_kernel, self.ended, descriptor, quota.ran_out)
        self._line = SocketLine(forked.line) if forked else StdinLine(channels)

    def execute(
        self,
        code: str,
        *,
        seconds: float,
        outputs: Outputs,
        remembered: bool = True,
        expressions: Mapping[str, str] = {},
        answer: Callable[[bytes | None, float], bytes] | None = None,
    ) -> Finished:
        """Run ``code`` for at most ``seconds``, adding what it shows to ``outputs``. Raises nothing on its account.

        expressions: name -> expression that is evaluated after the code; their values come with what is returned.
        answer: gives the answers to the questions that the code asks by :mod:`autograder.tester.line`, from the
        question (None: too large) and the seconds that are left. Without it, nobody listens.
        Raises InfrastructureError where it failed while others had filled the disk: nobody knows whose fault that is.
        """
        execution = self._begin(code, seconds, outputs, remembered, expressions, answer is not None)
        return self.blamed(execution.wait(answer))

    def blamed(self, finished: Finished) -> Finished:
        """How a request ended. Raises InfrastructureError where others may be the reason."""
        if finished.status != "ok" and finished.disk_full and not self._stopped_for_what_it_used():
            raise InfrastructureError(DISK_FULL)
        return finished

    def test(
        self, task: str, *, seconds: float, outputs: Outputs, answer: Callable[[bytes | None, float], bytes]
    ) -> Finished:
        """Execute a task of :func:`autograder.tester.cell.run`; ``values[ENDED]`` tells how the cell ended."""
        expressions = {ENDED: _TEST.format(task)}
        return self.execute(
            "", seconds=seconds, outputs=outputs, remembered=False, expressions=expressions, answer=answer
        )

    def converse(self, *, seconds: float, outputs: Outputs, cell: str = "") -> Execution:
        """Have calls answered: the kernel asks for the first, its later questions are answers.

        An empty call is the last. ``cell``: code that is executed before, as :meth:`execute` does it.
        """
        if not cell:
            return self._begin(_SERVE, seconds, outputs, False, {}, True)
        return Execution(
            self._channels, self._process_handle, cell, seconds, outputs, True, line=self._line, then=_SERVE
        )

    def _begin(
        self, code: str, seconds: float, outputs: Outputs, remembered: bool, expressions: Mapping[str, str], asks: bool
    ) -> Execution:
        line = self._line if asks else None
        return Execution(self._channels, self._process_handle, code, seconds, outputs, remembered, expressions, line)

    def _stopped_for_what_it_used(self) -> bool:
        ending = self._confined.poll() if self._confined is not None else None
        return ending is not None and bool(ending.reason)

    def ended(self) -> str | None:
        """How the kernel ended; None while it lives. Raises InfrastructureError where that was the grader's fault."""
        if self._confined is None:
            assert isinstance(self._manager, KernelManager)
            return None if self._manager.is_alive() else "the process ended"
        ending = self._confined.poll()
        if ending is not None and ending.fault:
            raise InfrastructureError(f"the kernel is gone: {ending.fault}")
        return None if ending is None else str(ending)

    def kill(self) -> None:
        """Have it do nothing more; :meth:`close` is still to come."""
        if self._confined is not None:
            self._confined.kill()

    def close(self) -> None:
        self._channels.close()
        self._manager.shutdown_kernel(now=True)


def await_ready(kernel: Kernel, channels: KernelChannels) -> None:
    """Return when the kernel answers on both channels: from then on no output can be missed."""
    deadline = time.monotonic() + _START_SECONDS
    heard: set[zmq.Socket[bytes]] = set()
    ask_at = 0.0
    while len(heard) < 2:
        if (ending := kernel.ended()) is not None:
            raise InfrastructureError(f"the kernel did not come up: {ending}")
        if (now := time.monotonic()) > deadline:
            raise InfrastructureError(f"the kernel did not answer within {_START_SECONDS:g} s")
        if now >= ask_at:
            channels.request("kernel_info_request", {})
            ask_at = now + _ASK_UNANSWERED
        for socket in (channels.shell, channels.iopub):
            if socket not in heard and socket.poll(_LOOK_EVERY):
                channels.receive(socket)
                heard.add(socket)
                ask_at = time.monotonic() + _ASK_AGAIN
