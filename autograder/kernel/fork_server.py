"""The grader's end of the fork server: a warm process, kept alive, that forks kernels for whoever knows its address."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from autograder.errors import InfrastructureError, said
from autograder.files.temporary import TemporaryFolder
from autograder.isolation import Confined, Policy, channel_pair, system
from autograder.kernel.imports import KernelImports
from autograder.kernel.launch import Launch

_PROJECT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120.0
_STARTS = 3  # in a row that may fail before the fork server is given up
_WAITING = 128  # connections
#: A kernel makes and drops the same large tensors again and again. It keeps the memory that it got: to be given new
#: pages each time, zeroed by the system, takes longer than many a computation. Only glibc knows these settings.
_KEEP_MEMORY = f"glibc.malloc.mmap_threshold={1 << 30}:glibc.malloc.trim_threshold={1 << 30}"
_PASSED_ON = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH")


class ForkServerClient:
    """Has kernels forked by the fork server at an address. Safe to use from several threads and processes."""

    def __init__(self, address: str) -> None:
        self.address = address

    def fork(self, launch: Launch, policy: Policy) -> tuple[Confined, socket.socket]:
        """A new process, confined to ``policy``, and this end of its line (:mod:`autograder.tester.line`).

        It is about to serve on the sockets of its connection file, or as a tester where it has none.

        Where the fork server is just being started anew, the request waits for it. Raises InfrastructureError where
        there is none any more.
        """
        ours, theirs = channel_pair()
        line, other_end = channel_pair()
        request = json.dumps({"launch": asdict(launch), "policy": policy.to_json()}).encode()
        with theirs, other_end, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            try:
                connection.connect(self.address)
                socket.send_fds(connection, [request], [theirs.fileno(), other_end.fileno()])
            except OSError as error:
                ours.close()
                line.close()
                raise InfrastructureError(f"the fork server takes no requests: {error}") from error
        return Confined(ours), line


class KernelForkServer:
    """The warm process. It starts at once and in the background, again when it dies, and ends with :meth:`close`.

    Its socket lies in a folder of the grader's own, which no confined process can reach.
    """

    def __init__(self, imports: KernelImports = KernelImports()) -> None:
        self._imports = imports
        self._folder = TemporaryFolder("f-", short=True)
        self.address = str(self._folder.path / "socket")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(self.address)
        self._listener.listen(_WAITING)
        self._closing = False
        self._failure = ""
        self._up = threading.Event()  # the first start has come to an end, good or bad
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._process, self._channel = self._start()
        self._keeper.start()

    def ready(self) -> None:
        """Return when the fork server has come up. Raises InfrastructureError where it does not."""
        self._up.wait()
        if self._failure:
            raise InfrastructureError(f"the fork server did not start: {self._failure}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End the fork server, and with it every kernel that it started. Once is enough, twice does no harm."""
        if self._closing:
            return
        self._closing = True
        self._process.kill()
        self._keeper.join()
        self._listener.close()
        self._folder.remove()

    def _keep(self) -> None:
        """Start the fork server whenever there is none, until it is closed or fails to start several times in a row."""
        failures = 0
        while True:
            with self._channel:
                process = self._process
                self._failure = "" if self._closing else _reason_against(process, self._channel)
                failures = failures + 1 if self._failure else 0
                if self._failure or self._closing:
                    process.kill()
                if not self._failure or failures == _STARTS:
                    self._up.set()
                process.wait()
            if self._closing or failures == _STARTS:
                break
            try:
                self._process, self._channel = self._start()
            except OSError as error:
                self._failure = said(error)
                break
        self._up.set()
        if not self._closing:
            self._listener.close()  # nobody shall wait for it

    def _start(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """The process, and this end of the channel on which it says that it has come up."""
        ours, theirs = channel_pair()
        descriptors = [theirs.fileno(), self._listener.fileno()]
        code = (
            f"import gc, sys; gc.disable(); sys.path[:0] = {[str(_PROJECT), *self._imports.paths]!r}; "
            "from autograder.kernel.warm_process import main; "
            f"main(*{descriptors}, {self._imports.warm!r}, {self._imports.pictures})"
        )
        with theirs:
            process = system.start(
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=descriptors, env=variables(), start_new_session=True, cwd="/",
            )  # fmt: skip
        return process, ours


def _reason_against(process: subprocess.Popen[bytes], channel: socket.socket) -> str:
    """Wait until the fork server has come up; why it cannot be used, empty where it can."""
    assert process.stderr is not None
    with process.stderr:
        ready, _, _ = select.select([channel], [], [], _START_SECONDS)
        packet = b""
        if ready:
            with contextlib.suppress(OSError):
                packet = channel.recv(1 << 16)
        if not packet:
            process.kill()
            return process.stderr.read().decode(errors="replace").strip()[-2000:] or "it took too long"
    threads = json.loads(packet)["threads"]
    if threads != 1:
        return f"it has {threads} threads, so that its children could hang: a library that it imports starts them"
    return ""


def variables() -> dict[str, str]:
    """The environment variables of a fork server, and of every kernel that it forks."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed_on,
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
        "MALLOC_ARENA_MAX": "2",  # else every thread of a kernel reserves 64 MB of its bounded address space
        "GLIBC_TUNABLES": _KEEP_MEMORY,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
