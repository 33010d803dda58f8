"""What ``autograder regrade`` did: a line per submission in ``.autograder/regraded/<assignment>.jsonl``."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import append, writing


@dataclass(frozen=True)
class Change:
    """The points of one exercise before and after; None where nobody had decided, or the exercise was not there.

    ``kept``: the points that grading again would have taken away, where they stayed; None where none would.
    """

    notebook: str
    exercise: str
    old: float | None
    new: float | None
    kept: float | None = None


@dataclass(frozen=True)
class Regrading:
    """One submission that was graded again on ``date``. ``why``: what had changed on the instructor's side."""

    date: date
    why: str
    changes: tuple[Change, ...] = ()


def regradings_path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "regraded" / f"{assignment}.jsonl"


def read_regradings(root: Path, assignment: str) -> dict[str, tuple[Regrading, ...]]:
    """Student to what was done, the oldest first. A line that was cut off by a crash is left out.

    Raises GradingError where the file cannot be read.
    """
    path = regradings_path(root, assignment)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    found: dict[str, tuple[Regrading, ...]] = {}
    for line in text.splitlines():
        try:
            data = json.loads(line)
            changes = tuple(Change(**one) for one in data["changes"])
            one = Regrading(date.fromisoformat(data["date"]), str(data["why"]), changes)
            student = str(data["student"])
        except (ValueError, KeyError, TypeError):
            continue
        found[student] = (*found.get(student, ()), one)
    return found


def add_regradings(root: Path, assignment: str, done: Iterable[tuple[str, Regrading]]) -> None:
    path = regradings_path(root, assignment)
    lines = "".join(
        json.dumps({"student": student, **asdict(one)}, default=date.isoformat) + "\n" for student, one in done
    )
    if lines:
        with writing(path):
            append(path, lines.encode())
