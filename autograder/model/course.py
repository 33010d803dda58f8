"""The folder of an nbgrader course: its settings, and where everything lies."""

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from autograder.errors import GradingError, NothingToGrade
from autograder.model.course_file import CourseFile, read_course_file
from autograder.model.limits import Limits
from autograder.model.plain_text import forms, meant, one_form
from autograder.model.settings import Settings, read_settings

# stand for every student and every assignment while a pattern is made; no regular expression changes them
_ANY_STUDENT, _ANY_ASSIGNMENT = "anyxstudent", "anyxassignment"


@dataclass(frozen=True, init=False)
class Course:
    """The folder of an nbgrader course: its gradebook, and where everything lies, as ``nbgrader_config.py`` has it.

    ``file``: what ``course.toml`` says.
    """

    root: Path
    settings: Settings
    file: CourseFile

    def __init__(self, root: Path, settings: Settings | None = None) -> None:
        """Raises GradingError for a configuration that fails."""
        settings = settings or read_settings(root)
        object.__setattr__(self, "root", settings.root)
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "file", _with_nbgraders_limit(read_course_file(settings.root), settings))

    @property
    def db_url(self) -> str:
        """SQLite beside the course, unless the configuration says otherwise (PostgreSQL, say)."""
        return self.settings.db_url

    def source(self, assignment: str) -> Path:
        return self._path(self.settings.source_directory, ".", assignment)

    def release(self, assignment: str) -> Path:
        return self._path(self.settings.release_directory, ".", assignment)

    def folder(self, step: str, assignment: str) -> Path:
        """Where the files of a step lie that has no students, whatever the step's folder is called."""
        return self._path(step, ".", assignment)

    def submitted(self, student: str, assignment: str) -> Path:
        return self._place(self.settings.submitted_directory, student, assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        return self._place(self.settings.autograded_directory, student, assignment)

    def feedback(self, student: str, assignment: str) -> Path:
        return self._place(self.settings.feedback_directory, student, assignment)

    @property
    def every_feedback(self) -> Path:
        return self._whole(self.settings.feedback_directory)

    def private_folders(self) -> tuple[Path, ...]:
        """Those with answers and with students' work: no student's code may read them."""
        settings = self.settings
        steps = (
            settings.source_directory,
            settings.submitted_directory,
            settings.autograded_directory,
            settings.feedback_directory,
        )
        return (self.root / "exercises", *map(self._whole, steps))

    def _whole(self, step: str) -> Path:
        """The folder of a step, with everybody's and every assignment's files."""
        return next(path for path in self._path(step, "*", "*").parents if "*" not in str(path))

    def assignments(self) -> list[str]:
        """Every assignment with a source notebook, in order."""
        folders = self._found(self.settings.source_directory, ".", None)
        return sorted(name for (_, name), folder in folders.items() if any(folder.glob("*.ipynb")))

    def everybody_submitted(self, assignment: str | None = None) -> list[str]:
        """The students with a folder for this assignment, or for any, in order; those that nbgrader would grade."""
        found = {student for student, _ in self._found(self.settings.submitted_directory, None, assignment)}
        return sorted(filter(self.takes, found))

    def takes(self, student: str) -> bool:
        """Whether ``CourseDirectory.student_id`` and ``student_id_exclude`` let commands work on this student."""
        excluded = map(one_form, self.settings.student_id_exclude)
        return fnmatchcase(student, one_form(self.settings.student_id)) and student not in excluded

    def everybody_autograded(self, assignment: str) -> list[str]:
        """The students with a verdict, in order."""
        folders = self.autograded_folders(assignment)
        return sorted(student for student, folder in folders.items() if (folder / "verdicts.json").is_file())

    def autograded_folders(self, assignment: str) -> dict[str, Path]:
        """Student to what is there of their graded submission, which may be half of it."""
        found = self._found(self.settings.autograded_directory, None, assignment)
        return {student: folder for (student, _), folder in found.items()}

    def feedback_folders(self, assignment: str) -> dict[str, Path]:
        found = self._found(self.settings.feedback_directory, None, assignment)
        return {student: folder for (student, _), folder in found.items()}

    def students(self, assignment: str) -> list[str]:
        """Everybody with a submission, in order. Raises NothingToGrade where there is nobody."""
        found = self.everybody_submitted(assignment)
        if not found:
            expected = self.submitted("<student>", assignment)
            raise NothingToGrade(f"there is no submission to {assignment!r}: expected {expected}/")
        return found

    def _path(self, step: str, student: str, assignment: str) -> Path:
        structure = self.settings.directory_structure
        named = structure.format(nbgrader_step=step, student_id=student, assignment_id=assignment)
        return Path(os.path.normpath(self.root / named))

    def _place(self, step: str, student: str, assignment: str) -> Path:
        """A student's folder as it is on disk, in whatever Unicode form the name was written there."""
        path = self._path(step, student, assignment)
        if len(forms(student)) == 1:
            return path
        return self._found(step, None, assignment).get((one_form(student), assignment), path)

    def _found(self, step: str, student: str | None, assignment: str | None) -> dict[tuple[str, str], Path]:
        """(student, assignment) -> folder. None stands for every one. Hidden folders are nobody's.

        Of two folders that are one name, in NFC and in another Unicode form, that in NFC.
        """
        fixed = self._path(step, student or _ANY_STUDENT, assignment or _ANY_ASSIGNMENT)
        pattern = glob.escape(str(fixed)).replace(_ANY_STUDENT, "*").replace(_ANY_ASSIGNMENT, "*")
        escaped = re.escape(str(fixed)).replace(_ANY_STUDENT, "(?P<student>[^/]+)", 1)
        expression = re.compile(escaped.replace(_ANY_ASSIGNMENT, "(?P<assignment>[^/]+)", 1))
        found = {}
        for path in sorted(glob.glob(pattern)):
            match = expression.fullmatch(path)
            # a file or a link in a submission's place belongs to somebody, who is to be told
            handed_in = assignment is not None and step == self.settings.submitted_directory
            if match and (handed_in or os.path.isdir(path)):
                groups = match.groupdict()
                key = one_form(groups.get("student", student or "")), groups.get("assignment", assignment or "")
                found[key] = Path(path)
        return found


def assignments_named(course: Course, names: Sequence[str] | None) -> list[str]:
    """These; without names all. Raises GradingError for one that the course does not have."""
    known = course.assignments()
    for name in names or ():
        if name not in known:
            raise GradingError(unknown_assignment(course, name))
    return list(names or known)


def unknown_assignment(course: Course, name: str) -> str:
    known = course.assignments()
    hint = meant(name, known) or f"known are {', '.join(known) or 'none'}"
    return f"unknown assignment {name!r}; {hint}"


def _with_nbgraders_limit(file: CourseFile, settings: Settings) -> CourseFile:
    """nbgrader's time limit holds where ``course.toml`` sets none."""
    own, default = file.limits, Limits()
    if settings.cell_seconds is None or own.cell_seconds != default.cell_seconds:
        return file
    whole = own.submission_seconds
    if whole == default.submission_seconds:
        whole = max(whole, 10 * settings.cell_seconds)
    return replace(file, limits=replace(own, cell_seconds=settings.cell_seconds, submission_seconds=whole))
