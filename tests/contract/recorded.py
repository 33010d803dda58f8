"""The record of what becomes of every sample answer, and which answers have to be tried because something has changed.

``answers.json`` holds, for every exercise, a digest of what its verdicts depend on, and for every answer a digest
of its text, the points that are lost, the mistakes that feedback names, its messages, and what the visible checks say
against it. What is empty is left out: a right answer is one digest. Where an exercise's digest is the same, the tests
try one answer in eight; where it is not, all. An answer without a record is tried, and needs none.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Sample
from autograder.authoring.trial import Tried, solutions, texts_of
from autograder.exercise.pack import pack_names, read_pack
from autograder.model.course import Course
from autograder.references.write import read_files
from tests.grading import ROOT

RECORD = Path(__file__).with_name("answers.json")
ONE_IN = 8
#: What decides about every answer, beside the assignment's own files.
_SHARED = (
    "exercises/*.py", "course/check/*.py", "course/check/_rules/*.py", "autograder/exercise/*.py",
    "autograder/pipeline/judge.py", "autograder/authoring/trial.py", "autograder/authoring/check.py",
)  # fmt: skip
#: Measured numbers differ between processors in their last digits.
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+|\bnan\b|-?\binf\b")

Row = dict[str, Any]


def digest(*values: object) -> str:
    total = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:16]


@lru_cache
def state(slug: str, root: Path = ROOT) -> str:
    """Digest of what the verdicts on an exercise's answers depend on, but the answers themselves."""
    assignment, _, exercise = slug.partition("/")
    exercises, checks = root / "exercises" / assignment, root / "course" / "check" / assignment
    own = [
        exercises / f"{exercise}.py", *exercises.glob("_*.py"),
        checks / f"{exercise}.py", *checks.glob("_*.py"), checks / "calls.py",
        *(root / "source" / assignment).rglob("*"),
    ]  # fmt: skip
    shared = [path for pattern in _SHARED for path in root.glob(pattern)]
    parts: list[object] = []
    for path in sorted({path for path in (*own, *shared) if path.is_file()}):
        if "__pycache__" not in path.parts and not path.name.lstrip("_").startswith("answers"):
            parts += [path.relative_to(root).as_posix(), _content(path)]
    packs = root / "course" / "check" / "_packs" / f"{assignment}.zip"
    parts += [read_pack(packs, one) for one in pack_names(packs) if one == exercise]
    return digest(*parts, *read_files(exercises, exercise).values())


def _content(path: Path) -> bytes:
    """Of a notebook only the code counts."""
    data = path.read_bytes()
    if path.suffix != ".ipynb":
        return data
    code = [cell["source"] for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
    return json.dumps(code).encode()


def name(sample: Sample) -> str:
    return f"{'right' if sample.right else 'wrong'}: {sample.answer.name}"


@lru_cache
def _solutions(assignment: str) -> dict[str, str]:
    return solutions(Assignment.unreleased(Course(ROOT), assignment))


def text(sample: Sample) -> str:
    """Digest of what the answer puts into its cells, however its author wrote that down."""
    return digest(*sorted(texts_of(sample.answer, _solutions(sample.slug.partition("/")[0])).items()))


def row(sample: Sample, tried: Tried) -> Row:
    """What became of an answer, in its own exercise and in every other that it reaches."""
    verdicts = {verdict.cell: verdict for verdict in tried.verdicts.values()}
    failed = {cell: [check for check in verdict.checks if not check.passed] for cell, verdict in verdicts.items()}
    found = {
        "text": text(sample),
        "points": {cell: one.points for cell, one in verdicts.items() if one.points != one.max_points},
        "mistakes": sorted({check.mistake for checks in failed.values() for check in checks if check.mistake}),
        "feedback": {cell: [_masked(check.message) for check in checks] for cell, checks in failed.items() if checks},
        "visible": {cell: _masked(message) for cell, message in tried.visible.items() if message},
    }
    return {key: value for key, value in found.items() if value}


def _masked(message: str) -> str:
    return _NUMBER.sub("#", message)


@lru_cache
def table() -> dict[str, Any]:
    """``assignment/exercise`` -> ``state`` and ``answers``; empty where nothing was recorded."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


def write(exercises: Mapping[str, Any]) -> None:
    """One line per answer, so that a diff shows which answers are told something else."""
    blocks = []
    for slug, entry in sorted(exercises.items()):
        rows = [f"  {_json(key)}: {_json(one)}" for key, one in entry["answers"].items()]
        head = f' {_json(slug)}: {{"state": {_json(entry["state"])}, "answers": {{\n'
        blocks.append(head + ",\n".join(rows) + "\n }}")
    RECORD.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    table.cache_clear()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _entry(sample: Sample) -> dict[str, Any]:
    return table().get(sample.slug, {"state": "", "answers": {}})


def stored(sample: Sample) -> Row | None:
    """What was recorded of an answer: under its name, or of the same text under another name."""
    answers, digested = _entry(sample)["answers"], text(sample)
    own = answers.get(name(sample))
    side = name(sample).partition(":")[0]
    same = (one for key, one in answers.items() if key.startswith(side) and one["text"] == digested)
    return own if own is not None and own["text"] == digested else next(same, own)


def differences(old: Row | None, new: Row) -> Iterator[str]:
    """What has changed of an answer, one line for each kind of thing; nothing for an answer without a record."""
    for key in ("points", "mistakes", "feedback", "visible") if old is not None else ():
        before, after = (old or {}).get(key), new.get(key)
        if before != after:
            yield f"{key}: {_json(before)} -> {_json(after)}"


def to_try(samples: Iterable[Sample]) -> list[Sample]:
    """Those that are new or changed, all of an exercise that has changed, and one in eight of the others."""
    return [sample for sample in samples if not recorded(sample) or in_turn(sample)]


def recorded(sample: Sample) -> bool:
    """True where nothing has changed since the answer was recorded."""
    found = stored(sample)
    return found is not None and found["text"] == text(sample) and _entry(sample)["state"] == state(sample.slug)


def in_turn(sample: Sample) -> bool:
    return int(digest(sample.slug, name(sample)), 16) % ONE_IN == 0
