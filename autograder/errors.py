"""What can go wrong on the grader's side.

GradingError              the instructor asked for something that cannot be done; exit code 2
└── NothingToGrade        the class is empty, or not one submission can be read
"""


class GradingError(Exception):
    """A one-line message that says what was expected, what came and what to do."""


class NothingToGrade(GradingError):
    """There is no submission that could be graded."""


#: What an interrupted run may be told.
GOES_ON = "the same command goes on where this one stopped"


def said(error: OSError) -> str:
    """What the system said, in one line: which file, and what is wrong with it."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what
