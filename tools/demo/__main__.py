"""``make demo``: the main job on a sample class, from instructor notebooks to grades, in the folder ``build/demo/``.

Everything happens as an instructor would do it: nbgrader releases, ``autograder grade`` grades, ``nbgrader export``
writes the CSV. Needs no network.

Where student code cannot be confined (macOS, Windows, older kernels), the sample class runs unconfined: this module
wrote it a moment ago, into an empty folder, and grades nobody else. Other people's work is refused there, unless its
instructor asks for ``--no-isolation``.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from autograder import cli
from autograder.isolation import IsolationUnavailable, available
from autograder.model.course import Course
from autograder.release.generate import generate
from tools.demo.sample_class import ASSIGNMENT, EXPECTED, build_sample_class

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Exit code 0 where every sample student has the grade they deserve."""
    started = time.monotonic()
    os.environ.pop("NBGRADER_DB_URL", None)  # the demo keeps its own gradebook
    course = ROOT / "build" / "demo"
    shutil.rmtree(course, ignore_errors=True)
    try:
        course.mkdir(parents=True)
    except OSError as error:  # a link, or files of somebody else: nothing of theirs is graded or removed
        print(f"{course} could not be emptied and made anew ({error.strerror}): remove it, then try again")
        return 2
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, course)
    for tree in ("source", "exercises"):
        shutil.copytree(ROOT / tree / ASSIGNMENT, course / tree / ASSIGNMENT)
    for shared in (ROOT / "exercises").glob("*.py"):
        shutil.copy(shared, course / "exercises")
    _say("1. Release: nbgrader makes the students' notebooks from the instructor's")
    generate(Course(course), ASSIGNMENT)
    print("\n".join(f"   {path.relative_to(ROOT)}" for path in sorted((course / "release").rglob("*.ipynb"))))

    _say(f"2. Hand in: a sample class of {len(EXPECTED)}, right, wrong, damaged and forged")
    print("   " + ", ".join(build_sample_class(course)))

    _say(f"3. Grade: autograder grade {ASSIGNMENT}")
    if cli.main(["--course-dir", str(course), "grade", ASSIGNMENT, *_unconfined()]):
        return 1
    _say("4. Feedback, report, grades")
    for command in ("feedback", "report"):
        if cli.main(["--course-dir", str(course), command, ASSIGNMENT]):
            return 1
    _export(course)
    wrong = _unexpected(course)
    _say(
        f"Done in {time.monotonic() - started:.0f} s. Look at "
        f"build/demo/feedback/grace/{ASSIGNMENT}/2_attention_block.html and build/demo/reports/{ASSIGNMENT}/"
    )
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def _unconfined() -> list[str]:
    """What ``grade`` is told where it could not confine the sample class; nothing where it can."""
    try:
        available()
    except IsolationUnavailable as error:
        lack = str(error).splitlines()[1].partition(":")[0]
        print(
            f"   This machine cannot confine code: {lack}. The sample class is the kit's own, so it runs unconfined; "
            "to grade anybody else's work, use Linux 6.2 or later, a container or WSL 2 (docs/container.md)."
        )
        return ["--no-isolation", *(word for student in EXPECTED for word in ("--student", student))]
    return []


def _say(text: str) -> None:
    print(f"\n{text}", flush=True)


def _export(course: Path) -> None:
    command = [sys.executable, "-m", "nbgrader", "export", "--to", "grades.csv", "--log-level", "ERROR"]
    subprocess.run(command, cwd=course, check=True)
    print((course / "grades.csv").read_text(encoding="utf-8"), end="")


def _unexpected(course: Path) -> list[str]:
    """The gradebook's word against what every sample student deserves."""
    from nbgrader.api import Gradebook

    with Gradebook(Course(course).db_url) as gradebook:
        scores = {student: gradebook.find_submission(ASSIGNMENT, student).score for student in EXPECTED}
    return [
        f"{student} has {scores[student]:g} points and deserves {deserved:g}"
        for student, deserved in EXPECTED.items()
        if scores[student] != deserved
    ]


if __name__ == "__main__":
    sys.exit(main())
