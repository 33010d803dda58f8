"""Writing the stored references of an assignment: inputs, expected answers, and a manifest with checksums.

Of each exercise ``inputs.zip``, which kernels get, has ``<exercise>/inputs/inputs.json`` and ``inputs.safetensors``
beside it; ``expected.zip``, which they never get, has ``<exercise>/expected.safetensors`` and, where its mistakes are
known by their numbers, ``<exercise>/mistakes.safetensors``.
"""

import hashlib
import io
import json
import platform
import shutil
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from autograder.errors import GradingError
from autograder.exercise.model import Case, Exercise
from autograder.files.atomic import replacing
from autograder.references.draw import RunPatched, draw, require_runner

INPUTS_ARCHIVE, EXPECTED_ARCHIVE = ARCHIVES = "inputs.zip", "expected.zip"
#: Begins the names of what kernels get.
INPUTS = "inputs/"
ABOUT, ARRAYS = f"{INPUTS}inputs.json", f"{INPUTS}inputs.safetensors"
#: The right answers, and what the solution hands over with each mistake patched into it.
EXPECTED, MISTAKES = "expected.safetensors", "mistakes.safetensors"
NAMES = ABOUT, ARRAYS, EXPECTED, MISTAKES
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that an archive can hold

#: Name of a file -> content, of one exercise.
Files = dict[str, bytes]


def read_files(folder: Path, exercise: str, beginning: str = "") -> Files:
    """The stored files of an exercise whose names begin so; none where nothing is stored.

    folder: ``exercises/<assignment>``. Raises GradingError for an archive that cannot be read.
    """
    names = [name for name in NAMES if name.startswith(beginning)]
    found: Files = {}
    for path in (folder / INPUTS_ARCHIVE, *(() if beginning == INPUTS else (folder / EXPECTED_ARCHIVE,))):
        if path.is_file():
            found |= _read(path, exercise, names)
    return found


def _read(path: Path, exercise: str, names: Sequence[str]) -> Files:
    try:
        with zipfile.ZipFile(path) as archive:
            there = set(archive.namelist())
            return {name: archive.read(f"{exercise}/{name}") for name in names if f"{exercise}/{name}" in there}
    except (OSError, zipfile.BadZipFile) as error:
        raise GradingError(f"{path} cannot be read: {error}; run 'autograder references {path.parent.name}'") from error


def stored_exercises(folder: Path) -> list[str]:
    """The names of the exercises that have expected answers in ``folder``."""
    path = folder / EXPECTED_ARCHIVE
    if not path.is_file():
        return []
    with zipfile.ZipFile(path) as archive:
        return sorted({name.partition("/")[0] for name in archive.namelist()})


def write_archives(folder: Path, exercises: Mapping[str, Files]) -> None:
    """Write both archives, byte for byte the same for the same files."""
    for path, inputs in ((folder / INPUTS_ARCHIVE, True), (folder / EXPECTED_ARCHIVE, False)):
        members = {
            f"{exercise}/{name}": data
            for exercise, files in exercises.items()
            for name, data in files.items()
            if name.startswith(INPUTS) is inputs
        }
        path.write_bytes(archive_of(members))


def inputs_among(files: Files) -> Files:
    """What kernels get of an exercise's files, by the names that they find there."""
    return {name.removeprefix(INPUTS): data for name, data in files.items() if name.startswith(INPUTS)}


def lay_out(files: Files, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def archive_of(members: Mapping[str, bytes]) -> bytes:
    """A zip archive, byte for byte the same for the same members. Arrays of random numbers cannot be compressed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), members[name])
    return data.getvalue()


def installed_version(name: str) -> str:
    """The version of a distribution, or of the one that holds a package of this name; empty where there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ", ".join(version(one) for one in sorted(set(_distributions().get(name, ()))))


def distributions(name: str) -> list[str]:
    """What pip installs a package by, pinned: ``name==version``."""
    found = sorted(set(_distributions().get(name.partition(".")[0], ())))
    return [f"{one}=={version(one)}" for one in found]


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())  # reads a file of every distribution


