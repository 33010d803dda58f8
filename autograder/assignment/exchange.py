"""nbgrader's exchange: what lies in its inbound folder, and since when. Reads, never writes.

``nbgrader submit`` runs as the student. The name of the folder that it leaves, with a time in it, and the
``timestamp.txt`` inside are therefore whatever the student wants them to be. What a student cannot set is the time at
which the file system itself saw the last change (``st_ctime``): it is the evidence here. A name that is older than that
by more than :data:`SLACK` was made up, or the folder was changed later, and the file system's time counts.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.assignment.submission import EXCHANGE_FILES, exchange_files
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.nbgrader import submission_time
from autograder.model.plain_text import is_folder_name, one_form

#: Copying takes a moment: the name says when it began, the file system when it ended.
SLACK = timedelta(minutes=2)
_SECRET = EXCHANGE_FILES[1]


@dataclass(frozen=True)
class Inbound:
    """One submission in the exchange. ``named``: the time in its name; ``changed``: the file system's; both in UTC.

    ``reason``: why it cannot be taken, mostly nothing.
    """

    folder: Path
    student: str
    named: datetime | None
    changed: datetime
    reason: str = ""

    @property
    def came_in(self) -> datetime:
        """The name's time where the file system bears it out, else the file system's."""
        if self.named is None or abs(self.changed - self.named) > SLACK:
            return self.changed
        return self.named

    @property
    def remark(self) -> str:
        """What the instructor must know about the time; mostly nothing."""
        if self.came_in == self.named:
            return ""
        named = f"{self.named:%Y-%m-%d %H:%M}" if self.named else "none"
        changed = f"{self.changed:%Y-%m-%d %H:%M} UTC"
        return f"the exchange has the time {named} in the name, but was written at {changed}: the latter counts"


def is_there(course: Course) -> bool:
    """Whether there is an exchange, and we may look into it."""
    folder = inbound_folder(course)
    return bool(course.settings.course_id) and os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)


def inbound_folder(course: Course) -> Path:
    return course.settings.exchange_root / course.settings.course_id / "inbound"


def inbound(course: Course, assignment: str, student: str | None = None) -> list[Inbound]:
    """Every submission to an assignment, of everybody or of one. Raises GradingError where there is no exchange."""
    if not course.settings.course_id:
        raise GradingError("the exchange needs c.CourseDirectory.course_id in nbgrader_config.py")
    folder = inbound_folder(course)
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise GradingError(
            f"the exchange cannot be read: {folder}: {error.strerror}; c.Exchange.root says where it is"
        ) from error
    return list(_parsed(folder, names, assignment, student))


def _parsed(folder: Path, names: list[str], assignment: str, student: str | None) -> Iterator[Inbound]:
    """Everything whose name has the assignment's in it. A user's name may have a plus sign in it, too."""
    marked = f"+{assignment}+"
    for name in names:
        readings = [(name[: at.start()], name[at.end() :]) for at in re.finditer(f"(?={re.escape(marked)})", name)]
        readings = [(one_form(who), rest[len(marked) :]) for who, rest in readings]
        fitting = [(who, rest.split("+")[0]) for who, rest in readings if who and rest.count("+") <= 1]
        if not readings or (student is not None and student not in (who for who, _ in fitting)):
            continue
        with suppress(FileNotFoundError):  # taken away meanwhile
            path = folder / name
            changed = last_change(path)
            if len(fitting) != 1:
                why = "can be read in more than one way" if fitting else "does not say whose it is"
                yield Inbound(path, name, None, changed, f"its name {why}")
                continue
            ((who, time),) = fitting
            yield Inbound(path, who, submission_time(time), changed, _against(path, who))


def _against(path: Path, student: str) -> str:
    if not is_folder_name(student):
        return "its user's name cannot name a folder: it has control characters, or begins with a dot or a dash"
    if path.is_symlink() or not path.is_dir():
        return "it is a link" if path.is_symlink() else "it is no folder"
    return ""


def last_change(folder: Path) -> datetime:
    """When the file system saw the last change of the folder or of anything in it; of a link, also of what it shows."""
    seen = [os.lstat(folder)]
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            for look in (os.lstat, os.stat):
                try:
                    seen.append(look(path))
                except OSError:
                    continue
    return datetime.fromtimestamp(max(about.st_ctime for about in seen), UTC)


def submission_id(folder: Path) -> str:
    """What tells one submission through the exchange from another; empty where it came another way."""
    secret = exchange_files(folder).get(_SECRET, b"").strip()
    return hashlib.sha256(secret).hexdigest() if secret else ""


def origin(course: Course, assignment: str, student: str) -> Inbound | None:
    """Where a collected submission lies in the exchange, file for file; None where it is not there."""
    copied = course.submitted(student, assignment)
    for one in inbound(course, assignment, student):
        with suppress(OSError):  # its owner has shut it
            if not one.reason and submission_id(one.folder) == submission_id(copied) and _same(copied, one.folder):
                return one
    return None


def _same(copied: Path, original: Path) -> bool:
    """Whether everything in the copy is in the original. nbgrader may have left some of the original out."""
    for path in copied.rglob("*"):
        if path.is_file():
            other = original / path.relative_to(copied)
            if not other.is_file() or other.stat().st_size != path.stat().st_size:
                return False
            if other.read_bytes() != path.read_bytes():
                return False
    return True


def owner_differs(one: Inbound) -> str:
    """The owner of a folder, where it is somebody else than its name says; empty where it is not."""
    try:
        import pwd
    except ImportError:
        return ""
    number = os.stat(one.folder).st_uid
    try:
        owner = pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}, whom this machine does not know"
    return "" if owner == one.student else owner


def files_in(folder: Path) -> list[str]:
    """What lies right in a submission. Raises OSError where its owner lets nobody look."""
    return sorted(os.listdir(folder))


def read_file(folder: Path, name: str, limit: int) -> bytes | None:
    """A plain file right in a folder that its owner can change meanwhile; None where it is none, or is too large."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        directory = os.open(folder, flags | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return None
    try:
        descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0), dir_fd=directory)
    except OSError:
        return None
    finally:
        os.close(directory)
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(stream.fileno())
        return stream.read() if stat.S_ISREG(about.st_mode) and about.st_size <= limit else None
