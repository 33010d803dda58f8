"""The notebooks of one submission while they are run: each in kernels, or taken from what an earlier run produced."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.errors import InfrastructureError
from autograder.kernel.kernels import Kernels
from autograder.model import cells
from autograder.model.limits import Clock, Limits
from autograder.model.plain_text import one_line
from autograder.model.questions import asks_for_points
from autograder.pipeline.drawings import Draw
from autograder.pipeline.execute import judged_inside, run
from autograder.pipeline.fingerprint import digest, limits_matter, times_of
from autograder.pipeline.outcomes import ExecutedNotebook
from autograder.pipeline.rebuild import inputs_of, prepare, trusted_files
from autograder.pipeline.sanitize import with_harmless_outputs
from autograder.pipeline.steps import steps_for
from autograder.pipeline.stored_runs import StoredRun, StoredRuns
from autograder.pipeline.student_kernel import StudentKernel
from autograder.references.write import checksums

#: A failure of the grader itself is tried again this often before it is reported.
ATTEMPTS = 3
#: So much of what happened to one notebook is logged.
MAX_LOG_LINES = 1000


@dataclass
class Runs:
    """What was run of a submission before, and what is to be kept of this run.

    machine: digest of what runs it: the grader, the course library, their environment, how kernels are confined.
    now: None where not all of it can be kept.
    too_slow: where a submission is run once more, with nothing beside it, the cells (notebook, grade id) that the
    solution did not pass just before.
    """

    machine: str
    before: Mapping[str, StoredRun] = field(default_factory=dict)
    now: StoredRuns | None = None
    too_slow: Collection[tuple[str, str]] | None = None


@dataclass(frozen=True)
class Executed:
    """A notebook that was run; ``ran`` is None where the grader failed. To be closed: then its answers are gone.

    key: tells its run from others. stored: where it was not run now.
    """

    ran: ExecutedNotebook | None
    log: tuple[str, ...]
    answers: ExitStack
    key: str = ""
    stored: StoredRun | None = None

    def close(self) -> None:
        self.answers.close()


class Running:
    """One submission's notebooks, and all that running them takes. Several threads may run one each."""

    def __init__(
        self,
        submission: Submission,
        assignment: Assignment,
        limits: Limits,
        on_executed: Callable[[str, ExecutedNotebook], None],
        draw: Draw,
        inside: Collection[str],
        runs: Runs | None,
    ) -> None:
        self._assignment, self._limits, self._inside, self._runs = assignment, limits, inside, runs
        self._on_executed, self._draw = on_executed, lambda source: draw(source, assignment.drawings)
        self.prepared = prepare(submission, assignment)
        made = self.prepared.rebuilt.items()
        self._inputs = {name: inputs_of(one.notebook, assignment.references) for name, one in made}
        self._steps = {name: steps_for(assignment, name, one.notebook) for name, one in made}
        self._beside = {f"{name}.ipynb": self.prepared.files[f"{name}.ipynb"] for name, _ in made}
        self._student, self._kept = submission.student, dict[str, StoredRun]()
        self._keys = {name: self._key(name, one.notebook) if runs is not None else "" for name, one in made}

    def start_ahead(self, name: str | None, kernels: Kernels) -> None:
        """Begin with a notebook's kernel while the one before it is at work."""
        if name is not None and self._stored(name) is None:
            limits = self._limits
            files, inputs = self.prepared.files, self._inputs[name]
            kernels.start_ahead(files, inputs, limits.memory_bytes, limits.processes, limits.disk_bytes)

    def execute(self, name: str, kernels: Kernels, meanwhile: Callable[[], None] = lambda: None) -> Executed:
        """Run one notebook, or take what its run produced before."""
        log: list[str] = []
        key, stored = self._keys[name], self._stored(name)
        if stored is not None:
            meanwhile()
            ran = stored.executed(self.prepared.rebuilt[name])
            ran.notebook = stored.with_drawings(ran.notebook, self._draw)
            return Executed(ran, tuple(logged(name, ran.log)), ExitStack(), key, stored)
        for attempt in range(ATTEMPTS):
            with ExitStack() as answers:
                try:
                    folder = answers.enter_context(kernels.answers())
                    ran = self._run(name, kernels, folder, meanwhile)
                    if any(step.role in self._inside for step in self._steps[name]):
                        ran = self._again(name, ran, kernels, folder)
                except InfrastructureError as error:
                    log.append(f"{name}: attempt {attempt + 1} of {ATTEMPTS} failed: {error}")
                    continue
                return Executed(ran, (*log, *logged(name, ran.log)), answers.pop_all(), key)
        return Executed(None, tuple(log), ExitStack())

    def _again(self, name: str, ran: ExecutedNotebook, kernels: Kernels, answers: Path) -> ExecutedNotebook:
        """With what the second kernel shows, whose time begins only now."""
        clock = Clock(self._limits, self._limits.cells.get(name) or {})
        inputs = self._inputs[name]
        student = StudentKernel(kernels, self._limits, clock, self.prepared.files, inputs, answers, unseen=True)
        return judged_inside(ran, self.prepared.rebuilt[name].notebook, self._steps[name], self._inside, student)

    def _run(self, name: str, kernels: Kernels, answers: Path, meanwhile: Callable[[], None]) -> ExecutedNotebook:
        notebook = self.prepared.rebuilt[name].notebook
        if self._inputs[name]:
            kernels.require_out_of_reach(self._assignment.references.folder)
        return run(
            notebook,
            files=self.prepared.files,
            inputs=self._inputs[name],
            answers=answers,
            kernels=kernels,
            limits=self._limits,
            cell_limits=self._limits.cells.get(name),
            draw=self._draw,
            steps=self._steps[name],
            tester_files=trusted_files(self._assignment),
            meanwhile=meanwhile,
        )

    def _key(self, name: str, notebook: NotebookNode) -> str:
        """Digest of all that running a notebook depends on, but for time limits and the notebooks beside it."""
        assert self._runs is not None
        texts = [
            [cell.cell_type, cell.get("id"), cells.nbgrader(cell).get("grade_id"), cells.is_autograded(cell),
             asks_for_points(cell), cell.source if cell.cell_type == "code" else ""]
            for cell in notebook.cells
        ]  # fmt: skip
        files = {one: digest(data) for one, data in self.prepared.files.items() if one not in self._beside}
        tester_files = sorted(trusted_files(self._assignment))
        inputs = {slug: digest(checksums(files)) for slug, files in self._inputs[name].items()}
        steps = [repr(step) for step in self._steps[name]]
        return digest(
            self._runs.machine, texts, files, tester_files, inputs, self._limits.room, steps, sorted(self._inside)
        )

    def _stored(self, name: str) -> StoredRun | None:
        found = self._runs.before.get(name) if self._runs is not None else None
        if found is None or not found.is_of(self._keys[name], self._beside):
            return None
        limits = self._limits.of_notebook(name)
        return None if limits_matter(found.times, found.cut, found.slowest, found.seconds, limits) else found

    def keep(self, name: str, executed: Executed) -> None:
        """Clean the outputs of what was run just now, and take what can be kept of it."""
        ran = executed.ran
        if ran is None:
            return
        if executed.stored is None:
            self._on_executed(name, ran)
            ran.notebook = with_harmless_outputs(ran.notebook)  # what nobody is shown need not be kept
        if self._runs is not None:
            made, times = self.prepared.rebuilt[name], times_of(self._limits.of_notebook(name))
            kept = StoredRun.of(executed.key, made, ran, self._beside, times, self._draw)
            if kept is not None:
                self._kept[name] = kept

    def stored(self) -> StoredRuns | None:
        """What can be judged again when all of it was judged; None where a run is missing."""
        prepared = self.prepared
        if self._kept.keys() != prepared.rebuilt.keys() - prepared.unreadable.keys():
            return None
        runs = {name: self._kept[name] for name in prepared.rebuilt if name in self._kept}
        name = self._assignment.name
        return StoredRuns(self._student, name, "", runs, prepared.unreadable, prepared.answers, prepared.absent)


def logged(name: str, log: Sequence[str]) -> list[str]:
    return [f"{name}: {one_line(line)}" for line in log[:MAX_LOG_LINES]]
