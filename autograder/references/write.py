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
from autograder.references.patched import RunPatched, require_runner
from autograder.references.versions import installed_version

MANIFEST, EXPECTED, INPUTS = "manifest.json", "expected.safetensors", "inputs"
#: What the solution hands over with each mistake patched into it.
MISTAKES = "mistakes.safetensors"
_GENERATED = shutil.ignore_patterns(MANIFEST, EXPECTED, MISTAKES, INPUTS, "__pycache__")


def write_references(
    target: Path,
    exercises: Sequence[Exercise],
    seed: int,
    packages: Sequence[str],
    run: RunPatched | None = None,
) -> None:
    """Draw every exercise's cases from ``seed`` and put them into ``exercises/<assignment>/``, all or none.

    What the author wrote there stays. packages: those of which the manifest names the version. run: runs patched
    solutions; an exercise whose mistakes are patches needs it.
    """
    written: dict[str, object] = {}
    with replacing(target) as fresh:
        if target.is_dir():
            shutil.copytree(target, fresh, ignore=_GENERATED, dirs_exist_ok=True)
        for made in exercises:
            name = made.slug.partition("/")[2]
            require_runner(made, run)
            written[name] = write_cases(fresh / name, made, draw(made, seed, run), run.digest(made) if run else "")
        manifest = {"seed": seed, "versions": _versions(packages), "exercises": written}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def write_cases(folder: Path, made: Exercise, drawn: Sequence[Case], patched: str = "") -> dict[str, object]:
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
