"""A visible check stops student code that never ends, and an interrupt says where that code was."""

import contextlib
import signal
import threading

import numpy as np
import pytest

from course.check import limits
from course.check import numpy_attention as check
from course.check.base import CheckFailed


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHECK_SECONDS", 0.5)


def endless(x: object) -> None:
    while True:
        with contextlib.suppress(Exception):
            pass


def test_a_loop_that_never_ends_is_stopped_and_named_with_its_line() -> None:
    with pytest.raises(CheckFailed, match=r"stopped after 0\.5 s in line \d+ of endless"):
        check.softmax(endless)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_code_that_catches_everything_is_stopped_too() -> None:
    waited = 0

    def stubborn(x: np.ndarray) -> None:
        nonlocal waited
        while True:
            try:
                while True:
                    pass
            except BaseException:
                waited += 1
                if waited == 2:
                    raise

    with pytest.raises(CheckFailed, match="must come to an end"):
        check.softmax(stubborn)


def test_an_interrupt_says_where_the_code_was_and_nothing_of_the_check() -> None:
    def interrupted(x: np.ndarray) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        check.softmax(interrupted)
    (line,) = caught.value._render_traceback_()  # type: ignore[attr-defined]
    assert line.startswith("Interrupted  softmax was interrupted, in line") and line.endswith("of interrupted")


def test_an_inner_limit_leaves_the_outer_one_running() -> None:
    with pytest.raises(limits.TookTooLong, match=r"0\.2 s"), limits.time_limit(0.2):
        with limits.time_limit(0.1):
            pass
        endless(None)


def test_the_end_of_an_outer_limit_is_not_taken_for_the_inner_one() -> None:
    with pytest.raises(limits.TookTooLong, match=r"0\.1 s"), limits.time_limit(0.1), limits.time_limit(5.0, cpu=True):
        endless(None)


def test_seconds_of_work_stop_a_loop() -> None:
    with pytest.raises(limits.TookTooLong), limits.time_limit(0.1, cpu=True):
        endless(None)


def test_on_another_thread_there_is_no_limit() -> None:
    done: list[bool] = []

    def work() -> None:
        with limits.time_limit(0.001):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
