"""``autograder references [ASSIGNMENT ...]``: draw the stored cases anew from a seed, with their expected answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.references.store import References


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("references", help="make the stored references of an assignment", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="default: every assignment of the course")
    parser.add_argument(
        "--seed",
        metavar="NUMBER",
        help="another seed makes another exam; 'new' picks one that nobody can guess (default: that of before, if any)",
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.model.course import Course
    from autograder.references import store
    from autograder.references.draw import new_seed

    known = Course(args.course).assignments()
    names = args.assignment or known
    if not names:
        raise GradingError(f"{args.course} holds no assignment: expected source/<assignment>/<notebook>.ipynb")
    references = store.References.of_course(args.course)
    for name in names:
        if name not in known:
            raise GradingError(f"unknown assignment {name!r}; known are {', '.join(known) or 'none'}")
        references.exercises(name)  # all of them exist before the first is drawn anew
    chosen = None if args.seed is None else _seed(args.seed)
    for name in names:
        seed = references.seed(name) if chosen is None else chosen
        _build(references, name, new_seed() if seed is None else seed)
    return 0


def _seed(text: str) -> int:
    from autograder.references.draw import new_seed

    if text == "new":
        return new_seed()
    if not text.isdecimal():
        raise GradingError(f"--seed must be a whole number, 0 or more, or the word new; not {text!r}")
    return int(text)


def _build(references: References, name: str, seed: int) -> None:
    from autograder.references import store

    folder = references.build(name, seed)
    exercises = references.exercises(name)
    count = sum(len(references.cases(slug)) for slug in exercises)
    print(f"{_short(folder)}: {len(exercises)} exercises, {count} cases, seed {seed}")
    if references.are_public(name):
        print(store.PUBLIC_WARNING.format(assignment=name), file=sys.stderr)


def _short(folder: Path) -> Path:
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
