"""Trying mutants: each in forked kernels, judged by the real judge, in several processes; results are kept."""

import contextlib
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import Trials, graded_cells, needed
from autograder.classroom.workers import end_with_parent, worker_processes
from autograder.model import cells
from autograder.model.course import Course
from autograder.mutants.generate import Mutant
from autograder.mutants.outcome import Outcome, graded_outcome
from autograder.mutants.parts import SolutionPart
from autograder.pipeline.fingerprint import digest, machine_parts
from autograder.references import loader

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
