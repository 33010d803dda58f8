"""Where kernels come from. The rest of the grader knows :class:`Kernels` and :class:`Kernel`, not how they are made."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Literal

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory

from autograder.isolation import Policy, available, environment
from autograder.kernel.channels import KernelChannels, context
from autograder.kernel.errors import InfrastructureError
from autograder.kernel.execution import Execution, Finished, ProcessHandle
from autograder.kernel.fork_server import ForkServerClient, KernelForkServer
from autograder.kernel.imports import KernelImports
from autograder.kernel.outputs import Outputs
from autograder.kernel.provisioner import ForkedProvisioner
from autograder.kernel.room import Room
from autograder.kernel.scratch import Scratch, base_folder, remove_tree

Isolation = Literal["auto", "none"]

PROVISIONER = EntryPoint(
    "autograder-forked", "autograder.kernel.provisioner:ForkedProvisioner", KernelProvisionerFactory.GROUP_NAME
)
_START_SECONDS = 60.0
_ASK_AGAIN = 0.05  # seconds


class Kernel:
    """A kernel that serves. To be closed; then every process it started is gone."""

    def __init__(self, manager: KernelManager, channels: KernelChannels, room: Room) -> None:
        self._manager, self._channels = manager, channels
        provisioner = manager.provisioner
        self._confined = provisioner.confined if isinstance(provisioner, ForkedProvisioner) else None
        descriptor = self._confined.fileno() if self._confined else None
        self._process_handle = ProcessHandle(manager.interrupt_kernel, self.ended, descriptor, room.ran_out)

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
        finished = execution.wait(answer)
        if finished.status != "ok" and finished.disk_full and not self._stopped_for_what_it_used():
            raise InfrastructureError("the disk of the temporary folder was full; make room there, or set TMPDIR")
        return finished

    def converse(self, code: str, *, seconds: float, outputs: Outputs) -> Execution:
        """Run code that answers requests: it asks for the first, later questions are answers, the last one is empty.

        Nothing of it stays in ``In``.
        """
        return self._begin(code, seconds, outputs, False, {}, True)

    def _begin(
        self, code: str, seconds: float, outputs: Outputs, remembered: bool, expressions: Mapping[str, str], asks: bool
    ) -> Execution:
        return Execution(self._channels, self._process_handle, code, seconds, outputs, remembered, expressions, asks)

    def _stopped_for_what_it_used(self) -> bool:
        ending = self._confined.poll() if self._confined is not None else None
        return ending is not None and bool(ending.reason)

    def ended(self) -> str | None:
        """How the kernel ended; None while it lives. Raises InfrastructureError where that was the grader's fault."""
        if self._confined is None:
            return None if self._manager.is_alive() else "the process ended"
        ending = self._confined.poll()
        if ending is not None and ending.fault:
            raise InfrastructureError(f"the kernel is gone: {ending.fault}")
        return None if ending is None else str(ending)

    def close(self) -> None:
        self._channels.close()
        self._manager.shutdown_kernel(now=True)


