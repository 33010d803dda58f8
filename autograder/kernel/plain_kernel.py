"""Ordinary kernels, which nothing confines: for one's own work on systems that know no confinement."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from autograder.kernel.scratch import Scratch


def stage_testing(folder: Path) -> None:
    """A copy of what hidden cells and plain tests import, without the references that lie beside the original.

    folder: a new one, to be among the ``paths`` of :func:`start_plain`.
    """
    package = Path(__file__).resolve().parents[1]
    (folder / "autograder").mkdir(parents=True)
    for name in ("__init__.py", "testing.py"):
        if (package / name).is_file():
            shutil.copy(package / name, folder / "autograder" / name)
    for name in ("remote", "tester"):
        shutil.copytree(package / name, folder / "autograder" / name, ignore=shutil.ignore_patterns("__pycache__"))


def start_plain(scratch: Scratch, paths: Sequence[str], context: zmq.Context[zmq.Socket[bytes]]) -> KernelManager:
    """The manager of a kernel that is coming up in ``scratch``; ``paths``: folders that it imports from."""
    spec = KernelSpec(argv=_command([*paths]), language="python")
    posix = os.name == "posix"
    settings = {"transport": "ipc", "ip": scratch.socket_prefix} if posix else {"transport": "tcp"}
    manager = KernelManager(
        kernel_spec_manager=_OneSpec(spec), context=context, connection_file=str(scratch.connection_file), **settings
    )
    manager.start_kernel(cwd=str(scratch.work), env=scratch.variables())
    return manager


class _OneSpec(KernelSpecManager):
    """Knows the one kernel spec it was given, wherever Jupyter's folders are."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self._spec = spec

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return self._spec


def _command(paths: list[str]) -> list[str]:
    """Isolated from the notebook's folder while it starts: a file there cannot pass for a part of ipykernel."""
    code = (
        f"import sys; sys.path[:0] = {paths!r}; from ipykernel.kernelapp import IPKernelApp; "
        "app = IPKernelApp.instance(); app.initialize(); app.shell.ask_exit = lambda: None; "
        "sys.path.insert(0, ''); app.start()"
    )
    return [sys.executable, "-I", "-c", code, "-f", "{connection_file}"]
