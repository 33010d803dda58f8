"""Records below ``.autograder/`` whose keys are students: what is kept of them beside nbgrader's gradebook.

One of them says who reads whose answers: evenly, and the same for everybody who asks.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model.plain_text import one_form

Kept = TypeVar("Kept")


def record_path(root: Path, kind: str, assignment: str) -> Path:
    return root / ".autograder" / kind / f"{assignment}.json"


def read_by_student(path: Path, read: Callable[[Any], Kept], remedy: str) -> dict[str, Kept]:
    """Student to what ``read`` makes of the entry; empty without the file. Raises GradingError, with the remedy."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {one_form(student): read(entry) for student, entry in kept.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise GradingError(f"{path} cannot be read ({error}): {remedy}") from error


def write_by_student(path: Path, kept: Mapping[str, object]) -> None:
    """In the order of the students. Raises GradingError."""
    write_file(path, (json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False) + "\n").encode())


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
