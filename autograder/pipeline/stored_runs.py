"""What running a submission's notebooks produced, kept as one file, so that it can be judged again without a run.

The trusted side alone writes and reads it; no kernel may. A run is told by the digest of all that it depends on, so
what is kept here can be missing, old or damaged: then the notebook is run again.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import NotebookVerdict, SubmissionVerdict
from autograder.pipeline.drawings import Drawing
from autograder.pipeline.fingerprint import basis_of_runs, content_parts, digest, machine_of_runs, submission_parts
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, PartOutcome, TestOutcome, slowest_of, was_cut
from autograder.pipeline.rebuild import Prepared, RebuiltNotebook
from autograder.pipeline.sanitize import with_harmless_outputs

_FORMAT = 1
FOLDER = ".autograder/executed"
#: What one submission's file may have, compressed and as it is read. A larger one is not kept, and run again.
MAX_BYTES = 4 << 20
MAX_READ = 64 << 20
#: All that a file cut short or written by somebody else makes of the standard library.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError, TypeError, AttributeError,
           NotImplementedError, RecursionError)  # fmt: skip
#: What shows a cell that is one of the course's own drawings; None for all others.
Draw = Callable[[str], Drawing | None]


@dataclass(frozen=True)
class StoredRun:
    """One executed notebook, and what it was rebuilt with.

    key: digest of all that its run depends on, but for time limits and the submission's other notebooks. read: which of
    these it read, by their digests. drawn: cells that show a drawing of the course's own, which is the same for
    everybody and left out here. answers: path below the answers' folder -> content.
    """

    key: str
    read: Mapping[str, str]
    made: RebuiltNotebook
    drawn: frozenset[int]
    outcomes: Sequence[CellOutcome]
    seconds: float
    log: Sequence[str]
    times: str
    answers: Mapping[str, bytes]

    @classmethod
    def of(
        cls, key: str, made: RebuiltNotebook, ran: ExecutedNotebook, beside: Mapping[str, bytes], times: str, draw: Draw
    ) -> "StoredRun | None":
        """None where the answers are too many to be kept. beside: the submission's other notebooks."""
        answers = ran.answers
        if isinstance(answers, Path):
            paths = [path for path in answers.rglob("*") if path.is_file() and not path.is_symlink()]
            if sum(path.stat().st_size for path in paths) > MAX_BYTES:
                return None
            answers = {path.relative_to(answers).as_posix(): path.read_bytes() for path in paths}
        read = {name: digest(beside[name]) for name in sorted(ran.read & beside.keys())}
        notebook = nbformat.from_dict(ran.notebook)
        shown = [index for index, cell in enumerate(notebook.cells) if cell.get("outputs")]
        drawn = frozenset(index for index in shown if draw(notebook.cells[index].source) is not None)
        for index in drawn:
            notebook.cells[index].outputs = []
        executed = replace(made, notebook=notebook)
        return cls(key, read, executed, drawn, tuple(ran.outcomes), ran.seconds, tuple(ran.log), times, answers)

    def is_of(self, key: str, beside: Mapping[str, bytes]) -> bool:
        """Whether a run would be the same one."""
        return self.key == key and all(digest(beside.get(name, b"")) == one for name, one in self.read.items())

    @property
    def slowest(self) -> float:
        return slowest_of(self.outcomes)

    @property
    def cut(self) -> bool:
        return was_cut(self.outcomes)

    def executed(self, made: RebuiltNotebook | None = None) -> ExecutedNotebook:
        """The notebook as it came from its run, but for the course's drawings.

        made: the same notebook, rebuilt just now: its texts and points may be new ones.
        """
        notebook = self.made.notebook
        if made is not None:
            notebook = nbformat.from_dict(made.notebook)
            for cell, run in zip(notebook.cells, self.made.notebook.cells, strict=True):
                if cell.cell_type == "code":
                    cell.outputs, cell.execution_count = run.outputs, run.execution_count
        outcomes, log, read = list(self.outcomes), list(self.log), frozenset(self.read)
        return ExecutedNotebook(notebook, outcomes, self.answers, self.seconds, log, read)

    def with_drawings(self, notebook: NotebookNode, draw: Draw) -> NotebookNode:
        """A copy of the executed notebook that shows the course's drawings, too."""
        copy = nbformat.from_dict(notebook)
        for index in self.drawn:
            cell = copy.cells[index]
            if (drawn := draw(cell.source)) is not None:
                picture = {"data": dict(drawn.data), "metadata": deepcopy(drawn.metadata)}
                cell.outputs = [new_output("execute_result", **picture, execution_count=cell.execution_count)]
        return with_harmless_outputs(copy) if self.drawn else copy


@dataclass(frozen=True)
class StoredRuns:
    """One submission after the stage RUN. basis: digest of what the course and the student brought to it."""

    student: str
    assignment: str
    basis: str
    runs: Mapping[str, StoredRun]
    unreadable: Mapping[str, NotebookVerdict] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    def prepared(self) -> Prepared:
        """As :func:`~autograder.pipeline.rebuild.prepare` gave it, without the files, which only a run needs."""
        return Prepared(
            {name: run.made for name, run in self.runs.items()}, self.unreadable, {}, self.answers, self.absent
        )


