"""The three files on disk."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.ci.junit import junit_xml
from autograder.ci.outcome import Disclosure, Outcome
from autograder.ci.results import results_json
from autograder.ci.summary import summary_md

FILES = {"results.json": results_json, "junit.xml": junit_xml, "summary.md": summary_md}


def write_outcome(folder: Path, outcome: Outcome, disclosure: Disclosure) -> None:
    """Write ``results.json``, ``junit.xml`` and ``summary.md``, each of them whole or not at all."""
    texts = {name: make(outcome, disclosure) for name, make in FILES.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        fresh = folder / f".{name}.new"
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, folder / name)
