"""``python -m tests.attacks [--stock]``: what every attack earns here, and on stock nbgrader, as a Markdown table.

Against stock nbgrader the attacks really run, unconfined, as the user who calls this: those that would take the machine
down are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.assignment import Course
from benchmarks.courses import ASSIGNMENT, environment, make_course
from tests.attacks.attempt import NOTEBOOK, submission
from tests.attacks.corpus import ATTACKS, Attack
from tests.attacks.test_attacks import graded, released

SECONDS = 90


def stock(attack: Attack, pristine: Course, folder: Path) -> str:
    """What stock nbgrader gives, in words."""
    if attack.dangerous:
        return "not run"
    course = Course(shutil.copytree(pristine.root, folder / attack.id))
    target = course.submitted("mallory", ASSIGNMENT)
    target.mkdir(parents=True)
    handed_in = course.root / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    (target / f"{NOTEBOOK}.ipynb").write_bytes(submission(attack, handed_in.read_bytes(), course.root, 9))
    for name, text in attack.files.items():
        (target / name).write_text(text)
    command = [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT, "--student", "mallory"]
    process = subprocess.Popen(command, cwd=course.root, env=environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return f"no end after {SECONDS} s"
    try:
        with Gradebook(course.db_url) as gradebook:
            found = gradebook.find_submission(ASSIGNMENT, "mallory")
            extra = sum(grade.extra_credit or 0 for notebook in found.notebooks for grade in notebook.grades)
            missing = any(grade.auto_score is None for notebook in found.notebooks for grade in notebook.grades)
            return "grade lost" if missing else f"{found.score:g}" + (f" with {extra:g} extra" if extra else "")
    except MissingEntry:
        return "grade lost"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stock", action="store_true", help="run them against stock nbgrader too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attacks-") as temporary:
        folder = Path(temporary)
        pristine = make_course(folder / "pristine", 0, stock=True, only=NOTEBOOK) if args.stock else None
        print("| id | what it tries | points here, of 5 |" + (" points on stock nbgrader |" if pristine else ""))
        print("|---|---|---|" + ("---|" if pristine else ""))
        for attack in ATTACKS:
            here = graded(submission(attack, released(), folder / "pristine", 9)).verdict.points
            row = f"| {attack.id} | {attack.tries} | {here:g} |"
            print(row + (f" {stock(attack, pristine, folder)} |" if pristine else ""), flush=True)


if __name__ == "__main__":
    main()
