"""One run at a time for each assignment: two would write the same folders and the same rows."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.errors import GradingError


@contextlib.contextmanager
def only_run(root: Path, assignment: str) -> Iterator[None]:
    """Hold the assignment while it is graded. The system lets go of it when this process ends, however it ends.

    Raises GradingError where another run holds it.
    """
    folder = root / ".autograder"
    holder = folder / f"{assignment}.pid"  # beside the lock: whoever asks for that empties it
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{assignment}.lock", timeout=0, mode=0o660)
        lock.acquire()
    except Timeout as error:
        raise GradingError(
            f"another run is grading {assignment} (pid {_read(holder)}): wait until it has ended, or stop it"
        ) from error
    except OSError as error:
        raise GradingError(f"{folder} cannot be written: {error.strerror or error}") from error
    with contextlib.suppress(OSError):
        holder.write_text(str(os.getpid()), encoding="utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.unlink()
        lock.release()


def _read(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8").strip() or "unknown"
    except OSError:
        return "unknown"
