"""Trying mutants: each in forked kernels, judged by the real judge, in several processes; results are kept.

What became of a mutant: who rejected it and in which words, or why nobody did.
"""

import contextlib
import json
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import Trials, Tried, graded_cells, needed
from autograder.classroom.workers import end_with_parent, worker_processes
from autograder.exercise.compare import NO_MORE
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.mutants.generate import Mutant, SolutionPart
from autograder.pipeline.fingerprint import digest, machine_parts
from autograder.references import loader

#: ``named``: feedback names a mistake of the catalogue. ``property``: it says in words what is wrong. ``values``: it
#: says that numbers or texts differ. ``crashed``: the code stopped. ``accepted``: by the author, with a reason.
#: ``message``: only the words of an error are changed. ``looks``: only how a picture looks. ``passed``: no graded cell
#: took points, and nothing is proven yet.
Kind = Literal[
    "named", "property", "values", "crashed", "passed", "survivor", "equivalent", "message", "looks", "accepted"
]
REJECTED: tuple[Kind, ...] = ("named", "property", "values", "crashed")

#: How the judge's messages begin where a cell did not come to its end (``autograder.pipeline.judge``).
CRASHED = ("Your code stopped with", "Your code took too long", "Your code ended the Python process",
           "A name is missing", "This part was not reached", "No answer came from your code")  # fmt: skip
