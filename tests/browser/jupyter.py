"""A JupyterLab server as a person starts it: in a folder, with settings of its own."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 90

#: No question about news, and every cell in the page at once, also those out of sight.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}


@dataclass(frozen=True)
class Server:
    """``folder``: its root; ``url``: without a slash at the end; ``exchange``: nbgrader's, of this server alone."""

    folder: Path
    url: str
    token: str
    exchange: Path

    def page(self, path: str) -> str:
        """The address of a page for a browser that was not here before."""
        return f"{self.url}/{path.lstrip('/')}?token={self.token}"


@contextmanager
def jupyter_server(folder: Path, home: Path) -> Iterator[Server]:
    """JupyterLab on a free port, root and working directory ``folder``; whatever it writes for itself goes to ``home``.

    nbgrader's extensions are switched on by its installation; ``folder/nbgrader_config.py`` is read where there is one.
    """
    exchange = home / "exchange"
    _write_settings(home, exchange)
    port, token = _free_port(), secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    with open(home / "server.log", "wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=_environment(home), stdout=log, stderr=subprocess.STDOUT)
    server = Server(folder, f"http://127.0.0.1:{port}", token, exchange)
    try:
        _wait_until_up(server, process, home / "server.log")
        yield server
    finally:
        process.terminate()  # its kernels end with it
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
        "MPLCONFIGDIR": home / "matplotlib",
    }
    return {**os.environ, **{name: str(folder) for name, folder in own.items()}}


def _write_settings(home: Path, exchange: Path) -> None:
    exchange.mkdir()
    exchange.chmod(0o777)
    for plugin, settings in LAB_SETTINGS.items():
        path = home / "config" / "lab" / "user-settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
    (home / "config" / "nbgrader_config.json").write_text(json.dumps({"Exchange": {"root": str(exchange)}}))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(server.page("api/status"), timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")
