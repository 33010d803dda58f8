"""``python -m tests.exercises.messages [ASSIGNMENT ...]``: try every sample answer and write what each is told.

Answers that are proven already are not tried again; ``--all`` tries them, too. Ends with exit code 1 where an answer
does not get what its author wrote down: nothing is written for its assignment then.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tqdm import tqdm

from autograder.authoring.forks import WarmServer
from autograder.authoring.sample_answers import Sample, judged, samples
from autograder.authoring.trial import Trials
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from tests.exercises import recorded
from tests.grading import ROOT


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    parser.add_argument("--all", action="store_true", help="try what is proven, too")
    options = parser.parse_args(arguments)
    course = Course(ROOT)
    with WarmServer(course.file.warm) as server:
        said = [
            line
            for assignment in options.assignments or course.assignments()
            for line in record(Assignment.unreleased(course, assignment), server, everything=options.all)
        ]
    print("\n".join(said))
    return 1 if said else 0


def record(assignment: Assignment, server: WarmServer, *, everything: bool = False) -> list[str]:
    """Write an assignment's table; returns what is not as the authors of the answers say."""
    old = recorded.table(assignment.name)["answers"]
    with Trials(assignment, server) as trials, ThreadPoolExecutor(2) as pool:
        every = samples(trials)

        def row(sample: Sample) -> tuple[list[str], dict[str, Any]]:
            if recorded.proven(sample) and not everything:
                return [], old[recorded.name(sample)]
            found, tried = judged(trials, sample)
            lines = [f"{sample}: {problem.text}" for problem in found]
            return lines, recorded.row(sample, tried) if not lines else {}

        done = list(tqdm(pool.map(row, every), total=len(every), desc=assignment.name, disable=None))
    problems = [line for lines, _ in done for line in lines]
    if problems:
        return problems
    answers = {recorded.name(sample): found for sample, (_, found) in zip(every, done, strict=True)}
    for key in old.keys() & answers.keys():
        if recorded.alike(old[key], answers[key]):
            answers[key] = old[key]
    recorded.FOLDER.mkdir(exist_ok=True)
    text = json.dumps({"state": recorded.state(assignment.name), "answers": answers}, indent=1, ensure_ascii=False)
    (recorded.FOLDER / f"{assignment.name}.json").write_text(text + "\n", encoding="utf-8")
    return []


if __name__ == "__main__":
    sys.exit(main())
