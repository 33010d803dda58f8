"""The course's roster: who is in the class, and under which number each LMS knows them.

Names and addresses stand in nbgrader's own table of students, which ``autograder student import`` and the formgrader
fill. What that table lacks lies beside it: ``.autograder/lms_ids/KIND.json`` holds what the instructor's lists say,
student -> number; the origins of submissions hold the numbers that came with them. A user's number in Canvas and a
user's name at a forge last for the term. Moodle's number is the assignment's (its table ``assign_user_mapping``).
"""

import hashlib
import hmac
import os
import secrets
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nbgrader.api import MissingEntry
from sqlalchemy import MetaData, select, text
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.files.atomic import writing
from autograder.gradebook.read import Gradebook, Student, open_book, patient, read_students, spelt
from autograder.gradebook.records import read_by_student, record_path, write_by_student
from autograder.model.course import Course
from autograder.model.plain_text import one_form

#: The LMSs whose numbers last longer than one assignment.
LASTING = ("canvas", "github")


@dataclass(frozen=True)
class Roster:
    """The class, as one LMS knows it in one assignment.

    ``numbers``: the LMS's number -> the students who have it; more than one only where records disagree.
    ``names``: student -> full names under which they came from this LMS before.
    ``elsewhere``: students who came to this assignment from another LMS.
    """

    students: Mapping[str, Student] = field(default_factory=dict)
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()

    @property
    def number_of(self) -> dict[str, str]:
        """Student -> their number, where one number is theirs alone."""
        return {next(iter(those)): number for number, those in self.numbers.items() if len(those) == 1}

    @property
    def numbered(self) -> frozenset[str]:
        return frozenset(student for those in self.numbers.values() for student in those)


def read_roster(course: Course, kind: str, assignment: str) -> Roster:
    """Raises GradingError where a record or the gradebook cannot be read."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        students = read_students(gradebook)
    return roster_of(course.root, students, kind, assignment)


def roster_of(root: Path, students: Mapping[str, Student], kind: str, assignment: str) -> Roster:
    """As :func:`read_roster`, with the students of a gradebook that was read already."""
    listed = _read_ids(root, kind, assignment)
    numbers: dict[str, set[str]] = {}
    for student, number in listed.items():
        numbers.setdefault(number, set()).add(student)
    found: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    of_assignment = read_origins(root, assignment)
    elsewhere = {student for student, origin in of_assignment.items() if origin.kind != kind}
    for name in _assignments(root):
        for student, origin in (of_assignment if name == assignment else read_origins(root, name)).items():
            if origin.kind == kind:
                names.setdefault(student, set()).add(origin.name)
                if name == assignment or kind in LASTING:
                    found.setdefault(origin.id, set()).add(student)
    if kind == "canvas":
        for one in students.values():
            if number := one.lms_user_id.strip():
                found.setdefault(number, set()).add(one.id)
    for number, those in found.items():
        if number not in numbers and (those := those - set(listed)):
            numbers[number] = those
    return Roster(
        students,
        {number: frozenset(those) for number, those in numbers.items()},
        {student: frozenset(those) for student, those in names.items()},
        frozenset(elsewhere),
    )


def record_ids(root: Path, kind: str, assignment: str, ids: Mapping[str, str]) -> None:
    """Keep what the instructor's list says, student -> number; a number moves to the student who has it now."""
    before = _read_ids(root, kind, assignment)
    kept = {student: number for student, number in before.items() if number not in ids.values()}
    after = {**kept, **ids}
    if after != before:
        write_by_student(_ids_path(root, kind, assignment), after)


def lasting_ids(root: Path, student: str) -> frozenset[str]:
    """The numbers that one student has for the whole term."""
    listed = {_read_ids(root, kind, "").get(student, "") for kind in LASTING}
    origins = (read_origins(root, name).get(student) for name in _assignments(root))
    return frozenset(listed | {one.id for one in origins if one is not None and one.kind in LASTING}) - {""}


def enter_students(course: Course, students: Iterable[Student]) -> None:
    """Add these students to nbgrader's table, or what it lacks of them. What stands there already stays."""
    try:
        with Gradebook(patient(course.db_url)) as gradebook:
            for one in students:
                try:
                    there = gradebook.find_student(spelt(gradebook, one.id))
                except MissingEntry:
                    there = gradebook.add_student(one.id)
                for name in ("first_name", "last_name", "email"):
                    if getattr(one, name) and not getattr(there, name):
                        setattr(there, name, getattr(one, name))
            gradebook.db.commit()
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise GradingError(f"the roster could not be written into the gradebook: {cause}; collect again") from error


