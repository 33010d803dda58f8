"""Removing a student: their own folders, their lines in every other file, their rows in the gradebook.

First it is found out what there is, then it is said, and only then removed. What names the person and cannot be cleaned
(a colleague's Word file, somebody else's notebook) is never deleted, but listed. Git's history stays as it is.
"""

import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment import exchange
from autograder.classroom.journal import only_run
from autograder.errors import GradingError
from autograder.files.atomic import write_file, writing
from autograder.gradebook.read import Student, open_book, read_students
from autograder.gradebook.roster import lasting_ids, pseudonym, remove_students, rows_naming, salt_path
from autograder.model.course import Course
from autograder.model.nbgrader import feedback_page
from autograder.model.plain_text import forms, one_form
from autograder.privacy.clean import ErasedPerson, TooLarge, clean, names_person, person

#: Nothing in these is about students; ``.git`` is, and cannot be changed file by file.
_SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__"})
#: Folders whose files are made again by a command; one that still names the person goes as a whole.
_DERIVED = ("reports", "exports", "ci-results", "unchanged")
_SQLITE = b"SQLite format 3\0"


@dataclass
class Erasure:
    """``removed``, ``changed``: paths, and rows of the gradebook. ``left``: what still names the person, and why."""

    removed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def erase(course: Course, student: str, write: bool) -> Erasure:
    """Remove a student from the course and the terms in its folder; without ``write``, say what would be removed.

    Raises GradingError for somebody whom nobody has heard of, and where an assignment is being graded.
    """
    if not student or student in (".", "..") or "/" in student or "\0" in student:
        raise GradingError(f"{student!r} is no student's id: expected one as in submitted/ or the gradebook")
    courses = [course, *(Course(path.parent) for path in sorted((course.root / "terms").glob("*/nbgrader_config.py")))]
    who = _find(courses, student)
    done = Erasure()
    with ExitStack() as held:
        for one in courses if write else ():
            for assignment in one.assignments():
                held.enter_context(only_run(one.root, assignment))
        for one in courses:
            _own(one, who, write, done)
            _rows(one, who, write, done)
        _others(course, who, write, done)
    if (course.root / ".git").exists():
        done.left.append(".git: commits stay as they are; nothing about students belongs into them")
    return done


def _find(courses: list[Course], student: str) -> ErasedPerson:
    student = one_form(student)
    everybody = [one for course in courses for one in _students(course.db_url).values()]
    aliases = {pseudonym(one.root, student) for one in courses if salt_path(one.root).exists()}
    aliases |= {*forms(student)} - {student}
    others = [one for one in everybody if one.id != student]
    rows = [one for one in everybody if one.id == student]
    best = max(rows, key=lambda one: sum(map(bool, (one.first_name, one.last_name, one.email))), default=None)
    numbers = frozenset(number for one in courses for number in lasting_ids(one.root, student))
    if best is None:
        who = ErasedPerson(student, numbers=numbers, aliases=frozenset(aliases))
        if numbers or any(own_paths(one, who) for one in courses):
            return who
        raise GradingError(f"no student {student!r} is known here: expected an id as in submitted/ or the gradebook")
    return person(best, others, aliases, numbers)


def _students(db_url: str) -> dict[str, Student]:
    with open_book(db_url) or nullcontext() as book:
        return read_students(book)


def _own(course: Course, who: ErasedPerson, write: bool, done: Erasure) -> None:
    for path in own_paths(course, who):
        done.removed.append(_shown(path, course.root) + ("/" if path.is_dir() and not path.is_symlink() else ""))
        if write:
            _remove(path)


