"""The kernel inside of its confinement: ipykernel's application, started in a process forked from the fork server."""

import inspect
import logging
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

from ipykernel import zmqshell
from ipykernel.compiler import XCachingCompiler
from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.application import ENV_CONFIG_DIRS, SYSTEM_CONFIG_DIRS, BaseIPythonApplication
from IPython.core.profiledir import ProfileDir
from IPython.utils.path import get_home_dir
from jupyter_client.session import Session
from traitlets.config import Config

from autograder.kernel.launch import Launch
from autograder.tester.line import use_socket
from autograder.tester.process import serve

#: Characters of one cell; more than any bound on a cell's output that makes sense.
MAX_PRINTED = 4 << 20
_AT_ONCE = 1 << 18


class BoundedStream(OutStream):
    """Prints in messages of bearable size, and no more of them than the grader would keep.

    A courtesy to honest loops that print: what comes out is bounded on the grader's side in any case, but there a
    flood may cost the kernel.
    """

    _cell = ""
    _printed = 0
    _waiting = 0

    def write(self, string: str) -> int:
        cell = str(self.parent_header.get("msg_id"))
        if cell != self._cell:
            self._cell, self._printed = cell, 0
        room = max(0, MAX_PRINTED - self._printed)
        self._printed += len(string)
        for start in range(0, min(room, len(string)), _AT_ONCE):
            piece = string[start : min(start + _AT_ONCE, room)]
            super().write(piece)
            self._waiting += len(piece)
            if self._waiting >= _AT_ONCE:
                self._waiting = 0
                self.flush()
        return len(string)

    def flush(self) -> None:
        """Wait for the other thread only where there is something to send: every cell flushes a dozen times."""
        if self._flush_pending or self.echo is not None or not self._is_master_process():
            super().flush()


class ForkedKernelApp(IPKernelApp):
    """ipykernel without what a confined kernel cannot use: TCP, a debugger, a history on disk.

    What needs no socket is done by :meth:`prepare`, once in the fork server; the rest by :meth:`serve` in each kernel.
    """

    def prepare(self, shell: ZMQInteractiveShell) -> None:
        """Everything up to the first socket. It starts no thread and opens no file."""
        self.shell = shell
        BaseIPythonApplication.initialize(self, [])
        self.log.setLevel(logging.CRITICAL)  # else every message is made into a record, which its handler drops
        self.init_pdb()
        self.init_extensions()
        self.kernel_class = PreparedKernel
        PreparedKernel.prepare(parent=self, session=self.session, log=self.log, user_ns=shell.user_ns)
        self._has_startup_files = has_startup_files()
        if not self._has_startup_files:
            super().init_code()

    def serve(self, launch: Launch) -> None:
        """The rest, in the forked process, up to the loop: as ``initialize`` does it."""
        self.profile_dir = own_profile()
        self.connection_file = launch.connection_file
        own_session(self.session)
        self.load_connection_file()
        self.init_sockets()
        self.log_connection_info()
        self.init_io()
        self.init_signal()
        self.init_kernel()
        self.init_path()
        self.init_shell()
        self.init_code()

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        """There is none: it would be the fork server's."""

    def load_config_file(self, *_: Any, **__: Any) -> None:
        """There is none in a new folder."""

    def init_profile_dir(self) -> None:
        """It is each kernel's own."""

    def log_connection_info(self) -> None:
        """Nobody reads it; what it notes besides is asked for by ``connect_request``."""
        names = ("shell", "iopub", "stdin", "hb", "control")
        self._ports = {name: getattr(self, f"{name}_port") for name in names}

    def init_code(self) -> None:
        """Done beforehand where nothing is to be executed: it notes the names of all modules."""
        if self._has_startup_files:
            super().init_code()

    def _run_startup_files(self) -> None:
        """Looked for once, in the folders that all kernels have in common: a kernel's own are empty."""
        if self._has_startup_files:
            super()._run_startup_files()

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        # The debugger's own line to the shell socket: connecting is refused in here, and it would try for ever.
        endpoint = self.shell_socket.last_endpoint
        if endpoint:
            self.debug_shell_socket.disconnect(endpoint)

    def init_iopub(self, context: Any) -> None:
        # The pipe for the output of subprocesses is a TCP socket; theirs is captured by file descriptor anyway.
        IOPubThread._setup_pipe_in = lambda thread: None  # type: ignore[method-assign]
        super().init_iopub(context)

    def init_kernel(self) -> None:
        """The kernel takes the shell that the fork server has prepared, and what is its own there."""
        shell = ZMQInteractiveShell.instance()
        assert self.profile_dir is not None
        settle(shell, self.profile_dir)
        self.user_ns = shell.user_ns
        super().init_kernel()
        shell.parent = shell.kernel = self.kernel


_app: ForkedKernelApp | None = None


def prepare_kernel(shell: ZMQInteractiveShell) -> None:
    """Make the application that every process forked from this one will serve with."""
    global _app
    _app = ForkedKernelApp.instance(  # the one application of the process: magics like %matplotlib look for it
        log_level=logging.CRITICAL, outstream_class=f"{BoundedStream.__module__}.{BoundedStream.__name__}"
    )
    _app.config.HistoryManager.enabled = False
    _app.config.Kernel._execute_sleep = 0.0
    _app.prepare(shell)


