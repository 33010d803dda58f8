"""The folder of one kernel: what it may write, what it may read, where its sockets are.

::

    <scratch>/work/      the notebook's folder: the files that came with it (read and write)
    <scratch>/home/      HOME, TMPDIR and every library's own folder (read and write)
    <scratch>/out/       out/answers/ takes the answers (read and write)
    <scratch>/inputs/    the stored inputs, read-only
    <scratch>/s/         unix sockets, which the kernel may make and not take away
"""

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from autograder.errors import InfrastructureError
from autograder.files.temporary import TemporaryFolder, own_folder, remove_tree
from autograder.isolation import Policy, environment, usage

_SHARE = 4  # a kernel may take one part in so many of what is free when it starts, so that none can fill the disk alone
_LEAST = 2 << 20  # bytes with which a kernel can begin
_LOW = 16 << 20  # bytes, or an eighth of what was free, below which something may already have failed
_LOW_FILES = 64


class DiskQuota:
    """What was free when a kernel started, and whether others have taken it since. Sizes in bytes."""

    def __init__(self, folder: Path, own: Sequence[Path], disk_bytes: int) -> None:
        """``own``: where the kernel may write at most ``disk_bytes``. Raises InfrastructureError where all is taken."""
        self._folder, self._own = folder, tuple(map(str, own))
        self._laid_out = usage.disk(self._own, sys.maxsize)
        free = _free(folder)
        if free < _LEAST:
            raise InfrastructureError(f"{folder.parent} is full: make room there, or name another place in TMPDIR")
        self._low = min(_LOW, free // 8)
        self.disk_bytes = min(disk_bytes, free // _SHARE)

    def ran_out(self) -> bool:
        """Whether the disk is full, and not by what this kernel wrote itself."""
        if _free(self._folder) >= self._low:
            return False
        bound = self._laid_out + self.disk_bytes
        return usage.disk(self._own, bound) <= bound


def kernels_within_quota(disk_bytes: int) -> int:
    """How many kernels may write so much each and still, all together, cannot fill the disk."""
    return _free(own_folder(short=True)) // (_SHARE * disk_bytes)


def _free(folder: Path) -> int:
    """Bytes that an ordinary user can still write; 0 where no more files can be made."""
    if not hasattr(os, "statvfs"):
        return sys.maxsize
    state = os.statvfs(folder)
    if state.f_files and state.f_favail < _LOW_FILES:
        return 0
    return state.f_bavail * state.f_frsize


NOTEBOOK = ".ipynb"
#: Slug of an exercise -> the files of inputs that a kernel may read, by their names.
Inputs = Mapping[str, Mapping[str, bytes]]
NO_INPUTS: Inputs = MappingProxyType({})
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS")


def kernels_folder() -> TemporaryFolder:
    """A new folder for the scratch folders of one grader."""
    folder = TemporaryFolder("k-", short=True)
    if os.name == "posix" and os.geteuid() == 0:
        folder.path.chmod(0o711)  # a kernel under a uid of its own must get through; its folders are closed to others
    return folder


class Scratch:
    """A folder laid out for one kernel; ``remove`` takes it away, whatever the kernel has made of it."""

    def __init__(
        self, root: Path, files: Mapping[str, bytes] = {}, inputs: Inputs = NO_INPUTS, ready_made: Sequence[str] = ()
    ) -> None:
        """Lay out ``root``, which must not exist.

        files: name relative to the notebook's folder -> content.
        inputs: slug -> files that the kernel may read, by their names.
        ready_made: parts whose use is noted.
        Raises ValueError for a name that leads out of its folder, OSError where the disk is full.
        """
        self.root, self._ready_made = root, ready_made
        root.mkdir(mode=0o711)  # as its parent
        for name in ("work", "home", "out", "inputs", "s"):
            (root / name).mkdir(mode=0o700)
        (root / "home" / "tmp").mkdir()
        for name, content in files.items():
            target = _inside(root / "work", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if name.endswith(NOTEBOOK):
                _as_unread(target)
        self._notebooks = [name for name in files if name.endswith(NOTEBOOK)]
        self._tells_reads = bool(self._notebooks) and _tells_reads(root)
        for slug, stored in inputs.items():
            for name, content in stored.items():
                target = _inside(root / "inputs", f"{slug}/{name}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def writable(self) -> tuple[Path, ...]:
        return tuple(self.root / name for name in ("work", "home", "out"))

    @property
    def socket_prefix(self) -> str:
        return str(self.root / "s" / "k")

    @property
    def connection_file(self) -> Path:
        return self.root / "connection.json"

    def policy(self, memory_bytes: int, processes: int, disk_bytes: int, readable: tuple[str, ...] = ()) -> Policy:
        """What a kernel in this folder may do. ``readable``: more files and folders that it may read."""
        python = environment()
        return Policy(
            read=(*python.read, str(self.root / "inputs"), str(self.connection_file), *readable),
            listed=python.listed,
            write=tuple(map(str, self.writable)),
            sockets=(str(self.root / "s"),),
            memory_bytes=memory_bytes,
            processes=processes,
            disk_bytes=disk_bytes,
        )

    def variables(self) -> dict[str, str]:
        """The kernel's whole environment: made from nothing, so that no token of the instructor's is in it."""
        home = self.root / "home"
        return {
            "PATH": os.pathsep.join((str(Path(sys.prefix, "bin")), "/usr/bin", "/bin")),
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "IPYTHONDIR": str(home),
            "MPLCONFIGDIR": str(home / "matplotlib"),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "JUPYTER_RUNTIME_DIR": str(home / "jupyter"),
            "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
            "JUPYTER_DATA_DIR": str(home / "jupyter"),
            "JUPYTER_PLATFORM_DIRS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            **dict.fromkeys(_THREADS, "1"),
            "NBGRADER_EXECUTION": "autograde",  # what a notebook asks to know where it runs
            "AUTOGRADER_INPUTS": str(self.root / "inputs"),
            "AUTOGRADER_ANSWERS": str(self.out / "answers"),
            "AUTOGRADER_READY_MADE": " ".join(self._ready_made),
        }

    def clear_answers(self) -> bool:
        """Put whatever lies at the answers' place out of the way; False where that failed.

        It is renamed within its folder, which follows no link and needs no right to the thing itself.
        """
        aside = self.out / f".{secrets.token_hex(8)}"
        try:
            os.rename(self.out / "answers", aside)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def read_notebooks(self) -> frozenset[str]:
        """The notebooks laid out here that somebody may have read since, as file names.

        By the time of last access, which Linux moves on with the first read after a change. All of them where the file
        system does not, or where the file is gone.
        """
        return frozenset(name for name in self._notebooks if not self._tells_reads or _was_read(self.work / name))

    def remove(self) -> None:
        remove_tree(self.root)


def _as_unread(path: Path) -> None:
    os.utime(path, ns=(0, path.stat().st_mtime_ns))


def _was_read(path: Path) -> bool:
    try:
        return path.lstat().st_atime_ns != 0
    except OSError:
        return True


def _tells_reads(folder: Path) -> bool:
    """Whether the file system of ``folder`` notes that a file was read; some are mounted not to."""
    probe = folder / "probe"
    probe.write_bytes(b"?")
    _as_unread(probe)
    probe.read_bytes()
    noted = _was_read(probe)
    probe.unlink()
    return noted


def _inside(folder: Path, name: str) -> Path:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"{name!r} is not a name within the notebook's folder")
    return folder / path


MAX_BYTES = 16 << 20  # one cell's answers together; the judge reads less of each file, as its case asks for
MAX_FILES = 64
MAX_OF_SUBMISSION = 64 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.safetensors")
_SLUG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Non-blocking, because a pipe that stands in a file's place would be waited on for ever.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def collect_answers(out: Path, slug: str, answers: Path, most: int = MAX_BYTES) -> list[str]:
    """Copy ``<out>/answers/<slug>/*.safetensors`` to ``<answers>/<slug>/``.

    out: the kernel's folder for answers, itself trusted; nothing beneath it is.
    most: bytes that are taken altogether.
    Returns notes on what was not taken. A submission that handed over nothing is no error.
    Raises ValueError for a slug that is no name, OSError where ``answers`` cannot be written.
    """
    if not _SLUG.fullmatch(slug):
        raise ValueError(f"{slug!r} is not the name of a reference")
    notes: list[str] = []
    with contextlib.ExitStack() as opened:
        folder = _descend(out, ["answers", *slug.split("/")], opened)
        if folder is None:
            return [f"{slug}: no answers"]
        left = most
        for name in _names(folder, notes):
            content = _read(folder, name, left)
            if content is None:
                notes.append(f"{slug}/{name}: not a plain file, or too large together with the others")
                continue
            left -= len(content)
            target = answers / slug / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return notes


def _descend(root: Path, parts: list[str], opened: contextlib.ExitStack) -> int | None:
    """A descriptor of the folder; None where a part is missing, a link or no folder."""
    folder = os.open(root, _FOLDER)
    opened.callback(os.close, folder)
    for part in parts:
        try:
            folder = os.open(part, _FOLDER, dir_fd=folder)
        except OSError:
            return None
        opened.callback(os.close, folder)
    return folder


def _names(folder: int, notes: list[str]) -> Iterator[str]:
    """The names that answers may have, in order; a folder with very many is not read to its end."""
    names: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_FILES:
                notes.append(f"more than {MAX_FILES} files: the others were not taken")
                break
            if _NAME.fullmatch(entry.name):
                names.append(entry.name)
    yield from sorted(names)


def _read(folder: int, name: str, most: int) -> bytes | None:
    """The content of a plain file that has no other name; None for anything else, or more than ``most`` bytes."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_size > most:
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        content = file.read(most + 1)
    return content if len(content) <= most else None
