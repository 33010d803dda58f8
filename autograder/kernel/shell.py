"""The shell of every forked kernel: made once in the fork server, because it is half of a kernel's start.

What it took from the fork server's folder and environment is replaced in each kernel.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import tempfile
from pathlib import Path

from ipykernel import zmqshell
from ipykernel.compiler import XCachingCompiler
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.application import ENV_CONFIG_DIRS, SYSTEM_CONFIG_DIRS
from IPython.core.profiledir import ProfileDir
from IPython.utils.path import get_home_dir
from traitlets.config import Config


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
