"""Writing the stored references of an assignment: inputs, expected answers, and a manifest with checksums."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from autograder.exercise.model import Case, Exercise
from autograder.files.atomic import replacing
from autograder.references.draw import draw
from autograder.references.versions import installed_version

MANIFEST, EXPECTED, INPUTS = "manifest.json", "expected.safetensors", "inputs"
_GENERATED = shutil.ignore_patterns(MANIFEST, EXPECTED, INPUTS, "__pycache__")


def write_references(target: Path, exercises: Sequence[Exercise], seed: int, packages: Sequence[str]) -> None:
    """Draw every exercise's cases from ``seed`` and put them into ``exercises/<assignment>/``, all or none.

    What the author wrote there stays. packages: those of which the manifest names the version.
    """
    written: dict[str, object] = {}
    with replacing(target) as fresh:
        if target.is_dir():
            shutil.copytree(target, fresh, ignore=_GENERATED, dirs_exist_ok=True)
        for made in exercises:
            name = made.slug.partition("/")[2]
            written[name] = write_cases(fresh / name, made, draw(made, seed))
        manifest = {"seed": seed, "versions": _versions(packages), "exercises": written}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def write_cases(folder: Path, made: Exercise, drawn: Sequence[Case]) -> dict[str, object]:
    """Write the cases of one exercise below ``folder``; -> its entry in the manifest."""
    (folder / "inputs").mkdir(parents=True)
    arrays: dict[str, np.ndarray] = {}
    expected: dict[str, np.ndarray] = {}
    for index, case in enumerate(drawn):
        arrays |= {f"{index}/{name}": array for name, array in case.inputs.items()}
        arrays |= {f"{index}/weights/{name}": array for name, array in case.weights.items()}
        expected |= {f"{index}/{name}": array for name, array in case.expected.items()}
    about = {
        "framework": made.framework,
        "cases": [{"config": dict(case.config), "texts": dict(case.texts)} for case in drawn],
    }
    files = {
        "inputs/inputs.json": (json.dumps(about, indent=1) + "\n").encode(),
        "inputs/inputs.safetensors": save(_contiguous(arrays)),
        "expected.safetensors": save(_contiguous(expected)),
    }
    for path, data in files.items():
        (folder / path).write_bytes(data)
    return {
        "cases": len(drawn),
        "atol": made.atol,
        "rtol": made.rtol,
        "sizes": [{name: list(array.shape) for name, array in case.inputs.items()} for case in drawn],
        "sha256": {path: hashlib.sha256(data).hexdigest() for path, data in files.items()},
    }


def _contiguous(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    # ascontiguousarray alone would turn a single number into an array of shape (1,)
    return {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in sorted(arrays.items())}


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {package: installed_version(package) or "absent" for package in ("numpy", *packages)}
    return {"python": platform.python_version(), **found}