def path_of(root: Path, assignment: str, student: str) -> Path:
    return root / FOLDER / assignment / f"{student}.zip"


def write(path: Path, stored: StoredRuns) -> str:
    """Keep it in a file. Returns why it is not kept; empty where it is."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("submission.json", json.dumps(_about(stored)))
        for number, (name, run) in enumerate(stored.runs.items()):
            file.writestr(f"{number}.json", json.dumps({"name": name, **_of_run(run)}))
            for answer, content in run.answers.items():
                file.writestr(f"{number}/{answer}", content)
    if whole.tell() > MAX_BYTES:
        path.unlink(missing_ok=True)
        return f"its run has {whole.tell():,} bytes and is not kept: judging it again will run it again"
    try:
        write_file(path, whole.getvalue())
    except GradingError as error:
        return f"its run is not kept, so judging it again will run it again: {error}"
    return ""


def read(path: Path) -> tuple[StoredRuns | None, str]:
    """What is kept, and why it is None; nothing is said where there is no file. Raises nothing."""
    try:
        with zipfile.ZipFile(path) as file:
            if sum(member.file_size for member in file.infolist()) > MAX_READ:
                raise ValueError("it is larger than any that is written")
            return _stored(file), ""
    except FileNotFoundError:
        return None, ""
    except _DAMAGE as error:
        return None, f"what was kept of its last run cannot be read ({type(error).__name__}: {error}); it is run again"


def current(course: Course, assignment: Assignment, submission: Submission, isolation: str) -> StoredRuns | None:
    """What is kept of a submission, where a run would give the same now."""
    stored, _ = read(path_of(course.root, assignment.name, submission.student))
    machine, content = machine_of_runs(course, isolation), content_parts(assignment)
    basis = basis_of_runs(machine, content, submission_parts(submission), course.file.limits.room)
    return stored if stored is not None and stored.basis == basis else None


def kept_bytes(root: Path, assignment: str) -> int:
    return sum(path.stat().st_size for path in (root / FOLDER / assignment).glob("*.zip"))


def _about(stored: StoredRuns) -> dict[str, Any]:
    unreadable = SubmissionVerdict(stored.student, stored.assignment, tuple(stored.unreadable.values()))
    return {
        "format": _FORMAT,
        "student": stored.student,
        "assignment": stored.assignment,
        "basis": stored.basis,
        "unreadable": verdicts.to_json(unreadable),
        "answers": {name: dict(found) for name, found in stored.answers.items()},
        "absent": sorted(stored.absent),
    }


def _of_run(run: StoredRun) -> dict[str, Any]:
    return {
        "key": run.key,
        "read": dict(run.read),
        "notebook": run.made.notebook,
        "drawn": sorted(run.drawn),
        "notes": run.made.notes,
        "waiting": sorted(run.made.waiting),
        "outcomes": [asdict(one) for one in run.outcomes],
        "seconds": run.seconds,
        "log": list(run.log),
        "times": run.times,
    }


def _stored(file: zipfile.ZipFile) -> StoredRuns:
    about = json.loads(file.read("submission.json"))
    if about["format"] != _FORMAT:
        raise ValueError(f"expected format {_FORMAT}, not {about['format']}")
    names = file.namelist()
    runs = {}
    for member in (name for name in names if name.endswith(".json") and name != "submission.json" and "/" not in name):
        said, below = json.loads(file.read(member)), member.removesuffix("json")[:-1] + "/"
        answers = {name.removeprefix(below): file.read(name) for name in names if name.startswith(below)}
        runs[said["name"]] = _run(said, answers)
    unreadable = verdicts.from_json(about["unreadable"]).notebooks
    return StoredRuns(
        about["student"],
        about["assignment"],
        about["basis"],
        runs,
        {one.notebook: one for one in unreadable},
        about["answers"],
        frozenset(about["absent"]),
    )


def _run(said: Mapping[str, Any], answers: Mapping[str, bytes]) -> StoredRun:
    return StoredRun(
        said["key"],
        said["read"],
        RebuiltNotebook(nbformat.from_dict(said["notebook"]), tuple(said["notes"]), frozenset(said["waiting"])),
        frozenset(said["drawn"]),
        tuple(map(_outcome, said["outcomes"])),
        said["seconds"],
        said["log"],
        said["times"],
        answers,
    )


def _outcome(said: dict[str, Any]) -> CellOutcome:
    hidden, test = said["hidden"] and _part(said["hidden"]), said["test"] and _test(said["test"])
    return CellOutcome(**{**said, "visible": _part(said["visible"]), "hidden": hidden, "test": test})


def _part(said: dict[str, Any]) -> PartOutcome:
    return PartOutcome(**{**said, "raised": tuple(said["raised"])})


def _test(said: dict[str, Any]) -> TestOutcome:
    inside = said["inside"] and _test(said["inside"])
    return TestOutcome(**{**said, "ended": _part(said["ended"]), "came": tuple(said["came"]), "inside": inside})
