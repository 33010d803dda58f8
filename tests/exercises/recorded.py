"""The table of what every sample answer is told, and which answers have to be tried because something has changed.

``messages/<assignment>.json`` is written by ``python -m tests.exercises.messages``. It holds, for every answer, the
points that it keeps and what the visible check and feedback say to it, and a digest of what that depends on. Where the
digest is the same, the tests try one answer in eight; where it is not, all. An answer that the table does not have yet
is tried, and needs no entry.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.authoring.sample_answers import Sample
from autograder.authoring.trial import Tried
from tests.grading import ROOT

FOLDER = Path(__file__).with_name("messages")
ONE_IN = 8
#: What decides about an answer, beside the assignment's own exercises, visible checks and cells.
_SHARED = (
    "exercises/*.py", "course/check/*.py", "autograder/exercise/*.py", "autograder/pipeline/judge.py",
    "autograder/authoring/trial.py", "autograder/authoring/sample_answers.py",
)  # fmt: skip
#: Measured numbers differ between processors in their last digits.
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+|\bnan\b|-?\binf\b")


def digest(*values: object) -> str:
    total = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:16]


@lru_cache
def state(assignment: str, root: Path = ROOT) -> str:
    """Digest of what the verdicts on an assignment's answers depend on, but the answers themselves."""
    folders = (root / "exercises" / assignment, root / "course" / "check" / assignment, root / "source" / assignment)
    own = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    shared = [path for pattern in _SHARED for path in root.glob(pattern)]
    parts: list[object] = []
    for path in sorted({*own, *shared}):
        if "__pycache__" not in path.parts and not path.name.lstrip("_").startswith("answers"):
            parts += [path.relative_to(root).as_posix(), _content(path)]
    return digest(*parts)


def _content(path: Path) -> bytes:
    """Of a notebook only the code counts."""
    data = path.read_bytes()
    if path.suffix != ".ipynb":
        return data
    code = [cell["source"] for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    return json.dumps(code).encode()


def name(sample: Sample) -> str:
    return f"{sample.exercise}: {'right' if sample.right else 'wrong'}: {sample.answer.name}"


def row(sample: Sample, tried: Tried) -> dict[str, Any]:
    """What became of an answer in its own exercise, and by what words."""
    verdict = tried.verdicts[sample.exercise]
    said = [check.message for one in tried.verdicts.values() for check in one.checks if not check.passed]
    return {
        "answer": digest(repr(sample.answer)),
        "points": verdict.points,
        "visible": tried.visible.get(sample.exercise, ""),
        "feedback": "\n".join(said),
    }


@lru_cache
def table(assignment: str) -> dict[str, Any]:
    path = FOLDER / f"{assignment}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"state": "", "answers": {}}


def to_try(samples: Iterable[Sample]) -> list[Sample]:
    """Those that are new or changed, all of an assignment that has changed, and one in eight of the others."""
    return [sample for sample in samples if not proven(sample) or in_turn(sample)]


def proven(sample: Sample) -> bool:
    assignment = sample.slug.partition("/")[0]
    found = table(assignment)
    stored = found["answers"].get(name(sample), {})
    return bool(found["state"] == state(assignment) and stored.get("answer") == digest(repr(sample.answer)))


def in_turn(sample: Sample) -> bool:
    return int(digest(sample.slug, name(sample)), 16) % ONE_IN == 0


def alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two answers keep the same points and are told the same, but for the digits of measured numbers."""
    return _words(first) == _words(second)


def _words(row: dict[str, Any]) -> dict[str, Any]:
    said = {key: _NUMBER.sub("#", row[key]) for key in ("visible", "feedback")}
    return {"points": row["points"], **said}