def run_kernel(launch: Launch) -> None:
    """Serve requests until the process is ended from outside."""
    _move_in(launch)
    use_socket()
    app = _app
    assert app is not None
    app.serve(launch)
    assert app.shell is not None
    app.shell.ask_exit = lambda: None  # exit() must not cost the next cell its kernel
    sys.path.insert(0, "")  # only now: a file beside the notebook cannot pass for a part of the kernel
    app.start()


def run_shell(launch: Launch) -> None:
    """Execute the grader's cells, or a student's that nobody sees, until the process is ended from outside."""
    _move_in(launch)
    shell = ZMQInteractiveShell.instance()
    settle(shell, own_profile())
    sys.path.insert(0, "")
    serve(shell, PreparedKernel.instance)


def _move_in(launch: Launch) -> None:
    os.environ.clear()
    os.environ.update(launch.variables)
    tempfile.tempdir = None  # found again, in the new environment
    os.chdir(launch.folder)
    reseed()


def reseed() -> None:
    """Give this process random numbers of its own: all children of a fork server start with the same state."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(int.from_bytes(os.urandom(4), "little"))
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_num_threads(1)
        torch.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1)


class PreparedKernel(IPythonKernel):
    """The one kernel of this process. To make it takes a third of a kernel's start.

    It says what the grader listens for, and not all that Jupyter's protocol asks for: every message goes through two
    more threads, and two of the three that each cell would cost are for nobody.
    """

    @classmethod
    def prepare(cls, **traits: Any) -> None:
        """Make the kernel, without anything that only a forked process can have."""
        super().instance(**traits)

    @classmethod
    def instance(cls, *_: Any, **traits: Any) -> "PreparedKernel":
        """The prepared kernel, with these traits as its own: what ipykernel's application makes its kernel with."""
        kernel: PreparedKernel = super().instance()
        for name, value in traits.items():
            if getattr(kernel, name) is not value:
                setattr(kernel, name, value)
        kernel._become_own()
        return kernel

    def _publish_status(self, status: str, *args: Any, **kwargs: Any) -> None:
        if status != "busy":
            super()._publish_status(status, *args, **kwargs)

    def _publish_execute_input(self, *_: Any, **__: Any) -> None:
        """Nobody listens for it."""

    def _become_own(self) -> None:
        """What ``__init__`` takes from the process's streams and sockets."""
        self.ident = str(uuid4())
        self._stdout, self._stderr = sys.stdout, sys.stderr
        shell: Any = self.shell
        for publisher in (shell.displayhook, shell.display_pub):
            publisher.session, publisher.pub_socket = self.session, self.iopub_socket
        shell.displayhook.topic = self._topic("execute_result")


def own_session(session: Session) -> None:
    """Make a session that was copied by a fork this process's own. Its key comes from the connection file."""
    session.session = str(uuid4())
    session.pid = os.getpid()


# The shell of every forked kernel: made once in the fork server, because it is half of a kernel's start.
# What it took from the fork server's folder and environment is replaced in each kernel.


class NoProfile(ProfileDir):
    """A profile without folders of its own: nobody keeps settings in a kernel's, and it takes time to remove them."""

    def check_dirs(self) -> None: ...

    check_log_dir = check_security_dir = check_pid_dir = check_startup_dir = lambda *_: None


class CellCompiler(XCachingCompiler):
    """Notes of every cell that it is no module: else the first line of a traceback is looked for in all of them."""

    def get_code_name(self, raw_code: str, code: str, number: int) -> str:
        name: str = super().get_code_name(raw_code, code, number)
        known: dict[str, str | None] = inspect.modulesbyfile
        known.setdefault(os.path.normcase(os.path.abspath(name)), None)
        return name


def system(cmd: str) -> int:
    """What ``!command`` and ``%pip`` call in place of IPython's own: a confined kernel can make no pseudo-terminal."""
    with subprocess.Popen(
        ["/bin/sh", "-c", cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
        except BaseException:
            process.kill()
            raise
    return process.returncode


def own_profile() -> ProfileDir:
    """The shell's, moved to the folder of this process, which is not that of the one that started it."""
    profile = ZMQInteractiveShell.instance().profile_dir
    assert isinstance(profile, NoProfile)
    profile._location_isset = False
    profile.location = os.environ["IPYTHONDIR"]
    return profile


def has_startup_files() -> bool:
    """Whether this Python, or this machine, has files that every IPython executes when it starts."""
    folders = [Path(folder, "startup") for folder in (*ENV_CONFIG_DIRS, *SYSTEM_CONFIG_DIRS)]
    return any(path.suffix in (".py", ".ipy") for folder in folders for path in folder.glob("*"))


def prepare_shell() -> ZMQInteractiveShell:
    """The one shell of this process, which every process forked from it has. It starts no thread and opens no file."""
    zmqshell.system = system
    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.parent_appname = ""  # by which libraries know a notebook
    folder = tempfile.gettempdir()
    profile = NoProfile(location=folder)
    shell = ZMQInteractiveShell.instance(
        config=config, ipython_dir=folder, profile_dir=profile, compiler_class=CellCompiler
    )
    assert shell.display_formatter is not None
    shell.display_formatter.format(None)  # has its formatters made, which else every kernel does
    return shell


def settle(shell: ZMQInteractiveShell, profile: ProfileDir) -> None:
    """Tie the shell to the folder and the environment of this process. ``profile``: of this process's own."""
    shell.ipython_dir = profile.location
    shell.profile_dir = profile
    shell.starting_dir = os.getcwd()
    shell.home_dir = get_home_dir()
    assert shell.history_manager is not None
    shell.history_manager.dir_hist[:] = [Path.cwd()]
    shell.init_environment()
