"""``nbgrader export`` without zeros for what is not graded; ``nbgrader_config.py`` puts it in.

nbgrader's own exporter writes 0.0 for a submission that could not be graded or that nobody has handed in, the sum so
far for one that waits to be read, and texts without quotes. Columns, file name and options are nbgrader's.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Assignment, Gradebook
from nbgrader.plugins import CsvExportPlugin

from autograder.classroom.stale_grades import stale_grade_warnings
from autograder.errors import GradingError
from autograder.exports.remarks import remarks
from autograder.exports.sheet import Cell, to_csv
from autograder.files.atomic import write_file
from autograder.gradebook.gather import gather_from
from autograder.gradebook.results import ResultsTable, StudentResult, check_one_version
from autograder.model.course import Course
from autograder.model.points import total

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


class GradesExporter(CsvExportPlugin):
    """Scores as ``autograder export`` has them; empty where there is none yet."""

    def export(self, gradebook: Gradebook) -> None:
        """Exit code 1 and one line, for a wrong late policy or results of two versions, say."""
        try:
            self._export(gradebook)
        except GradingError as error:
            raise SystemExit(f"nbgrader export: {error}") from error

    def _export(self, gradebook: Gradebook) -> None:
        course = Course(self._root())
        wanted = {str(student) for student in self.student} or None
        lines: list[list[Cell]] = [[*COLUMNS]]
        for assignment in gradebook.assignments:
            if self.assignment and assignment.name not in [str(name) for name in self.assignment]:
                continue
            table = gather_from(course, assignment.name, gradebook, wanted)
            check_one_version(table)
            most = _max_score(assignment, table)
            lines += [_line(assignment, row, most) for row in table.rows]
            for remark in remarks(table) + stale_grade_warnings(course, assignment.name):
                self.log.warning("%s: %s", assignment.name, remark)
        self.log.info("Exporting grades to %s", self.to or "grades.csv")
        write_file(Path(self.to or "grades.csv"), to_csv(lines))

    def _root(self) -> Path:
        directory = getattr(self.parent, "coursedir", None)
        return Path(directory.root) if directory is not None else Path.cwd()


def _max_score(assignment: Assignment, table: ResultsTable) -> float:
    """As ``autograder export`` has it: without the exercises that were dropped, which are in no sum."""
    if not table.released:
        return float(assignment.max_score)
    dropped = {one.key for one in table.waivers if one.counts == "drop"}
    return total(points for key, points in table.released.items() if key not in dropped)


def _line(assignment: Assignment, row: StudentResult, max_score: float) -> list[Cell]:
    student = row.student
    return [
        assignment.name,
        str(assignment.duedate or ""),
        "" if row.submitted_at is None else str(row.submitted_at.replace(tzinfo=None)),
        student.id,
        student.last_name,
        student.first_name,
        student.email,
        row.points,
        row.deduction,
        row.score,
        max_score,
    ]