class Kernels:
    """Starts kernels, all in one way. Made by :meth:`open`."""

    def __init__(self, base: Path, fork_server: ForkServerClient | None, imports: KernelImports) -> None:
        self.confined = fork_server is not None
        self._base, self._fork_server, self._imports = base, fork_server, imports
        self._context = context()
        self._numbers = itertools.count(1)

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        isolation: Isolation = "auto",
        *,
        fork_server: str | None = None,
        imports: KernelImports = KernelImports(),
    ) -> Iterator[Kernels]:
        """Kernels for a while.

        isolation: "auto" confines them; "none" starts ordinary kernels, which can read, write and send whatever the
        grader can: for one's own work on systems that know no confinement.
        fork_server: the address of a running :class:`KernelForkServer`; without it, one is started and ended here.
        imports: what kernels import of the course.
        Raises IsolationUnavailable where "auto" cannot be had, InfrastructureError where the fork server cannot start.
        """
        with contextlib.ExitStack() as closing:
            client = None
            if isolation == "auto":
                client = ForkServerClient(fork_server or _own_fork_server(closing, imports))
            base, held = base_folder()
            closing.callback(held.close)
            closing.callback(remove_tree, base)
            kernels = cls(base, client, imports)
            closing.callback(kernels._context.destroy, linger=0)
            if client is None:
                _stage_testing(base / "staged")
            yield kernels

    def new_scratch(self, files: Mapping[str, bytes], inputs: Mapping[str, Path]) -> Scratch:
        """A folder for one kernel; see :class:`Scratch`.

        Raises InfrastructureError where it cannot be laid out, or where a confined kernel could read the expected
        answers, which lie beside the inputs.
        """
        if self.confined:
            for folder in inputs.values():
                self._refuse_exposed(folder)
        root = self._base / str(next(self._numbers))
        try:
            return Scratch(root, files, inputs)
        except OSError as error:
            remove_tree(root)
            raise InfrastructureError(f"the kernel's folder cannot be laid out: {error}") from error
        except ValueError:
            remove_tree(root)
            raise

    def _refuse_exposed(self, folder: Path) -> None:
        place = folder.resolve()
        for path in _resolved((*environment().read, *self._imports.readable)):
            if place.is_relative_to(path):
                raise InfrastructureError(
                    f"students' code may read {path}, which holds the stored references ({folder}): move the course "
                    "out of the Python environment's folder, or make the environment in a folder of its own, say .venv"
                )

    @contextlib.contextmanager
    def answers(self) -> Iterator[Path]:
        """An empty folder of the trusted side for one notebook's answers; it is gone afterwards.

        It lies where a killed grader's folders are found and removed. Raises InfrastructureError where it cannot be.
        """
        folder = self._base / f"answers-{next(self._numbers)}"
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise InfrastructureError(f"there is no place for the answers: {error}") from error
        try:
            yield folder
        finally:
            remove_tree(folder)

    def start(self, scratch: Scratch, memory_bytes: int, processes: int, disk_bytes: int) -> Kernel:
        """A kernel in ``scratch`` that serves. Raises InfrastructureError where none comes up, at the second try."""
        room = Room(scratch.root, scratch.writable, disk_bytes)
        policy = scratch.policy(memory_bytes, processes, room.disk_bytes, self._imports.readable)
        try:
            return self._start(scratch, policy, room)
        except InfrastructureError:  # the fork server may have ended between two notebooks
            return self._start(scratch, policy, room)

    def _start(self, scratch: Scratch, policy: Policy, room: Room) -> Kernel:
        variables = scratch.variables()
        manager = self._manager(scratch, policy)
        try:
            manager.start_kernel(cwd=str(scratch.work), env=variables)
            channels = KernelChannels(manager)
        except Exception as error:
            raise InfrastructureError(f"no kernel could be started: {error}") from error
        kernel = Kernel(manager, channels, room)
        try:
            _await_ready(kernel, channels)
        except BaseException:
            kernel.close()
            raise
        return kernel

    def _manager(self, scratch: Scratch, policy: Policy) -> KernelManager:
        if self._fork_server is None:
            folders = [str(self._base / "staged"), *self._imports.paths]
            spec = KernelSpec(argv=_plain_command(folders), language="python")
            posix = os.name == "posix"
            settings = {"transport": "ipc", "ip": scratch.socket_prefix} if posix else {"transport": "tcp"}
            return KernelManager(
                kernel_spec_manager=_OneSpec(spec), context=self._context,
                connection_file=str(scratch.connection_file), **settings,
            )  # fmt: skip
        KernelProvisionerFactory.instance().provisioners.setdefault(PROVISIONER.name, PROVISIONER)
        config = {"scratch": str(scratch.root), "policy": policy.to_json(), "fork_server": self._fork_server}
        provisioner = {"provisioner_name": PROVISIONER.name, "config": config}
        spec = KernelSpec(argv=["forked"], language="python", metadata={"kernel_provisioner": provisioner})
        return KernelManager(kernel_spec_manager=_OneSpec(spec), context=self._context)


@cache
def _resolved(paths: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(Path(path).resolve() for path in paths)


class _OneSpec(KernelSpecManager):
    """Knows the one kernel spec it was given, wherever Jupyter's folders are."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self._spec = spec

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return self._spec


def _own_fork_server(closing: contextlib.ExitStack, imports: KernelImports) -> str:
    available()
    fork_server = KernelForkServer(imports)
    closing.callback(fork_server.close)
    fork_server.ready()
    return fork_server.address


def _await_ready(kernel: Kernel, channels: KernelChannels) -> None:
    """Return when the kernel answers on both channels: from then on no output can be missed."""
    deadline = time.monotonic() + _START_SECONDS
    heard: set[zmq.Socket[bytes]] = set()
    while len(heard) < 2:
        if (ending := kernel.ended()) is not None:
            raise InfrastructureError(f"the kernel did not come up: {ending}")
        if time.monotonic() > deadline:
            raise InfrastructureError(f"the kernel did not answer within {_START_SECONDS:g} s")
        channels.request("kernel_info_request", {})
        again = time.monotonic() + _ASK_AGAIN
        while len(heard) < 2 and (left := again - time.monotonic()) > 0:
            for socket in (channels.shell, channels.iopub):
                if socket not in heard and socket.poll(int(left * 1000)):
                    channels.receive(socket)
                    heard.add(socket)


def _stage_testing(folder: Path) -> None:
    """A copy of what hidden cells and plain tests import, without the references that lie beside the original."""
    package = Path(__file__).resolve().parents[1]
    (folder / "autograder").mkdir(parents=True)
    for name in ("__init__.py", "testing.py"):
        if (package / name).is_file():
            shutil.copy(package / name, folder / "autograder" / name)
    for name in ("remote", "tester"):
        shutil.copytree(package / name, folder / "autograder" / name, ignore=shutil.ignore_patterns("__pycache__"))


def _plain_command(folders: list[str]) -> list[str]:
    """Isolated from the notebook's folder while it starts: a file there cannot pass for a part of ipykernel."""
    code = (
        f"import sys; sys.path[:0] = {folders!r}; from ipykernel.kernelapp import IPKernelApp; "
        "app = IPKernelApp.instance(); app.initialize(); app.shell.ask_exit = lambda: None; "
        "sys.path.insert(0, ''); app.start()"
    )
    return [sys.executable, "-I", "-c", code, "-f", "{connection_file}"]
