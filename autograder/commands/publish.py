"""``autograder publish FOLDER``: the students' repository, checked before it is written."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("publish", help="write the students' repository", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new, empty, or published before")
    parser.add_argument(
        "--assignment", action="append", default=[], metavar="A", dest="chosen",
        help="this one only; may be repeated. Those that were published before stay",
    )  # fmt: skip
    parser.add_argument(
        "--approve-pictures", action="store_true", help="you looked at every picture, and none shows an answer"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.model.course_file import read_course_file
    from autograder.release.publish import publish

    chosen = [name.rstrip("/") for name in args.chosen]
    done = publish(args.course, args.folder.resolve(), chosen, approve_pictures=args.approve_pictures)
    print(f"{args.folder}: {len(done.files)} files for https://github.com/{done.repository}; nothing leaks")
    for picture in done.pictures:
        print(f"  picture, approved: {picture.name}")
    for name in done.kept:
        print(f"  published earlier, left as it was: {name}")
    for name in done.removed:
        print(f"  removed: {name}")
    if done.repository == read_course_file(args.course).placeholder:
        print(
            "  The repository is still the placeholder: set 'repository' in course.toml, run 'autograder release' and "
            "publish again, or badges and setup cells lead nowhere."
        )
    return 0