MANIFEST = "manifest.json"
_GENERATED = shutil.ignore_patterns(MANIFEST, *ARCHIVES, "inputs", EXPECTED, MISTAKES, "__pycache__")


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

    What the author wrote there stays, and so does each stored array that agrees with what is drawn but for rounding:
    else every machine would make other files of them, and everybody would be graded anew. packages: those of which the
    manifest names the version; before: the manifest as it is, where it has the same seed.
    """
    known = dict(before.get("exercises", {}))
    entries: dict[str, object] = {}
    stored: dict[str, Files] = {}
    fresh_ones: list[str] = []
    for made in exercises:
        name = made.slug.partition("/")[2]
        old, old_files = known.get(name), read_files(target, name)
        if drawing.only and name not in drawing.only:
            if old is not None:
                entries[name], stored[name] = old, old_files
            continue
        skip = drawing.skip.get(name, (old or {}).get("skipped_draws", 0))
        require_runner(made, drawing.run)
        drawn = draw(made, drawing.seed, drawing.run, skip)
        whole = old is not None and checksums(old_files) == old["sha256"]
        stored[name] = _settled(made, old_files if whole else {}, files_of(made, drawn))
        entries[name] = _entry(made, drawn, stored[name], drawing.run.digest(made) if drawing.run else "", skip)
        fresh_ones += [] if whole and stored[name] == old_files else [name]
    versions = _versions(packages) if fresh_ones else before["versions"]
    manifest = {"seed": drawing.seed, "versions": versions, "exercises": entries}
    with replacing(target) as fresh:
        if target.is_dir():
            shutil.copytree(target, fresh, ignore=_GENERATED, dirs_exist_ok=True)
            for place in [path for path in fresh.iterdir() if path.is_dir() and not any(path.iterdir())]:
                place.rmdir()
        write_archives(fresh, stored)
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return fresh_ones


def checksums(files: Files) -> dict[str, str]:
    """Name -> SHA-256, as the manifest has them."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _settled(made: Exercise, old: Files, fresh: Files) -> Files:
    """The fresh files of an exercise; each array that agrees with the old one but for rounding is the old one."""
    return {
        name: data if name not in old or name == ABOUT
        else save(settled(load(old[name]), load(data), (made.atol / 10, made.rtol / 10) if name == MISTAKES else None))
        for name, data in fresh.items()
    }  # fmt: skip


def settled(
    old: Mapping[str, np.ndarray], fresh: Mapping[str, np.ndarray], tolerance: tuple[float, float] | None = None
) -> dict[str, np.ndarray]:
    """Fresh arrays; in the place of each that agrees with the old one of its name, the old one.

    tolerance: absolute and relative; without it, that of rounding.
    """
    return {
        name: old[name] if name in old and _close(old[name], array, tolerance) else array
        for name, array in fresh.items()
    }


def _close(one: np.ndarray, other: np.ndarray, tolerance: tuple[float, float] | None) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind != "f" or not one.size:
        return bool(np.array_equal(one, other))
    rounding = 16 * np.finfo(one.dtype).eps
    largest = np.max(np.abs(one), where=np.isfinite(one), initial=0)
    atol, rtol = tolerance or (rounding * largest, rounding)
    return bool(np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True))


def files_of(made: Exercise, drawn: Sequence[Case]) -> Files:
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
        **({"call": made.call} if made.call else {}),
    }
    files = {
        ABOUT: (json.dumps(about, indent=1) + "\n").encode(),
        ARRAYS: save(_contiguous(arrays)),
        EXPECTED: save(_contiguous(expected)),
    }
    return files | ({MISTAKES: save(_contiguous(mistakes))} if mistakes else {})


def _entry(made: Exercise, drawn: Sequence[Case], files: Files, patched: str, skip: int) -> dict[str, Any]:
    """An exercise's entry in the manifest. patched: digest of what the mistakes' numbers are made of."""
    return {
        "cases": len(drawn),
        "atol": made.atol,
        "rtol": made.rtol,
        **({"patched": patched} if MISTAKES in files else {}),
        "sizes": [{name: list(array.shape) for name, array in case.inputs.items()} for case in drawn],
        "sha256": checksums(files),
        **({"skipped_draws": skip} if skip else {}),
    }


def _contiguous(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    # ascontiguousarray alone would turn a single number into an array of shape (1,)
    return {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in sorted(arrays.items())}


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {package: installed_version(package) or "absent" for package in ("numpy", *packages)}
    return {"python": platform.python_version(), **found}
