"""The three files on disk."""

from __future__ import annotations

from pathlib import Path

from autograder.ci import FILES
from autograder.ci.junit import junit_xml
from autograder.ci.outcome import Disclosure, SubmissionOutcome
from autograder.ci.results import results_json
from autograder.ci.summary import summary_md
from autograder.files.atomic import write_file

_MADE_BY = dict(zip(FILES, (results_json, junit_xml, summary_md), strict=True))


def write_outcome(folder: Path, outcome: SubmissionOutcome, disclosure: Disclosure) -> None:
    """Write ``results.json``, ``junit.xml`` and ``summary.md``, each of them whole or not at all.

    Raises GradingError where they cannot be written.
    """
    texts = {name: make(outcome, disclosure) for name, make in _MADE_BY.items()}
    for name, text in texts.items():
        write_file(folder / name, text.encode())
