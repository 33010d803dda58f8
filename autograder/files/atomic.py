"""Files and folders that take their place as a whole: all of it at once, or nothing has changed."""

import contextlib
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import GradingError


def names_of(folder: Path) -> tuple[str, str, str]:
    """The folder's own name, that of the one which is to replace it, and that of the one which it replaced."""
    return folder.name, f".{folder.name}.new", f".{folder.name}.old"


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new, empty folder beside ``folder``, which replaces it where the block ends without an error."""
    fresh, old = (folder.with_name(name) for name in names_of(folder)[1:])
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        yield fresh
        put_in_place(fresh, folder, old)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Whoever stops the program meanwhile is heard at the end: for steps of which all are taken or none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    usual = {one: signal.signal(one, lambda number, _: came.append(number)) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in usual.items():
            signal.signal(one, handler)
        if came:
            signal.raise_signal(came[0])


@undisturbed()
def put_in_place(fresh: Path, folder: Path, old: Path) -> None:
    """Let ``fresh`` take the place of ``folder``, which moves to ``old``; all three on one disk.

    Raises OSError, and leaves ``folder`` where it was.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        os.replace(folder, old)
    try:
        os.replace(fresh, folder)
    except OSError:
        if old.exists():
            os.replace(old, folder)
        raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises GradingError, in one line, for whatever the file system refuses in here: rights, space, a name."""
    try:
        yield
    except OSError as error:
        raise GradingError(f"{path} cannot be written: {error.strerror or error}") from error


def write_file(path: Path, data: bytes) -> None:
    """The whole file or none; what stood there before stays until then. Raises GradingError."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fresh.write_bytes(data)
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)


def append(path: Path, lines: bytes) -> int:
    """Write lines at the end of a file that a group may share; on disk when this returns. Returns where they begin.

    A line that a crash tore is ended first. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o660)
    try:
        size = os.fstat(descriptor).st_size
        left = b"\n" + lines if size and os.pread(descriptor, 1, size - 1) != b"\n" else lines
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size - len(lines)
    finally:
        os.close(descriptor)


#: The folders that this program makes of its own: times, logs, replaced work, grades.
FOLDERS = (".autograder", "exports", "reports", "terms", "archives")
_EVERYTHING = "# about students: git takes nothing from here\n*\n"


def keep_out_of_git(root: Path) -> None:
    """Give each of our folders that is there a ``.gitignore`` of its own. One that is there already stays."""
    for name in FOLDERS:
        path = root / name / ".gitignore"
        if path.parent.is_dir() and not path.exists():
            with contextlib.suppress(OSError):  # a folder that cannot be written holds nothing new
                path.write_text(_EVERYTHING, encoding="utf-8")


def open_to_others(folder: Path) -> bool:
    """Whether every user of this machine can read what lies in ``folder``: no folder on the way there is closed."""
    if os.name != "posix":
        return False
    on_the_way = (folder.resolve(), *folder.resolve().parents)
    return all(path.stat().st_mode & stat.S_IXOTH for path in on_the_way)
