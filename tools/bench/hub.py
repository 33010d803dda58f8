"""``python -m tools.bench.hub``: what a student on JupyterHub takes, as a table. Needs what ``tests/hub`` needs."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import psutil
import requests
from jupyter_client.blocking.client import BlockingKernelClient

from tests.hub.hub import PASSWORD, Hub, running_hub

PATIENCE = 120
IDLE_SECONDS = 20
IMPORTS = "import torch, transformers; torch.ones(64, 64) @ torch.ones(64, 64)"


@dataclass(frozen=True)
class Taken:
    """Memory in MB (each shared page counted in parts, by who shares it), processor time in seconds."""

    memory: float
    seconds: float


def taken(hub: Hub, user: str) -> Taken:
    """What all processes of a user have, and have used."""
    number = int(hub.machine.run("id", "--user", user))
    memory = seconds = 0.0
    inside = _below(psutil.Process(hub.machine.process))
    for process in inside:
        if process.uids().real == number:
            memory += process.memory_full_info().pss / 1e6
            times = process.cpu_times()
            seconds += times.user + times.system
    return Taken(memory, seconds)


def _below(first: psutil.Process) -> list[psutil.Process]:
    """Every process of the machine: what shares the first one's process namespace."""
    space = Path(f"/proc/{first.pid}/ns/pid").readlink()
    found = []
    for process in psutil.process_iter():
        try:
            if Path(f"/proc/{process.pid}/ns/pid").readlink() == space:
                found.append(process)
        except OSError:
            continue
    return found


class Browser:
    """A student's browser, without a window."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.url, self.name, self.session = hub.url, name, requests.Session()
        self.session.get(f"{hub.url}/hub/login")
        sent = {"username": name, "password": PASSWORD, "_xsrf": self._token("/hub/")}
        self.session.post(f"{hub.url}/hub/login", data=sent).raise_for_status()
        self._post("/hub/", f"api/users/{name}/server")
        own = f"{hub.url}/user/{name}"
        # a page that is not ready yet leads to another one
        _until(lambda: self.session.get(f"{own}/lab").url.startswith(own), f"the server of {name}")

    def start_kernel(self) -> str:
        return str(self._post(f"/user/{self.name}/", "api/kernels", {"name": "python3"})["id"])

    def _token(self, path: str) -> str:
        return next(one.value or "" for one in self.session.cookies if one.name == "_xsrf" and one.path == path)

    def _post(self, base: str, path: str, sent: dict[str, str] | None = None) -> dict[str, str]:
        made = self.session.post(
            f"{self.url}{base}{path}", json=sent, headers={"X-XSRFToken": self._token(base), "Referer": self.url + base}
        )
        made.raise_for_status()
        found: dict[str, str] = made.json() if made.content else {}
        return found


def _until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come up in {PATIENCE} s")
        time.sleep(0.3)


def execute(hub: Hub, user: str, kernel: str, code: str) -> None:
    """Run a line in a student's kernel, and wait for its end."""
    path = f"/home/{user}/.local/share/jupyter/runtime/kernel-{kernel}.json"
    client = BlockingKernelClient()
    client.load_connection_info(json.loads(hub.machine.run("cat", path)))
    client.start_channels()
    try:
        reply = client.execute(code, reply=True, timeout=PATIENCE)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(f"{user}: {code}: {reply['content']}")
    finally:
        client.stop_channels()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=4, help="how many at once (default: 4)")
    count = parser.parse_args().students
    names = [f"student{number}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder, running_hub(Path(folder)) as hub:
        for name in names:
            hub.machine.run("useradd", "--create-home", "--key", "HOME_MODE=0700", "--groups", "students", name)
        hub.machine.run("chpasswd", input="".join(f"{name}:{PASSWORD}\n" for name in names))
        browsers = [Browser(hub, name) for name in names]
        stages = [[taken(hub, name) for name in names]]
        time.sleep(IDLE_SECONDS)
        stages.append([taken(hub, name) for name in names])
        kernels = [browser.start_kernel() for browser in browsers]
        for code in ("1", IMPORTS):
            for name, kernel in zip(names, kernels, strict=True):
                execute(hub, name, kernel, code)
            stages.append([taken(hub, name) for name in names])
        own = taken(hub, "root")
    memory = [mean(one.memory for one in stage) for stage in stages]
    seconds = [mean(one.seconds for one in stage) for stage in stages]
    print(f"Measured with {count} students at once; memory that several share is divided among them.\n")
    print("| a student who ... | memory, MB | processor time, s |\n|---|---|---|")
    print(f"| has logged in and opened JupyterLab | {memory[0]:.0f} | {seconds[0]:.1f} |")
    print(f"| then does nothing for a minute | {memory[1]:.0f} | {(seconds[1] - seconds[0]) * 60 / IDLE_SECONDS:.1f} |")
    print(f"| opens a notebook | {memory[2]:.0f} | {seconds[2] - seconds[1]:.1f} |")
    print(f"| imports torch and transformers in it | {memory[3]:.0f} | {seconds[3] - seconds[2]:.1f} |")
    print(f"| the hub and its proxy, once for all | {own.memory:.0f} | |")


if __name__ == "__main__":
    main()
