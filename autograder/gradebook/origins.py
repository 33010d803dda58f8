"""Where each submission came from: the LMS's own number, name and files, so that feedback can go back the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import write_file


@dataclass(frozen=True)
class Origin:
    """``kind``: canvas, moodle, github or exchange; ``id`` and ``name``: as the LMS has them; ``files``: file of the
    submission -> its name in the download; from Canvas's API ``#`` and the attachment's number, then its name.
    """

    kind: str
    id: str
    name: str
    files: Mapping[str, str] = field(default_factory=dict)


def origins_path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "origins" / f"{assignment}.json"


def read_origins(root: Path, assignment: str) -> dict[str, Origin]:
    """Student -> origin; empty where nothing was collected. Raises GradingError where the record cannot be read."""
    path = origins_path(root, assignment)
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return {student: Origin(**about) for student, about in said.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise GradingError(f"{path} cannot be read ({error}): collect again, and it is written anew") from error


def record_origins(root: Path, assignment: str, origins: Mapping[str, Origin]) -> None:
    """Add or replace the origins of these students."""
    before = read_origins(root, assignment)
    after = {**before, **origins}
    if after != before:
        lines = {student: asdict(after[student]) for student in sorted(after)}
        text = json.dumps(lines, indent=1, ensure_ascii=False) + "\n"
        write_file(origins_path(root, assignment), text.encode())
