"""Writing the stored references of an assignment: inputs, expected answers, and a manifest with checksums."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from autograder.exercise.model import Case, Exercise
from autograder.files.atomic import replacing
from autograder.references.draw import draw
from autograder.references.patched import RunPatched, require_runner
from autograder.references.versions import installed_version

MANIFEST, EXPECTED, INPUTS = "manifest.json", "expected.safetensors", "inputs"
#: What the solution hands over with each mistake patched into it.
MISTAKES = "mistakes.safetensors"
_GENERATED = shutil.ignore_patterns(MANIFEST, EXPECTED, MISTAKES, INPUTS, "__pycache__")


@dataclass(frozen=True)
class CaseDraw:
    """How cases are drawn. ``only``: the exercises that are; the others keep what they have. ``skip``: exercise -> how
    many of its draws turned out to be of no use. ``run``: runs patched solutions; mistakes that are patches need it.
    """

    seed: int
    only: Collection[str] = ()
    skip: Mapping[str, int] = field(default_factory=dict)
    run: RunPatched | None = None


def write_references(
    target: Path, exercises: Sequence[Exercise], drawing: CaseDraw, packages: Sequence[str], before: Mapping[str, Any]
) -> list[str]:
    """Draw exercises' cases and put them into ``exercises/<assignment>/``, all or none; returns which were written.

    What the author wrote there stays, and so do stored files that agree with what is drawn but for rounding: else every
    machine would make other files of them, and everybody would be graded anew. packages: those of which the manifest
    names the version; before: the manifest as it is, where it has the same seed.
    """
    known = dict(before.get("exercises", {}))
    entries: dict[str, object] = {}
    fresh_ones: list[str] = []
    with replacing(target) as fresh:
        if target.is_dir():
            shutil.copytree(target, fresh, ignore=_GENERATED, dirs_exist_ok=True)
        for made in exercises:
            name = made.slug.partition("/")[2]
            old = known.get(name)
            if drawing.only and name not in drawing.only:
                if old is not None:
                    _keep(target / name, fresh / name)
                    entries[name] = old
                continue
            skip = drawing.skip.get(name, (old or {}).get("skipped_draws", 0))
            require_runner(made, drawing.run)
            drawn = draw(made, drawing.seed, drawing.run, skip)
            entry = write_cases(fresh / name, made, drawn, drawing.run.digest(made) if drawing.run else "")
            if skip:
                entry["skipped_draws"] = skip
            if old is not None and _is_whole(target / name, old) and _agree(target / name, fresh / name):
                _keep(target / name, fresh / name)
                entry["sha256"] = old["sha256"]
            else:
                fresh_ones.append(name)
            entries[name] = entry
        versions = _versions(packages) if fresh_ones else before["versions"]
        manifest = {"seed": drawing.seed, "versions": versions, "exercises": entries}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return fresh_ones


def _keep(old: Path, fresh: Path) -> None:
    """Put the stored files of before in the place of those that were drawn."""
    shutil.rmtree(fresh / INPUTS, ignore_errors=True)
    shutil.copytree(old / INPUTS, fresh / INPUTS)
    for name in (EXPECTED, MISTAKES):
        (fresh / name).unlink(missing_ok=True)
        if (old / name).is_file():
            shutil.copyfile(old / name, fresh / name)


def _is_whole(folder: Path, entry: Mapping[str, Any]) -> bool:
    """Whether the stored files are those that were written."""
    files = {path: folder / path for path in entry["sha256"]}
    return all(
        file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"][path]
        for path, file in files.items()
    )


def _agree(old: Path, fresh: Path) -> bool:
    """Whether two folders hold the same cases, but for rounding."""
    about, stored = f"{INPUTS}/inputs.json", (f"{INPUTS}/inputs.safetensors", EXPECTED, MISTAKES)
    there = [name for name in stored if (old / name).is_file()]
    return (
        (old / about).read_bytes() == (fresh / about).read_bytes()
        and there == [name for name in stored if (fresh / name).is_file()]
        and all(_same(load_file(old / name), load_file(fresh / name)) for name in there)
    )


def _same(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> bool:
    return ours.keys() == theirs.keys() and all(_close(ours[name], theirs[name]) for name in ours)


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind != "f" or not one.size:
        return bool(np.array_equal(one, other))
    rounding = 16 * np.finfo(one.dtype).eps
    largest = np.max(np.abs(one), where=np.isfinite(one), initial=0)
    return bool(np.allclose(one, other, rtol=rounding, atol=rounding * largest, equal_nan=True))


def write_cases(folder: Path, made: Exercise, drawn: Sequence[Case], patched: str = "") -> dict[str, Any]:
    """Write the cases of one exercise below ``folder``; -> its entry in the manifest.

    patched: digest of what the mistakes' numbers are made of.
    """
    (folder / "inputs").mkdir(parents=True)
    arrays: dict[str, np.ndarray] = {}
    expected: dict[str, np.ndarray] = {}
    mistakes: dict[str, np.ndarray] = {}
    for index, case in enumerate(drawn):
        arrays |= {f"{index}/{name}": array for name, array in case.inputs.items()}
        arrays |= {f"{index}/weights/{name}": array for name, array in case.weights.items()}
        expected |= {f"{index}/{name}": array for name, array in case.expected.items()}
        for key, wrong in case.mistakes.items():
            mistakes |= {f"{index}/{key}/{name}": array for name, array in wrong.items()}
    about = {
        "framework": made.framework,
        "cases": [{"config": dict(case.config), "texts": dict(case.texts)} for case in drawn],
    }
    files = {
        "inputs/inputs.json": (json.dumps(about, indent=1) + "\n").encode(),
        "inputs/inputs.safetensors": save(_contiguous(arrays)),
        EXPECTED: save(_contiguous(expected)),
    }
    if mistakes:
        files[MISTAKES] = save(_contiguous(mistakes))
    for path, data in files.items():
        (folder / path).write_bytes(data)
    return {
        "cases": len(drawn),
        "atol": made.atol,
        "rtol": made.rtol,
        **({"patched": patched} if mistakes else {}),
        "sizes": [{name: list(array.shape) for name, array in case.inputs.items()} for case in drawn],
        "sha256": {path: hashlib.sha256(data).hexdigest() for path, data in files.items()},
    }


def _contiguous(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    # ascontiguousarray alone would turn a single number into an array of shape (1,)
    return {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in sorted(arrays.items())}


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {package: installed_version(package) or "absent" for package in ("numpy", *packages)}
    return {"python": platform.python_version(), **found}
