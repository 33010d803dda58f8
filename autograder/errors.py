"""What can go wrong on the grader's side.

GradingError              the teacher asked for something that cannot be done; exit code 2
└── NothingToGrade        the class is empty, or not one submission can be read
"""


class GradingError(Exception):
    """A one-line message that says what was expected, what came and what to do."""


class NothingToGrade(GradingError):
    """There is no submission that could be graded."""
