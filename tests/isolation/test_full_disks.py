"""Full disks: whose fault they are, and that no submission can blame the grader."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook

from autograder.kernel import InfrastructureError
from autograder.kernel.fork_server import KernelForkServer
from autograder.pipeline.execute import Kernels, Limits, run
from tests.isolation.conftest import Go, answer, cell, graded, text


def test_disk_without_end_is_stopped(go: Go) -> None:
    fill = "for i in range(4000):\n    open(f'f{i}', 'wb').write(bytes(1 << 20))"
    ran = go(cell(fill), cell("'after'"), limits=Limits(disk_bytes=32 << 20))
    assert ran.outcomes[0].visible.status == "crashed" and "disk" in ran.outcomes[0].visible.evalue
    assert text(ran.notebook) == "'after'"


def test_a_full_disk_on_the_graders_side_is_no_fault_of_the_submission(
    go: Go, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InfrastructureError, match="No space left"):
        go(cell("1"), files={"models.py": b""})


def test_a_cell_that_fails_while_others_have_filled_the_disk_is_no_fault_of_the_submission(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([1 << 30, 1 << 30])  # when the kernel starts, and when the first cell does
    monkeypatch.setattr("autograder.kernel.disk_quota._free", lambda folder: next(free, 0))
    with pytest.raises(InfrastructureError, match="temporary folder was full"):
        go(cell("import time; time.sleep(0.2)"), cell("raise OSError(28, 'No space left on device')"))


def test_a_cell_that_succeeds_while_the_disk_is_full_counts(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    free = iter([1 << 30])
    monkeypatch.setattr("autograder.kernel.disk_quota._free", lambda folder: next(free, 0))
    assert answer(go(graded("", "'x'"))) == "x"


def test_a_kernel_does_not_start_on_a_full_disk(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.kernel.disk_quota._free", lambda folder: 0)
    with pytest.raises(InfrastructureError, match="is full"):
        go(cell("1"))


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small disk takes root")
def test_no_submission_can_fill_a_small_disk_and_blame_the_grader(
    fork_server: KernelForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Path(tempfile.mkdtemp(dir="/tmp"))  # a short path, as unix sockets need one
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m,mode=755", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        small.rmdir()
        pytest.skip("this machine lets nobody mount a small disk")
    fill = (
        "import os, time\nfor n in range(100):\n    open(f'f{n}', 'wb').write(bytes(1 << 20)); time.sleep(0.02)\n"
        "time.sleep(5)"
    )
    try:
        monkeypatch.setattr("tempfile.tempdir", str(small))
        with Kernels.open(fork_server=fork_server.address) as kernels, kernels.answers() as answers:
            notebook = new_notebook(cells=[cell(fill), graded("x = 1", "str(x)")])
            ran = run(notebook, files={}, inputs={}, answers=answers, kernels=kernels)
            assert "to disk" in ran.outcomes[0].visible.evalue
            assert answer(ran) == "1"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
        small.rmdir()
