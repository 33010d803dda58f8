"""``autograder references ASSIGNMENT``: draw the stored cases anew from a seed, with their expected answers."""

from __future__ import annotations

import argparse

SEED = 2026


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("references", help="make the stored references of an assignment", description=__doc__)
    parser.add_argument("assignment")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed makes another exam")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    from autograder import store

    folder = store.build(args.assignment, args.seed)
    count = sum(len(store.cases(slug)) for slug in store.exercises(args.assignment))
    print(f"{folder}: {len(store.exercises(args.assignment))} exercises, {count} cases, seed {args.seed}")
    return 0
