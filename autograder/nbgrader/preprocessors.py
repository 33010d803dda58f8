"""nbgrader's preprocessors around our stations, each a few lines; ``nbgrader_config.py`` puts them in its lists."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.pace import limits_of
from autograder.kernel.imports import imports_of
from autograder.model import verdict
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.model.course_file import read_course_file
from autograder.model.submission import read_submission
from autograder.model.verdict import SubmissionVerdict
from autograder.pipeline.execute import Kernels, run
from autograder.pipeline.grade import Prepared, inputs_of, prepare
from autograder.pipeline.judge import judge, write_into
from autograder.pipeline.mark_scheme import with_marking_guides
from autograder.pipeline.rebuild import trusted
from autograder.references.store import References
from autograder.release.judgeable import require_judgeable

Processed = tuple[NotebookNode, ResourcesDict]

#: What lies in an autograded folder beside the notebooks.
KEPT = {"verdicts.json", "grading.log"}


class SetRepository(NbGraderPreprocessor):
    """Puts the course's public repository, which ``course.toml`` names, into badges and setup cells."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        settings = self.config.CourseDirectory
        named = read_course_file(Path(settings.root) if "root" in settings else Path.cwd())
        for cell in nb.cells:
            cell.source = cell.source.replace(named.placeholder, named.repository)
        return nb, resources


class RebuildSubmission(NbGraderPreprocessor):
    """The station REBUILD in the place of nbgrader's own repairs."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        prepared, name = _prepared(resources), resources["nbgrader"]["notebook"]
        said = prepared.unreadable.get(name)
        for note in said.notes if said else prepared.rebuilt[name].notes:
            self.log.warning("%s", note)
        return _as_released(resources) if said else prepared.rebuilt[name].notebook, resources


class RunConfined(NbGraderPreprocessor):
    """The station RUN in the place of nbgrader's Execute. What it leaves for the judge lies in the resources."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        prepared, name = _prepared(resources), resources["nbgrader"]["notebook"]
        if name in prepared.unreadable:  # nothing to run: the verdict on it is made already
            resources["autograder"] = {"verdict": prepared.unreadable[name], "answers": {}}
            return _as_released(resources), resources
        made = prepared.rebuilt[name]
        references = References.of_course(_course().root)
        limits = _course().file.limits
        cell_limits = limits_of(_course().root, resources["nbgrader"]["assignment"], limits.cell_seconds)
        kernels = _kernels()
        with ExitStack() as until_judged:
            ran = run(
                made.notebook,
                files=prepared.files,
                inputs=inputs_of(made.notebook, references),
                answers=until_judged.enter_context(kernels.answers()),
                kernels=kernels,
                limits=limits,
                cell_limits=cell_limits.get(resources["nbgrader"]["notebook"]),
                drawings=_course().file.drawings,
            )
            resources["autograder"] = {
                "ran": ran,
                "notes": made.notes,
                "answers": prepared.answers[name],
                "until_judged": until_judged.pop_all(),
            }
        return ran.notebook, resources


class JudgeAnswers(NbGraderPreprocessor):
    """The station JUDGE: the verdict, in nbgrader's own terms in the cells, in full in ``verdicts.json``."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        names, left = resources["nbgrader"], resources["autograder"]
        executed, said = nb, left.get("verdict")
        if said is None:
            executed, said = left["ran"].notebook, _judged(left, names)
        missing = _prepared(resources).unreadable.values()
        _add_to_verdicts(_course().autograded(names["student"], names["assignment"]), said, missing)
        source = Assignment.open(_course(), names["assignment"]).source[names["notebook"]]
        return with_marking_guides(write_into(executed, said), source), resources


def _as_released(resources: ResourcesDict) -> NotebookNode:
    """What nbgrader has to write where there was no notebook that could be read."""
    names = resources["nbgrader"]
    opened = Assignment.open(_course(), names["assignment"])
    return trusted(opened.source[names["notebook"]], opened.release[names["notebook"]])


def _judged(left: dict[str, Any], names: dict[str, str]) -> verdict.NotebookVerdict:
    """The verdict on what :class:`RunConfined` has left."""
    with left["until_judged"]:
        said = judge(
            left["ran"],
            References.of_course(_course().root),
            student=names["student"],
            assignment=names["assignment"],
            notebook=names["notebook"],
            notes=left["notes"],
        )
    return verdict.presentable(said)


def sweep(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's post_convert_hook: what it copied along from the submission (links followed!) goes away again.

    student: nbgrader's pattern, ``*`` for everybody.
    """
    keep = {f"{name}.ipynb" for name in Assignment.open(_course(), assignment).source} | KEPT
    for one, folder in _course().autograded_folders(assignment).items():
        for path in folder.iterdir() if fnmatchcase(one, student) else ():
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
def _submission(student: str, assignment: str) -> Prepared:
    opened = Assignment.open(_course(), assignment)
    require_judgeable(opened)
    return prepare(read_submission(_course().submitted(student, assignment), student, opened), opened)


def forget() -> None:
    """Read submissions and configuration anew: a formgrader lives for weeks, and students hand in again."""
    _submission.cache_clear()
    _course_in.cache_clear()


def _prepared(resources: ResourcesDict) -> Prepared:
    return _submission(resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])


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
