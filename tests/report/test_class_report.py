"""What the class report says about 200 simulated submissions."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.errors import GradingError, NothingToGrade
from autograder.gradebook.read import Grade
from autograder.gradebook.results import result_of, with_results
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, SubmissionVerdict
from autograder.report import write_report
from autograder.report.statistics import (
    Results,
    correlation,
    exercise_statistics,
    mistake_counts,
    read_results,
    repair_kinds,
    times,
    waiting_for_people,
)
from tests.feedback.browser import chromium, needs_browser, overflow
from tests.report import simulated

pytestmark = pytest.mark.slow


def test_planted_mistakes_are_counted(results: Results) -> None:
    counts = {one.mistake: len(one.students) for one in mistake_counts(results.verdicts) if one.mistake}
    assert counts == simulated.PLANTED


def test_messages_that_differ_in_numbers_only_are_one_mistake(results: Results) -> None:
    unnamed = [one for one in mistake_counts(results.verdicts) if not one.mistake]
    assert len(unnamed) == 1 and unnamed[0].cells == (("encoder", 100),)


def test_difficulty_is_the_mean_share_of_what_is_decided(results: Results) -> None:
    found = {one.cell: one for one in exercise_statistics(results.verdicts)}
    failed = sum(simulated.PLANTED.values())
    assert found["attention"].difficulty == pytest.approx(1 - failed / 200)
    assert (found["attention"].full, found["attention"].none) == (200 - failed, failed)
    assert (found["why"].waiting, found["why"].students, found["why"].difficulty) == (50, 150, 1.0)


def test_an_exercise_that_luck_decides_does_not_discriminate(results: Results) -> None:
    found = {one.cell: one.discrimination for one in exercise_statistics(results.verdicts)}
    assert abs(found["coin"] or 0) < 0.2 < min(found["encoder"] or 0, found["loop"] or 0)
    assert found["why"] is None, "everybody is alike there"


def test_discrimination_is_the_point_biserial_correlation() -> None:
    solved, others = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 1.0]), np.array([2, 5, 6, 1, 7, 3, 4, 6, 2, 5.0])
    upper, lower, share = others[solved == 1].mean(), others[solved == 0].mean(), solved.mean()
    by_hand = (upper - lower) / others.std() * np.sqrt(share * (1 - share))
    assert correlation(solved, others) == pytest.approx(by_hand)
    assert correlation(solved[:5], others[:5]) is None, "too few to say anything"


def test_what_needs_a_person_stands_first_and_failures_of_the_grader_before_all(
    results: Results, report_page: Path
) -> None:
    waiting = waiting_for_people(results.rows)
    assert [(one.why, len(one.students)) for one in waiting] == [("infrastructure", 1), ("written", 50)]
    page = report_page.read_text(encoding="utf-8")
    assert page.index("The grader failed") < page.index("A written answer to read") < page.index('id="distribution"')


def test_repairs_are_counted_by_kind(results: Results) -> None:
    assert repair_kinds(results.verdicts) == [("the protected cell '…' was missing; it was put back", 10)]


def test_times_name_the_slowest(results: Results) -> None:
    assert times(results.verdicts).longest[0] == ("student199", pytest.approx(2.99))


def test_points_by_hand_count(results: Results) -> None:
    undecided = results.verdicts[0]
    why = next(cell for cell in undecided.notebooks[0].cells if cell.cell == "why")
    by_hand = {(simulated.NOTEBOOK, "why"): result_of(why, Grade(None, 0.5, 0.0, 1.0, False))}
    marked = with_results(undecided, by_hand)
    assert marked.points == undecided.points + 0.5
    assert exercise_statistics([marked])[4].waiting == 0


def test_the_page_shows_the_planted_pair_and_counts(report_page: Path) -> None:
    page = report_page.read_text(encoding="utf-8")
    assert "<strong>student017</strong> and <strong>student142</strong>" in page
    assert re.search(r"<strong>23</strong></td>\s*<td>Attention</td>\s*<td>The scores are divided", page)
    assert re.search(r"<strong>11</strong></td>\s*<td>Attention</td>\s*<td>Each query&#39;s weights", page)


def test_pictures_lie_beside_the_page_and_inside_it(report_page: Path) -> None:
    names = {path.name for path in report_page.parent.iterdir()}
    assert names == {"index.html", "distribution.png", "exercises.png", "class.png"}
    page = report_page.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3
    assert not re.search(r"""(src|href)=["'](?!data:image/png|#)""", page)


@needs_browser
def test_the_page_opens_in_under_two_seconds_and_fits_every_window(report_page: Path, tmp_path: Path) -> None:
    with chromium(tmp_path / "profile") as driver:
        assert min(_seconds_to_open(driver, report_page) for _ in range(3)) < 2
        for width in (400, 1400):
            assert overflow(driver, width) == 0, width
        assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


