"""``python -m tests.plain.cheats [--stock] [ID ...]``: what each cheat earns here, and on stock nbgrader, as a table.

``--alone``: those with an exercise of their own (``passing_*.toml``), which all pass under stock nbgrader.
Against stock nbgrader the cheats really run, as the user who calls this: in ``bwrap``, where only the course can be
written, and else only with ``--unconfined``, in a machine that you can throw away.
"""

import argparse
import html
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.model.course import Course
from autograder.model.verdict import read
from tests.plain.cheats.cheat import ALONE, BY_ID, CHEATS, TARGETS, Cheat, Target
from tests.plain.cheats.course import ASSIGNMENT, RIGHT, SECRET, WRONG, make_course, students
from tools.bench.courses import environment

#: Seconds that a cell has here: some cheats never end.
LIMIT = 10
HEAD = ("id", "what it tries", "exercise", "an honest wrong answer", "stock nbgrader", "here")


def grade(course: Course, *words: str, confined: Sequence[str] = ()) -> None:
    """Grade the class. What a grader says of single submissions is in its gradebook."""
    command = [*confined, sys.executable, "-m", *words]
    subprocess.run(command, cwd=course.root, env=environment(), capture_output=True)


def in_bwrap(folder: Path) -> list[str]:
    """The words before a command that may write in this folder alone, and sees no other process."""
    readable = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    own = ["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--setenv", "HOME", "/tmp", "--bind", str(folder), str(folder)]
    return ["bwrap", "--unshare-all", "--die-with-parent", *readable, *own]


def points(course: Course, student: str) -> dict[str, float] | None:
    """graded cell -> points without doubt; None where the submission has no grade."""
    with Gradebook(course.db_url) as gradebook:
        try:
            found = gradebook.find_submission(ASSIGNMENT, student)
        except MissingEntry:
            return None
        grades = [grade for notebook in found.notebooks for grade in notebook.grades]
        if all(one.auto_score is None for one in grades):
            return None
        return {one.name: one.auto_score or 0.0 for one in grades}


def stock(cheats: Sequence[Cheat], folder: Path) -> dict[str, dict[str, float] | None]:
    course = make_course(folder, cheats)
    grade(course, "nbgrader", "autograde", ASSIGNMENT, confined=in_bwrap(folder) if shutil.which("bwrap") else ())
    return {student: points(course, student) for student in (RIGHT, WRONG, *(cheat.id for cheat in cheats))}


def ours(cheats: Sequence[Cheat], folder: Path, *exercises: Target) -> dict[str, dict[str, float] | None]:
    """exercises: each cheat's own, in the place of those that many attack. Student or cheat -> its submission's points."""
    course = make_course(folder, cheats, exercises or TARGETS)
    (folder / "course.toml").write_text(f"[limits]\ncell_seconds = {LIMIT}\nsubmission_seconds = {100 * LIMIT}\n")
    grade(course, "autograder.cli", "grade", ASSIGNMENT, "--workers", "2")
    grade(course, "autograder.cli", "feedback", ASSIGNMENT)
    grade(course, "autograder.cli", "report", ASSIGNMENT)
    found = {student: points(course, student) for student in (RIGHT, WRONG)}
    for student, theirs in students(cheats, exercises or TARGETS).items():
        found |= dict.fromkeys((cheat.id for cheat in theirs), points(course, student))
    return found


def leaks(course_folder: Path) -> dict[str, list[str]]:
    """Student -> pages of theirs on which a hidden test stands. Every student has a page."""
    pages = [*(course_folder / "feedback").glob("*/*/*.html")]
    assert {page.parts[-3] for page in pages} == {path.name for path in (course_folder / "submitted").iterdir()}
    found: dict[str, list[str]] = {}
    for page in pages:
        if SECRET in html.unescape(page.read_text(encoding="utf-8")):
            found.setdefault(page.parts[-3], []).append(page.stem)
    return found


def row(cheat: Cheat, by_stock: str, here: str) -> list[str]:
    target = BY_ID[cheat.target]
    return [cheat.id, cheat.tries, f"`{target.id}`", f"{target.earns:g} of {target.points:g}", by_stock, here]


def alone(chosen: Sequence[tuple[str, Target, Cheat]], folder: Path) -> None:
    """Print points of a right answer, an honest wrong one and the cheat, and what is said of the cheat."""
    cheats, exercises = [cheat for _, _, cheat in chosen], [target for _, target, _ in chosen]
    earned = ours(cheats, folder, *exercises)
    student = {cheat.id: name for name, theirs in students(cheats, exercises).items() for cheat in theirs}
    print("| kind | id | what it tries | right | wrong | cheat | what is said |\n|---|---|---|---|---|---|---|")
    for kind, target, cheat in chosen:
        (path,) = (folder / "autograded" / student[cheat.id]).glob("*/verdicts.json")
        cells = [one for book in read(path).notebooks for one in book.cells if one.cell in target.cells]
        names = [one.cell for one in cells]
        found = [sum((earned[who] or {}).get(name, 0) for name in names) for who in (RIGHT, WRONG, cheat.id)]
        why = " ".join(one.refused or "by a person" for one in cells if one.offered is not None)
        how = why or ("the assert's own affair" if target.own else "PAYS") if found[2] > found[1] else why
        print(f"| {kind} | {target.id} | {cheat.tries} | {found[0]:g} | {found[1]:g} | {found[2]:g} | {how} |")


def said(found: dict[str, float] | None, target: str) -> str:
    return "no grade" if found is None else f"{found[target]:g}"


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.plain.cheats", description=__doc__)
    parser.add_argument("--stock", action="store_true", help="run them on stock nbgrader too")
    parser.add_argument("--alone", action="store_true", help="cheats with an exercise of their own")
    parser.add_argument("--unconfined", action="store_true", help="there, where there is no bwrap")
    parser.add_argument("ids", nargs="*", help="only these cheats")
    args = parser.parse_args()
    if args.stock and not (args.unconfined or shutil.which("bwrap")):
        parser.error("install bwrap, or say --unconfined in a machine that you can throw away")
    if args.alone:
        with tempfile.TemporaryDirectory(prefix="cheats-") as temporary:
            return alone([one for one in ALONE if not args.ids or one[2].id in args.ids], Path(temporary))
    cheats = [cheat for cheat in CHEATS if not args.ids or cheat.id in args.ids]
    with tempfile.TemporaryDirectory(prefix="cheats-") as temporary:
        here = ours(cheats, Path(temporary) / "ours")
        leaking = leaks(Path(temporary) / "ours")
        there = stock(cheats, Path(temporary) / "stock") if args.stock else {}
    heads = [name for name in HEAD if args.stock or name != "stock nbgrader"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for cheat in cheats:
        cells = row(cheat, said(there.get(cheat.id), cheat.target), said(here.get(cheat.id), cheat.target))
        print(f"| {' | '.join(cells if args.stock else [*cells[:4], cells[5]])} |")
    earning = [one.id for one in cheats if (here[one.id] or {}).get(one.target, 0) > BY_ID[one.target].earns]
    print(f"\n{len(cheats)} cheats; earn more than the honest wrong answer: {', '.join(earning) or 'none'}; "
          f"the hidden test on their page: {', '.join(sorted(leaking)) or 'none'}")  # fmt: skip


if __name__ == "__main__":
    main()
