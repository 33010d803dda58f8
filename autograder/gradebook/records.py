"""Records below ``.autograder/`` whose keys are students: what is kept of them beside nbgrader's gradebook."""

import json
from collections.abc import Callable, Mapping
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
