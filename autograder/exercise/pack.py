"""Packs: the public cases of an exercise, as the library for students holds them. The visible check judges by them.

A pack is one ``.npz`` file without pickles, the same to the byte wherever it is made of the same numbers: inputs,
weights, expected answers, what known mistakes hand over, and as JSON everything else that judging needs. Of patches,
and so of the solution, there is nothing in it. Those of an assignment lie in one archive, ``<assignment>.zip``.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .case_inputs import CaseInputs
from .compare import judge_cases, merged
from .model import Answers, Case, Check, Earned, Exercise, Judgement, Mistake, MistakenAnswers, Rule

_ABOUT = "about"
_SUFFIX = ".npz"
_SAID = {"made_of", "shows", "axes", "mistakes"}
_PARTS = ("inputs", "weights", "expected")


@dataclass(frozen=True)
class Pack:
    """An exercise as far as judging needs it, and its public cases."""

    exercise: Exercise
    cases: tuple[Case, ...]

    def inputs(self, number: int) -> CaseInputs:
        """A public case as the exercise's call gets it."""
        case, made = self.cases[number], self.exercise
        arrays = {**case.inputs, **{f"weights/{name}": array for name, array in case.weights.items()}}
        return CaseInputs(made.slug, number, made.framework, dict(case.config), dict(case.texts), arrays, made.call)


def pack(exercise: Exercise, rule: str, cases: Sequence[Case], made_of: str = "") -> bytes:
    """The file. rule: the name by which :func:`unpack` is given the rule. made_of: digest, for whoever makes packs."""
    arrays: dict[str, np.ndarray] = {}
    for number, case in enumerate(cases):
        for part in _PARTS:
            arrays |= {f"{number}/{part}/{name}": array for name, array in getattr(case, part).items()}
        for key, wrong in case.mistakes.items():
            arrays |= {f"{number}/mistakes/{key}/{name}": _single(array) for name, array in wrong.items()}
    about = {
        "made_of": made_of,
        "rule": rule,
        "framework": exercise.framework,
        "atol": exercise.atol,
        "rtol": exercise.rtol,
        "shows": list(exercise.shows),
        "axes": dict(exercise.axes),
        "mistakes": [
            [bool(one.patches), one.id, one.message, one.hint, one.share] for one in exercise.mistakes if one.id
        ],
        "cases": [{"config": dict(case.config), "texts": dict(case.texts)} for case in cases],
        **({"call": exercise.call} if exercise.call else {}),
        **({"parts": exercise.parts} if exercise.parts else {}),
    }
    arrays[_ABOUT] = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)
    return packed(arrays)


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def _single(array: np.ndarray) -> np.ndarray:
    """Half as large: whether an answer shows a mistake is asked with a wide tolerance."""
    with np.errstate(over="ignore"):
        small = array.astype(np.float32) if array.dtype == np.float64 else array
    return small if np.array_equal(np.isfinite(small), np.isfinite(array)) else array


def pack_names(archive: Path) -> list[str]:
    """The exercises that have a pack in an archive; none where there is no archive."""
    if not archive.is_file():
        return []
    with zipfile.ZipFile(archive) as packs:
        return [name.removesuffix(_SUFFIX) for name in packs.namelist()]


def read_pack(archive: Path, name: str) -> bytes:
    """Raises OSError where there is no archive, KeyError where it has no pack of this exercise."""
    with zipfile.ZipFile(archive) as packs:
        return packs.read(f"{name}{_SUFFIX}")


def deciding(data: bytes) -> list[Any]:
    """What of a pack decides whether a check accepts an answer: not how mistakes look and what is said of them."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        told = {key: value for key, value in json.loads(arrays[_ABOUT].tobytes()).items() if key not in _SAID}
        names = [name for name in arrays.files if name != _ABOUT and name.split("/")[1] != "mistakes"]
        return [told, *([name, str(arrays[name].dtype), arrays[name].shape, arrays[name].tobytes()] for name in names)]


def about(data: bytes) -> dict[str, Any]:
    """What a pack holds beside arrays."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        found: dict[str, Any] = json.loads(arrays[_ABOUT].tobytes())
        return found


def unpack(data: bytes, slug: str, rules: Callable[[str], Rule]) -> Pack:
    """rules: name of a rule -> the rule."""
    file = np.load(io.BytesIO(data), allow_pickle=False)
    told = json.loads(file[_ABOUT].tobytes())
    parts: list[dict[str, dict[str, np.ndarray]]] = [{part: {} for part in _PARTS} for _ in told["cases"]]
    wrong: list[dict[str, dict[str, str]]] = [{} for _ in told["cases"]]
    for name in file.files:
        number, _, place = name.partition("/")
        part, _, own = place.partition("/")
        if part == "mistakes":
            key, _, answer = own.partition("/")
            wrong[int(number)].setdefault(key, {})[answer] = name
        elif part:
            parts[int(number)][part][own] = file[name]

    def read(names: Mapping[str, str]) -> dict[str, np.ndarray]:
        return {answer: file[name] for answer, name in names.items()}

    cases = [
        Case(case["config"], texts=case["texts"], mistakes=MistakenAnswers(names, read), **arrays)
        for case, names, arrays in zip(told["cases"], wrong, parts, strict=True)
    ]
    known = [
        # that there were patches says that the mistake is known by what they handed over
        Mistake(id, message, hint, patches=("",) if patched else (), share=share)
        for patched, id, message, hint, share in told["mistakes"]
    ]
    method, *given = told.get("call", [""])
    exercise = Exercise(
        lambda generator: cases, rules(told["rule"]), known, told["framework"], told["atol"], told["rtol"], slug,
        shows=told["shows"], axes=told["axes"], method=method, given=given, parts=told.get("parts", ()),
    )  # fmt: skip
    return Pack(exercise, tuple(cases))


@dataclass(frozen=True)
class Found:
    """What judging public cases showed. checks: as in feedback; the first that failed, failed in the case ``where``."""

    checks: tuple[Check, ...]
    earned: float
    where: Case
    answers: Mapping[str, np.ndarray]


def judge_public(
    pack: Pack, call: Callable[[CaseInputs], Mapping[str, Any]], earlier: Mapping[str, Earned] = MappingProxyType({})
) -> Found:
    """Judge what ``call`` makes of every public case, as grading judges the hidden ones.

    earlier: slug of an exercise -> what it earned, as in :class:`Answers`.

    An exception of a later case is raised only where no earlier case has failed.
    """
    given: list[tuple[Case, Answers]] = []
    for number, case in enumerate(pack.cases):
        stored = pack.inputs(number)
        try:
            stored.compare(**call(stored))
        except Exception:
            if any(judgement.earned < 1 for judgement in _judged(pack, given)):
                break
            raise
        given.append((case, Answers(stored._answers, earlier=earlier)))
    judgements = _judged(pack, given)
    checks = merged(judgements)
    judged = zip(judgements, given, strict=True)
    _, (where, answers) = min(judged, key=lambda one: (one[0].earned == 1, checks[0] not in one[0].checks))
    return Found(checks, min(judgement.earned for judgement in judgements), where, answers.arrays)


def _judged(pack: Pack, given: Sequence[tuple[Case, Answers]]) -> list[Judgement]:
    with np.errstate(all="ignore"):
        return judge_cases(pack.exercise, given)
