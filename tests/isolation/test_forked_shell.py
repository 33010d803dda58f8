"""The tester that is no kernel: what it shows, how it ends, what the grader takes from its line."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator

import pytest

from autograder.isolation import channel_pair
from autograder.kernel.execution import ENDED, Finished
from autograder.kernel.forked_shell import ForkedShell
from autograder.kernel.kernels import Kernels
from autograder.kernel.line import MAX_DATA, SocketLine, Texts
from autograder.kernel.outputs import Outputs
from autograder.model.limits import Limits
from autograder.tester.line import MAX_PACKET, Socket, packets

LIMITS = Limits(memory_bytes=300 << 20)


@pytest.fixture
def tester(kernels: Kernels) -> Iterator[ForkedShell]:
    scratch = kernels.new_scratch({"data.csv": b"1,2"}, {})
    started = kernels.start_shell(scratch, LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes)
    assert isinstance(started, ForkedShell)
    yield started
    kernels.retire(started, scratch)
    kernels.settle()
    assert not scratch.root.exists()


def no_answer(_question: bytes | None, _seconds: float) -> bytes:
    return b"no answer"


def execute(tester: ForkedShell, source: str, seconds: float = 20) -> tuple[Finished, list[dict[str, object]]]:
    task = {"remote": [], "unknown": [], "read": [], "parts": [(source, False)], "expected": {}}
    outputs = Outputs(1 << 20)
    finished = tester.test(json.dumps(task), seconds=seconds, outputs=outputs, answer=no_answer)
    return finished, outputs.finish()


def said(finished: Finished) -> dict[str, object]:
    assert finished.status == "ok", finished
    return json.loads(finished.values[ENDED])


def test_what_a_cell_shows_comes_in_order_and_its_number_is_its_result(tester):
    shown = (
        "import sys\nfrom IPython.display import display, HTML\nprint('one')\nprint('two', file=sys.stderr)\n"
        "display(HTML('<b>three</b>'))\nprint('four')\n1.5"
    )
    finished, outputs = execute(tester, shown)
    assert said(finished) == {"status": "ok", "result": 1.5, "refused": ""}
    assert [one.get("text") or one["data"].get("text/html") or one["data"]["text/plain"] for one in outputs] == [
        "one\n", "two\n", "<b>three</b>", "four\n", "1.5",
    ]  # fmt: skip


def test_a_figure_is_drawn(tester):
    _, outputs = execute(tester, "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert ["image/png" in one.get("data", {}) for one in outputs] == [True]


def test_what_one_cell_binds_the_next_one_has_and_files_lie_beside_it(tester):
    execute(tester, "x = open('data.csv').read()\n%cd -q .\n!true")
    finished, _ = execute(tester, "import asyncio\nawait asyncio.sleep(0)\nassert x == '1,2', x\n3")
    assert said(finished)["result"] == 3


def test_a_failed_assertion_is_told_and_the_next_cell_runs(tester):
    finished, _ = execute(tester, "assert 1 == 2, 'one is not two'")
    told = said(finished)
    assert (told["ename"], told["message"], told["asserted"]) == ("AssertionError", "one is not two", True)
    assert said(execute(tester, "1")[0])["result"] == 1


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_one_runs(tester):
    finished, outputs = execute(tester, "print('begun')\nimport time\ntime.sleep(60)", seconds=0.3)
    assert (finished.status, finished.alive) == ("timeout", True)
    assert outputs[0]["text"] == "begun\n"
    assert said(execute(tester, "1")[0])["result"] == 1


def test_a_cell_that_ends_the_process_or_takes_all_memory_is_told(tester):
    finished, _ = execute(tester, "import os\nos._exit(3)")
    assert (finished.status, finished.alive) == ("crashed", False) and "exit code 3" in finished.evalue


def test_a_cell_that_takes_all_memory_costs_itself(tester):
    finished, _ = execute(tester, "x = bytearray(1 << 30)")
    assert finished.status == "ok" and said(finished)["ename"] == "MemoryError"


@pytest.fixture
def ends() -> Iterator[tuple[Texts, socket.socket]]:
    ours, theirs = channel_pair()
    with ours, theirs:
        yield Texts(ours), theirs


@pytest.mark.parametrize("size", [0, 1, MAX_PACKET, MAX_PACKET + 1, 5 * MAX_PACKET])
def test_a_text_of_any_size_comes_over_whole(ends, size):
    texts, theirs = ends
    data = os.urandom(size)
    for packet in packets(data):
        theirs.send(packet)
        if (asked := texts.receive()) is not None:
            assert asked.data == data
            return
    raise AssertionError("nothing came")


def test_a_text_that_is_too_large_is_not_kept_and_the_next_one_comes(ends):
    texts, theirs = ends
    received = []
    for packet in packets(bytes(MAX_DATA + 1)):
        theirs.send(packet)
        received.append(texts.receive())
        assert sum(map(len, texts._pieces)) <= MAX_DATA
    assert received[-1] is not None and received[-1].data is None and not any(received[:-1])
    theirs.send(b".next")
    asked = texts.receive()
    assert asked is not None and asked.data == b"next"


def test_a_question_of_another_request_is_passed_over():
    ours, theirs = channel_pair()
    line, other_end = SocketLine(ours), Socket(theirs.fileno())
    line.begin("second")
    assert other_end.receive() == b"second"
    other_end.send(b"first: what is left of it")
    other_end.send(b"second: asked")
    asked = line.question()
    assert asked is not None and asked.data == b": asked"
    line.drop()
    line.close()
    with pytest.raises(EOFError):
        other_end.receive()
    theirs.close()


def run_cell(shell: ForkedShell, source: str, seconds: float = 20) -> tuple[Finished, list[dict[str, object]]]:
    outputs = Outputs(1 << 20)
    return shell.execute(source, seconds=seconds, outputs=outputs), outputs.finish()


def test_a_students_cells_end_as_in_a_kernel_and_show_nothing_but_a_result(tester):
    for source, ename in (
        ("x = 1", ""), ("print('seen'); raise KeyError(x)", "KeyError"), ("def f(:", "SyntaxError"), ("exit()", ""),
        ("input()", "StdinNotImplementedError"), ("import asyncio\nasyncio.run(asyncio.sleep(0))", "RuntimeError"),
        ("await asyncio.sleep(0)\nassert In[1] == 'x = 1'", ""), ("await asyncio.sleep(0)\n1 / 0", "ZeroDivisionError"),
        ("import ipywidgets\nipywidgets.IntSlider()", ""), ("import sys\nsys.exit(3)", "SystemExit"),
    ):  # fmt: skip
        finished, _ = run_cell(tester, source)
        assert (finished.status, finished.ename) == ("error" if ename else "ok", ename), (source, finished)
    assert run_cell(tester, "raise NotImplementedError()")[0].raised[1] == "raise NotImplementedError()"
    finished, outputs = run_cell(tester, "print('seen')\n0.5")
    assert [(one["output_type"], one["data"]["text/plain"]) for one in outputs] == [("execute_result", "0.5")]


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import os\nfor text in (b'.o[1', b'.o[[], 1]', b'.o{}', b'.o' + b'[' * 60_000, b'.x', b'.'):\n"
         "    os.write(4, text)", "ok"),
        ("import os\nos.write(4, b'.e\\xff')\nimport time\ntime.sleep(1)", "error"),
        ("import os\nos.close(4)\nimport time\ntime.sleep(30)", "crashed"),
        ("import os\nwhile True:\n    os.write(4, b'.o[\"stream\", {}]')", "timeout"),
        ("import asyncio\nawait asyncio.sleep(30)", "timeout"),
    ],
)  # fmt: skip
def test_what_a_student_writes_on_the_line_costs_the_grader_nothing(tester, source, status):
    finished, _ = run_cell(tester, source, seconds=2)
    assert finished.status == status and finished.seconds < 10
