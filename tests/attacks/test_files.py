"""Odd and hostile files cost the submission that holds them, nobody else, and people can read why."""

import io
import os
import re
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console

from autograder.classroom.run import GradingOptions, Row, grade_class
from autograder.commands.grade import print_table
from autograder.feedback import write_feedback
from autograder.model.course import Course
from autograder.pipeline.execute import Limits
from autograder.report import write_report
from tests.attacks.files import ASSIGNMENT, FULL, NAME, NOTEBOOK, ODD_FILES, OddFiles
from tests.grading import leave_out_shown
from tools.bench.courses import make_course, without_warm_modules

pytestmark = pytest.mark.xdist_group("odd files")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> tuple[Course, dict[str, Row], list[Row]]:
    """A class of one honest student and everybody else, with the rows of the table."""
    folder = tmp_path_factory.mktemp("odd") / "course"
    course = without_warm_modules(make_course(folder, 1, only=NOTEBOOK, assignment=ASSIGNMENT))
    leave_out_shown(course.root, ASSIGNMENT)
    (course.root / "submitted" / "student0000").rename(course.root / "submitted" / "honest")
    honest = (course.submitted("honest", ASSIGNMENT) / NAME).read_bytes()
    for odd in ODD_FILES:
        folder = course.submitted(odd.id, ASSIGNMENT)
        folder.mkdir(parents=True)
        odd.lay_out(folder, honest)
    unreadable = Path(os.fsdecode(os.fsencode(course.root / "submitted") + b"/ren\xe9")) / ASSIGNMENT
    unreadable.mkdir(parents=True)
    (unreadable / NAME).write_bytes(honest)
    rows = grade_class(course, GradingOptions(ASSIGNMENT, workers=2, limits=Limits(cell_seconds=20)))
    return course, {row.student: row for row in rows}, rows


def test_the_honest_student_has_all_points(graded):
    _, rows, _ = graded
    assert (rows["honest"].total, rows["honest"].failure, rows["honest"].notes) == (FULL, "", ())


@pytest.mark.parametrize("odd", ODD_FILES, ids=lambda odd: odd.id)
def test_odd_files_cost_themselves_alone_and_somebody_can_read_why(graded, odd: OddFiles):
    _, rows, _ = graded
    row = rows[odd.id]
    if odd.points is None:
        assert odd.said in row.failure
    else:
        assert (row.total, row.failure) == (odd.points, "")
        assert odd.said in " ".join(row.notes)


def test_a_student_whose_name_is_no_text_is_said_so(graded):
    _, rows, _ = graded
    (row,) = (row for name, row in rows.items() if name.startswith("ren"))
    assert "is no UTF-8; rename the folder" in row.failure


def controls(text: str) -> set[str]:
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs") and one != "\n"}


def test_nothing_that_people_read_holds_control_characters_or_direction_marks(graded):
    course, _, rows = graded
    console = Console(file=io.StringIO(), width=200)
    print_table(console, rows, {})
    for row in rows:
        assert not controls("".join(row.notes) + row.failure)
    said = console.file.getvalue()
    assert not controls(said)
    assert "[bold]" in said  # shown, not followed
    for path in course.root.glob(f"autograded/*/{ASSIGNMENT}/verdicts.json"):
        assert not controls(path.read_text(encoding="utf-8"))
    for path in course.root.glob(f"autograded/*/{ASSIGNMENT}/grading.log"):
        assert not controls(path.read_text(encoding="utf-8"))


def test_verdicts_stay_small(graded):
    course, _, _ = graded
    sizes = {path: path.stat().st_size for path in course.root.glob(f"autograded/*/{ASSIGNMENT}/verdicts.json")}
    assert max(sizes.values()) < 50_000, sizes


def test_feedback_and_report_can_be_written_for_all_who_were_graded(graded):
    course, rows, _ = graded
    for student, row in rows.items():
        if not row.failure:
            for page in write_feedback(course, ASSIGNMENT, student):
                assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page.read_text(encoding="utf-8"))
    assert write_report(course, ASSIGNMENT, course.root / "report").is_file()
