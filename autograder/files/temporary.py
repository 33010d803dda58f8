"""The one folder that holds everything temporary of this user's: kernels, sockets, locks, drafts.

Other users write into the system's temporary folder as well. Only this user can open or change this one, so no path
below it leads anywhere else than it did a moment ago.
"""

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from autograder.errors import GradingError

MAX_PARENT = 46  # characters: a unix socket's path ends at about 100, and ours have up to 50 more
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_PLACE = getattr(os, "O_PATH", 0) | _FOLDER
_UNMAPPED = 65534  # the owner, in a user namespace, of what belongs to somebody outside
_POSIX = os.name == "posix"


def own_folder(*, short: bool = False) -> Path:
    """This user's folder in the temporary folder. short: for sockets, in ``/tmp`` where the other path is too long.

    A folder of its name that somebody else has made is passed over. Raises GradingError where other users could rename
    what lies in the temporary folder.
    """
    parent = Path(tempfile.gettempdir())
    if not _POSIX:
        path = parent / "autograder"
        path.mkdir(exist_ok=True)
    else:
        parent = parent.resolve()
        if short and len(str(parent)) > MAX_PARENT:
            parent = Path("/tmp").resolve()
        _refuse_shared(parent)
        path = next(_own(parent))
    return path


def _refuse_shared(parent: Path) -> None:
    """Raises GradingError unless what this user makes in ``parent`` stays where it is, as OpenSSH asks of its files."""
    for folder in (parent, *parent.parents):
        found = folder.stat()
        if found.st_uid not in (0, os.geteuid(), _UNMAPPED) or (_is_open(found) and not found.st_mode & stat.S_ISVTX):
            raise GradingError(
                f"other users could replace the files of the grader in {parent}, because they may write in {folder}: "
                "set TMPDIR to a folder of yours, or 'chmod +t' that one"
            )


def _is_open(found: os.stat_result) -> bool:
    """Whether somebody else may write. A user's own group, with no other member, counts as the user."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(gid: int) -> bool:
    import grp
    import pwd

    if gid == 0:
        return True
    try:
        return grp.getgrgid(gid).gr_name == pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False


def _own(parent: Path) -> Iterator[Path]:
    """Folders in ``parent`` that are this user's alone: the usual one, those of another name, a new one."""
    name = f"autograder-{os.geteuid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(parent / name, 0o700)
    if _is_own_folder(parent / name):
        yield parent / name
    with os.scandir(parent) as entries:
        others = sorted(entry.path for entry in entries if entry.name.startswith(f"{name}-"))
    yield from (Path(path) for path in others if _is_own_folder(Path(path)))
    fresh = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
    _is_own_folder(fresh)
    yield fresh


def _is_own_folder(path: Path) -> bool:
    """Whether it is a folder that this user has made and nobody else may write in; nobody else may read it, either."""
    try:
        folder = os.open(path, _FOLDER)
    except OSError:
        return False
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
        mode = 0o711 if os.geteuid() == 0 else 0o700  # root's kernels have a uid of their own, and must get through
        if stat.S_IMODE(found.st_mode) != mode:
            os.fchmod(folder, mode)
        return True
    finally:
        os.close(folder)


class TemporaryFolder:
    """A new folder in :func:`own_folder`, and a lock on it for as long as this process uses it.

    Where the process is killed, the folder is removed by the next one that makes such a folder.
    """

    def __init__(self, prefix: str = "", *, short: bool = False) -> None:
        parent = own_folder(short=short)
        if _POSIX:
            _remove_left(parent)
        self._lock: int | None = None
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix or "x-", dir=parent))
            if not _POSIX:
                return
            with contextlib.suppress(FileNotFoundError):  # another process has taken it for one that was left
                self._lock = os.open(self.path, _FOLDER)
                if not locked(self._lock, wait=True) or os.path.exists(self.path):
                    return
                os.close(self._lock)

    def remove(self) -> None:
        """Delete the folder and all in it. Once is enough, twice does no harm."""
        remove_tree(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()


def locked(descriptor: int, *, wait: bool = False) -> bool:
    """Take a file's lock, if nobody holds it or when it is free. Where there are no such locks, none is ever free."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _remove_left(parent: Path) -> None:
    """Remove the folders of processes that were killed: nobody holds their locks."""
    place = os.open(parent, _PLACE)
    try:
        for name in os.listdir(f"/proc/self/fd/{place}" if os.path.isdir("/proc/self/fd") else parent):
            with contextlib.suppress(OSError):
                folder = os.open(name, _FOLDER, dir_fd=place)
                try:
                    if locked(folder):
                        remove_tree(parent / name)
                finally:
                    os.close(folder)
    finally:
        os.close(place)


def remove_tree(root: Path) -> None:
    """Delete a folder that nobody uses any more, however deep it was nested and whatever modes it was given.

    Follows no link: where ``root`` is one, nothing is deleted.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
    if not _POSIX or not stat.S_ISDIR(_mode(root)):
        return
    with contextlib.suppress(OSError):
        top = _opened(root)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(root)


def _mode(path: Path) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _empty(top: int) -> None:
    """Folders are moved up into ``top`` before they are emptied: so no path gets longer than the system allows."""
    todo = _emptied(top)
    while todo:
        folder = todo.pop()
        with contextlib.suppress(OSError):
            inner = _opened(folder, top)
            try:
                for name in _emptied(inner):
                    os.close(_opened(name, inner))  # made writable: else it cannot be moved
                    todo.append(secrets.token_hex(8))
                    os.rename(name, todo[-1], src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(folder, dir_fd=top)


def _emptied(folder: int) -> list[str]:
    """Delete the files in a folder; the names of the folders in it."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(entry.name, dir_fd=folder)
    return folders


def _opened(path: str | Path, within: int | None = None) -> int:
    """A folder's descriptor, after its owner was given all rights. Raises OSError for anything else."""
    place = os.open(path, _PLACE, dir_fd=within)
    try:
        if os.path.isdir("/proc/self/fd"):
            os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)  # by descriptor, which cannot be a link
        else:
            os.fchmod(place, stat.S_IRWXU)
        return os.open(path, _FOLDER, dir_fd=within)
    finally:
        os.close(place)
