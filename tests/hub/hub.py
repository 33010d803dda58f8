"""The hub of docs/jupyterhub.md on a machine of its own: its people, its course, its processes."""

from __future__ import annotations

import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.grading import ROOT
from tests.hub.machine import Machine, environment, new_machine

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
