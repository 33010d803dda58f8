"""Killed, starved and locked out at random moments: grades as of an undisturbed run, nothing lost, nothing twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.conftest import (
    ASSIGNMENT,
    MOMENTS,
    ROUNDS,
    assert_as_if_nothing_had_happened,
    below,
    finish,
    grader,
    grades,
    holding,
    is_fork_server,
    is_kernel,
    is_worker,
    kill_beneath,
    random_moments,
)
from tools.bench.courses import environment

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]


def test_random_kills_change_no_grade(course, undisturbed):
    """Grader, worker, fork server and kernel ``ROUNDS`` times each, in any order; the same command goes on.

    Every moment at which a worker can be lost is tried by tests/silent/test_killed_workers.py; here they meet.
    """
    chance = random.Random(1)
    victims = ROUNDS * [None, is_worker, is_fork_server, is_kernel]
    chance.shuffle(victims)
    kill_beneath(course, victims, chance)
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
def cluster(tmp_path_factory) -> Iterator[DaskCluster]:
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    with DaskCluster(tmp_path_factory.mktemp("dask")) as started:
        yield started


def test_two_dask_workers_give_the_grades_of_the_local_run(course, undisturbed, cluster):
    assert finish(course, "--scheduler", cluster.address) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


def test_killed_dask_workers_change_no_grade(course, undisturbed, cluster):
    chance = random.Random(2)
    process = grader(course, "--scheduler", cluster.address, "--force")
    for _ in range(ROUNDS):
        if process.poll() is not None:
            process = grader(course, "--scheduler", cluster.address, "--force")
        while process.poll() is None and not (course.root / "autograded").is_dir():
            time.sleep(0.02)  # until there is something to lose
        time.sleep(chance.uniform(0.05, 1.0))
        cluster.kill_a_worker()
        cluster.start_worker()
    process.wait(timeout=300)
    assert finish(course) == 0
    assert_as_if_nothing_had_happened(course, undisturbed)


class DaskCluster:
    """A scheduler and two workers with one thread each, as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes, self.workers, self.address = folder, [], [], ""

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        log = (self.folder / "dask.log").open("ab")
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        process = subprocess.Popen(command, cwd=self.folder, env=environment(), stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def start_worker(self) -> None:
        self.workers.append(self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                                        "--local-directory", str(self.folder / "dask")))  # fmt: skip

    def kill_a_worker(self) -> None:
        """The one that has run longest."""
        victim = self.workers.pop(0)
        victim.kill()
        victim.wait()

    def __enter__(self) -> DaskCluster:
        contact = self.folder / "scheduler.json"
        self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(contact)
        )
        while not self.address:
            with contextlib.suppress(OSError, ValueError):  # not there yet, or half written
                self.address = json.loads(contact.read_text())["address"]
            time.sleep(0.05)
        self.start_worker()
        self.start_worker()
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
