"""``autograder mutants [ASSIGNMENT ...]``: tests the checks, with small changes to every solution."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands._options import AsJson, AssignmentNames, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.mutants.rows import MutantRow, Survey

EXAMPLE = "autograder mutants distilbert --exercise embeddings --workers 2"
MAX_SHOWN = 20  # survivors that are printed; the JSON document has all

OneExercise = Annotated[
    str, typer.Option("--exercise", metavar="NAME", help="Mutants of this exercise's solution only.")
]
SampleSize = Annotated[int, typer.Option("--sample", min=0, metavar="N", help="So many of each assignment (0: all).")]
Workers = Annotated[int, typer.Option("--workers", min=1, metavar="N", help="Processes that try mutants.")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", help="Which ones a sample takes.")]
Table = Annotated[
    Path | None,
    typer.Option(
        "--table", metavar="FILE", help="Write the tables there, as Markdown; those of other assignments stay."
    ),
]


def run(
    context: typer.Context,
    assignment: AssignmentNames = None,
    exercise: OneExercise = "",
    sample: SampleSize = 0,
    workers: Workers = 2,
    seed: Seed = 0,
    table: Table = None,
    as_json: AsJson = False,
) -> int:
    """Change every solution a little: each change must cost points.

    A stopped run goes on where it was. Exit codes: 0 every change that makes a difference costs points; 1 some do not,
    and are listed; 2 nothing could be tried.
    """
    from autograder.model.course import assignments_named

    course, output = open_course(context), Output(context, as_json=as_json)
    names = assignments_named(course, assignment)
    if exercise and len(names) > 1:
        raise GradingError(f"--exercise needs its assignment: autograder mutants ASSIGNMENT --exercise {exercise}")
    if table and (exercise or sample):
        raise GradingError("--table is written of all mutants of an assignment: leave out --exercise and --sample")
    done = {name: _one(output, course, name, exercise, sample, seed, workers) for name in names}
    output.document({"assignments": [_document(name, found) for name, found in done.items()]})
    if table:
        _write(course, done, table)
    left = [name for name, found in done.items() if found.survivors or found.refused or found.stale]
    if left:
        output.problem(
            "A visible check that refuses what gets full points must accept it, or its exercise must take points. "
            "A survivor gets full points though it is wrong. Draw a case that tells it apart, or compare more, "
            "in its exercise's file; or say there why it may pass: Exercise(accepted={id: reason}). "
            f"Then run 'autograder mutants {' '.join(left)}' again."
        )
    return 1 if left else 0


def _one(output: Output, course: "Course", name: str, exercise: str, most: int, seed: int, workers: int) -> "Survey":
    from autograder.assignment.assignment import Assignment
    from autograder.mutants.rows import rows, survey

    with output.progress("mutants") as progress:
        found = survey(course, Assignment.unreleased(course, name), exercise, most, seed, workers, progress)
    _print(output, name, rows(found.chosen, found.outcomes))
    for mutant, outcome in found.survivors[:MAX_SHOWN]:
        output.problem(f"  ✗ {mutant.id} ({mutant.part.label}): {mutant.description}")
        output.problem("".join(f"      {line}\n" for line in mutant.diff().splitlines()) + f"      {outcome.said}")
    if len(found.survivors) > MAX_SHOWN:
        output.problem(f"  and {len(found.survivors) - MAX_SHOWN} more survivors (all of them with --json)")
    for mutant, outcome in found.refused[:MAX_SHOWN]:
        output.problem(f"  ✗ {mutant.id} ({mutant.part.label}): {mutant.description}")
        output.problem(f"      full points, and the visible check says: {' '.join(outcome.visible.split())}")
    for unknown in found.stale:
        output.problem(f"  ✗ accepted names {unknown}, but there is no such mutant (any more): take it out")
    return found


def _print(output: Output, name: str, found: "list[MutantRow]") -> None:
    from rich.table import Column, Table

    from autograder.mutants.rows import COLUMNS, total

    table = Table(Column("exercise", no_wrap=True), title=f"{name}: mutants", title_justify="left")
    for column in (*COLUMNS, "seconds"):
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(row.part, *map(str, row.numbers), f"{row.seconds:.0f}")
    table.add_section()
    everything = total(found)
    table.add_row("all", *map(str, everything.numbers), f"{everything.seconds:.0f}")
    output.console.print(table)


def _document(name: str, found: "Survey") -> dict[str, Any]:
    from autograder.mutants.rows import rows

    return {
        "assignment": name,
        "exercises": [vars(row) for row in rows(found.chosen, found.outcomes)],
        "mutants": [
            {
                "id": one.id,
                "exercise": one.part.label,
                "description": one.description,
                "diff": one.diff(),
                **found.outcomes[one.id].json(),
            }
            for one in found.chosen
        ],
        "stale": list(found.stale),
    }


def _write(course: "Course", done: "dict[str, Survey]", path: Path) -> None:
    from autograder.assignment.assignment import Assignment
    from autograder.files.atomic import write_file
    from autograder.mutants.rows import page

    before = path.read_text(encoding="utf-8") if len(done) < len(course.assignments()) and path.is_file() else ""
    found = [(Assignment.unreleased(course, name), one) for name, one in done.items()]
    write_file(path, page(found, before).encode())
