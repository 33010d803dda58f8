"""What a student reads: one page per notebook, made from verdicts, comments and the autograded notebook."""

from autograder.feedback.page import render_notebook, write_feedback
from autograder.feedback.strip import without_hidden_tests

__all__ = ["render_notebook", "without_hidden_tests", "write_feedback"]
