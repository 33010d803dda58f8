"""``python -m tests.pairs [ASSIGNMENT ...]``: every wrong answer beside right ones, and every wrong seam.

Prints what costs an exercise that is not wrong. Exit code 1 where something does.
"""

from __future__ import annotations

import argparse
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tqdm import tqdm

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import Trials, imports_of_trials
from autograder.kernel.fork_server import KernelForkServer
from autograder.model.course import Course
from tests.grading import ROOT
from tests.pairs.made import Try, problem, wrong_beside_right, wrong_seams


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    parser.add_argument("--per-pair", type=int, default=0, help="so many wrong answers to an exercise; default: all")
    parser.add_argument("--only", choices=["pairs", "seams"], help="one of the two kinds")
    options = parser.parse_args(arguments)
    course, found = Course(ROOT), list[str]()
    with closing(KernelForkServer(imports_of_trials(ROOT))) as server:
        for name in options.assignments or course.assignments():
            with Trials(Assignment.unreleased(course, name), server.address) as trials, ThreadPoolExecutor(2) as pool:
                tries: list[Try] = []
                if options.only != "seams":
                    tries += wrong_beside_right(trials, random.Random(0), options.per_pair)
                if options.only != "pairs":
                    tries += wrong_seams(trials)
                judged = pool.map(lambda one: problem(trials, one), tries)
                said = [line for line in tqdm(judged, name, len(tries), disable=None) if line]
                print("\n".join([*said, f"{name}: {len(tries)} tries, {len(said)} not as they should be"]), flush=True)
                found += said
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
