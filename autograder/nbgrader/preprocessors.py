"""nbgrader's preprocessors around our stages, each a few lines; ``nbgrader_config.py`` puts them in its lists."""

import atexit
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import AssignLatePenalties, ClearSolutions, NbGraderPreprocessor, SaveAutoGrades

from autograder.assignment.assignment import Assignment, read_files, trusted, write_stubs
from autograder.assignment.submission import Submission, read_submission
from autograder.errors import InfrastructureError
from autograder.gradebook.gather import gather_from
from autograder.gradebook.graded_answers import read_record, settle, settling, write_record
from autograder.gradebook.groups import with_mates
from autograder.gradebook.late.penalties import write_penalties
from autograder.kernel.imports import imports_of
from autograder.model import verdict
from autograder.model.course import Course
from autograder.model.course_file import read_course_file
from autograder.model.free import widened
from autograder.model.plain_text import one_form
from autograder.model.verdict import Graded, NotebookVerdict, SubmissionVerdict
from autograder.pipeline.execute import Kernels
from autograder.pipeline.grade import grade_submission
from autograder.pipeline.judge import write_into
from autograder.pipeline.mark_scheme import with_marking_guides
from autograder.pipeline.outcomes import limits_of
from autograder.pipeline.rebuild import Prepared, prepare
from autograder.release.agreement import cleared
from autograder.release.calibrate import calibrated, needs_calibration, warn_of_problems
from autograder.release.judgeable import require_judgeable

Processed = tuple[NotebookNode, ResourcesDict]

#: What lies in an autograded folder beside the notebooks.
KEPT = {"verdicts.json", "grading.log"}


class SetRepository(NbGraderPreprocessor):
    """Puts what ``course.toml`` says into the notebook: the repository into badges and setup cells, the rule for
    assistants below the title. Takes out questions on the student's own code where the course does not ask them.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        settings = self.config.CourseDirectory
        named = read_course_file(Path(settings.root) if "root" in settings else Path.cwd())
        names = resources["nbgrader"]
        return named.fill_in(nb, f"{names['assignment']}/{names['notebook']}"), resources


class FreeVersions(NbGraderPreprocessor):
    """Widens the gaps of the notebooks that ``course.toml`` calls free, before nbgrader clears them."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        names, settings = resources["nbgrader"], self.config.CourseDirectory
        named = read_course_file(Path(settings.root) if "root" in settings else Path.cwd())
        if f"{names['assignment']}/{names['notebook']}" in named.free:
            clear = ClearSolutions(config=self.config)
            for cell in nb.cells:
                if cell.cell_type == "code":
                    cell.source = widened(cell.source, clear.begin_solution_delimeter, clear.end_solution_delimeter)
        return nb, resources


class ClearFields(NbGraderPreprocessor):
    """The last step: drops what nbgrader leaves of solutions beside their text, such as attachments and tags."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        return cleared(nb), resources


class RebuildSubmission(NbGraderPreprocessor):
    """The stage REBUILD in the place of nbgrader's own repairs."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        prepared, name = _prepared(resources), resources["nbgrader"]["notebook"]
        said = prepared.unreadable.get(name)
        for note in said.notes if said else prepared.rebuilt[name].notes:
            self.log.warning("%s", note)
        return _as_released(resources) if said else prepared.rebuilt[name].notebook, resources


class RunConfined(NbGraderPreprocessor):
    """Grades in the place of nbgrader's Execute. The verdict for the next step lies in the resources."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        names = resources["nbgrader"]
        graded, name = _graded(names["student"], names["assignment"]), names["notebook"]
        said = next(one for one in graded.verdict.notebooks if one.notebook == name)
        resources["autograder"] = {"verdict": said, "answers": (graded.answers or {}).get(name, {})}
        if name in graded.notebooks:
            return graded.notebooks[name], resources
        return write_into(_as_released(resources), said), resources  # there was nothing to run


class JudgeAnswers(NbGraderPreprocessor):
    """Keeps the verdict: in nbgrader's own terms it is in the cells already, in full it goes to ``verdicts.json``."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        names, said = resources["nbgrader"], resources["autograder"]["verdict"]
        missing = _prepared(resources).unreadable.values()
        _add_to_verdicts(_course().autograded(names["student"], names["assignment"]), said, missing)
        source = Assignment.open(_course(), names["assignment"]).source[names["notebook"]]
        return with_marking_guides(nb, source), resources


def _as_released(resources: ResourcesDict) -> NotebookNode:
    """What nbgrader has to write where there was no notebook that could be read."""
    names = resources["nbgrader"]
    opened = Assignment.open(_course(), names["assignment"])
    return trusted(opened.source[names["notebook"]], opened.release[names["notebook"]])


