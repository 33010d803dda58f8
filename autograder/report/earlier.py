"""Answers of earlier terms, and the present ones that resemble them.

They come from an archive of ``autograder term archive``, or from a term's folder, as ``autograder term new`` leaves it
in ``terms/``.
"""

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.gradebook.roster import read_salt, with_salt
from autograder.model import course_file
from autograder.model.course import Course
from autograder.model.nbgrader import CONFIG
from autograder.report.code import Answer, read_answers
from autograder.report.similarity import Pair, similar_pairs

SCHEMA_VERSION = 1
#: An archive is the instructor's own; this keeps a damaged one from filling the memory.
MAX_BYTES = 500_000_000


@dataclass(frozen=True)
class EarlierTerm:
    """``pseudonymised``: its students are known by pseudonyms alone."""

    name: str
    answers: tuple[Answer, ...]
    pseudonymised: bool = False


def read_earlier(course: Course, assignment: str, path: Path) -> EarlierTerm:
    """Raises GradingError where ``path`` is neither, is the present term, or has no answers of the assignment."""
    found = _of_folder(course, assignment, path) if path.is_dir() else _of_archive(assignment, path)
    if found.name == course.file.term:
        raise GradingError(f"{path} is the present term, {found.name}: its students are compared anyway")
    return found


def _of_folder(course: Course, assignment: str, path: Path) -> EarlierTerm:
    if path.resolve() == course.root.resolve():
        raise GradingError(f"{path} is this course: expected an earlier term's folder, such as terms/2026w")
    if not (path / course_file.NAME).is_file() and not (path / CONFIG).is_file():
        raise GradingError(f"{path}: expected an earlier term's folder, such as terms/2026w, or an archive of it")
    old = Course(path)
    if assignment not in old.assignments() or not (students := old.everybody_autograded(assignment)):
        raise GradingError(f"{path} has nothing graded of {assignment!r}; it has {_listed(old.assignments())}")
    answers = read_answers(old, Assignment.open(old, assignment), students)
    return EarlierTerm(old.file.term or path.resolve().name, tuple(answers))


def _of_archive(assignment: str, path: Path) -> EarlierTerm:
    expected = f"{path}: expected an archive of 'autograder term archive', or an earlier term's folder"
    try:
        with zipfile.ZipFile(path) as archive:
            about = _member(archive, "archive.json")
            if about["schema"] != SCHEMA_VERSION:
                raise GradingError(f"{path}: expected an archive of version {SCHEMA_VERSION}, got {about['schema']!r}")
            names = [Path(name).stem for name in archive.namelist() if name.startswith("answers/")]
            if assignment not in names:
                raise GradingError(f"{path} has no answers of {assignment!r}; it has {_listed(names)}")
            found = _member(archive, f"answers/{assignment}.json")
        answers = tuple(Answer(*(_text(one[key]) for key in ("student", "place", "source", "stub"))) for one in found)
        return EarlierTerm(_text(about["term"]), answers, about["pseudonymised"] is True)
    except OSError as error:
        raise GradingError(f"{expected}; {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise GradingError(f"{expected}; it cannot be read ({type(error).__name__})") from error


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > MAX_BYTES:
        raise ValueError(f"{name} is larger than {MAX_BYTES} bytes")
    return json.loads(archive.read(name).decode("utf-8"))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {value!r}")
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def pairs_with_earlier(
    root: Path, answers: Sequence[Answer], terms: Sequence[EarlierTerm], *, anonymous: bool = False
) -> list[Pair]:
    """Pairs of a present answer and an earlier one, the earlier student called ``TERM: STUDENT``.

    anonymous: with pseudonyms for earlier students; those of the present ones are in ``answers`` already.
    Who takes the course again and hands in their own old answer is in no pair.
    """
    pseudonym = _pseudonyms(root) if anonymous or any(term.pseudonymised for term in terms) else None
    present = {answer.student for answer in answers}
    earlier: list[Answer] = []
    own: set[frozenset[str]] = set()
    for term in terms:
        hidden = anonymous or term.pseudonymised
        for one in term.answers:
            known = pseudonym(one.student) if pseudonym and hidden and not term.pseudonymised else one.student
            earlier.append(Answer(f"{term.name}: {known}", one.place, one.source, one.stub))
        for student in present:
            again = pseudonym(student) if pseudonym and hidden and not anonymous else student
            own.add(frozenset((student, f"{term.name}: {again}")))
    old = {answer.student for answer in earlier}
    return [
        pair
        for pair in similar_pairs([*answers, *earlier])
        if (pair.first in old) != (pair.second in old) and frozenset((pair.first, pair.second)) not in own
    ]


def _pseudonyms(root: Path) -> Callable[[str], str]:
    salt = read_salt(root)
    return lambda student: with_salt(salt, student)
