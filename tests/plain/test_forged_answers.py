"""Plain tests in the tester: code that writes on the grader's socket earns nothing."""

from __future__ import annotations

import pytest

from autograder.model.limits import Limits
from tests.plain.squares import OPENED
from tests.plain.tiny import graded

pytestmark = pytest.mark.slow

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
