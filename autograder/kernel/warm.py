"""Fork servers that outlive the command that started them: ``autograder warm`` keeps one ready for a while.

Each has a file in a folder that is this user's alone. It is named by a digest of everything that the server has
imported: where the course's library, the grader or an installed package changes, nobody finds the server any more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import site
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from autograder.errors import GradingError
from autograder.files.temporary import locked, own_folder
from autograder.kernel.fork_server import KernelForkServer, variables
from autograder.kernel.imports import KernelImports

#: Set to "0", no command uses a fork server that is kept.
SWITCH = "AUTOGRADER_WARM"
_GRADER = Path(__file__).resolve().parents[1]
_LOOK = 1.0  # seconds between two looks at who needs the server


@dataclass(frozen=True)
class KeptForkServer:
    """A fork server that another process keeps; it stays as long as this is not closed. As :class:`KernelForkServer`.

    address: of its socket.
    """

    address: str
    _user: IO[bytes]

    def ready(self) -> None:
        """It has come up long ago."""

    def close(self) -> None:
        """Let go of it. Once is enough, twice does no harm."""
        self._user.close()


def folder() -> Path:
    """Where the servers' files lie: locked by nobody, it must be no :class:`TemporaryFolder`."""
    return own_folder()


def kept_fork_server(imports: KernelImports) -> KeptForkServer | None:
    """The fork server that is kept with just these imports, if there is one. To be closed."""
    if os.name != "posix" or os.environ.get(SWITCH) == "0":
        return None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, GradingError):
        path = folder() / f"{state(imports)}.json"
        user = path.open("rb")
        try:
            said = json.loads(user.read())
            held = locked(user.fileno(), shared=True)
            if held and _is_kept(path.with_name(said["lock"])) and _answers(said["address"]):
                return KeptForkServer(said["address"], user)
        except BaseException:
            user.close()
            raise
        user.close()
    return None


def keep(imports: KernelImports, idle_seconds: float, say: IO[str]) -> None:
    """Keep a fork server until nobody has used it for so long, or its file is gone. Says "ready" when it is.

    Raises InfrastructureError where it does not start.
    """
    path = folder() / f"{state(imports)}.json"  # as it is before anything is imported
    server = KernelForkServer(imports)
    with contextlib.closing(server):
        server.ready()
        draft, lock = (path.with_suffix(f".{os.getpid()}{suffix}") for suffix in ("", ".lock"))
        draft.write_text(json.dumps({"address": server.address, "lock": lock.name}), encoding="utf-8")
        with lock.open("wb") as alive, draft.open("rb") as own:
            locked(alive.fileno())  # for as long as this process lives
            draft.replace(path)
            say.write("ready\n")
            say.close()
            _until_unused(path, own, idle_seconds)
            lock.unlink(missing_ok=True)


def _until_unused(path: Path, own: IO[bytes], idle_seconds: float) -> None:
    last_used = time.monotonic()
    while True:
        time.sleep(_LOOK)
        wanted = _is(path, own)
        if not locked(own.fileno()):
            last_used = time.monotonic()
            continue
        if not wanted or time.monotonic() - last_used >= idle_seconds:
            if wanted:
                path.unlink()  # while nobody can hold it
            return
        _let_go(own)


def stop() -> int:
    """Let every kept server end as soon as nobody uses it; how many there were."""
    found = list(folder().glob("*.json"))
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def state(imports: KernelImports) -> str:
    """A digest of what a server with these imports holds: names, code, packages, environment."""
    parts = [asdict(imports), variables(), sys.executable, sys.version, os.getuid()]
    parts += sorted([str(path), found.st_mtime_ns, found.st_size] for path, found in _code(imports))
    for place in (*site.getsitepackages(), *(path for path in sys.path if path.endswith("site-packages"))):
        with contextlib.suppress(OSError):
            parts.append([place, os.stat(place).st_mtime_ns])  # every installation changes it
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _code(imports: KernelImports) -> Iterator[tuple[Path, os.stat_result]]:
    for place in (_GRADER, *map(Path, imports.readable)):
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.suffix in (".py", ".so", ".json", ".toml", ".safetensors"):
                yield path, path.stat()


def _is_kept(lock: Path) -> bool:
    """Whether the server's keeper lives: the server itself notices only some seconds later that it does not."""
    with lock.open("rb") as alive:
        return not locked(alive.fileno(), shared=True)


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        return connection.connect_ex(address) == 0


def _is(path: Path, file: IO[bytes]) -> bool:
    """Whether the path still leads to this file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return False


def _let_go(file: IO[bytes]) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_UN)
