"""Where kernels come from. The rest of the grader knows :class:`Kernels` and :class:`Kernel`, not how they are made."""

import contextlib
import itertools
import logging
import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Literal, Protocol
from weakref import WeakSet

import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from autograder.errors import InfrastructureError
from autograder.files.temporary import remove_tree
from autograder.isolation import Policy, available, environment
from autograder.kernel.channels import ForkedKernel, GraderMemoryGuard, KernelChannels, context
from autograder.kernel.fork_server import ForkServerClient, KernelForkServer
from autograder.kernel.imports import KernelImports
from autograder.kernel.launch import Launch
from autograder.kernel.running_kernel import ForkedShell, Kernel, await_ready
from autograder.kernel.scratch import DiskQuota, Inputs, Scratch, kernels_folder

Isolation = Literal["auto", "none"]

_MAX_RETIRING = 4  # kernels

_Ahead = tuple[Mapping[str, bytes], Inputs, Future[tuple[Kernel, Scratch]]]

logger = logging.getLogger(__name__)


class Kernels:
    """Starts kernels, all in one way. Made by :meth:`open`. For one notebook at a time, except for :meth:`abandon`."""

    def __init__(self, base: Path, fork_server: ForkServerClient | None, imports: KernelImports) -> None:
        self.confined = fork_server is not None
        self._base, self._fork_server, self._imports = base, fork_server, imports
        self._context = context()
        self._numbers = itertools.count(1)
        self._background = ThreadPoolExecutor(_MAX_RETIRING, "retire")
        self._retiring: deque[Future[None]] = deque()
        self._ahead: _Ahead | None = None
        self._guard, self._started = GraderMemoryGuard(), StartedKernels()

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        isolation: Isolation = "auto",
        *,
        fork_server: str | None = None,
        imports: KernelImports = KernelImports(),
    ) -> "Iterator[Kernels]":
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
            base = closing.enter_context(kernels_folder())
            kernels = cls(base, client, imports)
            closing.callback(kernels._context.destroy, linger=0)
            closing.callback(kernels._background.shutdown)
            closing.callback(kernels.drop_ahead)
            if client is None:
                stage_testing(base / "staged")
            yield kernels

    def new_scratch(self, files: Mapping[str, bytes], inputs: Inputs) -> Scratch:
        """A folder for one kernel; see :class:`Scratch`.

        Raises InfrastructureError where it cannot be laid out.
        """
        self._started.refuse_if_given_up()
        root = self._base / str(next(self._numbers))
        try:
            return Scratch(root, files, inputs, self._imports.ready_made)
        except OSError as error:
            remove_tree(root)
            raise InfrastructureError(f"the kernel's folder cannot be laid out: {error}") from error
        except ValueError:
            remove_tree(root)
            raise

    def require_out_of_reach(self, folder: Path) -> None:
        """Raises InfrastructureError where a confined kernel could read what lies in ``folder``."""
        place = folder.resolve()
        for path in _resolved((*environment().read, *self._imports.readable)) if self.confined else ():
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

    def start_shell(
        self, scratch: Scratch, memory_bytes: int, processes: int, disk_bytes: int, printed: bool = False
    ) -> Kernel | ForkedShell:
        """What executes cells in ``scratch`` and needs no kernel around it: a tester, or a student's second run.

        printed: whether anybody reads what cells print. Raises InfrastructureError where there can be none.
        """
        if self._fork_server is None:
            return self.start(scratch, memory_bytes, processes, disk_bytes)
        quota = DiskQuota(scratch.root, scratch.writable, disk_bytes)
        policy = scratch.policy(memory_bytes, processes, quota.disk_bytes, self._imports.readable)
        launch = Launch(str(scratch.work), scratch.variables(), "")
        try:
            shell = ForkedShell(*self._fork_server.fork(launch, policy), quota, printed)
        except InfrastructureError:  # the fork server may have ended between two notebooks
            shell = ForkedShell(*self._fork_server.fork(launch, policy), quota, printed)
        self._started.add(shell)
        return shell

    def start(self, scratch: Scratch, memory_bytes: int, processes: int, disk_bytes: int) -> Kernel:
        """A kernel in ``scratch`` that serves. Raises InfrastructureError where none comes up, at the second try."""
        quota = DiskQuota(scratch.root, scratch.writable, disk_bytes)
        policy = scratch.policy(memory_bytes, processes, quota.disk_bytes, self._imports.readable)
        try:
            return self._start(scratch, policy, quota)
        except InfrastructureError:  # the fork server may have ended between two notebooks
            return self._start(scratch, policy, quota)

    def start_ahead(
        self, files: Mapping[str, bytes], inputs: Inputs, memory_bytes: int, processes: int, disk_bytes: int
    ) -> None:
        """Begin, in the background, with the kernel that the next notebook will need: see :meth:`started_ahead`."""

        def begin() -> tuple[Kernel, Scratch]:
            scratch = self.new_scratch(files, inputs)
            try:
                return self.start(scratch, memory_bytes, processes, disk_bytes), scratch
            except BaseException:
                scratch.remove()
                raise

        self.drop_ahead()
        self._ahead = files, inputs, self._background.submit(begin)

    def started_ahead(self, files: Mapping[str, bytes], inputs: Inputs) -> tuple[Kernel, Scratch] | None:
        """The kernel that was started ahead, and its folder, if it was for just these files and inputs."""
        if self._ahead is None or self._ahead[0] is not files or self._ahead[1] != inputs:
            return None
        begun, self._ahead = self._ahead[2], None
        try:
            return begun.result()
        except (InfrastructureError, ValueError):  # whoever starts it now meets the same, and says so
            return None

    def drop_ahead(self) -> None:
        """Let go of a kernel that was started ahead for nothing."""
        if self._ahead is not None:
            files, inputs, _ = self._ahead
            self.retire(*(self.started_ahead(files, inputs) or (None, None)))

    def retire(self, kernel: Kernel | ForkedShell | None, scratch: Scratch | None) -> None:
        """Close a kernel and remove its folder, in the background: that waits for the system more than it works.

        The kernel is killed before this returns. Where earlier ones are not gone yet, they are waited for.
        """
        if kernel is None and scratch is None:
            return
        if kernel is not None:
            kernel.kill()
        while len(self._retiring) >= _MAX_RETIRING:
            self._retiring.popleft().result()
        self._retiring.append(self._background.submit(_retire, kernel, scratch))

    def beside_others(self) -> None:
        """Until :meth:`resume`, other kernels are at work in this process: a flood, which may be theirs, raises
        OutputFloodError."""
        self._guard.is_shared = True

    def abandon(self) -> None:
        """Kill every kernel that was begun, and refuse new ones until :meth:`resume`; for any thread to call.

        Whoever waits for one of them hears of its end, and comes to nothing else. Only confined kernels can be killed.
        """
        self._started.give_up()

    def resume(self) -> None:
        """Start kernels as at first, when nobody waits any more for one that was abandoned."""
        self._started.resume()
        self._guard.is_shared = False

    def settle(self) -> None:
        """Return when all that was retired is gone."""
        while self._retiring:
            self._retiring.popleft().result()

    def _start(self, scratch: Scratch, policy: Policy, quota: DiskQuota) -> Kernel:
        try:
            manager = self._manager(scratch, policy)
            channels = KernelChannels(manager, self._guard)
        except Exception as error:
            raise InfrastructureError(f"no kernel could be started: {error}") from error
        kernel = Kernel(manager, channels, quota)
        self._started.add(kernel)
        try:
            await_ready(kernel, channels)
        except BaseException:
            kernel.close()
            raise
        return kernel

    def _manager(self, scratch: Scratch, policy: Policy) -> ForkedKernel | KernelManager:
        """Of a kernel that is coming up."""
        if self._fork_server is not None:
            return ForkedKernel(self._fork_server, scratch, policy, self._context)
        return start_plain(scratch, [str(self._base / "staged"), *self._imports.paths], self._context)


