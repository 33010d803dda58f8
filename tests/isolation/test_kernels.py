"""Forked kernels: apart from each other, and gone without a trace."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import InfrastructureError
from autograder.isolation import channel_pair, system, usage
from autograder.kernel.channels import MAX_DATA, SocketLine, Texts
from autograder.kernel.execution import ENDED, Finished
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.running_kernel import ForkedShell, Kernel
from autograder.kernel.scratch import Scratch, kernels_folder
from autograder.model.limits import Limits
from autograder.tester.line import MAX_PACKET, Socket, packets
from tests.isolation.conftest import Go, cell, text

LIMITS = Limits()
BOUNDS = LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes


@contextmanager
def started(kernels: Kernels) -> Iterator[tuple[Kernel, Scratch]]:
    """A kernel, which is closed at the end, and its folder."""
    scratch = kernels.new_scratch({}, {})
    kernel = kernels.start(scratch, *BOUNDS)
    try:
        yield kernel, scratch
    finally:
        kernel.close()
        scratch.remove()


def ask(kernel: Kernel, code: str) -> str:
    """What the code's last expression is, as text."""
    outputs = Outputs(1 << 20)
    finished = kernel.execute(code, seconds=10, outputs=outputs)
    assert finished.status == "ok", finished
    return "".join(output["data"]["text/plain"] for output in outputs.finish() if "data" in output)


def below_the_fork_server(fork_server: KernelForkServer) -> list[int]:
    assert fork_server.pid is not None
    return usage.descendants(fork_server.pid)


def nothing_left(fork_server: KernelForkServer) -> bool:
    end = time.monotonic() + 3
    while below_the_fork_server(fork_server) and time.monotonic() < end:
        time.sleep(0.01)
    return not below_the_fork_server(fork_server)


def test_two_children_of_a_fork_server_draw_different_random_numbers(go: Go) -> None:
    draw = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    first, second = text(go(cell(draw)).notebook).split(), text(go(cell(draw)).notebook).split()
    assert all(one != other for one, other in zip(first, second, strict=True))


def test_two_children_of_a_fork_server_have_sessions_and_names_of_their_own(go: Go) -> None:
    show = "k = get_ipython().kernel; print(k.session.session, k.ident, k.session.pid == __import__('os').getpid())"
    first, second = text(go(cell(show)).notebook).split(), text(go(cell(show)).notebook).split()
    assert first[2] == second[2] == "True" and first[0] != second[0] and first[1] != second[1]


def test_a_matrix_product_does_not_hang_after_the_fork_and_runs_in_one_thread(go: Go) -> None:
    ran = go(cell("import torch\n(torch.ones(300, 300) @ torch.ones(300, 300)).sum().item(), torch.get_num_threads()"))
    assert text(ran.notebook) == "(27000000.0, 1)"


def test_the_child_holds_no_reference_and_cannot_read_the_grader(go: Go) -> None:
    package = Path(__file__).resolve().parents[2] / "autograder"
    ran = go(
        cell("from autograder import reference"),
        cell(f"open({str(package / 'pipeline' / 'judge.py')!r})"),
        cell(f"import os; os.listdir({str(package.parent)!r})"),
        cell("import autograder.pipeline.judge"),
        cell("import sys\n[name for name in sys.modules if 'judge' in name or 'oracle' in name]"),
    )
    assert [outcome.visible.ename for outcome in ran.outcomes[1:3]] == ["PermissionError"] * 2
    assert ran.outcomes[0].visible.status == "ok" and ran.outcomes[3].visible.status == "error"
    assert text(ran.notebook) == "[]"


