"""Cheap stand-ins for the grading of one submission. A module of its own: workers import it by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from autograder.classroom.workers import Job, JobResult, do
from autograder.model.course import Course
from autograder.model.graded import Graded
from autograder.model.verdict import SubmissionVerdict
from autograder.pipeline.execute import Limits


def jobs(students: list[str], root: Path = Path("nowhere")) -> list[Job]:
    course = Course(root)
    return [Job(course, "toy", student, Limits(), "none") for student in students]


def quick_or_deadly(job: Job) -> JobResult:
    """A submission called killer... kills its worker, always; one called victim... only while others run beside it."""
    if job.student.startswith("killer"):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.001)
    return JobResult(job, Graded(SubmissionVerdict(job.student, job.assignment), {}, ()))


def hungry(job: Job) -> JobResult:
    """As when memory is short: whoever finds another one at work is killed. ``job.course.root`` is where they meet."""
    mine = job.course.root / f"{job.student}.at-work"
    mine.touch()
    time.sleep(0.05)
    crowded = len(list(job.course.root.glob("*.at-work"))) > 1
    mine.unlink()
    if crowded and job.student.startswith("victim"):
        os.kill(os.getpid(), signal.SIGKILL)
    return JobResult(job, Graded(SubmissionVerdict(job.student, job.assignment), {}, ()))


def leave_a_mark(job: Job) -> JobResult:
    (job.course.root / job.student).touch()
    return quick_or_deadly(job)


def real_or_deadly(job: Job) -> JobResult:
    if job.student.startswith("killer"):
        os.kill(os.getpid(), signal.SIGKILL)
    return do(job)


def other_version(job: Job) -> JobResult:
    """What a worker sends back that has imported another grader."""
    return JobResult(job, None, version="another")
