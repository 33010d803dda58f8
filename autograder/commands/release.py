"""``autograder release [ASSIGNMENT ...]``: make the students' notebooks with nbgrader, prove them, put them in place.

Exit codes: 0 released; 1 something does not hold, and is listed: that release stays as it was; 2 nothing could be done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING

from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.pipeline.execute import Kernels


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("release", help="make the students' notebooks, and prove them", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="default: all")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.kernel.imports import imports_of
    from autograder.model.course import Course, unknown_assignment
    from autograder.pipeline.execute import Kernels

    course = Course(args.course)
    known = course.assignments()
    names = [name.rstrip("/") for name in args.assignment] or known
    if not names:
        expected = f"{course.source('<assignment>')}/<notebook>.ipynb"
        raise GradingError(f"{course.root} holds no assignment to release: expected {expected}")
    for name in names:
        if name not in known:
            raise GradingError(unknown_assignment(course, name))
    imports = imports_of(course)
    broken = refused = 0
    with ExitStack() as until_done:
        # what stands in the source is looked at before the first kernel starts
        kernels = cache(lambda: until_done.enter_context(Kernels.open("auto", imports=imports)))
        for name in names:
            try:
                broken += not _release(course, name, kernels)
            except GradingError as error:
                if len(names) == 1:
                    raise
                print(f"{name}: not released: {error}", file=sys.stderr)
                refused += 1
    if refused == len(names):
        return 2
    return 1 if broken or refused else 0


def _release(course: Course, name: str, kernels: Callable[[], Kernels]) -> bool:
    """True where everything holds and the release is in its place."""
    from autograder.release.verify import drafted

    holds = True
    with drafted(course, name) as draft:
        print(f"{name}:")
        for proof in draft.prove(kernels()):
            print(f"  {'✗' if proof.problems else '✓'} {proof.name}")
            for problem in proof.problems:
                print(f"      {problem}")
            holds = holds and not proof.problems
        if holds:
            draft.put_in_place()
            print("  released")
        else:
            print(f"  not released: {course.release(name)} is as it was")
    return holds
