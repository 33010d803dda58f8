"""What one submission takes: graded, in CI, and where nothing is to be done; with and without ``autograder warm``."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.courses import ASSIGNMENT, call, check_grades, make_course
from benchmarks.measure import watched
from benchmarks.stages import where_the_time_goes

PAIRS = 5
#: command -> its words
COMMANDS = {
    "`autograder grade --force`": ("grade", ASSIGNMENT, "--force"),
    "`autograder ci`": ("ci", ASSIGNMENT, "{submission}"),
    "`autograder grade`, nothing to do": ("grade", ASSIGNMENT),
}


@dataclass(frozen=True)
class Pairs:
    """A command's seconds, run by turns alone and with a fork server that is kept ready."""

    alone: list[float]
    warm: list[float]

    def row(self) -> list[str]:
        """Seconds alone and warm, and how many times as long it takes alone: median, least and most of the pairs."""
        times = [alone / warm for alone, warm in zip(self.alone, self.warm, strict=True)]
        return [f"{median(self.alone):.2f}", f"{median(self.warm):.2f}",
                f"{median(times):.2f} ({min(times):.2f} to {max(times):.2f})"]  # fmt: skip


def one_submission(folder: Path) -> tuple[dict[str, Pairs], list[float]]:
    """command -> its times; and the seconds of the submission's cells, one after the other in warm kernels.

    All take turns, because a machine's pace changes.
    """
    course = make_course(folder, 1)
    (student,) = course.students(ASSIGNMENT)
    words = {
        name: tuple(word.format(submission=course.submitted(student, ASSIGNMENT)) for word in words)
        for name, words in COMMANDS.items()
    }
    pairs, cells = {name: Pairs([], []) for name in words}, []
    call(course.root, "autograder.cli", "grade", ASSIGNMENT)
    check_grades(course, 1)
    call(course.root, "autograder.cli", "warm")
    try:
        for _ in range(PAIRS):
            cells.append(where_the_time_goes(course, ASSIGNMENT)["cells"])
            for name, command in words.items():
                for times, switch in ((pairs[name].alone, "0"), (pairs[name].warm, "1")):
                    run = watched(course.root, "autograder.cli", *command, variables={"AUTOGRADER_WARM": switch})
                    times.append(run.seconds)
                    shutil.rmtree(course.root / "ci-results", ignore_errors=True)
    finally:
        call(course.root, "autograder.cli", "warm", "--stop")
    return pairs, cells
