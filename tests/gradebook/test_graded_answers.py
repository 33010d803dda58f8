"""A mark by hand counts for the answer that it was given for, and for no other; so it does after a backup came back."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.exports.formats import make
from autograder.feedback import write_feedback
from autograder.gradebook.gather import gather
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.report.statistics import read_results, waiting_for_people
from tests.exports.conftest import cells, comment, mark
from tests.feedback.toy import NOTEBOOK
from tests.feedback.toy import hand_in as toy
from tests.pipeline.conftest import nbgrader
from tests.small_class import SHEET, grade, hand_in, run, small_class, table

READ, OTHER = {"why": "Because every row is normalised."}, {"why": "I do not know any more."}


@pytest.fixture(name="course")
def marked_course(course: Course) -> Course:
    """Ada's written answer was read, and has 1.5 of its 2 points and a comment."""
    save(course, READ)
    mark(course, "ada", "why", 1.5)
    comment(course, "ada", "why", "Say which axis.")
    return course


def save(course: Course, answers: dict[str, str], points: float = 3.0, student: str = "ada") -> None:
    """Grade a submission with these answers, without a kernel."""
    toy(course, student, answers, cells=cells(points, None))


def result(course: Course, student: str = "ada") -> StudentResult:
    return next(row for row in gather(course, "toy").rows if row.student.id == student)


def state(course: Course) -> tuple[str, float | None]:
    return result(course).state, result(course).score


def waits(course: Course, cell: str = "why") -> bool:
    with Gradebook(course.db_url) as gradebook:
        return bool(gradebook.find_grade(cell, NOTEBOOK, "toy", "ada").needs_manual_grade)


def page_of(course: Course, student: str) -> str:
    (page,) = write_feedback(course, "toy", student)
    return page.read_text(encoding="utf-8")


#: What happens one after the other: an answer is graded, a person gives points, the gradebook is copied and put back;
#: each with the score afterwards (None: it waits).
HISTORIES: dict[str, list[tuple[object, float | None]]] = {
    "the same answer again": [(READ, 4.5), (READ, 4.5)],
    "another answer, until a person decides": [(OTHER, None), (0.5, 3.5), (OTHER, 3.5)],
    "an answer that comes back": [(OTHER, None), (READ, 4.5)],
    "a backup, twice": [("copy", 4.5), (OTHER, None),
                        *2 * [("put back", None), (OTHER, None), (0.5, 3.5), (OTHER, 3.5)]],
    "a backup, and the answer is there again": [("copy", 4.5), (OTHER, None), ("put back", None), (READ, 4.5)],
    "a backup in which the mark waited": [(OTHER, None), ("copy", None), (0.5, 3.5), (OTHER, 3.5), ("put back", None),
                                          (OTHER, None)],
    "a backup from after the last answer": [("copy", 4.5), (0.5, 3.5), (READ, 3.5), ("put back", 4.5), (READ, 4.5)],
}  # fmt: skip


@pytest.mark.parametrize("history", HISTORIES)
def test_a_mark_counts_for_the_answer_that_it_was_given_for(course, history):
    book = course.root / "gradebook.db"
    for step, (do, score) in enumerate(HISTORIES[history]):
        if isinstance(do, dict):
            save(course, do)
            assert waits(course) is (score is None), step
        elif isinstance(do, float):
            mark(course, "ada", "why", do)
        else:
            shutil.copy(*((book, f"{book}.copy") if do == "copy" else (f"{book}.copy", book)))
        assert state(course) == (("waiting", None) if score is None else ("graded", score)), step


def test_another_answer_waits_in_every_place(course):
    save(course, OTHER)
    assert result(course).points_so_far == 3.0
    (line,) = csv.DictReader(io.StringIO(make(gather(course, "toy"), "csv").data.decode("utf-8-sig")))
    assert (line["state"], line["score"], line["comments"]) == ("waiting", "", "")
    (answer,) = waiting_for_people(read_results(course, "toy").rows)
    assert (answer.why, answer.cell, answer.students) == ("changed", "why", ("ada",))
    page = page_of(course, "ada")
    assert "Say which axis." not in page and "<strong>3</strong> of 5 points so far" in page
    assert "Waits to be read by a person" in page


@pytest.mark.parametrize("restored", [False, True])
def test_a_comment_about_an_earlier_answer_is_kept_and_marked_for_the_instructor_alone(course, restored):
    shutil.copy(course.root / "gradebook.db", course.root / "copy")
    save(course, OTHER)
    if restored:
        shutil.copy(course.root / "copy", course.root / "gradebook.db")
    save(course, OTHER)
    mark(course, "ada", "why", 0.5)
    with Gradebook(course.db_url) as gradebook:
        kept = gradebook.find_comment("why", NOTEBOOK, "toy", "ada").manual_comment
    first, second = kept.split("\n")
    assert first.startswith("[Written about an earlier answer") and second == "Say which axis."
    assert result(course).comments == {}
    comment(course, "ada", "why", second)
    assert result(course).comments == {(NOTEBOOK, "why"): "Say which axis."}


