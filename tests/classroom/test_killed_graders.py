"""Killed, starved and locked out at random moments: grades as of an undisturbed run, nothing lost, nothing twice."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text

from autograder.classroom.workers import PROCESS_NAME
from autograder.model.course import Course
from tests.classroom.jobs import crew
from tests.pipeline.conftest import SMALL, SMALL_NOTEBOOK, small_course
from tools.bench.courses import environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]

#: Says whether a process is of the kind that is to be killed.
Victim = Callable[[psutil.Process], bool]

ASSIGNMENT, NOTEBOOK = SMALL, SMALL_NOTEBOOK
#: How often each process is killed: FAULTS_ROUNDS=6 kills thirty times in all.
ROUNDS = int(os.environ.get("FAULTS_ROUNDS", "1"))
MOMENTS = ROUNDS + 1


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Course:
    """Five submissions of one notebook: solved, and two that are not."""
    students = [f"student{number}" for number in range(5)]
    course = small_course(tmp_path_factory.mktemp("faults") / "course", *students)
    for student in students[1:4:2]:
        shutil.copy(course.release(ASSIGNMENT) / f"{NOTEBOOK}.ipynb", course.submitted(student, ASSIGNMENT))
    return course


@pytest.fixture
def course(handed_in, tmp_path) -> Course:
    return Course(shutil.copytree(handed_in.root, tmp_path / "course"))


def grader(course: Course, *words: str, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "autograder.cli", "grade", ASSIGNMENT, "--workers", "2", *words]
    log = (course.root / "grader.log").open("ab")
    settings = {"cwd": course.root, "env": environment(), "stdout": log, "stderr": log, **options}
    return subprocess.Popen(command, **settings)


def finish(course: Course, *words: str) -> int:
    """Grade to the end, as the instructor would who types the command again."""
    code = grader(course, *words).wait(timeout=300)
    assert code in (0, 1), (course.root / "grader.log").read_text()[-3000:]
    return code


@pytest.fixture(scope="module")
def undisturbed(handed_in, tmp_path_factory) -> dict[str, tuple[float, ...]]:
    course = Course(shutil.copytree(handed_in.root, tmp_path_factory.mktemp("calm") / "course"))
    assert finish(course) == 0
    return grades(course)


def grades(course: Course) -> dict[str, tuple[float, ...]]:
    """student -> automatic scores, one per row of the gradebook: a row too many would show."""
    with Gradebook(course.db_url) as gradebook:
        return {
            submission.student.id: tuple(
                grade.auto_score for notebook in submission.notebooks for grade in notebook.grades
            )
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def assert_as_if_nothing_had_happened(course: Course, undisturbed: dict[str, tuple[float, ...]]) -> None:
    assert grades(course) == undisturbed
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.db.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    for student in undisturbed:
        assert (course.autograded(student, ASSIGNMENT) / "verdicts.json").is_file()
    left = [path.name for path in (course.root / "autograded").rglob(".*")]
    assert not left, f"half-written folders were left behind: {left}"


def random_moments(
    process: subprocess.Popen[bytes], count: int, longest: float, chance: random.Random
) -> Iterator[None]:
    """Up to ``count`` random moments in the life of a process, at most ``longest`` seconds apart."""
    for _ in range(count):
        time.sleep(chance.uniform(0.05, longest))
        if process.poll() is not None:
            return
        yield


def below(process: subprocess.Popen[bytes], wanted: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    """The descendants of a process that are wanted; none that ends while being looked at."""
    found = []
    try:
        for child in psutil.Process(process.pid).children(recursive=True):
            try:
                if wanted(child):
                    found.append(child)
            except psutil.Error:
                continue
    except psutil.Error:
        pass
    return found


def kill_beneath(course: Course, victims: list[Victim | None], chance: random.Random) -> None:
    """Grade by force, again and again, until each of ``victims`` (None: the grader) was killed, in this order."""
    process = grader(course, "--force")
    for victim in victims:
        killed = False
        while not killed:
            if process.poll() is not None:
                process = grader(course, "--force")
            elif not below(process, is_kernel):  # a grader that has not begun to grade is no news
                time.sleep(0.02)
            else:
                time.sleep(chance.uniform(0.05, 1.0))
                killed = _kill_one(process, victim, chance)
    process.wait(timeout=300)


def _kill_one(process: subprocess.Popen[bytes], victim: Victim | None, chance: random.Random) -> bool:
    """Whether there was one to be killed: a kernel lives for a moment only, and may have ended by itself."""
    found = below(process, victim) if victim else [psutil.Process(process.pid)] if process.poll() is None else []
    try:
        if found:
            chance.choice(found).kill()
    except psutil.Error:
        return False
    return bool(found)


def is_worker(process: psutil.Process) -> bool:
    return process.name() == PROCESS_NAME


def is_fork_server(process: psutil.Process) -> bool:
    return _is_fork_server_family(process) and not _is_fork_server_family(process.parent())


def is_kernel(process: psutil.Process) -> bool:
    """Or the supervisor above one."""
    return _is_fork_server_family(process) and _is_fork_server_family(process.parent())


def _is_fork_server_family(process: psutil.Process) -> bool:
    return "kernel.warm_process" in " ".join(process.cmdline())


@contextmanager
def holding(database: Path) -> Iterator[None]:
    """The gradebook locked by somebody else."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def test_random_kills_change_no_grade(course, undisturbed):
    """Grader, worker, fork server and kernel ``ROUNDS`` times each, in any order; the same command goes on.

    Every moment at which a worker can be lost is tried by test_workers.py; here they meet.
    """
    chance = random.Random(1)
    victims = ROUNDS * [None, is_worker, is_fork_server, is_kernel]
    chance.shuffle(victims)
    kill_beneath(course, victims, chance)
    assert finish(course) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_grader_says_so_in_one_line_and_goes_on_later(course, undisturbed, stop):
    """Ctrl-C reaches every process of the terminal, and many of them are coming up at these moments."""
    log = course.root / "grader.log"
    for seconds in (0.0, 0.5, 1.0, 1.5, 2.5):
        process = grader(course, start_new_session=True)
        while process.poll() is None and not psutil.Process(process.pid).children():
            time.sleep(0.02)  # before it starts any, Python is still reading the grader
        time.sleep(seconds)
        (os.killpg if stop == signal.SIGINT else os.kill)(process.pid, stop)
        code, said = process.wait(timeout=60), log.read_text().splitlines()
        if code == 130:
            assert "stopped; the same command goes on" in said[-1]
            assert [line for line in said if not line.startswith("the stored references")] == said[-1:]
        assert code in (0, 130) and "Traceback" not in "".join(said)
        log.unlink()
    assert finish(course) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


