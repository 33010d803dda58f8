"""Answers are tried one after the other from a common start, and each as if it were the only one."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import IO

import pytest

from autograder.authoring.forks import WarmServer
from autograder.authoring.trial import Trials
from autograder.errors import GradingError
from tests.exercises.tiny import tiny_course

#: The first cell of the tiny course counts how often it runs, where the test can read it.
COUNTED = "import numpy as np\nwith open({log!r}, 'a') as file:\n    print('ran', file=file)\n"
RIGHT = "def double(x):\n    return x + x"
#: Doubles only as long as nobody has been here before.
ONCE = "def double(x):\n    {trace}\n    return x + x"


@pytest.fixture(scope="module")
def server():
    with WarmServer(()) as warm:
        yield warm


@pytest.fixture
def tried(tmp_path: Path, server: WarmServer):
    """Tries the texts, one after the other, behind a first cell with this line. -> points, and runs of that cell."""

    def run(start: str, *answers: str) -> tuple[list[float | None], int]:
        assignment, log = tiny_course(tmp_path / "course"), tmp_path / "log"
        assignment.source["1_tiny"].cells[0].source = COUNTED.format(log=str(log)) + start
        with Trials(assignment, server) as trials:
            points = [trials.run({"doubled_answer": text}).verdicts["doubled"].points for text in answers]
        return points, len(log.read_text().splitlines())

    return run


Tried = Callable[..., tuple[list[float | None], int]]


def test_the_cells_before_an_answer_run_once_for_all_answers(tried: Tried) -> None:
    assert tried("", RIGHT, "def double(x):\n    return x ** 2", RIGHT) == ([4.0, 0.0, 4.0], 1)


def test_an_answer_that_needs_other_cells_before_it_begins_elsewhere(tried: Tried) -> None:
    uses_what_the_unused_cell_binds = "def double(x):\n    return x + x if os else x"
    assert tried("", RIGHT, uses_what_the_unused_cell_binds, RIGHT) == ([4.0, 4.0, 4.0], 2)


@pytest.mark.parametrize(
    ("start", "trace"),
    [
        ("", "with open('trace', 'x') as file: pass"),
        ("from pathlib import Path\nhere = Path.cwd() / 'trace'", "here.mkdir()"),
        ("Path = __import__('pathlib').Path; Path('trace').write_text('')", "Path('trace').unlink()"),
        ("seen = []", "assert not seen; seen.append(1)"),
        ("import json", "assert not hasattr(json, 'seen'); json.seen = True"),
    ],
    ids=["a file", "a file under a path made before", "a file gone", "a name", "a module"],
)
def test_an_answer_sees_no_trace_of_another(tried: Tried, start: str, trace: str) -> None:
    # the visible and the hidden part both call the answer: only the first call of each answer leaves its trace
    answer = f"from functools import cache\n@cache\ndef once():\n    {trace}\n{ONCE.format(trace='once()')}"
    assert tried(start, answer, answer) == ([4.0, 4.0], 1)


@pytest.mark.parametrize(
    ("start", "trace"),
    [
        ("lines = open('/proc/self/status')", "assert lines.readline(5) == 'Name:'"),
        ("import mmap\nshared = mmap.mmap(-1, 4)", "assert shared.read(1) == b'\\0'; shared[0] = 1; shared.seek(0)"),
        (
            "import threading\nstop = threading.Event()\nhelper = threading.Thread(target=stop.wait)\nhelper.start()",
            "import os; assert len(os.listdir('/proc/self/task')) == 2; stop.set(); helper.join()",
        ),
    ],
    ids=["an open file", "shared memory", "a thread"],
)
def test_cells_whose_result_cannot_be_copied_run_anew_for_each_answer(tried: Tried, start: str, trace: str) -> None:
    answer = f"from functools import cache\n@cache\ndef once():\n    {trace}\n{ONCE.format(trace='once()')}"
    points, runs = tried(start, answer, answer)
    assert points == [4.0, 4.0]
    assert runs == 3  # once to find out


def test_an_answer_that_ends_its_process_costs_no_other(tried: Tried) -> None:
    assert tried("", "import os\nos._exit(0)", RIGHT) == ([0.0, 4.0], 1)


def test_an_answer_that_takes_too_much_memory_has_an_error_and_costs_no_other(tried: Tried) -> None:
    greedy = "def double(x):\n    np.empty(3 << 28)[:9] = 2  # 6 GB\n    return x + x"
    assert tried("", greedy, RIGHT) == ([0.0, 4.0], 1)


def test_what_an_answer_leaves_running_is_ended_with_it(tried: Tried, tmp_path: Path) -> None:
    held = tmp_path / "held"
    leaves = f"""
        import fcntl, os, threading
        held = open({str(held)!r}, "w")
        fcntl.flock(held, fcntl.LOCK_EX)
        if not os.fork():
            threading.Event().wait(60)
    """
    assert tried("", f"{dedent(leaves)}\n{RIGHT}") == ([4.0], 1)
    with held.open() as file:
        deadline = time.monotonic() + 20
        while not free(file) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert free(file)


def free(file: IO[str]) -> bool:
    """True where nobody else holds a lock on the file: who had it has ended."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_threads_that_try_answers_at_once_do_not_meet(tmp_path: Path, server: WarmServer) -> None:
    answer = f"open('trace', 'x').close()\n{RIGHT}"
    with Trials(tiny_course(tmp_path), server) as trials, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: trials.run({"doubled_answer": answer}).verdicts["doubled"].points, range(12)))
    assert found == [4.0] * 12


def test_a_server_that_has_ended_is_said_in_one_line(tmp_path: Path) -> None:
    with WarmServer(()) as ended, Trials(tiny_course(tmp_path), ended) as trials:
        ended._process.kill()
        ended._process.wait()
        with pytest.raises(GradingError, match="the process that tries answers has ended"):
            trials.run({"doubled_answer": RIGHT})
