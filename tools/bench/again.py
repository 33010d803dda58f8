"""A class that is graded already: a rule is mended, a notebook is handed in again, or nothing has changed.

One submission is run; all others share what it produced, as they share its text. So a class of a thousand is ready
within a minute, and each of them is read, judged and saved as any other.
"""

import json
import re
import zipfile
from pathlib import Path

import nbformat

from autograder.model.course import Course
from autograder.pipeline.stored_runs import path_of
from tools.bench.courses import ASSIGNMENT, make_course
from tools.bench.measure import Measured, watched
from tools.bench.plain import ASSIGNMENT as PLAIN
from tools.bench.plain import make_plain_course
from tools.bench.tables import heads, row, spread, title
from tools.bench.throughput import TURNS, grade

#: So many are run again in each turn; to run the whole class again would take hours.
FEW = 20
#: The last notebook reads the three before it, and no other reads it. The first alone is a small submission.
LAST, SMALL = "4_attention_visualization", "1_embedding"
RULE = Path("exercises", ASSIGNMENT, "attention_weights.py")


def judged_again(folder: Path, submissions: int, most: int) -> None:
    """Ratios are those of five pairs; ``most``: a larger class, measured once."""
    title(f"{submissions} graded submissions of `{ASSIGNMENT}` (four notebooks each), 2 workers")
    course, small = graded_course(folder / "class", submissions), graded_course(folder / "small", submissions, SMALL)
    plain = make_plain_course(folder / "plain", FEW, calibrated=True, copies=2)
    some = [f"student{number:04d}" for number in range(FEW)]
    nothing, little, judged, forced, resent, run_plain, resent_plain = [], [], [], [], [], [], []
    for turn, _ in enumerate(TURNS):
        nothing.append(grade(course, submissions, 2))
        little.append(grade(small, submissions, 2))
        mend(course, turn)
        judged.append(grade(course, submissions, 2))
        forced.append(_some(course, some, "--force"))
        for student in some:
            hand_in_again(course, student, LAST, turn)
        resent.append(_some(course, some))
        run_plain.append(_plain(plain, "--force"))
        for student in some:
            hand_in_again(plain, student, "1_numbers", turn, PLAIN)
        resent_plain.append(_plain(plain))
    large = graded_course(folder / "large", most)
    mend(large, 0)
    alone = grade(large, most, 2)
    run = [(one.seconds - start.seconds) / FEW * submissions for one, start in zip(forced, nothing, strict=True)]
    heads(["what", "seconds", "times faster than run again"])
    row([f"run again ({FEW} measured, less the start)", _seconds(run), "1"])
    row(["a rule mended: judged again", _seconds([one.seconds for one in judged]), _times(run, judged)])
    row(["nothing to do", _seconds([one.seconds for one in nothing]), _times(run, nothing)])
    row([f"nothing to do, `{SMALL}` alone handed in", _seconds([one.seconds for one in little]), ""])
    for what, whole, part in (
        (f"`{LAST}`, the longest of four notebooks", forced, resent),
        ("one of four notebooks of plain asserts", run_plain, resent_plain),
    ):
        seconds = [one.seconds for one in whole]
        row([f"{FEW} run again", _seconds(seconds), "1"])
        row([f"{FEW} hand in again {what}", _seconds([one.seconds for one in part]), _times(seconds, part)])
    row([f"{most} submissions, a rule mended: judged again", f"{alone.seconds:.1f}", ""])
    size = sum(path.stat().st_size for path in path_of(course.root, ASSIGNMENT, "x").parent.glob("*.zip"))
    row([f"the runs of {submissions} on disk", f"{size / 1e6:.0f} MB", ""])


def _some(course: Course, students: list[str], *words: str) -> Measured:
    chosen = [word for student in students for word in ("--student", student)]
    return watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--workers", "2", *words, *chosen)


def _seconds(values: list[float]) -> str:
    return spread(values, 1)


def _times(longer: list[float], shorter: list[Measured]) -> str:
    return spread([one / other.seconds for one, other in zip(longer, shorter, strict=True)])


def _plain(course: Course, *words: str) -> Measured:
    return watched(course.root, "autograder.cli", "grade", PLAIN, "--workers", "2", *words)


def graded_course(root: Path, submissions: int, only: str = "*") -> Course:
    course = make_course(root, submissions, only=only)
    watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--student", "student0000")
    ran = path_of(course.root, ASSIGNMENT, "student0000")
    for number in range(1, submissions):
        _share(ran, f"student{number:04d}")
    grade(course, submissions, 2)
    return course


def _share(ran: Path, student: str) -> None:
    other = ran.with_name(f"{student}.zip")
    with zipfile.ZipFile(ran) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "submission.json":
                data = json.dumps({**json.loads(data), "student": student}).encode()
            new.writestr(name, data)


def mend(course: Course, turn: int) -> None:
    """Another hint of one mistake: the rule of one exercise is another one."""
    path = course.root / RULE
    text = re.sub(r'"Once is[^"]*"', f'"Once is enough ({turn})."', path.read_text())
    path.write_text(text)


def hand_in_again(course: Course, student: str, name: str, turn: int, assignment: str = ASSIGNMENT) -> None:
    path = course.submitted(student, assignment) / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            cell.source += f"\n# once more: {turn}"
    nbformat.write(notebook, path)