MAX_VISIBLE = 300  # characters of a visible check's words that are kept


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    exercise: the graded cell that took points first. said: what feedback says there; of a survivor or an equivalent
    one, what was compared. mistakes: ids of the mistakes that feedback names. visible: what the visible check of that
    cell says against it (where no cell took points: of the first cell whose check refuses it); empty where it passes.
    ticked: whether that check prints a ✓, as no question with answers to choose from does.
    """

    kind: Kind
    exercise: str = ""
    said: str = ""
    mistakes: tuple[str, ...] = ()
    visible: str = ""
    ticked: bool = False
    seconds: float = 0.0
    lost: dict[str, float] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "Outcome":
        return cls(**{**stored, "mistakes": tuple(stored["mistakes"])})


def graded_outcome(tried: Tried, graded: bool, seconds: float) -> Outcome:
    """The outcome of the graded cells: rejected by the first that took points, or ``passed``.

    graded: False for an exercise without points: there it counts that a cell does not pass.
    """
    lost = [verdict for verdict in tried.verdicts.values() if _took(verdict, graded)]
    if not lost:
        refused = next((said for said in tried.visible.values() if said), "")
        return Outcome("passed", visible=_short(refused), seconds=round(seconds, 2))
    failed = [check for verdict in lost for check in verdict.checks if not check.passed]
    mistakes = tuple(dict.fromkeys(check.mistake for check in failed if check.mistake))
    named = next((check.message for check in failed if check.mistake), "")
    messages = [check.message for check in failed]
    kind: Kind = "named" if mistakes else kind_of(messages)
    points = {verdict.cell: verdict.max_points - (verdict.points or 0.0) for verdict in lost}
    said = named or (messages[0] if messages else lost[0].status)
    seen = _short(tried.visible.get(lost[0].cell, ""))
    return Outcome(kind, lost[0].cell, said, mistakes, seen, lost[0].cell in tried.ticked, round(seconds, 2), points)


def _short(text: str) -> str:
    return text if len(text) <= MAX_VISIBLE else text[: MAX_VISIBLE - 1] + "…"


def _took(verdict: CellVerdict, graded: bool) -> bool:
    if graded:
        return (verdict.points or 0.0) < verdict.max_points
    return verdict.status != "passed"


def kind_of(messages: Iterable[str]) -> Kind:
    """Of messages that name no mistake: the clearest of them counts."""
    kinds: set[Kind] = set()
    for message in messages:
        if message.startswith(CRASHED):
            kinds.add("crashed")
        elif any(words in message for words in NO_MORE):
            kinds.add("values")
        else:
            kinds.add("property")
    return next((kind for kind in REJECTED if kind in kinds), "values")


#: Told how many mutants are done, and of how many.
Progress = Callable[[int, int], None]

#: For one try: many times what any solution takes. A mutant may never come to an end.
MAX_SECONDS = 25.0
#: The modules that compare what no cell rejected.
COMPARING = ("compared", "equivalence", "recorded", "replay", "same", "variations")

_trials: Trials | None = None


def tried(
    course: Course, assignment: Assignment, chosen: Sequence[Mutant], workers: int, progress: Progress
) -> dict[str, Outcome]:
    """id -> outcome, rejected or ``passed``. What was tried before in this very state is not tried again."""
    kept = KeptOutcomes(course, assignment)
    found = {mutant.id: outcome for mutant in chosen if (outcome := kept.read(mutant)) is not None}
    progress(len(found), len(chosen))
    missing = [mutant for mutant in chosen if mutant.id not in found]
    for mutant, outcome in _in_processes(course, assignment, missing, workers):
        kept.add(mutant, outcome)
        found[mutant.id] = outcome
        progress(len(found), len(chosen))
    return found


def _in_processes(
    course: Course, assignment: Assignment, missing: Sequence[Mutant], workers: int
) -> Iterator[tuple[Mutant, Outcome]]:
    if not missing:
        return
    if workers <= 1:
        with Trials(assignment, seconds=MAX_SECONDS) as trials:
            for mutant in missing:
                yield mutant, try_one(trials, mutant)
        return
    arguments = (course.root, assignment.name)
    with ProcessPoolExecutor(workers, mp_context=worker_processes(), initializer=_open, initargs=arguments) as pool:
        running = {pool.submit(_try_one, mutant): mutant for mutant in missing}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.kill()  # what it was trying is tried again
            raise


def _open(root: Path, name: str) -> None:
    global _trials
    end_with_parent()
    _trials = Trials(Assignment.unreleased(Course(root), name), seconds=MAX_SECONDS)


def _try_one(mutant: Mutant) -> Outcome:
    assert _trials is not None, "the process was not opened"
    return try_one(_trials, mutant)


def try_one(trials: Trials, mutant: Mutant) -> Outcome:
    """Grade the cells that look at this part and, where none of them takes points, those that build on it."""
    started = time.perf_counter()
    texts, part = {mutant.part.place: mutant.text}, mutant.part
    own = graded_outcome(trials.run(texts, only=part.exercises), part.graded, time.perf_counter() - started)
    if own.kind != "passed" or not part.others:
        return own
    other = graded_outcome(trials.run(texts, only=part.others), part.graded, time.perf_counter() - started)
    return replace(other, visible=own.visible) if own.visible and other.kind == "passed" else other


class KeptOutcomes:
    """KeptOutcomes of earlier runs, in ``.autograder/mutants/`` of the course: a line of JSON for each mutant.

    The key is made of all that a result depends on: the solutions of the notebook, exercises, grader and library.
    """

    def __init__(self, course: Course, assignment: Assignment, what: str = "tried") -> None:
        self._file: Path = course.root / ".autograder" / "mutants" / f"{assignment.name}.{what}.jsonl"
        self._assignment = assignment
        self._machine = machine_parts(course)
        if what != "tried":  # how mutants are compared is no part of what grades
            modules = sorted(Path(__file__).parent.glob("*.py"))
            self._machine |= {path.name: digest(path.read_bytes()) for path in modules if path.stem in COMPARING}
        self._states: dict[str, str] = {}
        self._known: dict[str, dict[str, object] | None] = {}
        with contextlib.suppress(OSError):
            for line in self._file.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):  # the last line of a killed run
                    stored = json.loads(line)
                    self._known[stored["key"]] = stored["outcome"]

    def read(self, mutant: Mutant) -> Outcome | None:
        stored = self._known.get(self._key(mutant))
        return Outcome.of(stored) if stored else None

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        stored = {"key": self._key(mutant), "id": mutant.id, "outcome": outcome.json()}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(stored) + "\n")

    def _key(self, mutant: Mutant) -> str:
        part = mutant.part
        if part.name not in self._states:
            self._states[part.name] = state(self._assignment, part, self._machine)
        return digest(self._states[part.name], mutant.text)


def state(assignment: Assignment, part: SolutionPart, machine: dict[str, str]) -> str:
    """Digest of what the outcomes of a part's mutants depend on."""
    return digest(
        part.place, part.exercises, part.others, trusted(assignment, (*part.exercises, *part.others)), machine
    )


def trusted(assignment: Assignment, exercises: Sequence[str]) -> str:
    """Digest of these exercises, of the code cells that their graded cells need, of shared modules and of all files.

    A cell that none of them needs is never run when a mutant is tried: it may change.
    """
    folder = assignment.references.folder
    shared = [*folder.glob("_*.py"), *(folder / assignment.name).glob("_*.py")]
    files = [loader.file_of(folder, f"{assignment.name}/{name}") for name in exercises]
    modules = {
        str(path.relative_to(folder)): path.read_bytes().hex()
        for path in sorted({*shared, *files})
        if path.is_file() and not path.name.lstrip("_").startswith("answers")
    }
    code = {name: _needed_code(notebook, exercises) for name, notebook in assignment.source.items()}
    beside = {name: data.hex() for name, data in {**assignment.files, **assignment.solutions}.items()}
    return digest(modules, code, beside)


def _needed_code(notebook: NotebookNode, exercises: Sequence[str]) -> list[str]:
    own = [index for index in graded_cells(notebook) if cells.grade_id(notebook.cells[index]) in exercises]
    kept = set().union(*(needed(notebook, index) for index in own))
    return [notebook.cells[index].source for index in sorted(kept)]
