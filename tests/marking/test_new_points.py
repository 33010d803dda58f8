"""A line of the mark scheme with other points: who changes by how much is shown first, then a click changes all."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.marking.desk import Desk, Marker
from autograder.model.course import Course
from tests.marking.classroom import ASSIGNMENT, NOTEBOOK, held
from tests.marking.site import hidden, running
from tests.marking.test_marks import as_the_formgrader_does, mark
from tests.marking.test_pages import SCALE

NAMES, WHY = "1 point: names what goes wrong", "1 point: says why"
LOOK = "look?x=1_attention%2Fscale"


def rewrite(course: Course, old: str, new: str) -> Desk:
    """The desk after the instructor has changed the source."""
    path: Path = course.root / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return Desk(course, ASSIGNMENT)


def test_who_changes_is_shown_and_one_click_changes_all_and_is_undone(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 2.0, f"{NAMES}\n\n{WHY}", "ada", "bob")
    mark(desk, Marker("lin"), 1.0, WHY, "cid")
    before = [held(course, one, "scale") for one in ("ada", "bob", "cid")]
    half = "half a point: names what goes wrong"
    with running(rewrite(course, NAMES, half), "sam") as site:
        assert "other points now</a> than 2 marks" in " ".join(site.follow(site.get(SCALE)).text.split())
        look = site.get(LOOK).text
        assert "2 points by lin, then 1.5" in " ".join(look.split()) and "Change these 2 marks" in look
        assert [held(course, one, "scale") for one in ("ada", "bob", "cid")] == before
        after = site.follow(site.post("points", hidden(look, "points")))
        assert "2 answers changed" in after.text and "other points now" not in after.text
        assert held(course, "ada", "scale") == (1.5, None, False, f"{half}\n\n{WHY}")
        assert held(course, "cid", "scale") == before[2]
        site.post("undo", [])
        assert [held(course, one, "scale") for one in ("ada", "bob", "cid")] == before


def test_a_mark_that_changed_since_the_page_stays(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 2.0, f"{NAMES}\n\n{WHY}", "ada", "bob")
    with running(rewrite(course, NAMES, "half a point: names what goes wrong"), "sam") as site:
        asked = hidden(site.get(LOOK).text, "points")
        as_the_formgrader_does(course, "ada", 0.5, None)
        assert "1 answer not: the mark has changed" in site.follow(site.post("points", asked)).text
        assert held(course, "ada", "scale")[0] == 0.5 and held(course, "bob", "scale")[0] == 1.5


@pytest.mark.parametrize("new", ["1 point: names what is wrong", "One point: names what goes wrong"])
def test_other_words_or_the_same_points_change_nothing(course: Course, desk: Desk, new: str) -> None:
    mark(desk, Marker("lin"), 1.0, NAMES, "ada")
    with running(rewrite(course, NAMES, new), "sam") as site:
        assert "other points now" not in site.get(LOOK).text


def test_points_stay_between_none_and_the_most(course: Course, desk: Desk) -> None:
    mark(desk, Marker("lin"), 2.0, f"{NAMES}\n\n{WHY}", "ada")
    mark(desk, Marker("lin"), 0.0, NAMES, "bob")
    with running(rewrite(course, NAMES, "two points: names what goes wrong"), "sam") as site:
        site.post("points", hidden(site.get(LOOK).text, "points"))
    assert held(course, "ada", "scale")[0] == 2.0 and held(course, "bob", "scale")[0] == 1.0
