"""``autograder release [ASSIGNMENT ...]``: make the students' notebooks with nbgrader, then prove them."""

from __future__ import annotations

import argparse

from autograder.errors import GradingError


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("release", help="make the students' notebooks, and prove them", description=__doc__)
    parser.add_argument("assignment", nargs="*", help="default: all")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder.release import assignments, generate, prove
    from autograder.run import Kernels

    known = assignments(args.course)
    unknown = [name for name in args.assignment if name not in known]
    if unknown:
        raise GradingError(f"unknown assignment {unknown[0]!r}; known are {', '.join(known) or 'none'}")
    broken = 0
    with Kernels.open("auto") as kernels:
        for name in args.assignment or known:
            generate(args.course, name)
            print(f"{name}: released")
            for proof in prove(args.course, name, kernels):
                print(f"  {'✗' if proof.problems else '✓'} {proof.name}")
                for problem in proof.problems:
                    print(f"      {problem}")
                broken += bool(proof.problems)
    return 1 if broken else 0
