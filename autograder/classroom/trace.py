"""Which files this process has read, which folders it has listed, and how each of them was just before.

What a run of ``autograder grade`` finds depends on nothing else on disk: where all of that is as it was, the next run
would find the same (:mod:`.unchanged`). Noted by an audit hook of Python's, so that whatever reads one more file is
known here without a word. A file that is only asked for is not noted: :meth:`Trace.look` is for those.

This module imports next to nothing of the grader, so that the trace can begin before all the rest is imported.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from autograder.files.temporary import used

#: How a path was: kind, numbers of the system's, names in a folder. None: there was nothing.
Stamp = list[int | str] | None

#: A file that was changed so short a time before it was read may be changed again within one tick of the system's
#: clock, and look the same. Where times are no finer than a millisecond, a tick may be two seconds.
_TICK, _COARSE_TICK = 50_000_000, 2_000_000_000  # nanoseconds
_SYSTEMS = ("/proc/", "/sys/", "/dev/")
_LISTINGS = ("os.listdir", "os.scandir")
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

_hooked = False
_traces: list[Trace] = []
_busy = threading.local()


class Trace:
    """From :meth:`begin` to :meth:`end`. The first look at a path counts, so that no later change is missed."""

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.fresh: set[str] = set()  # what was read just after it was changed, and may have been changed again

    @classmethod
    def begin(cls) -> Trace:
        """A trace that knows the modules that are imported already."""
        global _hooked
        trace = cls()
        for module in list(sys.modules.values()):
            if path := getattr(module, "__file__", None):
                trace.look(path)
        _traces.append(trace)
        if not _hooked:
            _hooked = True
            sys.addaudithook(_note)  # for good: Python has no way to remove one
        return trace

    def end(self) -> None:
        with suppress(ValueError):
            _traces.remove(self)

    def look(self, path: str | Path) -> None:
        """Note a path that others may only ask whether it is there."""
        path = os.path.abspath(path)
        if path in self.stamps or path.startswith(_SYSTEMS):
            return
        found, changed = _stamp(path)
        self.stamps[path] = found
        if changed and time.time_ns() - changed < (_TICK if changed % 1_000_000 else _COARSE_TICK):
            self.fresh.add(path)

    def note(self, path: str) -> None:
        """As :meth:`look`, for what is about to be read. Raises nothing: that would keep it from being read."""
        try:
            for one in _with_source(path):
                if one != tempfile.gettempdir():  # everybody's
                    self.look(one)
        except (OSError, ValueError):  # the working folder is gone, say, or this is no path
            self.fresh.add(path)

    def forget(self, places: Iterable[Path]) -> None:
        """Look again at these files, and at what lies in these folders, when they are read the next time."""
        gone = set(map(str, places))
        for path in list(self.stamps):
            if path in gone or any(str(parent) in gone for parent in Path(path).parents):
                del self.stamps[path]
                self.fresh.discard(path)

    def lasting(self, root: Path) -> dict[str, Stamp]:
        """What is still of interest: without temporary files outside of ``root`` that are gone by now."""
        temporary, own = tempfile.gettempdir() + os.sep, str(root) + os.sep
        ours = tuple(str(folder) for folder in used)
        return {
            path: found
            for path, found in self.stamps.items()
            if found is None or path.startswith(own) or not path.startswith((temporary, *ours))
            or (os.path.lexists(path) and not path.startswith(ours))
        }  # fmt: skip


def is_as_it_was(path: str, before: Stamp) -> bool:
    """Whether a path looks the same as when it was noted."""
    return _stamp(path)[0] == before


def _stamp(path: str) -> tuple[Stamp, int]:
    """How a path is now, and when it was changed last, in nanoseconds; for a folder 0."""
    try:
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode):
            real, changed = _stamp(os.path.realpath(path))
            return ["link", about.st_ino, about.st_ctime_ns, *(real or ["nothing"])], max(changed, about.st_ctime_ns)
        if stat.S_ISDIR(about.st_mode):
            names = "\0".join(sorted(os.listdir(path)))
            return ["folder", hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()[:16]], 0
    except (OSError, ValueError):
        return None, 0
    numbers = [about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_mode]
    return ["file", *numbers], max(about.st_mtime_ns, about.st_ctime_ns)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    """Told by Python before anything is opened or listed."""
    if not _traces or getattr(_busy, "now", False):
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & _ACCESS != os.O_RDONLY:
            return
    elif event in _LISTINGS:
        path = arguments[0] if arguments[0] is not None else os.getcwd()
    elif event == "sqlite3.connect":
        path = arguments[0]
    else:
        return
    if isinstance(path, str | bytes | os.PathLike):
        _busy.now = True
        try:
            for trace in _traces:
                trace.note(os.fsdecode(path))
        finally:
            _busy.now = False


def _with_source(path: str) -> tuple[str, ...]:
    """Of a module that Python has compiled before, the source, which it does not open but looks at."""
    if path.endswith(".pyc") and "__pycache__" in path:
        folder, name = os.path.split(path)
        return (os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py"),)
    return (path,)