def test_a_comment_on_code_is_about_that_code(course):
    comment(course, "ada", "row_sums_answer", "The other axis.")
    save(course, READ)
    assert result(course).comments == {(NOTEBOOK, "row_sums_answer"): "The other axis.",
                                       (NOTEBOOK, "why"): "Say which axis."}  # fmt: skip
    save(course, READ | {"row_sums_answer": "def row_sums(x):\n    return x.sum(1)"})
    assert (NOTEBOOK, "row_sums_answer") not in result(course).comments


def test_points_that_overrule_the_grader_count_for_that_code_alone(course):
    mark(course, "ada", "row_sums", 2.0)
    save(course, READ, 0.0)
    assert result(course).exercises[NOTEBOOK, "row_sums"].points == 2.0
    save(course, READ | {"row_sums_answer": "def row_sums(x):\n    return x"}, 0.0)
    overruled = result(course).exercises[NOTEBOOK, "row_sums"]
    assert (overruled.status, overruled.points, waits(course, "row_sums")) == ("manual", None, True)
    assert result(course).exercises[NOTEBOOK, "why"].points == 1.5, "the written answer is the same"


def test_a_failure_of_the_grader_takes_the_grade_and_a_good_run_gives_it_back(course):
    broken = (CellVerdict("row_sums", "infrastructure", None, 3.0), CellVerdict("why", "infrastructure", None, 2.0))
    toy(course, "ada", READ, cells=broken)
    assert state(course) == ("infrastructure", None)
    save(course, READ)
    assert state(course) == ("graded", 4.5)


@pytest.mark.parametrize("damage", ["gone", "no JSON", "[]"])
def test_without_a_record_of_the_answer_a_person_looks_again(course, damage):
    record = course.root / ".autograder" / "answers" / "toy" / "ada.json"
    assert set(json.loads(record.read_text())) == {NOTEBOOK}
    record.unlink() if damage == "gone" else record.write_text(damage)
    save(course, READ)
    assert (state(course), waits(course)) == (("waiting", None), True)


def test_records_of_an_earlier_version_are_read(course):
    path = course.root / ".autograder" / "answers" / "toy" / "ada.json"
    record = json.loads(path.read_text())
    old = json.dumps({name: {kind: one[kind] for kind in ("answers", "by_hand")} for name, one in record.items()})
    path.write_text(old)
    assert state(course) == ("graded", 4.5)
    save(course, READ)
    assert state(course) == ("graded", 4.5)
    assert json.loads(path.read_text())[NOTEBOOK]["rows"]
    path.write_text(old)
    save(course, OTHER)
    assert state(course) == ("waiting", None)


def test_extra_credit_on_an_answer_that_nobody_has_read_is_no_point(course):
    save(course, READ, student="bob")
    mark(course, "bob", "why", None, extra=1.0)
    bob = result(course, "bob")
    assert (bob.exercises[NOTEBOOK, "why"].points, bob.score, bob.points_so_far) == (None, None, 3.0)
    assert "<strong>3</strong> of 5 points so far" in page_of(course, "bob")


@pytest.fixture
def restored(tmp_path: Path) -> Course:
    """Graded by real runs: Ada's essay had 3 points, she wrote another one, and a backup of before was put back."""
    course = small_class(tmp_path / "small")
    shutil.copy(course.root / "gradebook.db", course.root / "copy")
    hand_in(course, "ada", essay="something else")
    assert grade(course) == 0
    shutil.copy(course.root / "copy", course.root / "gradebook.db")
    return course


@pytest.mark.slow
def test_after_a_backup_the_mark_waits_at_once_in_exports_and_after_grading(restored, capsys):
    for words in (None, (), (), ("--force",)):
        assert words is None or grade(restored, *words) == 0
        assert run(restored, "export", SHEET, "--to", "csv") == 0
        lines = table(restored.root / "exports" / "ps1.csv")
        assert (lines["ada"]["state"], lines["ada"]["score"]) == ("waiting", "")
        assert (lines["bob"]["state"], lines["bob"]["score"]) == ("graded", "1")
    capsys.readouterr()
    assert grade(restored, "--json") == 0
    row = json.loads(capsys.readouterr().out)["students"][0]
    assert (row["waiting"], row["points"], row["points_so_far"]) == (["essay"], None, 3.0)
    with Gradebook(restored.db_url) as gradebook:
        kept = gradebook.find_grade("essay", "2_essay", SHEET, "ada")
        assert (kept.manual_score, kept.needs_manual_grade) == (3.0, True)


@pytest.mark.slow
def test_nbgraders_own_commands_say_the_same_of_it(restored):
    assert nbgrader(restored.root, "export").returncode == 0
    assert table(restored.root / "grades.csv")["ada"]["score"] == ""
    done = nbgrader(restored.root, "autograde", SHEET, "--force")
    assert done.returncode == 0, done.said
    with Gradebook(restored.db_url) as gradebook:
        assert gradebook.find_grade("essay", "2_essay", SHEET, "ada").needs_manual_grade
        assert not gradebook.find_grade("essay", "2_essay", SHEET, "bob").needs_manual_grade
