"""``autograder references [ASSIGNMENT ...]``: draw the stored cases anew from a seed, with their expected answers."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands._options import AssignmentNames, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.references.store import References


EXAMPLE = "autograder references distilbert --seed new"


def run(
    context: typer.Context,
    assignment: AssignmentNames = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Another seed makes another exam; 'new' picks one nobody can guess. Default: that of before, if any.",
        ),
    ] = None,
    exercise: Annotated[
        list[str] | None,
        typer.Option("--exercise", metavar="NAME", help="Draw this exercise alone. May be repeated."),
    ] = None,
    watched: Annotated[
        str,
        typer.Option("--watch", metavar="NAME", help="Draw and try this exercise whenever its files are saved."),
    ] = "",
) -> int:
    """Draw hidden inputs and expected answers from a seed.

    Stored files that agree but for rounding stay. Where chance makes two mistakes alike, or gives a sample answer other
    points than its author says, it is drawn again. Exit codes: 0 drawn; 1 drawn, but some answers get another name.
    """
    from autograder.references import store
    from autograder.references.draw import new_seed

    course = open_course(context)
    known = course.assignments()
    names = assignment or known
    if not names:
        raise GradingError(f"{course.root} holds no assignment: expected source/<assignment>/<notebook>.ipynb")
    if exercise and len(names) > 1:
        raise GradingError(
            f"--exercise needs its assignment: autograder references ASSIGNMENT --exercise {exercise[0]}"
        )
    references = store.References.of_course(course.root)
    for name in names:  # all of them exist before the first is drawn anew
        if name not in known:
            raise GradingError(f"unknown assignment {name!r}; known are {', '.join(known) or 'none'}")
        _require(references, name, [*(exercise or ()), *([watched] if watched else [])])
    if watched:
        from autograder.authoring.draws import watch

        if len(names) > 1 or exercise or seed:
            raise GradingError(
                f"--watch goes with an assignment alone: autograder references ASSIGNMENT --watch {watched}"
            )
        watch(course, names[0], watched, Output(context).say)
    chosen = None if seed is None else _seed(seed)
    output, left = Output(context), []
    for name in names:
        before = references.seed(name) if chosen is None else chosen
        drawn = new_seed() if before is None else before
        left += _build(output, course, name, drawn, exercise or (), every=chosen is not None)
    return 1 if left else 0


def _require(references: "References", assignment: str, wanted: Sequence[str]) -> None:
    from autograder.references import loader

    exercises = references.exercises(assignment)
    for one in wanted:
        if f"{assignment}/{one}" not in exercises:
            known = ", ".join(loader.names(references.folder, assignment))
            raise GradingError(f"unknown exercise {one!r}; {assignment} has {known}")


def _seed(text: str) -> int:
    from autograder.references.draw import VISIBLE_SEED, new_seed

    if text == "new":
        return new_seed()
    if not text.isdecimal() or int(text) == VISIBLE_SEED:
        raise GradingError(
            f"--seed must be a whole number, 0 or more, but not {VISIBLE_SEED} (the seed of the visible checks' public "
            f"cases), or the word new; not {text!r}"
        )
    return int(text)


def _build(output: Output, course: "Course", name: str, seed: int, only: Sequence[str], *, every: bool) -> list[str]:
    """Returns the sample answers that get another name than their author says."""
    from autograder.authoring.draws import draw_named
    from autograder.authoring.packs import patched_solutions, write_library
    from autograder.references.store import References

    with output.progress("answers") as progress:
        left = draw_named(course, name, seed, only, every=every, progress=progress)
    references = References.of_course(course.root)
    with patched_solutions(course, name) as run:
        for path in write_library(course, name, run, only):
            output.say(f"{_short(path)}: written")
    exercises = [f"{name}/{one}" for one in only] or list(references.exercises(name))
    count = sum(len(references.cases(slug)) for slug in exercises)
    output.say(f"{_short(references.folder / name)}: {len(exercises)} exercises, {count} cases, seed {seed}")
    if warning := references.warning(name):
        print(warning, file=sys.stderr)
    for one in left:
        output.problem(f"  no draw tells this apart: {name}/{one}")
    return left


def _short(folder: Path) -> Path:
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
