"""What can go wrong on the grader's side.

GradingError                    the instructor asked for something that cannot be done; exit code 2
├── EncoderFailed               answers are grouped by their words in place of the encoder's vectors
├── NeverReleased               'autograder status' goes on without what depends on a release
├── NoLibrary                   references are drawn before there is a library for students
├── NothingToGrade              the class is empty, or not one submission can be read
│   └── UnreadableSubmission    the class goes on without this student
└── OtherLanguage               in model/source.py: the notebook is released, and not graded
"""

import errno
import shutil
import tempfile
from pathlib import Path


class GradingError(Exception):
    """A one-line message that says what was expected, what came and what to do."""


class EncoderFailed(GradingError):
    """The course's module that tells which answers are alike gave no vectors."""


class NeverReleased(GradingError):
    """Students never got the assignment."""


class NoLibrary(GradingError):
    """The library that ``course.toml`` names is not installed, nor in the course's folder."""


class NothingToGrade(GradingError):
    """There is no submission that could be graded."""


class UnreadableSubmission(NothingToGrade):
    """One student's folder holds no notebook of the assignment, or cannot be read."""


#: What an interrupted run may be told.
GOES_ON = "the same command goes on where this one stopped"


#: What a database says, in small letters -> what to do about it.
_ADVICE = (
    (("no such column", "no such table", "has no column", "undefinedcolumn", "undefinedtable"),
     "an older nbgrader made it: run 'nbgrader db upgrade' in the course's folder, which keeps a copy"),
    (("locked", "busy"), "close what holds it, such as a formgrader or a program that shows databases"),
    (("disk is full", "no space left"), "make room on it"),
    (("readonly", "read-only", "unable to open", "permission denied"),
     "see that you may write this file and its folder"),
    (("not a database", "malformed"), "the file is damaged: put a copy from your backup in its place"),
    (("connection", "could not connect", "could not translate", "authentication"),
     "see that the database server runs, and that c.CourseDirectory.db_url leads to it"),
)  # fmt: skip


def gradebook_said(error: Exception) -> str:
    """What the gradebook's database said (an error of SQLAlchemy), and what to do, where that is known."""
    cause = getattr(error, "orig", None) or error
    text = " ".join(str(cause).split())
    name = f"{type(cause).__name__} {text}".lower()
    advice = next((advice for words, advice in _ADVICE if any(word in name for word in words)), "")
    return f"{text}; {advice}" if advice else text


def said(error: OSError, folder: Path | None = None) -> str:
    """What the system said, in one line: which file, and what is wrong with it. folder: where else it may be full."""
    what = error.strerror or str(error) or type(error).__name__
    if error.errno == errno.ENOSPC:  # which disk it is, the system does not say
        free = {place: shutil.disk_usage(place).free >> 10 for place in (folder or Path.cwd(), tempfile.gettempdir())}
        what += "".join(f", {kilobytes} KB are free in {place}" for place, kilobytes in free.items())
    return f"{error.filename}: {what}" if error.filename else what


class InfrastructureError(RuntimeError):
    """The grader's own machinery failed, whatever the submission did: there is no grade yet, and a retry may help."""


class OutputFloodError(Exception):
    """The grader was flooded with messages while several notebooks ran: each is to be run again, alone."""
