"""``autograder feedback ASSIGNMENT``: a page per notebook that a student can read, and the way back to the students."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import AssignmentName, Students, open_course
from autograder.commands._output import Output, warn_of_standing
from autograder.errors import GradingError, NothingToGrade
from autograder.model.plain_text import one_line

if TYPE_CHECKING:
    from autograder.gradebook.results import ResultsTable
    from autograder.lms.pages import Pages
    from autograder.model.course import Course

EXAMPLE = "autograder feedback distilbert --to moodle"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    student: Students = None,
    to: Annotated[
        Literal["moodle", "canvas", "git"] | None,
        typer.Option(
            help="Also pack the pages as Moodle or Canvas takes them back, or commit them to students' clones."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.zip", help="The zip (default: in exports/); for moodle and canvas.")
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Moodle's grading worksheet, where the submissions did not come from there."),
    ] = None,
    clones: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With --to git: the folder with the clones.")
    ] = None,
) -> int:
    """Write the students' feedback pages, and pack them for the way back.

    There is one page per notebook.

    Exit code 1 where students are left out of what goes back, or have handed in something newer than what is graded:
    they are listed.
    """
    from autograder.feedback import write_feedback
    from autograder.gradebook.gather import gather
    from autograder.gradebook.late.penalties import store_penalties
    from autograder.lms.pages import pages_of

    _check_together(to, out, columns, clones)
    course, output = open_course(context), Output(context)
    first = f"run 'autograder grade {assignment}' first"
    graded = set(course.everybody_autograded(assignment))
    if not any(map(course.takes, graded)):
        raise NothingToGrade(f"nothing is graded for {assignment!r}: {first}")
    table = gather(course, assignment)
    results = {row.student.id: row for row in table.rows}
    wanted = [name for name, row in results.items() if (row.submitted_by or name) in graded and course.takes(name)]
    wanted = [name for name in wanted if not student or name in student]
    if not wanted:
        raise NothingToGrade(f"nothing of {', '.join(student or ())} is graded for {assignment!r}: {first}")
    store_penalties(course, table)
    written = {name: write_feedback(course, assignment, name, results[name]) for name in wanted}
    pages = sum(map(len, written.values()))
    code = warn_of_standing(output, course, assignment)
    output.say(f"{pages} pages for {len(wanted)} students in {course.every_feedback}")
    if to == "git":
        return _commit(output, course, assignment, pages_of(written), clones or Path()) or code
    return (_pack(output, course, table, to, pages_of(written), out, columns) if to else 0) or code


def _check_together(to: str | None, out: Path | None, columns: Path | None, clones: Path | None) -> None:
    if out and to not in ("moodle", "canvas"):
        raise GradingError("--out goes with --to moodle or --to canvas")
    if columns and to != "moodle":
        raise GradingError("--columns goes with --to moodle: it is Moodle's grading worksheet")
    if (clones is None) == (to == "git"):
        raise GradingError("--to git and --clones FOLDER go together: the folder with the students' clones")


def _pack(
    output: Output,
    course: "Course",
    table: "ResultsTable",
    to: Literal["moodle", "canvas"],
    pages: "Pages",
    out: Path | None,
    columns: Path | None,
) -> int:
    from autograder.exports.sheet import known_as, read_sheet
    from autograder.gradebook.roster import read_origins, roster_of
    from autograder.lms.pages import of_worksheet, pack_canvas, pack_moodle, participants, write_folder, write_zip

    origins = read_origins(course.root, table.assignment)
    if to == "canvas":
        packed = pack_canvas(pages, origins)
    else:
        rows = [row for row in table.rows if row.student.id in pages]
        roster = roster_of(course.root, {row.student.id: row.student for row in rows}, "moodle", table.assignment)
        people = participants(roster)
        if columns is not None:
            people |= of_worksheet(known_as(rows, roster), read_sheet(columns))
        packed = pack_moodle(pages, people)
    if not packed.files:
        remedy = "collect Moodle's download first, or give its grading worksheet with --columns"
        if to == "canvas":
            remedy = "collect Canvas's download first, or send the pages with 'autograder export --to canvas --push'"
        raise GradingError(f"nothing was packed: of no student {to} would know who they are; {remedy}")
    path = out or course.root / "exports" / f"{table.assignment}-feedback-{to}.zip"
    if to == "canvas" and out is None:
        write_folder(path.with_suffix(""), packed.files)
    write_zip(path, packed.files)
    output.say(f"{path}: {len(packed.files)} files for {len(pages) - len(packed.left_out)} students")
    return _left_out(output, packed.left_out)


def _commit(output: Output, course: "Course", assignment: str, pages: "Pages", clones: Path) -> int:
    from autograder.gradebook.roster import read_origins
    from autograder.lms.pages import BRANCH, commit

    done = commit(pages, read_origins(course.root, assignment), clones, assignment)
    for student, clone in done.clones.items():
        output.say(f"{student}: git -C {quote(str(clone))} push origin {BRANCH}")
    output.say(f"{len(done.clones)} clones have a new commit on {BRANCH}, {len(done.unchanged)} had it already")
    return _left_out(output, done.left_out)


def _left_out(output: Output, left_out: Mapping[str, str]) -> int:
    for student, reason in left_out.items():
        output.warn(f"autograder: {one_line(f'{student} is left out: {reason}')}")
    return 1 if left_out else 0