def test_two_kernels_do_not_see_each_other(kernels: Kernels, fork_server: KernelForkServer) -> None:
    with started(kernels) as (one, first), started(kernels) as (two, _):
        ask(one, "open('mine', 'w').write('x')")
        for attempt in (
            f"open({str(first.work / 'mine')!r}).read()",
            f"import os; os.listdir({str(first.root)!r})",
            f"import socket; socket.socket(socket.AF_UNIX).connect({first.socket_prefix + '-1'!r})",
            f"import os; os.kill({one._confined and below_the_fork_server(fork_server)[1]}, 9)",
        ):
            finished = two.execute(attempt, seconds=5, outputs=Outputs(1 << 16))
            assert finished.ename in ("PermissionError", "ProcessLookupError"), (attempt, finished)
        assert ask(one, "'alive'") == "'alive'"


DAEMON = "import os, time\nif os.fork() == 0:\n    os.setsid(); os.fork() or time.sleep(60)\n    os._exit(0)\n"


def test_a_daemon_is_gone_when_its_kernel_is_closed(kernels: Kernels, fork_server: KernelForkServer) -> None:
    with started(kernels) as (kernel, _):
        ask(kernel, DAEMON)
        # The daemon changes its parent while it is looked for: one look at /proc may miss it.
        supervisor_kernel_and_daemon = 3
        end = time.monotonic() + 3
        while len(found := below_the_fork_server(fork_server)) < supervisor_kernel_and_daemon:
            assert time.monotonic() < end, found
            time.sleep(0.01)
    assert nothing_left(fork_server)


def test_a_daemon_is_gone_when_its_kernel_ended_by_itself(
    go: Go, kernels: Kernels, fork_server: KernelForkServer
) -> None:
    go(cell(f"{DAEMON}os._exit(0)"))
    assert nothing_left(fork_server)


def test_a_fork_bomb_is_bounded_and_gone(go: Go, kernels: Kernels, fork_server: KernelForkServer) -> None:
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    ran = go(cell("x = 1"), cell(bomb), cell("x"), limits=Limits(cell_seconds=0.5, processes=40))
    assert ran.outcomes[1].visible.status in ("crashed", "timeout")
    assert text(ran.notebook) == "1"
    assert nothing_left(fork_server)


def test_a_kernel_closes_promptly(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end is looked for every few milliseconds; jupyter_client's manager would look every tenth of a second."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float, *given: object) -> object:
        pauses.append(seconds)
        return await sleep(seconds, *given)

    with started(kernels):
        monkeypatch.setattr(asyncio, "sleep", noted)
    assert max(pauses, default=0) < 0.1


def test_a_kernel_killed_from_outside_is_no_fault_of_the_submission(
    kernels: Kernels, fork_server: KernelForkServer
) -> None:
    with started(kernels) as (kernel, _):
        _supervisor, process = below_the_fork_server(fork_server)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="killed from outside"):
            kernel.execute("import time; time.sleep(5)", seconds=10, outputs=Outputs(1 << 16))
    assert nothing_left(fork_server)


def test_a_submission_cannot_pass_its_crash_for_a_kill_from_outside(go: Go) -> None:
    ran = go(cell("import os\nos.kill(os.getpid(), 9)\nos.abort()"))
    assert ran.outcomes[0].visible.status == "crashed"


def test_everything_ends_when_the_fork_server_is_killed_and_the_next_notebook_gets_a_new_one(
    kernels: Kernels, go: Go, fork_server: KernelForkServer
) -> None:
    with started(kernels) as (kernel, _):
        ask(kernel, DAEMON)
        family = below_the_fork_server(fork_server)
        assert fork_server.pid is not None
        os.kill(fork_server.pid, signal.SIGKILL)
        end = time.monotonic() + 3
        while any(os.path.exists(f"/proc/{pid}/exe") for pid in family) and time.monotonic() < end:
            time.sleep(0.02)
        assert not [pid for pid in family if os.path.exists(f"/proc/{pid}/cwd") and usage.memory([pid])]
    assert text(go(cell("1")).notebook) == "1"


