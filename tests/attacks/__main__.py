"""``python -m tests.attacks [--as-user] [--stock]``: what every attack earns here, as a Markdown table; with the grader
of an ordinary user as well, and on stock nbgrader. Then what another user of this machine gets from a grader at work.
Exit code 1 where an attack earns something, or gets through.

Against stock nbgrader the attacks really run, unconfined, as the user who calls this: those that would take the machine
down are left out.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.model.course import Course
from tests.attacks.attack import NOTEBOOK, Attack, submission
from tests.attacks.corpus import ATTACKS
from tests.attacks.machine import MACHINE
from tests.attacks.ordinary import FULL, Outcome, Unavailable, outcomes
from tests.attacks.second_user import attempts_on_a_grader_at_work, grader_among_traps, second_user
from tests.attacks.test_attacks import graded, released
from tests.once import FOLDER
from tools.bench.courses import ASSIGNMENT, environment, make_course

SECONDS = 90
#: Of an attack on an ordinary user's grader: points, whether files were changed, points of the next submission.
EARNED = (0, False, FULL)


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


def as_user(attacks: list[Attack]) -> dict[str, Outcome]:
    """id -> what an ordinary user's grader gives; empty where none can be had, with the reason on stderr."""
    if os.geteuid() != 0:
        print("--as-user: the grader is an ordinary user already", file=sys.stderr)
        return {}
    try:
        return outcomes([attack.id for attack in attacks])
    except Unavailable as why:
        print(f"--as-user: left out: {why}", file=sys.stderr)
        return {}


def in_words(outcome: Outcome) -> str:
    return (
        (f"{outcome.points:g}" if outcome.points is not None else outcome.status)
        + (" and files changed" if outcome.changed else "")
        + (f"; the next one had {outcome.honest_after}" if outcome.honest_after != FULL else "")
    )


def another_user() -> list[str]:
    """Print what a second user of this machine tries on a grader at work, and give the names of what got through."""
    print("\n| another user of this machine tries to | and is |\n|---|---|")
    try:
        with second_user() as uid:
            among, tried = grader_among_traps(uid), attempts_on_a_grader_at_work(uid)
    except Unavailable as why:
        print(f"| (nothing) | left out: {why} |")
        return []
    for one in tried:
        print(f"| {one.name} | {'GOT THROUGH' if one.got_through else f'refused: {one.detail}'} |")
    stopped = "passed over" if among.is_safe else f"GOT THROUGH: {among}"
    print(
        f"| stop or mislead it by {among.traps} links, pipes and folders under the grader's names | {stopped} |",
        flush=True,
    )
    return [one.name for one in tried if one.got_through] + ([] if among.is_safe else ["traps"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as-user", action="store_true", help="run them against an ordinary user's grader too")
    parser.add_argument("--stock", action="store_true", help="run them against stock nbgrader too")
    parser.add_argument("ids", nargs="*", help="only these attacks; 'other-user' for what another user tries")
    args = parser.parse_args()
    attacks = [attack for attack in (*ATTACKS, *MACHINE) if not args.ids or attack.id in args.ids]
    through = attack_table(attacks, args.as_user, args.stock) if attacks else []
    if not args.ids or "other-user" in args.ids:
        with tempfile.TemporaryDirectory(prefix="once-") as once:
            os.environ.setdefault(FOLDER, once)
            through += another_user()
    print(f"\nGot through: {', '.join(through) or 'nothing'}.")
    return 1 if through else 0


def attack_table(attacks: list[Attack], as_user_too: bool, stock_too: bool) -> list[str]:
    """Print what each attack earns, and give the ids of those that earn or change something."""
    through = []
    with tempfile.TemporaryDirectory(prefix="attacks-") as temporary:
        folder = Path(temporary)
        pristine = make_course(folder / "pristine", 0, stock=True, only=NOTEBOOK) if stock_too else None
        by_user = as_user(attacks) if as_user_too else {}
        columns = ["id", "what it tries", "points here, of 5"]
        columns += ["as an ordinary user"] if by_user else []
        columns += ["points on stock nbgrader"] if pristine else []
        print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
        for attack in attacks:
            verdict = graded(submission(attack, released(), folder / "pristine", 9)).verdict
            row = [attack.id, attack.tries, "no grade" if verdict.points is None else f"{verdict.points:g}"]
            row += [in_words(by_user[attack.id])] if by_user else []
            row += [stock(attack, pristine, folder)] if pristine else []
            print(f"| {' | '.join(row)} |", flush=True)
            outcome = by_user.get(attack.id)
            if verdict.points != 0 or (outcome and (outcome.points, outcome.changed, outcome.honest_after) != EARNED):
                through.append(attack.id)
    return through


if __name__ == "__main__":
    sys.exit(main())
