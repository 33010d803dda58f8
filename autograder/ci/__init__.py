"""One submission in continuous integration: results for Gradescope, for JUnit readers and for a GitHub summary."""

from autograder.ci.outcome import (
    Disclosure,
    ExerciseOutcome,
    NotebookOutcome,
    SubmissionOutcome,
    failed_outcome,
    outcome_of,
)
from autograder.ci.submission import grade_folder
from autograder.ci.write import FILES, write_outcome

__all__ = [
    "Disclosure", "ExerciseOutcome", "FILES", "NotebookOutcome", "SubmissionOutcome", "failed_outcome", "grade_folder",
    "outcome_of",
    "write_outcome",
]  # fmt: skip
