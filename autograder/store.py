"""The stored references: written by ``autograder references``, read by the judge.

``references/<assignment>/<exercise>/inputs/`` is what a kernel may see; ``expected.safetensors`` beside
it is what it may not. ``references/<assignment>/manifest.json`` says how all of it was made, with checksums.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from safetensors.numpy import load, load_file, save

from autograder.errors import GradingError
from autograder.exercise import Case, Exercise

REFERENCES = Path(__file__).parent / "references"


@lru_cache
def exercises(assignment: str) -> dict[str, Exercise]:
    """slug -> exercise, from ``autograder.oracles.<assignment>``. Raises GradingError where there is none."""
    try:
        module = import_module(f"autograder.oracles.{assignment}")
    except ModuleNotFoundError as error:
        if error.name != f"autograder.oracles.{assignment}":
            raise
        raise GradingError(
            f"unknown assignment {assignment!r}: there is no autograder/oracles/{assignment}.py"
        ) from error
    return {exercise.slug: exercise for exercise in module.EXERCISES}


def exercise(slug: str) -> Exercise:
    known = exercises(slug.split("/")[0])
    if slug not in known:
        raise GradingError(f"unknown reference {slug!r}: known are {', '.join(sorted(known))}")
    return known[slug]


def inputs_folder(slug: str) -> Path:
    """The folder with the inputs of an exercise: all that a kernel may read of it."""
    return _folder(slug) / "inputs"


def _folder(slug: str) -> Path:
    folder = REFERENCES / slug
    if not folder.is_dir():
        raise GradingError(f"no stored reference {slug!r}: run 'autograder references {slug.split('/')[0]}'")
    return folder


@lru_cache(maxsize=256)
def cases(slug: str) -> tuple[Case, ...]:
    """The stored cases with expected answers. Raises GradingError where a file is not the one that was written."""
    folder = _folder(slug)
    _verify(slug, folder)
    about = json.loads((folder / "inputs" / "inputs.json").read_text(encoding="utf-8"))
    inputs = load_file(folder / "inputs" / "inputs.safetensors")
    expected = load_file(folder / "expected.safetensors")
    loaded = []
    for index, case in enumerate(about["cases"]):
        own = _under(inputs, f"{index}/")
        weights = _under(own, "weights/")
        plain = {name: array for name, array in own.items() if not name.startswith("weights/")}
        loaded.append(Case(case["config"], plain, weights, case["texts"], _under(expected, f"{index}/")))
    return tuple(loaded)


def _under(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _verify(slug: str, folder: Path) -> None:
    assignment, _, name = slug.partition("/")
    manifest = json.loads((REFERENCES / assignment / "manifest.json").read_text(encoding="utf-8"))
    for path, digest in manifest["exercises"][name]["sha256"].items():
        if hashlib.sha256((folder / path).read_bytes()).hexdigest() != digest:
            raise GradingError(
                f"{folder / path} is not the file that was written; run 'autograder references {assignment}'"
            )


def build(assignment: str, seed: int, out: Path | None = None) -> Path:
    """Draw every exercise's cases from ``seed`` and write them with a manifest. Returns the folder written."""
    target = (out or REFERENCES) / assignment
    written: dict[str, object] = {}
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for number, (slug, made) in enumerate(sorted(exercises(assignment).items())):
        generator = np.random.default_rng([seed, number])
        written[slug.partition("/")[2]] = _write(fresh / slug.partition("/")[2], made, list(made.make(generator)))
    manifest = {"seed": seed, "versions": _versions(), "exercises": written}
    (fresh / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    cases.cache_clear()
    return target


def _write(folder: Path, made: Exercise, drawn: Sequence[Case]) -> dict[str, object]:
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


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("numpy", "torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def read_answers(data: bytes) -> dict[str, np.ndarray]:
    """Arrays from a file that a kernel wrote. Raises ValueError where it is no safetensors file."""
    try:
        return dict(load(data))
    except Exception as error:  # whatever the parser makes of hostile bytes, it is a wrong answer
        raise ValueError("the answers could not be read") from error
