"""Running a command while watching what it takes: seconds, peak memory of the parent, private memory of its workers."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.courses import environment


@dataclass(frozen=True)
class Measured:
    seconds: float
    parent_mb: float
    worker_mb: float


def watched(course: Path, *words: str) -> Measured:
    """Run ``python -m WORDS`` in the course's folder, looking at its processes four times a second.

    worker_mb: the largest private memory (unique set size) of any one process below it.
    """
    command = [sys.executable, "-m", *words]
    with tempfile.TemporaryFile() as log:  # not a pipe: nobody reads while it runs, and stock nbgrader says much
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=course, env=environment(), stdout=subprocess.DEVNULL, stderr=log)
        parent_peak, worker_peak = _peaks(process)
        seconds = time.perf_counter() - started
        log.seek(0)
        said = log.read().decode(errors="replace")
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}:\n{said[-2000:]}")
    return Measured(seconds, parent_peak / 1e6, worker_peak / 1e6)


def _peaks(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Bytes: the parent's resident memory, and the largest private memory below it, until the process has ended."""
    parent, parent_peak, worker_peak = psutil.Process(process.pid), 0, 0
    while process.poll() is None:
        try:
            parent_peak = max(parent_peak, parent.memory_info().rss)
            worker_peak = max([worker_peak, *(_private(child) for child in parent.children(recursive=True))])
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.25)
    return parent_peak, worker_peak


def _private(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().uss
    except psutil.Error:
        return 0