def sweep(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's post_convert_hook: what it copied along from the submission (links followed!) goes away again.

    student: nbgrader's pattern, ``*`` for everybody.
    """
    keep = {f"{name}.ipynb" for name in Assignment.open(_course(), assignment).source} | KEPT
    for one, folder in _course().autograded_folders(assignment).items():
        for path in folder.iterdir() if fnmatchcase(one, one_form(student)) else ():
            if path.name not in keep:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _course() -> Course:
    return _course_in(Path.cwd())  # nbgrader's converters change into the course's root


@lru_cache(maxsize=1)
def _course_in(root: Path) -> Course:
    return Course(root)


@lru_cache(maxsize=1)
def _kernels() -> Kernels:
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    return until_exit.enter_context(Kernels.open("auto", imports=imports_of(_course())))


@lru_cache(maxsize=2)
def _submission(student: str, assignment: str) -> tuple[Submission, Assignment, Prepared]:
    opened = with_mates(_course(), Assignment.open(_course(), assignment))
    require_judgeable(opened)
    if needs_calibration(opened):
        opened = warn_of_problems(calibrated(_course().root, opened, _kernels(), _course().file.limits))
    submission = read_submission(_course().submitted(student, assignment), student, opened)
    return submission, opened, prepare(submission, opened)


@lru_cache(maxsize=2)
def _graded(student: str, assignment: str) -> Graded:
    """All notebooks of a submission at once. Raises InfrastructureError: what the grader did not run is no 0."""
    submission, opened, _ = _submission(student, assignment)
    limits = _course().file.limits
    limits = replace(limits, cells=limits_of(_course().root, assignment, limits.cell_seconds))
    graded = grade_submission(submission, opened, _kernels(), limits)
    if any(cell.status == "infrastructure" for one in graded.verdict.notebooks for cell in one.cells):
        raise InfrastructureError(graded.log[-1])
    return graded


def forget() -> None:
    """Read submissions and configuration anew: a formgrader lives for weeks, and students hand in again."""
    _submission.cache_clear()
    _graded.cache_clear()
    _course_in.cache_clear()


def _prepared(resources: ResourcesDict) -> Prepared:
    return _submission(resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])[2]


def _add_to_verdicts(
    folder: Path, said: verdict.NotebookVerdict, missing: Iterable[verdict.NotebookVerdict] = ()
) -> None:
    """Put one notebook's verdict among those of the same submission.

    missing: verdicts on what was not handed in, for which nbgrader calls no preprocessor.
    """
    path = folder / "verdicts.json"
    found = {old.notebook: old for old in (verdict.read(path).notebooks if path.exists() else ())}
    found |= {one.notebook: one for one in (*missing, said)}
    notebooks = tuple(found[name] for name in sorted(found))
    path.unlink(missing_ok=True)  # nbgrader leaves its files read-only
    path.write_text(verdict.to_json(SubmissionVerdict(said.student, said.assignment, notebooks)), encoding="utf-8")


class StubDeliverables(NbGraderPreprocessor):
    """Replaces the deliverables that nbgrader copied along by what students get. It leaves the notebook as it is.

    nbgrader has copied the files when it converts the first notebook. Raises GradingError, which ends the release, for
    a file that would show its solution.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        converter = getattr(self.parent, "parent", None)
        if isinstance(converter, GenerateAssignment):  # else somebody asks for the notebook alone
            name = resources["nbgrader"]["assignment"]
            course = Course(Path(converter.coursedir.root))
            source, target = converter._format_source(name, "."), converter._format_dest(name, ".")
            write_stubs(course, name, Path(target), read_files(Path(source), course.settings.ignore))
        return nb, resources


class SaveGrades(SaveAutoGrades):
    """nbgrader's own step sends every manual grade back to a person; ours does so where the answer has changed.

    Takes the digests of the answers from ``resources["autograder"]``, where the rebuild has left them.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        done: tuple[NotebookNode, ResourcesDict] = super().preprocess(nb, resources)
        names, root = resources["nbgrader"], Path.cwd()  # nbgrader's converters change into the course's root
        student, assignment, notebook = names["student"], names["assignment"], names["notebook"]
        with settling(root, assignment), Gradebook(names["db_url"]) as gradebook:
            record = read_record(root, assignment, student)
            stored = gradebook.find_submission_notebook(notebook, assignment, student)
            verdict = resources["autograder"]["verdict"]
            settled, _ = settle(stored, verdict, resources["autograder"]["answers"], record.get(notebook))
            gradebook.db.commit()
            write_record(root, assignment, student, {**record, notebook: settled})
        return done

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        """The automatic score alone: whether a person must look is decided when all of them are there."""
        name = cell.metadata["nbgrader"]["grade_id"]
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        verdict: NotebookVerdict = resources["autograder"]["verdict"]
        grade.auto_score = next(one.points for one in verdict.cells if one.cell == name)
        self.gradebook.db.commit()

    def _add_comment(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        """nbgrader says "No response." of a cell that is as it was handed out; the answer may stand elsewhere."""
        super()._add_comment(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        verdict: NotebookVerdict = resources["autograder"]["verdict"]
        if any(one.cell == name and one.points is None for one in verdict.cells):
            comment = self.gradebook.find_comment(name, self.notebook_id, self.assignment_id, self.student_id)
            comment.auto_comment = None
            self.gradebook.db.commit()


class AssignPolicyPenalties(AssignLatePenalties):
    """By ``late_policy.toml``, from our own record of times.

    nbgrader's own step asks a plugin only where the gradebook says that a submission was late, and the gradebook's time
    comes from a file in the student's folder. Where the policy does not speak about the assignment, that step runs.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        names = resources["nbgrader"]
        course = Course(Path.cwd())  # nbgrader's converters change into the course's root
        with Gradebook(names["db_url"]) as gradebook:
            table = gather_from(course, names["assignment"], gradebook, {names["student"]})
            write_penalties(course, gradebook, table)
            if table.deadline:
                return nb, resources
        return super().preprocess(nb, resources)
