"""The stored references of a course: written by ``autograder references``, read by the judge.

``<course>/exercises/<assignment>/<exercise>/inputs/`` is what a kernel may read; ``expected.safetensors`` beside it is
what it may not. ``exercises/<assignment>/manifest.json`` says how all of it was made, with checksums.
"""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from autograder.atomic import replacing
from autograder.compare import matches
from autograder.errors import GradingError
from autograder.exercise import Case, Exercise, Mistake

#: The folder of a course that holds its stored references.
FOLDER = "exercises"
#: The seed of the references that the kit ships with. Everybody can draw them: no exam is made from it.
PUBLIC_SEED = 2026
PUBLIC_WARNING = (
    "the stored references of {assignment} are those that ship with the kit: everybody can know them. "
    "Draw your own with 'autograder references {assignment} --seed new'."
)
_DRAWS = 20


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


def new_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbits(63)


def generator(seed: int, slug: str) -> np.random.Generator:
    """The random numbers of one exercise, made from the course's seed and the exercise's name.

    Another exercise beside it therefore changes nothing.
    """
    name = int.from_bytes(hashlib.sha256(slug.encode()).digest()[:16], "big")
    return np.random.default_rng([seed, name])


def draw(made: Exercise, seed: int) -> list[Case]:
    """The cases of an exercise. Drawn again where chance made a known mistake look like the right answer.

    Raises GradingError where every draw does.
    """
    random = generator(seed, made.slug)
    for _ in range(_DRAWS):
        cases = list(made.make(random))
        unseen = [mistake.id for mistake in made.mistakes if not any(_shows(mistake, case, made) for case in cases)]
        if not unseen:
            return cases
    raise GradingError(
        f"{made.slug}: none of {_DRAWS} draws from seed {seed} tells the mistake {unseen[0]!r} from the right answer; "
        "the oracle must draw other cases"
    )


def _shows(mistake: Mistake, case: Case, made: Exercise) -> bool:
    """True where somebody who makes the mistake hands over something else than the expected answer."""
    wrong = mistake.answers(case)
    return any(name not in case.expected or not matches(case.expected, {name: wrong[name]}, made) for name in wrong)


@dataclass(frozen=True)
class References:
    """The references in one folder, ``exercises/`` of a course. Two courses never share any."""

    folder: Path

    @classmethod
    def of_course(cls, root: Path) -> References:
        return cls(root / FOLDER)

    def inputs(self, slug: str) -> Path:
        """The folder with the inputs of an exercise: all that a kernel may read of it."""
        return self._exercise(slug) / "inputs"

    def cases(self, slug: str) -> tuple[Case, ...]:
        """The stored cases with expected answers. Raises GradingError where a file is not the one that was written."""
        manifest = self._manifest(slug.partition("/")[0])
        return _cases(self, slug, manifest)

    def seed(self, assignment: str) -> int | None:
        """The seed that the references of an assignment were drawn from; None where it has none."""
        if not (self.folder / assignment / "manifest.json").is_file():
            return None
        return int(json.loads(self._manifest(assignment))["seed"])

    def are_public(self, assignment: str) -> bool:
        """True where everybody can know them: they are drawn from the seed that the kit ships with."""
        return self.seed(assignment) == PUBLIC_SEED

    def _exercise(self, slug: str) -> Path:
        folder = self.folder / slug
        if not folder.is_dir():
            assignment = slug.partition("/")[0]
            raise GradingError(
                f"{slug} has no stored reference in {self.folder}: run 'autograder references {assignment}'"
            )
        return folder

    def _manifest(self, assignment: str) -> str:
        path = self.folder / assignment / "manifest.json"
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise GradingError(f"{path} cannot be read: run 'autograder references {assignment}'") from error

    def build(self, assignment: str, seed: int) -> Path:
        """Draw every exercise's cases from ``seed`` and write them with a manifest. Returns the folder written."""
        target = self.folder / assignment
        known = sorted(exercises(assignment).items())
        written: dict[str, object] = {}
        with replacing(target) as fresh:
            for slug, made in known:
                name = slug.partition("/")[2]
                written[name] = _write(fresh / name, made, draw(made, seed))
            manifest = {"seed": seed, "versions": _versions(), "exercises": written}
            (fresh / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        return target


@lru_cache(maxsize=256)
def _cases(references: References, slug: str, manifest: str) -> tuple[Case, ...]:
    """manifest: its text, so that references which were drawn anew are read anew."""
    folder = references._exercise(slug)
    _verify(slug, folder, json.loads(manifest))
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


def _verify(slug: str, folder: Path, manifest: dict[str, Any]) -> None:
    assignment, _, name = slug.partition("/")
    known = manifest["exercises"].get(name)
    if known is None:
        raise GradingError(f"{slug} is not in {folder.parent}/manifest.json: run 'autograder references {assignment}'")
    for path, digest in known["sha256"].items():
        try:
            data = (folder / path).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != digest:
            raise GradingError(
                f"{folder / path} is not the file that was written; run 'autograder references {assignment}'"
            )


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
