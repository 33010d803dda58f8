"""Where the time of one submission goes: the stages of the pipeline, timed one by one in one process."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom import autograded
from autograder.gradebook.write import open_gradebook
from autograder.gradebook.write import save as save_grades
from autograder.kernel.imports import imports_of
from autograder.kernel.kernels import Kernels
from autograder.kernel.running_kernel import Kernel
from autograder.model.course import Course
from autograder.pipeline import grade as grading
from autograder.pipeline.execute import Limits


@contextmanager
def _timed(seconds: dict[str, float], targets: dict[str, tuple[object, str]]) -> Iterator[None]:
    def wrap(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                seconds[name] += time.perf_counter() - started

        return timed

    patches = [patch.object(owner, attribute, wrap(name, getattr(owner, attribute)))
               for name, (owner, attribute) in targets.items()]  # fmt: skip
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def where_the_time_goes(course: Course, assignment_name: str) -> dict[str, float]:
    """stage -> seconds per submission, over every submission of the course, one after the other."""
    assignment = Assignment.open(course.root, assignment_name)
    students = course.students(assignment_name)
    seconds: dict[str, float] = defaultdict(float)
    targets = {
        "rebuild": (grading, "prepare"),
        "fork": (Kernels, "start"),
        "cells": (Kernel, "execute"),
        "end of the kernel": (Kernel, "close"),
        "judge": (grading, "judge"),
        "write into cells": (grading, "write_into"),
    }
    with (
        Kernels.open("auto", imports=imports_of(course)) as kernels,
        open_gradebook(course.db_url, assignment_name) as gradebook,
    ):
        grading.grade_submission(_read(course, students[0], assignment), assignment, kernels, Limits())  # warm
        started = time.perf_counter()
        with _timed(seconds, targets):
            for student in students:
                graded = grading.grade_submission(_read(course, student, assignment), assignment, kernels, Limits())
                saving = time.perf_counter()
                autograded.write_autograded(course, graded, assignment.source)
                save_grades(gradebook, graded)
                seconds["save"] += time.perf_counter() - saving
        total = time.perf_counter() - started
    seconds["everything else"] = total - sum(seconds.values())
    return {name: spent / len(students) for name, spent in seconds.items()}


def _read(course: Course, student: str, assignment: Assignment) -> Any:
    return read_submission(course.submitted(student, assignment.name), student, assignment)
