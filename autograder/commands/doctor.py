"""``autograder doctor``: what this machine can do, and what to install where it cannot."""

from __future__ import annotations

import argparse
import shutil
from importlib.util import find_spec

from autograder import isolation
from autograder.isolation import IsolationUnavailable

OPTIONAL = {
    "distributed": "grading with --scheduler: pip install dask distributed",
    "psycopg": "a gradebook in PostgreSQL: pip install 'psycopg[binary]'",
    "bertviz": "attention views in notebooks: pip install bertviz mpld3 XStatic-jQuery",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def add(words: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = words.add_parser("doctor", help="what this machine can do", description=__doc__)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    print("Isolation of students' code")
    for capability in isolation.capabilities():
        _line(capability.present, f"{capability.name}: {capability.detail}", capability.advice)
    print("Optional")
    for module, advice in OPTIONAL.items():
        _line(find_spec(module) is not None, module, advice)
    _line(any(map(shutil.which, BROWSERS)), "a browser for the browser tests", "install chromium and chromium-driver")
    try:
        isolation.available()
    except IsolationUnavailable:
        print("Students' code cannot be confined here: see what is missing above.")
        return 1
    print("Attempts to escape")
    probes = isolation.self_test()
    for probe in probes:
        _line(probe.passed, f"{probe.name}: {probe.detail}", "THIS ONE ESCAPED: do not grade here")
    return 0 if all(probe.passed for probe in probes) else 1


def _line(good: bool, text: str, advice: str) -> None:
    print(f"  {'✓' if good else '✗'} {text}" + ("" if good else f"\n      {advice}"))
