"""A class's grades in one of the formats, where the file lies, and what an instructor must know of it."""

from pathlib import Path

from autograder.errors import GradingError
from autograder.exports import FOR_ANYBODY, WITH_TEMPLATE, Format, canvas, moodle, plain
from autograder.exports.sheet import ExportFile, read_sheet
from autograder.gradebook.results import ResultsTable, counted


def make(table: ResultsTable, to: Format, columns: Path | None = None) -> ExportFile:
    """The export of one class. Raises GradingError where ``columns`` is no table that this format can fill in."""
    if columns is not None and to not in WITH_TEMPLATE:
        raise GradingError(f"--columns goes with --to {' or '.join(WITH_TEMPLATE)}, not with --to {to}")
    sheet = read_sheet(columns) if columns is not None else None
    match to:
        case "canvas":
            return canvas.make(table, sheet)
        case "moodle":
            return moodle.make(table, sheet)
        case "csv":
            return plain.make_csv(table, sheet)
        case "json":
            return plain.make_json(table, sheet)


def default_path(root: Path, name: str, to: Format) -> Path:
    """name: of the assignment, or of the course's total."""
    return root / "exports" / (f"{name}.{to}" if to in FOR_ANYBODY else f"{name}-{to}.csv")


def remarks(table: ResultsTable) -> list[str]:
    """On empty cells and deductions, a line each."""
    by_state: dict[str, list[str]] = {}
    for row in table.rows:
        by_state.setdefault(row.state, []).append(row.student.id)
    exercises = sum(len(row.waiting) for row in table.rows if row.state == "waiting")
    said = {
        "waiting": f"{exercises} to be read by a person; empty until then, and so are the sums",
        "infrastructure": "not graded yet, or the grader failed: start 'autograder grade' again; empty until then",
        "refused": "handed in after the hard deadline and refused: no score",
        "nothing handed in": "handed in nothing: no score",
    }
    lines = [f"{counted(by_state[state])}: {text}" for state, text in said.items() if state in by_state]
    timeless = [row.student.id for row in table.rows if row.exercises and row.submitted_at is None]
    if table.deadline and timeless:
        lines.append(f"{counted(timeless)}: no time was recorded, counted as on time")
    if not table.deadline and any(row.deduction for row in table.rows):
        lines.append("the gradebook's own late penalties are taken off: late_policy.toml has no deadline here")
    return [*lines, *(f"{one.exercise}: {one.text}" for one in table.waivers)]
