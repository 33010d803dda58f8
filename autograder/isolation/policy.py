"""What a confined process may use: folders, memory, processes, disk."""

import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]  # autograder/, which holds the references

_SYSTEM = (
    "/lib", "/lib32", "/lib64", "/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/bin",
    "/usr/share/fonts", "/usr/share/fontconfig", "/usr/local/share/fonts", "/usr/share/zoneinfo", "/usr/share/locale",
    "/usr/share/i18n", "/usr/share/mime", "/usr/share/terminfo", "/var/cache/fontconfig",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone",
    "/etc/fonts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/mime.types", "/etc/os-release",
    "/etc/locale.alias", "/etc/alternatives",
    "/dev/urandom", "/dev/random",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version", "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/ngroups_max", "/proc/sys/kernel/cap_last_cap",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip

#: Prefixes that are shared with the rest of the system, of which only these folders belong to Python.
_SHARED_PREFIXES = (Path("/"), Path("/usr"), Path("/usr/local"))
_PYTHON_FOLDERS = ("bin", "lib", "lib64", "include")


@dataclass(frozen=True)
class Policy:
    """What a confined process may do; everything else it may not.

    read, write: files and folders with all beneath; ``write`` includes reading.
    listed: folders of which the names beneath may be seen, not the contents.
    sockets: folders in which unix sockets may be made.
    memory_bytes: for the whole tree of processes, beyond what the first one was born with.
    processes: processes and threads alive at once.
    disk_bytes: for one file, and for all files beneath ``write`` together.
    """

    read: tuple[str, ...]
    write: tuple[str, ...]
    listed: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    memory_bytes: int = 4 << 30
    processes: int = 64
    disk_bytes: int = 256 << 20

    def to_json(self) -> str:
        return json.dumps(vars(self))

    @staticmethod
    def from_json(text: str) -> "Policy":
        data: dict[str, Any] = json.loads(text)
        folders = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
        return Policy(**(data | folders))


@dataclass(frozen=True)
class Readable:
    """The parts of the machine that a notebook needs to read; see :class:`Policy` for the two words."""

    read: tuple[str, ...]
    listed: tuple[str, ...]


@cache
def environment() -> Readable:
    """The Python environment and the system's libraries and fonts; of ``autograder/`` the rules, which hold no secret:
    visible checks judge by them.
    """
    listed: set[str] = set()
    read = [path for root in _roots() for path in _without(root, _PACKAGE, listed)]
    read.append(str(_PACKAGE / "exercise"))
    return Readable(tuple(dict.fromkeys(read)), tuple(sorted(listed)))


def _roots() -> Iterator[Path]:
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for prefix in sorted(Path(prefix) for prefix in prefixes):
        yield from _belonging_to_python(prefix)
        yield from _belonging_to_python(prefix.resolve())
    for folder in sorted({*sysconfig.get_paths().values(), *site.getsitepackages(), *_user_site()}):
        yield Path(folder)
    yield Path(sys.executable).resolve()
    yield from (Path(path) for path in _SYSTEM)


def _belonging_to_python(prefix: Path) -> Iterator[Path]:
    if prefix in _SHARED_PREFIXES:
        yield from (prefix / folder for folder in _PYTHON_FOLDERS)
    else:
        yield prefix


def _user_site() -> Iterable[str]:
    return [site.getusersitepackages()] if site.ENABLE_USER_SITE else []


def _without(root: Path, secret: Path, listed: set[str]) -> Iterator[str]:
    """``root``, or its parts where ``secret`` lies beneath it: an allow-list cannot take anything back."""
    real = root.resolve()
    if real == secret or secret in real.parents:
        return
    if real not in secret.parents:
        if os.path.lexists(root):
            yield str(root)
        return
    listed.add(str(real))
    for child in sorted(real.iterdir()):
        yield from _without(child, secret, listed)
