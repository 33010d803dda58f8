"""Running a command while watching what it takes: seconds, peak memory of the parent, private memory of its workers."""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

import psutil

from tools.bench.courses import environment

_LOOK_EVERY = 0.25  # seconds
#: Looks between two at private memory: it holds up whoever is looked at, and so slows down what has many processes.
_PRIVATE_EVERY = 4


@dataclass(frozen=True)
class Measured:
    """``last_line``: the last that the command wrote to its standard output."""

    seconds: float
    parent_mb: float
    worker_mb: float
    last_line: str = ""


def watched(course: Path, *words: str, variables: Mapping[str, str] = MappingProxyType({})) -> Measured:
    """Run ``python -m WORDS`` in the course's folder, looking at it four times a second, at those below it once.

    variables: of its environment, beside those of every competitor.
    worker_mb: the largest private memory (unique set size) of any one process below it.
    """
    command = [sys.executable, "-m", *words]
    # files, not pipes: nobody reads while it runs, and stock nbgrader says much
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as log:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=course, env={**environment(), **variables}, stdout=said, stderr=log)
        parent_peak, worker_peak = _peaks(process)
        seconds = time.perf_counter() - started
        if process.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {process.returncode}:\n{_end_of(log)}")
        last_line = (_end_of(said).splitlines() or [""])[-1]
    return Measured(seconds, parent_peak / 1e6, worker_peak / 1e6, last_line)


def _end_of(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")[-2000:]


def _peaks(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Bytes: the parent's resident memory, and the largest private memory below it, until the process has ended."""
    parent, parent_peak, worker_peak = psutil.Process(process.pid), 0, 0
    for look in itertools.count():
        try:
            parent_peak = max(parent_peak, parent.memory_info().rss)
            if look % _PRIVATE_EVERY == 0:
                worker_peak = max([worker_peak, *(_private(child) for child in parent.children(recursive=True))])
        except psutil.NoSuchProcess:
            pass
        try:
            process.wait(_LOOK_EVERY)
            break
        except subprocess.TimeoutExpired:
            continue
    return parent_peak, worker_peak


def _private(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().uss
    except psutil.Error:
        return 0
