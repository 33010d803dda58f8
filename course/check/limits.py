"""Student code that never ends is stopped, where a signal can reach it: in the main thread, and not on Windows."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from course.check.base import CheckFailed, is_own

#: Seconds of work for a whole check. The slowest right answer takes a tenth of that.
CHECK_SECONDS = 10.0
#: Seconds of work for one of several ways to call a function, which take milliseconds.
ATTEMPT_SECONDS = 2.0
#: The same once something had to be stopped: what uses a loop that never ends does not end either.
IMPATIENT_SECONDS = 0.3
_stopped = False  # an attempt, in this process
_AGAIN = 1.0  # seconds until a stop that the code caught and ignored is sent again


class TookTooLong(Exception):
    """Code was stopped; ``line`` says where it was, as far as that is known."""

    def __init__(self, seconds: float, line: str) -> None:
        self.seconds, self.line = seconds, line
        super().__init__(f"stopped after {seconds:g} s" + (f", {line}" if line else ""))


class _Stop(BaseException):
    """No Exception, so that ``except Exception`` in the code does not catch it."""


class Interrupted(KeyboardInterrupt):
    """The user's own interrupt, without a word about the inside of a check."""

    def __init__(self, name: str, line: str) -> None:
        self.name, self.line = name, line
        super().__init__(f"{name} was interrupted" + (f", {line}" if line else ""))

    def _render_traceback_(self) -> list[str]:
        return [f"Interrupted  {self}"]


@contextmanager
def time_limit(seconds: float, cpu: bool = False) -> Iterator[None]:
    """Raises TookTooLong where the block takes longer. Within another limit of the kind the earlier end counts.

    cpu: seconds of work, not of the clock, so that a busy machine stops nobody; code that only waits goes on.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if cpu else (signal.ITIMER_REAL, signal.SIGALRM)
    clock = time.process_time if cpu else time.monotonic
    outer, _ = signal.getitimer(timer)
    if outer and outer <= seconds:
        yield
        return
    running = True

    def stop(number: int, frame: FrameType | None) -> None:
        if running:
            raise _Stop(stop)

    before, start = signal.signal(number, stop), clock()
    signal.setitimer(timer, seconds, _AGAIN)
    try:
        yield
    except _Stop as stopped:
        if stopped.args != (stop,):
            raise  # an outer limit's
        running = False
        raise TookTooLong(seconds, own_line(stopped)) from None
    finally:
        running = False
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        if outer:
            signal.setitimer(timer, max(0.01, outer - (clock() - start)), _AGAIN)


@contextmanager
def attempt_limit() -> Iterator[None]:
    """The time limit of one attempt among several."""
    global _stopped
    try:
        with time_limit(IMPATIENT_SECONDS if _stopped else ATTEMPT_SECONDS, cpu=True):
            yield
    except TookTooLong:
        _stopped = True
        raise


def own_line(error: BaseException) -> str:
    """``in line 7 of forward`` for the innermost frame of the student's own code; empty where there is none."""
    found, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_own(code.co_filename):
            where = f" of {code.co_name}" if not code.co_name.startswith("<") else ""
            file = f" ({Path(code.co_filename).name})" if code.co_filename.endswith("models.py") else ""
            found = f"in line {trace.tb_lineno}{where}{file}"
        trace = trace.tb_next
    return found


def limited(check: Callable[..., Any]) -> Callable[..., Any]:
    """The check, stopped after CHECK_SECONDS of work; an interrupt shows the line of the student's code alone."""

    @wraps(check)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            with time_limit(CHECK_SECONDS, cpu=True):
                return check(*arguments, **named)
        except TookTooLong as late:
            where = f" {late.line}" if late.line else ""
            raise CheckFailed(
                check.__name__,
                "your code must come to an end.",
                f"It was stopped after {late.seconds:g} s{where}.",
                "A loop that never ends? Does what its condition asks for change inside the loop?",
            ) from None
        except KeyboardInterrupt as interrupt:
            raise Interrupted(check.__name__, own_line(interrupt)) from None

    return run
