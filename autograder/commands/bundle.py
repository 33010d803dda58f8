"""``autograder bundle gradescope ASSIGNMENT``: everything that grades one assignment, in one zip."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.commands.ci import add_disclosure, moment


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("bundle", help="pack what grades one assignment", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="gradescope")
    gradescope = kinds.add_parser("gradescope", help="a zip for Gradescope's 'Configure Autograder' page")
    gradescope.add_argument("assignment")
    gradescope.add_argument("--out", type=Path, metavar="FILE.zip", help="default: ASSIGNMENT-gradescope.zip")
    gradescope.add_argument(
        "--seed", type=int, help="draw references of its own, for practice: not those that you grade with"
    )
    gradescope.add_argument(
        "--extra-index-url", metavar="URL", help="where pip also looks, say for PyTorch's CPU builds"
    )
    add_disclosure(gradescope)
    gradescope.add_argument(
        "--no-isolation", action="store_true", help="run submissions unconfined, where the container cannot confine"
    )
    gradescope.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.model.course import Course
    from autograder.release.bundle import Settings, write_bundle

    options = []
    if args.visible_only:
        options.append("--visible-only")
    if args.until is not None:
        options += ["--until", moment(args.until).isoformat()]
    if args.no_isolation:
        options.append("--no-isolation")
    pip_options = ["--extra-index-url", args.extra_index_url] if args.extra_index_url else []
    out = args.out or Path(f"{args.assignment}-gradescope.zip")
    size = write_bundle(Course(args.course), args.assignment, Settings(options, pip_options, args.seed), out)
    print(f"{out}: {size / 1e6:.0f} MB")
    return 0
