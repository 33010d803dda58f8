"""Random damage: never fewer points than nbgrader gives, and never a final 0 beside what a student wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.model.course import Course
from tests.damage import lab
from tests.damage.harm import Deed, by_nbgrader, by_rebuild, damaged, deeds

#: What nbgrader's own preprocessors and ours make of these is compared with real runs of both. Doubled cells are not
#: among them: nbgrader takes the mark off one, and then refuses the notebook for its empty metadata.
RUN_FOR_REAL: dict[str, list[Deed]] = {
    "merged": [("merge", 1, 0), ("merge", 2, 1)],
    "retyped": [("retype", 1, 0), ("retype", 6, 1)],
    "lost": [("lose_mark", 1, 0), ("lose_mark", 3, 0)],
    "moved": [("move", 3, 0), ("elsewhere", 6, 2)],
    "bare": [("lose_all", 0, 0)],
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return lab.make_lab(tmp_path_factory.mktemp("harm") / "course")


def notebooks(course: Course) -> tuple[NotebookNode, NotebookNode]:
    source, release = (folder / f"{lab.NAME}.ipynb" for folder in (course.source(lab.LAB), course.release(lab.LAB)))
    return nbformat.read(source, 4), nbformat.read(release, 4)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(everything=st.booleans(), done=deeds)
def test_7_damage_never_costs_points_that_nbgrader_gives_and_leaves_no_final_0_beside_words(
    course: Course, everything: bool, done: list[Deed]
) -> None:
    source, release = notebooks(course)
    whole = lab.answered(course)
    if not everything:
        lab.at(whole, "cube")["source"] = lab.at(lab.released(course), "cube")["source"]
    sent = damaged(whole, done)
    theirs, ours = by_nbgrader(source, release, sent), by_rebuild(source, release, sent)
    assert all(ours.tests[name] >= passed for name, passed in theirs.tests.items())
    if any(lab.WORDS in cell["source"] for cell in sent["cells"]):
        assert "explain" not in ours.decided
        assert lab.WORDS in ours.text


def test_7_what_the_property_compares_is_what_nbgrader_and_the_grader_do(course: Course, tmp_path: Path) -> None:
    source, release = notebooks(course)
    stock = lab.make_lab(tmp_path / "stock")
    expected, theirs = {}, {}
    for student, done in RUN_FOR_REAL.items():
        sent = damaged(lab.answered(course), done)
        expected[student], theirs[student] = by_rebuild(source, release, sent), by_nbgrader(source, release, sent)
        for one in (course, stock):
            lab.hand_in(one, student, sent)
    lab.run(course, "grade", lab.LAB)
    command = [sys.executable, "-m", "nbgrader", "autograde", lab.LAB]
    subprocess.run(command, cwd=stock.root, check=True, capture_output=True)
    for one, told in ((course, expected), (stock, theirs)):
        with Gradebook(one.db_url) as book:
            for student, graded in told.items():
                notebook = book.find_submission_notebook(lab.NAME, lab.LAB, student)
                points = {grade.name: grade.auto_score for grade in notebook.grades}
                tests = {name: bool(points[name]) for name in ("test_square", "test_cube")}
                assert tests == graded.tests, (one.root, student)
                assert (points["explain"] == 0) == ("explain" in graded.decided), (one.root, student)


def test_7_the_damages_do_what_they_say(course: Course) -> None:
    """Else the property would hold of nothing: each deed alone changes the file."""
    from tests.damage.harm import DEEDS

    whole = lab.answered(course)
    lab.at(whole, "cube")["source"] = lab.at(lab.released(course), "cube")["source"]
    assert all(
        any(json.dumps(damaged(whole, [(name, here, 3)])) != json.dumps(whole) for here in range(7)) for name in DEEDS
    )