def test_nothing_outlives_a_killed_grader(course):
    process = grader(course)
    while not (children := below(process, is_kernel)) and process.poll() is None:
        time.sleep(0.05)
    everything = [*children, *below(process, is_worker), *below(process, is_fork_server)]
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(everything, timeout=15)
    assert not alive


def test_a_grader_killed_between_run_and_verdict_changes_no_grade(course, undisturbed):
    """It is killed as soon as the first run is kept; the next one judges what it finds, and runs the rest."""
    kept = course.root / ".autograder" / "executed" / ASSIGNMENT
    process = grader(course)
    while not list(kept.glob("*.zip")) and process.poll() is None:
        time.sleep(0.005)
    for one in [*below(process, is_worker), psutil.Process(process.pid)]:
        one.kill()
    process.wait()
    assert list(kept.glob("*.zip"))
    assert finish(course) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


def test_a_locked_gradebook_is_waited_for(course, undisturbed):
    chance = random.Random(4)
    held = 0
    while held < MOMENTS:
        process = grader(course, "--force")
        for _ in random_moments(process, MOMENTS - held, 1.0, chance):
            try:
                with holding(course.root / "gradebook.db"):
                    time.sleep(0.5)
                held += 1
            except sqlite3.OperationalError:
                continue  # the grader itself was writing just then
        assert process.wait(timeout=300) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small disk takes root"
)
def test_a_full_disk_in_the_scratch_folder_is_reported_and_made_good_later(course, undisturbed, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        chance = random.Random(5)
        filled = 0
        while filled < MOMENTS:
            process = grader(course, "--force", env={**environment(), "TMPDIR": str(small)})
            for _ in random_moments(process, MOMENTS - filled, 1.5, chance):
                fill(small / "filler")
                time.sleep(0.3)
                (small / "filler").unlink()
                filled += 1
            process.wait(timeout=300)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    recorded = grades(course)
    assert all(
        score is None or score == expected
        for student, scores in recorded.items()
        for score, expected in zip(scores, undisturbed[student], strict=True)
    )
    finish(course)
    assert_as_if_nothing_had_happened(course, undisturbed)


def fill(filler: Path) -> None:
    """Write until nothing more goes onto the disk."""
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 65536):
            pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a scheduler with two workers, which are there again at once when they have died."""
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    with crew(2) as address:
        yield address


def test_two_dask_workers_give_the_grades_of_the_local_run(course, undisturbed, cluster):
    assert finish(course, "--scheduler", cluster) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


def test_killed_dask_workers_change_no_grade(course, undisturbed, cluster):
    chance = random.Random(2)
    process = grader(course, "--scheduler", cluster, "--force")
    for _ in range(ROUNDS):
        if process.poll() is not None:
            process = grader(course, "--scheduler", cluster, "--force")
        while process.poll() is None and not (course.root / "autograded").is_dir():
            time.sleep(0.02)  # until there is something to lose
        time.sleep(chance.uniform(0.05, 1.0))
        chance.choice(dask_workers()).kill()
    process.wait(timeout=300)
    assert finish(course) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


def dask_workers() -> list[psutil.Process]:
    """Those of the crew: processes that the fork server of this one has forked."""
    (server,) = (child for child in psutil.Process().children() if "forkserver" in " ".join(child.cmdline()))
    return server.children()
