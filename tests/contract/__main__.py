"""``python -m tests.contract [ASSIGNMENT[/EXERCISE] ...]``: try sample answers and record what each earns and is told.

Every difference from the record is printed. ``--compare`` records nothing and ends with exit code 1 where there is
one; ``--changed`` leaves out answers for which nothing has changed. Nothing is recorded of an assignment where an
answer does not get what its author wrote down, and the exit code is 1.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

from tqdm import tqdm

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import judged, samples
from autograder.authoring.trial import Trials, imports_of_trials
from autograder.kernel.fork_server import KernelForkServer
from autograder.model.course import Course
from tests.contract import recorded
from tests.grading import ROOT


@dataclass
class Outcome:
    """problems: what is not as the authors say. differences: from the record."""

    problems: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, recorded.Row]] = field(default_factory=dict)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ASSIGNMENT[/EXERCISE]")
    parser.add_argument("--compare", action="store_true", help="record nothing")
    parser.add_argument("--changed", action="store_true", help="only answers for which something has changed")
    options = parser.parse_args(arguments)
    course, failed = Course(ROOT), False
    with closing(KernelForkServer(imports_of_trials(ROOT))) as server:
        for name in options.names or course.assignments():
            found = outcome(course, server.address, *name.partition("/")[::2], changed=options.changed)
            print("\n".join([*found.problems, *found.differences, f"{name}: {len(found.differences)} differences"]))
            failed |= bool(found.problems or (options.compare and found.differences))
            if not found.problems and not options.compare:
                record(*name.partition("/")[::2], found)
    return int(failed)


def outcome(course: Course, fork_server: str, assignment: str, exercise: str, *, changed: bool) -> Outcome:
    found = Outcome()
    with Trials(Assignment.unreleased(course, assignment), fork_server) as trials, ThreadPoolExecutor(2) as pool:
        every = samples(trials, exercise)
        chosen = [sample for sample in every if not (changed and recorded.recorded(sample))]
        became = tqdm(pool.map(lambda one: judged(trials, one), chosen), assignment, len(chosen), disable=None)
        tried = dict(zip(map(str, chosen), became, strict=True))
    for sample in every:
        old = recorded.stored(sample)
        new = old
        if str(sample) in tried:
            problems, after = tried[str(sample)]
            new = recorded.row(sample, after)
            found.problems += [f"{sample}: {problem.text}" for problem in problems]
            found.differences += [f"{sample}: {line}" for line in recorded.differences(old, new)]
        found.rows.setdefault(sample.exercise, {})[recorded.name(sample)] = new or {}
    found.differences += list(_gone(assignment, found.rows))
    return found


def _gone(assignment: str, rows: dict[str, dict[str, recorded.Row]]) -> list[str]:
    """Recorded answers that nobody wrote down any more, whatever their name."""
    old = {exercise: recorded.table().get(f"{assignment}/{exercise}", {}).get("answers", {}) for exercise in rows}
    texts = {exercise: {row["text"] for row in answers.values()} for exercise, answers in rows.items()}
    return [
        f"{assignment}/{exercise}: {key}: there is no such answer any more"
        for exercise, answers in old.items()
        for key, row in answers.items()
        if row["text"] not in texts[exercise] and key not in rows[exercise]
    ]


def record(assignment: str, exercise: str, found: Outcome) -> None:
    """Of a whole assignment, exercises that are gone leave the record, too."""
    left_alone = {
        slug: entry for slug, entry in recorded.table().items() if exercise or not slug.startswith(f"{assignment}/")
    }
    made = {f"{assignment}/{name}": answers for name, answers in found.rows.items()}
    recorded.write(left_alone | {slug: {"state": recorded.state(slug), "answers": made[slug]} for slug in made})


if __name__ == "__main__":
    sys.exit(main())
