"""Grades for other systems. Which formats there are, and how a file comes about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from autograder.errors import GradingError
from autograder.exports import canvas, gradescope, moodle, plain
from autograder.exports.export_file import ExportFile
from autograder.exports.sheet import Sheet, read_sheet
from autograder.gradebook.results import ResultsTable

Format = Callable[[ResultsTable, Sheet | None], ExportFile]

FORMATS: Mapping[str, Format] = {
    "canvas": canvas.make,
    "moodle": moodle.make,
    "csv": plain.make_csv,
    "json": plain.make_json,
    "gradescope": gradescope.make,
}
#: The formats that take another system's own table.
WITH_TEMPLATE = ("canvas", "moodle")


def make(table: ResultsTable, to: str, columns: Path | None = None) -> ExportFile:
    """The export of one class. Raises GradingError where ``columns`` is no table that this format can fill in."""
    if columns is not None and to not in WITH_TEMPLATE:
        raise GradingError(f"--columns goes with --to {' or '.join(WITH_TEMPLATE)}, not with --to {to}")
    return FORMATS[to](table, read_sheet(columns) if columns is not None else None)


def default_path(root: Path, assignment: str, to: str) -> Path:
    return root / "exports" / (f"{assignment}.{to}" if to in ("csv", "json") else f"{assignment}-{to}.csv")
