"""What an instructor reads about a class: one page and its pictures, made from verdicts and students' own code."""

from autograder.report.page import write_report

__all__ = ["write_report"]
