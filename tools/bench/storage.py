"""What the grading of one submission reads and writes on a file system that many machines share."""

from collections.abc import Sequence
from pathlib import Path

from autograder.pipeline.stored_runs import path_of
from tools.bench.courses import ASSIGNMENT, call, check_grades, make_course

SUBMISSIONS = 5


def stored(folder: Path) -> dict[str, tuple[int, int]]:
    """what -> files and bytes of one submission. Of what the class has in one file, the submission's share."""
    course = make_course(folder, SUBMISSIONS)
    call(course.root, "autograder.cli", "grade", ASSIGNMENT)
    check_grades(course, SUBMISSIONS)
    student, own = course.students(ASSIGNMENT)[0], course.root / ".autograder"
    written = [*_files(course.autograded(student, ASSIGNMENT)), *(own / "answers").rglob(f"{student}.json")]
    ran = path_of(course.root, ASSIGNMENT, student)
    together = [course.root / "gradebook.db", own / f"{ASSIGNMENT}.jsonl"]
    return {
        "read: what was handed in": _size(_files(course.submitted(student, ASSIGNMENT))),
        "written: notebooks, verdicts, log, digests of the answers, what ran": _size([*written, ran]),
        "its share of the gradebook (SQLite) and of the journal": (0, _size(together)[1] // SUBMISSIONS),
    }


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _size(paths: Sequence[Path]) -> tuple[int, int]:
    return len(paths), sum(path.stat().st_size for path in paths)
