"""The hub of docs/jupyterhub.md on a machine within this one: its own /etc, /home and /srv, so that its users are real.

Processes are started in a mount and a process namespace of their own. ``useradd`` there changes a copy of ``/etc``;
when the namespace ends, all its processes end and its users, homes and files are gone, whatever a test did.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.grading import ROOT

#: Where the guide installs the hub; here it is the environment that the tests run in.
PREFIX = Path("/opt/hub")
#: Folders of the machine that are empty at its start.
_EMPTY = ("/home", "/opt", "/srv")


def proxy() -> Path | None:
    """``configurable-http-proxy``: installed for all, or by ``.ci/run`` beside the environment's packages."""
    beside = Path(sys.prefix) / "node_modules" / ".bin" / "configurable-http-proxy"
    found = str(beside) if beside.exists() else shutil.which("configurable-http-proxy")
    return Path(found) if found else None


def may_make() -> bool:
    """Whether we are root, and may make namespaces."""
    if os.geteuid() or not shutil.which("unshare") or not shutil.which("nsenter"):
        return False
    words = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


@dataclass(frozen=True)
class Machine:
    """``process``: its first one, as this machine numbers it."""

    process: int

    def command(self, *words: str, user: str = "root") -> list[str]:
        """The words as a command of the machine, in a login shell of the user."""
        inside = ["runuser", "--login", user, "--command", shlex.join(words)] if user != "root" else list(words)
        return ["nsenter", f"--target={self.process}", "--mount", "--pid", "--", *inside]

    def run(self, *words: str, user: str = "root", **settings: Any) -> str:
        """What a command says on its standard output. Raises AssertionError where it ends badly."""
        done = subprocess.run(
            self.command(*words, user=user), capture_output=True, text=True, timeout=120, env=environment(), **settings
        )
        said = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert done.returncode == 0, f"{user}: {shlex.join(words)} ended with {done.returncode}\n{said}"
        return done.stdout

    def shell(self, text: str, user: str = "root", folder: Path | str = ".") -> str:
        return self.run("bash", "-ec", f"cd {shlex.quote(str(folder))}\n{text}", user=user)

    def write(self, path: str, text: str, user: str = "root") -> None:
        self.run("bash", "-ec", 'mkdir -p "$(dirname "$0")"; cat > "$0"', path, user=user, input=text)


@contextmanager
def new_machine(folder: Path) -> Iterator[Machine]:
    """folder: an empty one, for the copy of ``/etc``."""
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private"]
    held = subprocess.Popen(
        [*words, "bash", "-ec", "\n".join(_setup(folder))], stdout=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == "ready\n", "the machine did not start"
        children = Path(f"/proc/{held.pid}/task/{held.pid}/children").read_text().split()
        yield Machine(int(children[0]))
    finally:
        held.kill()  # and with it the first process inside, and so all others
        held.wait()


def environment() -> dict[str, str]:
    """Nothing of the test's own; the environment's programs first, as the guide has it."""
    programs = [f"{PREFIX}/bin", *(str(path.parent) for path in [proxy()] if path)]
    system = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return {"PATH": ":".join([*programs, *system]), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}


def _setup(folder: Path) -> Iterator[str]:
    quoted = shlex.quote(str(folder))
    yield f"cp -a /etc {quoted}/etc"
    yield f"mkdir {quoted}/held"
    for closed, needed in _closed().items():
        held = f"{quoted}/held/{closed.name}"
        yield f"mkdir {held}; mount --bind {closed} {held}; mount -t tmpfs -o mode=755 tmpfs {closed}"
        for path in needed:
            yield f"mkdir -p {path}; mount --bind {held}/{path.relative_to(closed)} {path}"
    yield f"mount --bind {quoted}/etc /etc"
    for empty in _EMPTY:
        yield f"mount -t tmpfs -o mode=755 tmpfs {empty}"
    yield f"mkdir {PREFIX}; mount --bind {sys.prefix} {PREFIX}"
    # a login shell of a user finds the environment's programs
    path = shlex.quote(environment()["PATH"])
    yield f"echo export PATH={path} OMP_NUM_THREADS=1 > /etc/profile.d/hub.sh"
    yield "echo ready; exec sleep infinity"


def _closed() -> dict[Path, list[Path]]:
    """Folders that only root may enter -> what users need in them: interpreter, environment, checkout.

    On the machine such a folder holds nothing else.
    """
    found: dict[Path, list[Path]] = {}
    for path in dict.fromkeys([Path(sys.base_prefix), Path(sys.prefix), ROOT]):
        for parent in reversed(path.parents):
            if not parent.stat().st_mode & 0o001:
                found.setdefault(parent, []).append(path)
                break
    return found


GUIDE = ROOT / "docs" / "jupyterhub.md"
CONFIG = "/etc/jupyterhub/jupyterhub_config.py"
INSTRUCTOR, STUDENTS = "grace", ("ada", "bob")
COURSE, ASSIGNMENT, NOTEBOOK = "/home/grace/physics", "signals", "1_smoothing"
PASSWORD = "a long password of a test"
START_SECONDS = 90


@dataclass(frozen=True)
class Hub:
    machine: Machine
    url: str


def block(heading: str) -> str:
    """The commands below a heading of the guide."""
    section = GUIDE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return "\n".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL))


@contextmanager
def running_hub(folder: Path) -> Iterator[Hub]:
    """Users, settings and course as the guide's commands make them; only the ports are free ones."""
    with new_machine(folder) as machine:
        machine.shell(block("People"), folder=ROOT)
        machine.run("chpasswd", input="".join(f"{user}:{PASSWORD}\n" for user in (INSTRUCTOR, *STUDENTS)))
        machine.shell(block("Settings"), folder=ROOT)
        machine.shell(block("The course"), INSTRUCTOR)
        url, own, api = (f"http://127.0.0.1:{port}" for port in _free_ports(3))
        assert block("Start").strip() == f"jupyterhub --config {CONFIG}"
        ports = "/etc/jupyterhub/ports.py"
        machine.write(ports, (
            f"c = get_config()\nload_subconfig({CONFIG!r})\n"
            f"c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url = {url!r}, {own!r}\n"
            f"c.ConfigurableHTTPProxy.api_url = {api!r}\n"
        ))  # fmt: skip
        log = folder / "hub.log"
        command = machine.command("bash", "-c", f"cd /srv/jupyterhub; exec jupyterhub --config {ports}")
        with log.open("wb") as stream:
            process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=environment())
        _wait_until_up(url, process, log)
        yield Hub(machine, url)  # its processes end with the machine


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/hub/health", timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the hub did not start:\n{log.read_text(errors='replace')[-4000:]}")
