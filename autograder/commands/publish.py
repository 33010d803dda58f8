"""``autograder publish FOLDER``: the students' repository, searched for leaks before it is written."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("publish", help="write the students' repository", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new, empty, or published before")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.plugins import SetRepository
    from autograder.publish import publish

    done = publish(args.course, args.folder.resolve())
    print(f"{args.folder}: {len(done.files)} files for https://github.com/{done.repository}; nothing leaks")
    for name in done.removed:
        print(f"  removed: {name}")
    if done.repository == SetRepository.placeholder:
        print(
            "  The repository is still the placeholder: set c.SetRepository.repository in nbgrader_config.py, run "
            "'autograder release' and publish again, or badges and setup cells lead nowhere."
        )
    return 0
