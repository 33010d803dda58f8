"""The stored references of a course: written by ``autograder references``, read by the judge.

``<course>/exercises/<assignment>/inputs.zip`` is what kernels get parts of, ``expected.zip`` beside it what they never
get (:mod:`autograder.references.write`). ``manifest.json`` says how all of it was made, with checksums.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from autograder.errors import GradingError
from autograder.exercise.compare import compare_case
from autograder.exercise.model import Case, Exercise
from autograder.exercise.pack import pack_names, read_pack, unpack
from autograder.model.course_file import read_course_file
from autograder.references import loader
from autograder.references.draw import PUBLIC_SEED, RunPatched
from autograder.references.loader import FOLDER
from autograder.references.write import (
    ABOUT,
    ARRAYS,
    EXPECTED,
    INPUTS,
    MISTAKES,
    CaseDraw,
    Files,
    checksums,
    inputs_among,
    read_files,
    write_references,
)

#: Checksums of all expected answers that have ever shipped with the kit, made by ``tools/list_public_references.py``.
PUBLIC_LIST = Path(__file__).with_name("public.txt")
#: The folder of packs, within the package of the visible checks.
PACKS = "_packs"


@dataclass(frozen=True)
class References:
    """The references in one folder, ``exercises/`` of a course. Two courses never share any."""

    folder: Path

    @classmethod
    def of_course(cls, root: Path) -> "References":
        return cls(root / FOLDER)

    def inputs(self, slug: str) -> Files:
        """The files with the inputs of an exercise, by their names: all that a kernel may read of it.

        Raises GradingError where nothing is stored.
        """
        folder, name = self._place(slug)
        found = read_files(folder, name, INPUTS)
        if not found:
            raise GradingError(
                f"{slug} has no stored reference in {self.folder}: run 'autograder references {folder.name}'"
            )
        return inputs_among(found)

    def cases(self, slug: str) -> tuple[Case, ...]:
        """The stored cases with expected answers. Raises GradingError where a file is not the one that was written."""
        manifest = self._manifest(slug.partition("/")[0])
        return _cases(self, slug, manifest)

    def packs(self, assignment: str) -> Path:
        """The archive in which the library for students holds the public cases of an assignment's exercises.

        Raises GradingError without a library.
        """
        root = self.folder.parent
        checks = read_course_file(root).checks
        if not checks:
            raise GradingError(
                'visible checks are made of packs, and course.toml names no package for them: checks = "…"'
            )
        return root.joinpath(*checks.split("."), PACKS, f"{assignment}.zip")

    def pack(self, slug: str) -> bytes:
        """The public cases of an exercise. Raises OSError or KeyError where the library has none."""
        assignment, _, name = slug.partition("/")
        return read_pack(self.packs(assignment), name)

    def public_answers(self, assignment: str) -> set[bytes]:
        """The expected arrays of an assignment's public cases, as bytes: no secrets, whoever has them too."""
        if not read_course_file(self.folder.parent).checks:
            return set()
        archive = self.packs(assignment)
        packed = [unpack(read_pack(archive, name), name, lambda name: compare_case) for name in pack_names(archive)]
        return {array.tobytes() for one in packed for case in one.cases for array in case.expected.values()}

    def stored(self, slug: str) -> Files:
        """The files of an exercise that ``autograder references`` wrote, by their names."""
        folder, name = self._place(slug)
        return read_files(folder, name)

    def patched(self, slug: str) -> str:
        """Digest of the solution and patches that the stored numbers of an exercise's mistakes were made of."""
        assignment, _, name = slug.partition("/")
        return str(json.loads(self._manifest(assignment))["exercises"].get(name, {}).get("patched", ""))

    def seed(self, assignment: str) -> int | None:
        """The seed that the references of an assignment were drawn from; None where it has none."""
        if not (self.folder / assignment / "manifest.json").is_file():
            return None
        return int(json.loads(self._manifest(assignment))["seed"])

    def skipped(self, assignment: str, exercise: str) -> int:
        """How many draws from the seed were of no use for an exercise."""
        entry = json.loads(self._manifest(assignment))["exercises"].get(exercise, {})
        return int(entry.get("skipped_draws", 0))

    def are_public(self, assignment: str) -> bool:
        """Whether everybody can know some of them: they ship with the kit, or are drawn from its seed."""
        seed = self.seed(assignment)
        if seed is None or seed == PUBLIC_SEED:
            return seed is not None
        stored = json.loads(self._manifest(assignment))["exercises"].values()
        return any(entry["sha256"].get(EXPECTED) in public_digests() for entry in stored)

    def earlier_term(self, assignment: str) -> str:
        """The earlier term whose students were graded by the same references; empty where there is none."""
        seed = self.seed(assignment)
        for folder in sorted((self.folder.parent / "terms").glob(f"*/{FOLDER}"), reverse=True):
            if seed is not None and References(folder).seed(assignment) == seed:
                return folder.parent.name
        return ""

    def warning(self, assignment: str) -> str:
        """What to tell an instructor who is about to grade with them; empty where nobody else can know them."""
        if self.are_public(assignment):
            whose = "ship with the kit: everybody can know them"
        elif term := self.earlier_term(assignment):
            whose = f"students of the term {term} were graded by: some of them may pass on what they saw"
        else:
            return ""
        draw = f"Draw your own with 'autograder references {assignment} --seed new'."
        return f"the stored references of {assignment} are those that {whose}. {draw}"

    def _place(self, slug: str) -> tuple[Path, str]:
        """The folder of its assignment, and the exercise's name."""
        assignment, _, name = slug.partition("/")
        return self.folder / assignment, name

    def _manifest(self, assignment: str) -> str:
        path = self.folder / assignment / "manifest.json"
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise GradingError(f"{path} cannot be read: run 'autograder references {assignment}'") from error

    def exercises(self, assignment: str) -> dict[str, Exercise]:
        """slug -> exercise, as their folders define them. Raises GradingError where there is none."""
        return loader.exercises(self.folder, assignment)

    def exercise(self, slug: str) -> Exercise:
        """Raises GradingError where there is none of this name."""
        return loader.exercise(self.folder, slug)

    def build(
        self,
        assignment: str,
        seed: int,
        into: Path | None = None,
        *,
        only: Collection[str] = (),
        skip: Mapping[str, int] | None = None,
        run: RunPatched | None = None,
    ) -> list[str]:
        """Draw exercises' cases and write them with a manifest; returns those whose stored files are others now.

        into: another folder ``exercises/``, which needs no exercises of its own. only: the other exercises keep what
        they have; skip, run: see :class:`CaseDraw`. Raises GradingError where the others are drawn from another seed.
        """
        before = self.seed(assignment)
        if only and before not in (None, seed):
            raise GradingError(
                f"the references of {assignment} are drawn from one seed, {before}: leave --seed or --exercise out"
            )
        manifest = json.loads(self._manifest(assignment)) if before == seed else {}
        packages = read_course_file(self.folder.parent).packages
        exercises = list(self.exercises(assignment).values())
        drawing = CaseDraw(seed, only, skip or {}, run)
        return write_references((into or self.folder) / assignment, exercises, drawing, packages, manifest)


