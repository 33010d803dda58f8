"""What one submission takes: graded, in CI, and where nothing is to be done."""

import shutil
from pathlib import Path

from tools.bench.courses import ASSIGNMENT, call, check_grades, make_course
from tools.bench.measure import watched
from tools.bench.stages import where_the_time_goes

ROUNDS = 5
#: command -> its words
COMMANDS = {
    "`autograder grade --force`": ("grade", ASSIGNMENT, "--force"),
    "`autograder ci`": ("ci", ASSIGNMENT, "{submission}"),
    "`autograder grade`, nothing to do": ("grade", ASSIGNMENT),
}
CELLS = "the cells alone"


def one_submission(folder: Path) -> dict[str, list[float]]:
    """command -> its seconds; ``CELLS`` -> those of the submission's cells, one after the other in warm kernels.

    All take turns, because a machine's pace changes.
    """
    course = make_course(folder, 1)
    (student,) = course.students(ASSIGNMENT)
    found: dict[str, list[float]] = {name: [] for name in (*COMMANDS, CELLS)}
    call(course.root, "autograder.cli", "grade", ASSIGNMENT)
    check_grades(course, 1)
    for _ in range(ROUNDS):
        found[CELLS].append(where_the_time_goes(course, ASSIGNMENT)["cells"])
        for name, words in COMMANDS.items():
            command = [word.format(submission=course.submitted(student, ASSIGNMENT)) for word in words]
            found[name].append(watched(course.root, "autograder.cli", *command).seconds)
            shutil.rmtree(course.root / "ci-results", ignore_errors=True)
    return found
