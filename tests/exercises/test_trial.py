"""Answers are tried one after the other, and each as if it were the only one."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from autograder.authoring import trial
from autograder.authoring.trial import Trials
from autograder.isolation import IsolationUnavailable
from autograder.kernel.fork_server import KernelForkServer
from tests.exercises.tiny import tiny_course

RIGHT = "def double(x):\n    return x + x"
#: Doubles only as long as nobody has been here before.
ONCE = "def double(x):\n    {trace}\n    return x + x"


@pytest.fixture(scope="module")
def fork_server() -> Iterator[str]:
    with closing(KernelForkServer()) as server:
        yield server.address


@pytest.fixture
def points(tmp_path: Path, fork_server: str):
    """Tries the texts, one after the other, behind a first cell with this line. -> their points"""

    def run(start: str, *answers: str, seconds: float = trial.MAX_SECONDS) -> list[float | None]:
        assignment = tiny_course(tmp_path / "course")
        assignment.source["1_tiny"].cells[0].source = f"import numpy as np\n{start}"
        with Trials(assignment, fork_server, seconds) as trials:
            return [trials.run({"doubled_answer": text}).verdicts["doubled"].points for text in answers]

    return run


Points = Callable[..., list[float | None]]


def test_an_answer_that_needs_other_cells_before_it_gets_them(points: Points) -> None:
    uses_what_the_unused_cell_binds = "def double(x):\n    return x + x if os else x"
    alone = "import sys\nassert 'os' not in globals()\ndef double(x):\n    return x + x"
    assert points("", uses_what_the_unused_cell_binds, alone) == [4.0, 4.0]


@pytest.mark.parametrize(
    ("start", "trace"),
    [
        ("", "with open('trace', 'x') as file: pass"),
        ("from pathlib import Path\nhere = Path.cwd() / 'trace'", "here.mkdir()"),
        ("Path = __import__('pathlib').Path; Path('trace').write_text('')", "Path('trace').unlink()"),
        ("seen = []", "assert not seen; seen.append(1)"),
        ("import json", "assert not hasattr(json, 'seen'); json.seen = True"),
        ("lines = open('/proc/self/status')", "assert lines.readline(5) == 'Name:'"),
        ("import mmap\nshared = mmap.mmap(-1, 4)", "assert shared.read(1) == b'\\0'; shared[0] = 1; shared.seek(0)"),
    ],
    ids=["a file", "a file under a path made before", "a file gone", "a name", "a module", "an open file", "memory"],
)
def test_an_answer_sees_no_trace_of_another(points: Points, start: str, trace: str) -> None:
    # the visible and the hidden part both call the answer: only the first call of each answer leaves its trace
    answer = f"from functools import cache\n@cache\ndef once():\n    {trace}\n{ONCE.format(trace='once()')}"
    assert points(start, answer, answer) == [4.0, 4.0]


def test_an_answer_that_ends_its_process_costs_no_other(points: Points) -> None:
    assert points("", "import os\nos._exit(0)", RIGHT) == [0.0, 4.0]


def test_an_answer_that_takes_too_much_memory_has_an_error_and_costs_no_other(points: Points) -> None:
    greedy = "def double(x):\n    np.empty(3 << 28)[:9] = 2  # 6 GB\n    return x + x"
    assert points("", greedy, RIGHT) == [0.0, 4.0]


def test_an_answer_that_takes_too_long_is_ended_once_and_not_for_each_part(points: Points) -> None:
    started = time.monotonic()
    assert points("", "def double(x):\n    while True: pass", seconds=2.0) == [0.0]
    assert time.monotonic() - started < 10


def test_an_answer_reads_no_more_of_the_course_than_a_students(points: Points, tmp_path: Path) -> None:
    expected = tmp_path / "course" / "exercises" / "tiny" / "manifest.json"
    reads = f"def double(x):\n    open({str(expected)!r})\n    return x + x"
    assert points("", reads) == [0.0]
    assert expected.is_file()


def test_threads_that_try_answers_at_once_do_not_meet(tmp_path: Path, fork_server: str) -> None:
    answer = f"open('trace', 'x').close()\n{RIGHT}"
    with Trials(tiny_course(tmp_path), fork_server) as trials, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: trials.run({"doubled_answer": answer}).verdicts["doubled"].points, range(12)))
    assert found == [4.0] * 12


@pytest.mark.slow
def test_where_nothing_can_be_confined_an_authors_own_answers_are_tried_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def available() -> None:
        raise IsolationUnavailable("this machine cannot")

    monkeypatch.setattr(trial, "available", available)
    with Trials(tiny_course(tmp_path)) as trials:
        assert [trials.run({"doubled_answer": text}).verdicts["doubled"].points for text in (RIGHT, "")] == [4.0, 0.0]