def _retire(kernel: Kernel | ForkedShell | None, scratch: Scratch | None) -> None:
    try:
        if kernel is not None:
            kernel.close()
        if scratch is not None:
            scratch.remove()
    except Exception:  # the notebook is done; a folder that is left goes with all the others
        logger.warning("a kernel or its folder could not be removed", exc_info=True)


@cache
def _resolved(paths: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(Path(path).resolve() for path in paths)


def _own_fork_server(closing: contextlib.ExitStack, imports: KernelImports) -> str:
    available()
    fork_server = KernelForkServer(imports)
    closing.callback(fork_server.close)
    fork_server.ready()
    return fork_server.address


class Killable(Protocol):
    """To be killed by any thread, also while another one uses or closes it."""

    def kill(self) -> None: ...


class StartedKernels:
    """Those that are still in use. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kernels: WeakSet[Killable] = WeakSet()
        self._given_up = False
        self._lock = threading.Lock()

    def add(self, kernel: Killable) -> None:
        """One that has just been begun. Where all were given up meanwhile, it is killed at once."""
        with self._lock:
            self._kernels.add(kernel)
            given_up = self._given_up
        if given_up:
            kernel.kill()

    def give_up(self) -> None:
        """Kill them all. Until :meth:`resume` there are no new ones."""
        with self._lock:
            self._given_up = True
            kernels = list(self._kernels)
        for kernel in kernels:
            kernel.kill()

    def resume(self) -> None:
        with self._lock:
            self._given_up = False

    def refuse_if_given_up(self) -> None:
        """To be called before a kernel is begun. Raises InfrastructureError."""
        with self._lock:
            if self._given_up:
                raise InfrastructureError("no kernel is started any more: the grading was given up")


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
