"""Plain tests in the tester: code that forges answers, or writes on the grader's socket, earns nothing."""

from __future__ import annotations

import pytest

from autograder.model.limits import Limits
from tests.plain.squares import OPENED
from tests.plain.tiny import graded, points

pytestmark = pytest.mark.slow

FORGER = """
import threading, time
kernel = get_ipython().kernel
def say(text, times=1):
    for _ in range(times):
        kernel.session.send(kernel.stdin_socket, "input_request", {"prompt": "", "password": False},
                            kernel.get_parent("shell"), b"grader", [text])
def square(x):
    say(%s, %s)
    return x + 1000
"""


@pytest.mark.parametrize(
    ("said", "times"), [(b"no json", 1), (b"[" * 100_000, 1), (b'{"value": 4}', 50), (b"", 40), (b'"' * (30 << 20), 1)]
)
def test_forged_answers_earn_nothing_and_confuse_no_later_cell(said, times):
    text = repr(said) if len(said) < 200 else f"{said[:1]!r} * {len(said)}"
    assert points(graded(OPENED, {"square_answer": FORGER % (text, times)})) == {"square": 0, "total": 2}


#: Writes on the socket by which the grader speaks with the code that serves calls.
INTRUDER = """
import os, threading, time
from autograder.tester import line
def flood():
    while True:
        for said in (%s):
            try: os.write(line.DESCRIPTOR, said)
            except OSError: time.sleep(0.001)
def square(x):
    %s
    return x + 1000
"""


START = "threading.Thread(target=flood, daemon=True).start()"


@pytest.mark.parametrize(
    ("said", "does", "later"),
    [
        ("b'.' + b'4'", START, {2}),
        ("b'+' + b'x' * 60000", START, {2}),  # a text that never ends
        ("b''", START, {2}),
        ("b'.' + request() + b'4'", START, {0, 2}),  # signed: it may spoil its own later answers
        ("b''", "os.close(line.DESCRIPTOR)", {2}),
        ("b''", "os.dup2(os.open('/dev/zero', os.O_RDWR), line.DESCRIPTOR)", {2}),
        ("b''", "os.read(line.DESCRIPTOR, 1 << 16) if x else 0", {2}),
    ],
)
def test_code_that_writes_on_the_graders_socket_earns_nothing_and_confuses_no_later_cell(said, does, later):
    name = "def request(): return get_ipython().kernel.get_parent('shell')['header']['msg_id'].encode()\n"
    answer = name + INTRUDER % (said, does)
    done = graded(OPENED, {"square_answer": answer}, limits=Limits(cell_seconds=3, submission_seconds=30))
    (one, other) = done.verdict.notebooks[0].cells
    assert one.points == 0 and one.status in ("failed", "crashed", "timeout"), one
    assert other.points in later, other