def rows_naming(db_url: str, names: Callable[[bytes], bool]) -> list[str]:
    """``table: number of rows`` with a text that ``names`` somebody; nothing where there is no gradebook."""
    book = open_book(db_url)
    if book is None:
        return []
    with book:
        return [f"{table}: {count}" for table, count in _counted(book, names)]


def _counted(book: Gradebook, names: Callable[[bytes], bool]) -> Iterator[tuple[str, int]]:
    tables = MetaData()
    tables.reflect(bind=book.db.get_bind())
    for table in tables.sorted_tables:
        rows = book.db.execute(select(table)).all()
        count = sum(any(isinstance(cell, str) and names(cell.encode()) for cell in row) for row in rows)
        if count:
            yield table.name, count


def remove_students(db_url: str, ids: Collection[str]) -> None:
    """Delete students with every submission, grade and comment. Raises GradingError.

    SQLite is compacted afterwards, for it leaves deleted rows in the file.
    """
    book = open_book(db_url)
    if book is None:
        return
    try:
        with book, warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            known = [one.id for one in book.students if one_form(one.id) in ids]
            for student in known:  # in every form of the id
                book.remove_student(student)
            book.db.commit()
            engine = book.db.get_bind()
            if engine.dialect.name == "sqlite":
                book.db.close()
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
                    connection.execute(text("VACUUM"))
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be changed: {gradebook_said(error)}") from error


def _ids_path(root: Path, kind: str, assignment: str) -> Path:
    return record_path(root, "lms_ids", kind if kind in LASTING else f"{kind}-{assignment}")


def _read_ids(root: Path, kind: str, assignment: str) -> dict[str, str]:
    return read_by_student(_ids_path(root, kind, assignment), str, "delete it and collect with --names again")


def _assignments(root: Path) -> list[str]:
    """Those that have origins."""
    return sorted(path.stem for path in (root / ".autograder" / "origins").glob("*.json"))


@dataclass(frozen=True)
class Origin:
    """``kind``: canvas, moodle, github or exchange; ``id`` and ``name``: as the LMS has them; ``files``: file of the
    submission -> its name in the download; from Canvas's API ``#`` and the attachment's number, then its name.
    """

    kind: str
    id: str
    name: str
    files: Mapping[str, str] = field(default_factory=dict)


def read_origins(root: Path, assignment: str) -> dict[str, Origin]:
    """Student -> origin; empty where nothing was collected. Raises GradingError where the record cannot be read."""
    remedy = "collect again, and it is written anew"
    return read_by_student(record_path(root, "origins", assignment), lambda about: Origin(**about), remedy)


def record_origins(root: Path, assignment: str, origins: Mapping[str, Origin]) -> None:
    """Add or replace the origins of these students."""
    before = read_origins(root, assignment)
    after = {**before, **origins}
    if after != before:
        write_by_student(
            record_path(root, "origins", assignment), {student: asdict(one) for student, one in after.items()}
        )


_BYTES = 32
_DIGITS = 10  # hexadecimal: two of 10,000 people meet by a chance of 1 in 20,000


def salt_path(root: Path) -> Path:
    return root / ".autograder" / "salt"


def pseudonym(root: Path, person: str) -> str:
    """``p-`` and ten digits, made of the id and the course's secret salt, which is made when first needed.

    Raises GradingError where the salt cannot be read or written, or was cut.
    """
    return with_salt(read_salt(root), person)


def with_salt(salt: bytes, person: str) -> str:
    """As :func:`pseudonym`, for many people with one salt. An id that is none in Unicode has a pseudonym too."""
    made = hmac.new(salt, person.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"p-{made[:_DIGITS]}"


def read_salt(root: Path) -> bytes:
    """The course's salt; a new one where there is none. Two processes that make it at once get the same."""
    path = salt_path(root)
    if not path.exists():
        with writing(path):
            _make(path)
    try:
        salt = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise GradingError(f"{path} cannot be read: {error}; expected {2 * _BYTES} hexadecimal digits") from error
    if len(salt) < _BYTES:
        raise GradingError(f"{path}: expected {2 * _BYTES} hexadecimal digits, got {2 * len(salt)}; restore it")
    return salt


def _make(path: Path) -> None:
    """Written whole under a name of its own; the first process that links it to ``path`` wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".salt.{secrets.token_hex(4)}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o660)  # the group grades with the same salt
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
        os.link(fresh, path)
    except FileExistsError:
        return
    finally:
        fresh.unlink(missing_ok=True)