def _remove(path: Path) -> None:
    with writing(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _rows(course: Course, who: ErasedPerson, write: bool, done: Erasure) -> None:
    copies = [f"sqlite:///{path}" for path in course.root.glob("*.db*") if _is_sqlite(path)]
    for url in dict.fromkeys([course.db_url, *copies]):
        named = rows_naming(url, who.is_in)
        name = Path(url.partition("///")[2]).name if url.startswith("sqlite") else "the gradebook"
        done.changed += [f"{name}, table {row}" for row in named]
        if write and (named or who.ids & _students(url).keys()):
            remove_students(url, who.ids)
            done.left += [f"{name}, table {row}, in a text about somebody else" for row in rows_naming(url, who.is_in)]


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _others(course: Course, who: ErasedPerson, write: bool, done: Erasure) -> None:
    """Every other file of the course's folder."""
    gone = tuple(course.root / path for path in done.removed)
    for path in _files(course.root):
        shown = _shown(path, course.root)
        if any(path == one or one in path.parents for one in gone) or _is_sqlite(path):
            continue
        try:
            data = path.read_bytes()
        except OSError as error:
            done.left.append(f"{shown}: cannot be read: {error.strerror or error}")
            continue
        parts = Path(shown).parts
        try:
            kept = data if _is_fixed(path, course) else _cleaned(shown, data, who)
            still = names_person(shown, kept, who)
        except TooLarge as error:
            done.left.append(f"{shown}: was not searched: {error}")
            continue
        if still and any(folder in parts[:3] for folder in _DERIVED):
            done.removed.append(f"{shown} (made again by a command)")
            if write:
                _remove(path)
            continue
        if kept != data:
            done.changed.append(shown)
            if write:
                write_file(path, kept)
        if still:
            done.left.append(f"{shown}: names the person; change it by hand")


def _is_fixed(path: Path, course: Course) -> bool:
    """The course's own notebooks, and other students' work: searched, never changed."""
    folders = {course.root / "release", *course.private_folders()}
    return path.name == "course.toml" or any(folder in path.parents for folder in folders)


def _cleaned(shown: str, data: bytes, who: ErasedPerson) -> bytes:
    try:
        return clean(shown, data, who)
    except TooLarge:
        raise
    except (ValueError, OSError, NotImplementedError):  # an archive that nobody can read: it is searched below
        return data


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


_SECRET = "submission_secret.txt"
_MARK = "anyxassignment"


def own_paths(course: Course, person: ErasedPerson) -> list[Path]:
    """What is removed as a whole, in order; each path exists, and none lies in another."""
    found = {*_steps(course, person), *_notes(course.root, person), *_clones(course, person)}
    found |= {*_exchange(course, person)}
    return sorted(path for path in found if os.path.lexists(path) and not any(above in found for above in path.parents))


def _steps(course: Course, person: ErasedPerson) -> Iterator[Path]:
    for step in (course.submitted, course.autograded, course.feedback):
        for one in person.ids:
            pattern = step(one, _MARK)
            for path in glob.glob(glob.escape(str(pattern)).replace(_MARK, "*")):
                yield Path(path)
            parent = pattern.parent
            if parent.name == one and _MARK not in str(parent):
                yield parent
            for leftover in glob.glob(glob.escape(str(parent)) + f"/.*{_MARK}*"):
                yield Path(leftover)


def _notes(root: Path, person: ErasedPerson) -> Iterator[Path]:
    """``.autograder/KIND/ASSIGNMENT/STUDENT...``; nearer to the top an id may be the name of something else."""
    numbered = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(person.ids)))})-\d+")
    for path in glob.glob(glob.escape(str(root / ".autograder")) + "/*/*/*"):
        kind, name = Path(path).parts[-3], Path(path).name
        own = numbered.fullmatch(name) if kind == "replaced" else {name, Path(path).stem} & person.ids
        if own:
            yield Path(path)


def _clones(course: Course, person: ErasedPerson) -> Iterator[Path]:
    """Students' repositories: ``clones/STUDENT`` and ``clones/ASSIGNMENT-STUDENT``."""
    starts = ("", *(f"{name}-" for name in course.assignments()))
    names = {f"{start}{one}" for one in person.ids | person.numbers for start in starts}
    for folder in ("clones", "inbound"):
        for path in (course.root / folder).glob("*"):
            if path.name in names or _is_theirs(path.name, person):
                yield path


def _is_theirs(name: str, person: ErasedPerson) -> bool:
    """Whether a folder of the exchange is theirs. ``ada+test+lab+2026-...`` is another user's than ada's."""
    ids = "|".join(map(re.escape, sorted(person.ids)))
    return re.match(rf"(?:{ids})\+[^+]+\+\d{{4}}-[^+]*(?:\+[^+]*)?\Z", name) is not None


def _exchange(course: Course, person: ErasedPerson) -> Iterator[Path]:
    if not course.settings.course_id:
        return
    folder = exchange.inbound_folder(course)
    for path in folder.glob("*") if os.access(folder, os.R_OK | os.X_OK) else ():
        if _is_theirs(path.name, person):
            yield path
            yield from _released(course, path / _SECRET)
    for step in (course.submitted, course.feedback, course.autograded):
        for one in person.ids:
            for assignment in course.assignments():
                yield from _released(course, step(one, assignment) / _SECRET)


def _released(course: Course, secret: Path) -> Iterator[Path]:
    """The pages that nbgrader released for a submission, under names made of its secret."""
    try:
        text = secret.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    folder = course.settings.exchange_root / course.settings.course_id / "feedback"
    for assignment in course.assignments():
        for notebook in course.source(assignment).glob("*.ipynb"):
            yield folder / feedback_page(text, notebook.stem)