def test_the_folders_of_a_grader_that_was_killed_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, living = kernels_folder(), kernels_folder()
    (dead.path / "1" / "work").mkdir(parents=True)
    assert dead._lock is not None
    os.close(dead._lock)  # as the system does when a process is killed
    with kernels_folder() as last:
        assert not dead.path.exists() and living.path.exists() and last.exists()
    living.remove()
    assert not living.path.exists()


def test_a_kernel_that_was_started_ahead_is_had_for_the_same_files_alone(kernels: Kernels) -> None:
    files: dict[str, bytes] = {"a.txt": b"1"}
    kernels.start_ahead(files, {}, *BOUNDS)
    assert kernels.started_ahead({"a.txt": b"2"}, {}) is None
    ahead = kernels.started_ahead(files, {})
    assert ahead is not None and kernels.started_ahead(files, {}) is None
    kernel, scratch = ahead
    assert ask(kernel, "open('a.txt').read()") == "'1'"
    kernels.retire(kernel, scratch)
    kernels.settle()
    assert not scratch.root.exists()


def test_a_kernel_that_was_started_ahead_for_nothing_leaves_nothing(
    kernels: Kernels, fork_server: KernelForkServer
) -> None:
    before = set(kernels._base.iterdir())
    kernels.start_ahead({}, {}, *BOUNDS)
    kernels.start_ahead({}, {}, *BOUNDS)  # takes the place of the first
    kernels.drop_ahead()
    kernels.settle()
    assert nothing_left(fork_server) and set(kernels._base.iterdir()) == before


def test_what_keeps_a_kernel_from_starting_ahead_is_said_when_it_is_needed(kernels: Kernels) -> None:
    files = {"../out": b""}
    kernels.start_ahead(files, {}, *BOUNDS)
    assert kernels.started_ahead(files, {}) is None
    with pytest.raises(ValueError, match="not a name"):
        kernels.new_scratch(files, {})


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EFAULT], ids=os.strerror)
def test_a_machine_that_has_no_room_for_a_moment_starts_the_process_a_moment_later(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, popen = [number, number], subprocess.Popen

    def busy(*arguments: Any, **options: Any) -> Any:
        if refusals:
            raise OSError(refusals.pop(), "no")
        return popen(*arguments, **options)

    monkeypatch.setattr(system, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(subprocess, "Popen", busy)
    assert system.start([sys.executable, "-c", ""]).wait() == 0
    refusals[:] = [number] * 3
    with pytest.raises(OSError, match="no"):
        system.start([sys.executable, "-c", ""])


def no_room(*_: Any, **__: Any) -> None:
    raise OSError(errno.EAGAIN, "no room")


def test_a_fork_server_that_cannot_be_started_again_is_said_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(KernelForkServer()) as fork_server:
        fork_server.ready()
        monkeypatch.setattr(system, "start", no_room)
        os.kill(fork_server.pid, signal.SIGKILL)
        fork_server._keeper.join(30)
        with pytest.raises(InfrastructureError, match="no room"):
            fork_server.ready()


SMALL = Limits(memory_bytes=300 << 20)


@pytest.fixture
def tester(kernels: Kernels) -> Iterator[ForkedShell]:
    scratch = kernels.new_scratch({"data.csv": b"1,2"}, {})
    started = kernels.start_shell(scratch, SMALL.memory_bytes, SMALL.processes, SMALL.disk_bytes)
    assert isinstance(started, ForkedShell)
    yield started
    kernels.retire(started, scratch)
    kernels.settle()
    assert not scratch.root.exists()


def no_answer(_question: bytes | None, _seconds: float) -> bytes:
    return b"no answer"


def execute(tester: ForkedShell, source: str, seconds: float = 20) -> tuple[Finished, list[dict[str, object]]]:
    names: dict[str, list[str]] = {"remote": [], "unknown": [], "read": [], "given": []}
    task = {**names, "parts": [(source, False)], "expected": {}, "tries": 0, "points": 1}
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
    told = said(finished)
    assert [told[name] for name in ("status", "result", "refused", "visits")] == ["ok", 1.5, "", {}]
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
