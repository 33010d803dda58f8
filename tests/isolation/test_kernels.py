"""Forked kernels: apart from each other, and gone without a trace."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from autograder.isolation import system, usage
from autograder.kernel import InfrastructureError
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.running_kernel import Kernel
from autograder.kernel.scratch import Scratch, kernels_folder
from autograder.pipeline.execute import Limits
from tests.isolation.conftest import Go, cell, text

LIMITS = Limits()


def start(kernels: Kernels) -> tuple[Kernel, Scratch]:
    scratch = kernels.new_scratch({}, {})
    return kernels.start(scratch, LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes), scratch


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
    (one, first), (two, second) = start(kernels), start(kernels)
    try:
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
    finally:
        for kernel, scratch in ((one, first), (two, second)):
            kernel.close()
            scratch.remove()


def test_a_daemon_is_gone_when_its_kernel_is_closed(kernels: Kernels, fork_server: KernelForkServer) -> None:
    kernel, scratch = start(kernels)
    try:
        ask(
            kernel,
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork() or time.sleep(60)\n    os._exit(0)",
        )
        # The daemon changes its parent while it is looked for: one look at /proc may miss it.
        supervisor_kernel_and_daemon = 3
        end = time.monotonic() + 3
        while len(found := below_the_fork_server(fork_server)) < supervisor_kernel_and_daemon:
            assert time.monotonic() < end, found
            time.sleep(0.01)
    finally:
        kernel.close()
        scratch.remove()
    assert nothing_left(fork_server)


def test_a_daemon_is_gone_when_its_kernel_ended_by_itself(
    go: Go, kernels: Kernels, fork_server: KernelForkServer
) -> None:
    go(cell("import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)\nos._exit(0)"))
    assert nothing_left(fork_server)


def test_a_fork_bomb_is_bounded_and_gone(go: Go, kernels: Kernels, fork_server: KernelForkServer) -> None:
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    ran = go(cell("x = 1"), cell(bomb), cell("x"), limits=Limits(cell_seconds=0.5, processes=40))
    assert ran.outcomes[1].visible.status in ("crashed", "timeout")
    assert text(ran.notebook) == "1"
    assert nothing_left(fork_server)


def test_a_kernel_closes_promptly(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end is looked for every few milliseconds; jupyter_client's manager would look every tenth of a second."""
    kernel, scratch = start(kernels)
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float, *given: object) -> object:
        pauses.append(seconds)
        return await sleep(seconds, *given)

    monkeypatch.setattr(asyncio, "sleep", noted)
    kernel.close()
    assert max(pauses, default=0) < 0.1
    scratch.remove()


def test_a_kernel_killed_from_outside_is_no_fault_of_the_submission(
    kernels: Kernels, fork_server: KernelForkServer
) -> None:
    kernel, scratch = start(kernels)
    try:
        _supervisor, process = below_the_fork_server(fork_server)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="killed from outside"):
            kernel.execute("import time; time.sleep(5)", seconds=10, outputs=Outputs(1 << 16))
    finally:
        kernel.close()
        scratch.remove()
    assert nothing_left(fork_server)


def test_a_submission_cannot_pass_its_crash_for_a_kill_from_outside(go: Go) -> None:
    ran = go(cell("import os\nos.kill(os.getpid(), 9)\nos.abort()"))
    assert ran.outcomes[0].visible.status == "crashed"


def test_everything_ends_when_the_fork_server_is_killed_and_the_next_notebook_gets_a_new_one(
    kernels: Kernels, go: Go, fork_server: KernelForkServer
) -> None:
    kernel, scratch = start(kernels)
    ask(kernel, "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)")
    family = below_the_fork_server(fork_server)
    assert fork_server.pid is not None
    os.kill(fork_server.pid, signal.SIGKILL)
    end = time.monotonic() + 3
    while any(os.path.exists(f"/proc/{pid}/exe") for pid in family) and time.monotonic() < end:
        time.sleep(0.02)
    assert not [pid for pid in family if os.path.exists(f"/proc/{pid}/cwd") and usage.memory([pid])]
    kernel.close()
    scratch.remove()
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


BOUNDS = LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes


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
