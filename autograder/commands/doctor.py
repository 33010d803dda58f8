"""``autograder doctor``: what this machine can do, and what to install where it cannot."""

from __future__ import annotations

import argparse

from autograder import isolation


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("doctor", help="what this machine can do", description=__doc__)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    for capability in isolation.capabilities():
        print(capability)
    if not isolation.available():
        return 1
    probes = isolation.self_test()
    for probe in probes:
        print(f"{'held   ' if probe.passed else 'ESCAPED'}  {probe.name}: {probe.detail}")
    return 0 if all(probe.passed for probe in probes) else 1