@cache
def public_digests() -> frozenset[str]:
    """The checksums in :data:`PUBLIC_LIST`."""
    lines = PUBLIC_LIST.read_text(encoding="utf-8").splitlines() if PUBLIC_LIST.is_file() else []
    return frozenset(line.split()[0] for line in lines if line.strip())


@lru_cache(maxsize=256)
def _cases(references: References, slug: str, manifest: str) -> tuple[Case, ...]:
    """manifest: its text, so that references which were drawn anew are read anew."""
    files = references.stored(slug)
    _verify(slug, references.folder, files, json.loads(manifest))
    about = json.loads(files[ABOUT])
    inputs, expected, mistakes = (_arrays(files.get(name)) for name in (ARRAYS, EXPECTED, MISTAKES))
    loaded = []
    for index, case in enumerate(about["cases"]):
        own = _under(inputs, f"{index}/")
        weights = _under(own, "weights/")
        plain = {name: array for name, array in own.items() if not name.startswith("weights/")}
        wrong: dict[str, dict[str, np.ndarray]] = {}
        for name, array in _under(mistakes, f"{index}/").items():
            key, _, answer = name.partition("/")
            wrong.setdefault(key, {})[answer] = array
        loaded.append(Case(case["config"], plain, weights, case["texts"], _under(expected, f"{index}/"), wrong))
    return tuple(loaded)


def _arrays(data: bytes | None) -> dict[str, np.ndarray]:
    """Those of a stored file, by name, in alphabetical order, in which feedback speaks of them."""
    return dict(sorted(load(data).items())) if data else {}


def _under(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _verify(slug: str, folder: Path, files: Files, manifest: dict[str, Any]) -> None:
    """Raises GradingError where a file is not the one that was written."""
    assignment, _, name = slug.partition("/")
    known, again = manifest["exercises"].get(name), f"run 'autograder references {assignment}'"
    if known is None:
        raise GradingError(f"{slug} is not in {folder / assignment}/manifest.json: {again}")
    found = checksums(files)
    for path, digest in known["sha256"].items():
        if found.get(path) != digest:
            raise GradingError(f"{slug}/{path}, stored in {folder / assignment}, is not what was written; {again}")