def _seconds_to_open(driver: WebDriver, page: Path) -> float:
    driver.get(page.as_uri())
    entry = "performance.getEntriesByType('navigation')[0]"
    return float(driver.execute_script(f"return {entry}.loadEventEnd - {entry}.startTime")) / 1000


def test_every_text_from_outside_is_escaped(simulated_course: Course, tmp_path: Path) -> None:
    evil = "<script>document.title='hacked'</script>"
    course = Course(tmp_path)
    for folder in ("source", "release"):
        shutil.copytree(simulated_course.root / folder, tmp_path / folder)
    for student in ("<img src=x onerror=alert(1)>", "b"):
        folder = course.autograded(student, simulated.ASSIGNMENT)
        shutil.copytree(simulated_course.autograded("student000", simulated.ASSIGNMENT), folder)
        notebook = folder / f"{simulated.NOTEBOOK}.ipynb"
        text = notebook.read_text(encoding="utf-8").replace("# ", f"x = '{evil}' # ")
        notebook.write_text(text, encoding="utf-8")
        cell = CellVerdict("attention", "failed", 0.0, 5.0, (Check(evil, False, evil, evil, evil),))
        said = NotebookVerdict(student, simulated.ASSIGNMENT, evil, (cell,), (evil,))
        submission = SubmissionVerdict(student, simulated.ASSIGNMENT, (said,))
        (folder / "verdicts.json").write_text(verdicts.to_json(submission), encoding="utf-8")
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    assert "hacked" in page and "<script" not in page and "<img src=x" not in page


def test_points_that_rest_on_tests_in_the_students_kernels_are_counted(
    simulated_course: Course, tmp_path: Path
) -> None:
    course = Course(tmp_path)
    for folder in ("source", "release"):
        shutil.copytree(simulated_course.root / folder, tmp_path / folder)
    folder = course.autograded("b", simulated.ASSIGNMENT)
    shutil.copytree(simulated_course.autograded("student000", simulated.ASSIGNMENT), folder)
    cell = CellVerdict("attention", "passed", 5.0, 5.0, judged="kernel")
    said = NotebookVerdict("b", simulated.ASSIGNMENT, simulated.NOTEBOOK, (cell,))
    (folder / "verdicts.json").write_text(verdicts.to_json(SubmissionVerdict("b", simulated.ASSIGNMENT, (said,))))
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    counted = re.search(r'(?s)<p id="in-kernel">.*?</ul>', page)
    assert counted and ">5 of" in counted[0] and "Attention" in counted[0]


def test_a_verdict_that_cannot_be_read_is_named_and_stops_nobody(simulated_course: Course, tmp_path: Path) -> None:
    course = Course(tmp_path)
    for student in ("student000", "student001"):
        shutil.copytree(
            simulated_course.autograded(student, simulated.ASSIGNMENT), course.autograded(student, simulated.ASSIGNMENT)
        )
    (course.autograded("student001", simulated.ASSIGNMENT) / "verdicts.json").write_text("{")
    found = read_results(course, simulated.ASSIGNMENT)
    assert [verdict.student for verdict in found.verdicts] == ["student000"]
    assert list(found.unreadable) == ["student001"]


def test_nothing_graded_and_unknown_assignments_are_said_in_one_line(simulated_course: Course, tmp_path: Path) -> None:
    with pytest.raises(NothingToGrade, match="nothing is graded"):
        read_results(Course(tmp_path), simulated.ASSIGNMENT)
    with pytest.raises(GradingError, match="unknown assignment"):
        write_report(simulated_course, "nothing", tmp_path)


def test_a_class_of_one_has_a_report(simulated_course: Course, tmp_path: Path) -> None:
    course = Course(tmp_path)
    for folder in ("source", "release"):
        shutil.copytree(simulated_course.root / folder, tmp_path / folder)
    folder = course.autograded("student000", simulated.ASSIGNMENT)
    shutil.copytree(simulated_course.autograded("student000", simulated.ASSIGNMENT), folder)
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    assert "No such pair." in page


def test_one_mistake_in_two_exercises_is_one_row_and_counts_every_student_once() -> None:
    empty = (Check("a", False, "Not filled in yet."),)
    cells = (CellVerdict("one", "failed", 0.0, 1.0, empty), CellVerdict("two", "failed", 0.0, 1.0, empty))
    class_ = [SubmissionVerdict(name, "x", (NotebookVerdict(name, "x", "n", cells),)) for name in "ab"]
    (found,) = mistake_counts(class_)
    assert (found.students, found.cells) == (("a", "b"), (("one", 2), ("two", 2)))


def test_an_exercise_without_points_counts_by_whether_it_is_right() -> None:
    class_ = []
    for name, status in (("a", "passed"), ("b", "failed")):
        cell = CellVerdict("bonus", status, 0.0, 0.0)  # type: ignore[arg-type]
        class_.append(SubmissionVerdict(name, "x", (NotebookVerdict(name, "x", "n", (cell,)),)))
    assert exercise_statistics(class_)[0].difficulty == 0.5
