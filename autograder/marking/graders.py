"""Who reads whose answers: evenly, and the same for everybody who asks."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from autograder.gradebook.records import read_by_student, record_path


def read_graders(root: Path, assignment: str) -> dict[str, str]:
    """Student to grader; empty where nobody was assigned. Raises GradingError where the file cannot be read."""
    remedy = f"'autograder assign-graders {assignment} --graders A,B' writes it again when it is gone"
    return read_by_student(record_path(root, "graders", assignment), str, remedy)


def assigned(
    assignment: str, students: Collection[str], graders: Sequence[str], before: Mapping[str, str]
) -> dict[str, str]:
    """Student to grader: the numbers differ by one at most, and whoever has a grader keeps them where that is even.

    Which student goes to whom is told by a hash of the names, so that it follows no list and is always the same.
    """
    order = sorted(students, key=lambda student: hashlib.sha256(f"{assignment}/{student}".encode()).digest())
    theirs = Counter(before[student] for student in order if before.get(student) in graders)
    least, more = divmod(len(order), len(graders))
    favoured = sorted(graders, key=lambda grader: (-theirs[grader], graders.index(grader)))[:more]
    free = {grader: least + (grader in favoured) for grader in graders}
    found: dict[str, str] = {}
    for student in order:
        if free.get(before.get(student, ""), 0):
            found[student] = before[student]
            free[before[student]] -= 1
    for student in order:
        if student not in found:
            found[student] = max(graders, key=lambda grader: (free[grader], -graders.index(grader)))
            free[found[student]] -= 1
    return found
