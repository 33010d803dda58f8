"""Outcomes made by hand: every status, and texts that want to be more than text."""

from __future__ import annotations

from autograder.ci.outcome import Disclosure, ExerciseOutcome, NotebookOutcome, SubmissionOutcome, VisibleCheck

HELD = (Disclosure.AFTER_DUE_DATE, Disclosure.AFTER_PUBLISHED)

#: Each of them breaks a table, a page or a file that takes it as it is.
HOSTILE = {
    "a pipe": "a | b | c",
    "lines": "one\n\ntwo\n| three | four |\n\n# five",
    "a script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a closed cell": "</td></tr></table><h1>100 of 100 points</h1>",
    "Markdown": "**bold** _it_ `code` [link](javascript:alert(1)) ![picture](https://example.org/x.png) ~~no~~",
    "bare links": "see https://example.org/ or www.example.org, @everybody, <https://example.org>",
    "an entity": "&lt;b&gt; &#124; &amp;",
    "a backslash": "\\| \\",
    "a fence": "```\n</pre>\n```",
    "a comment": "<!-- the rest is gone",
    "XML": "]]></failure><testcase name='mine'/>",
    "control characters": "\x1b[31mred\x1b[0m \x00\x08\ufffe\ud800 end",
}


def exercise(cell: str, status: str, points: float | None, text: str = "", visible: str = "passed") -> ExerciseOutcome:
    seen = None if status in ("manual", "infrastructure") else VisibleCheck(visible, f"seen: {text}")
    return ExerciseOutcome(cell, status, points, 5.0, text, 0.25, seen)


def every_status() -> SubmissionOutcome:
    """One submission with everything that can become of a cell, but for a failure of the grader."""
    first = (
        exercise("embeddings", "passed", 5.0),
        exercise("scores", "partial", 2.5, "The second half is missing.\nLook at the loop.", "failed"),
        exercise("weights", "failed", 0.0, "Rows must sum to 1.\nWhich axis?", "passed"),
    )
    second = (
        exercise("loop", "timeout", 0.0, "Your code took too long here.", "silent"),
        exercise("crash", "crashed", 0.0, "Your code ended the Python process here.", "failed"),
        exercise("essay", "manual", None, "A person reads this answer."),
        ExerciseOutcome("reasons", "missing", 0.0, 5.0, "No answer was written.", 0.0, None),
    )
    notes = ("the protected cell 'loop' was missing; it was put back",)
    return SubmissionOutcome(
        "ada", "distilbert", (NotebookOutcome("1_embedding", first, ()), NotebookOutcome("2_block", second, notes))
    )


def broken() -> SubmissionOutcome:
    """One notebook graded, and one that the grader failed on."""
    good = NotebookOutcome("1_embedding", (exercise("embeddings", "passed", 5.0),), ())
    bad = NotebookOutcome("2_block", (exercise("loop", "infrastructure", None, "The grader failed here."),), ())
    return SubmissionOutcome("ada", "distilbert", (good, bad), "the grader failed on 2_block")


def with_text(text: str) -> SubmissionOutcome:
    """One failed exercise whose words are ``text``, in the verdict and in the visible check."""
    only = exercise("embeddings", "failed", 0.0, text, "failed")
    return SubmissionOutcome("ada", "distilbert", (NotebookOutcome("1_embedding", (only,), (text,)),))
