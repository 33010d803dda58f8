"""Where each plain test of an assignment is judged, as the instructor's solution and the untouched notebook show.

It is kept for one version of the source, in ``.autograder/calibration/``, in a bundle in ``calibration/``. It holds
what reached each test from the solution, and is as secret as hidden tests are.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from autograder.assignment.solution_run import SolutionRun
from autograder.files.atomic import write_file

FOLDER, SHIPPED = ".autograder/calibration", "calibration"
#: Bumped when the judges change so that a stored calibration says nothing of them.
VERSION = 4


@dataclass(frozen=True)
class CellCalibration:
    """Of one cell. ``outside``: in the tester; ``kernel``: in the student's kernel alone.

    reason: why there alone, one sentence; empty for ``outside``. problem: what is wrong with the test or its solution.
    expected: where the solution's code answered (:mod:`autograder.remote.places`); None: it is to be noted.
    solution: what reached the test from the solution.
    """

    judged: Literal["outside", "kernel"]
    reason: str = ""
    problem: str = ""
    expected: Mapping[str, Sequence[str]] | None = None
    solution: SolutionRun | None = None


@dataclass(frozen=True)
class Calibration:
    """notebook -> grade id, or ``#`` and the number of a cell without points, -> what was found out.

    ``hurried``: a cell ran out of time or crashed, so that another run may find out something else: it holds for the
    processes of this run, and the next one calibrates anew.
    """

    notebooks: Mapping[str, Mapping[str, CellCalibration]] = field(default_factory=dict)
    hurried: bool = False

    def cells_of(self, notebook: str) -> Mapping[str, CellCalibration]:
        return self.notebooks.get(notebook, {})

    def to_json(self) -> dict[str, Any]:
        return {name: {cell: asdict(one) for cell, one in found.items()} for name, found in self.notebooks.items()}


def read_calibration(root: Path, assignment: str, version: str, bundled: str) -> Calibration | None:
    """What is stored for this version of an assignment; None where there is nothing.

    bundled: the version of the same assignment in a bundle.
    """
    for folder, wanted in ((FOLDER, version), (SHIPPED, bundled)):
        try:
            data = json.loads((root / folder / f"{assignment}.json").read_text(encoding="utf-8"))
            if data["version"] == wanted:
                return _from_json(data["notebooks"], data["hurried"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def _from_json(data: Mapping[str, Mapping[str, Any]], hurried: bool) -> Calibration:
    found = {name: {cell: _cell(one) for cell, one in cells.items()} for name, cells in data.items()}
    return Calibration(found, hurried)


def _cell(data: Mapping[str, Any]) -> CellCalibration:
    solution = data["solution"] and SolutionRun.from_json(data["solution"])
    return CellCalibration(**{**data, "solution": solution})


def write_calibration(root: Path, assignment: str, version: str, calibration: Calibration) -> None:
    """Raises GradingError."""
    write_file(root / FOLDER / f"{assignment}.json", _content(calibration, version))
    with suppress(OSError):
        (root / FOLDER).chmod(0o700)


def shipped(assignment: str, bundled: str, calibration: Calibration) -> tuple[str, bytes]:
    """(path, content) of the file in a bundle, which has no solution to calibrate with once more."""
    return f"{SHIPPED}/{assignment}.json", _content(replace(calibration, hurried=False), bundled)


def _content(calibration: Calibration, version: str) -> bytes:
    data = {"version": version, "hurried": calibration.hurried, "notebooks": calibration.to_json()}
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
