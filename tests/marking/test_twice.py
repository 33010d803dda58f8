"""Answers that two people mark: neither sees the other's mark before, and how far they agree is said in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from autograder.marking.answers import ReadClass
from autograder.marking.desk import Desk, Marker
from autograder.marking.log import MarkPair, agreement, pairs
from autograder.model.course import Course
from tests.marking.classroom import ASSIGNMENT, hand_in, held
from tests.marking.conftest import RIGHT
from tests.marking.site import Reply, Site, hidden, running
from tests.marking.test_marks import KEY, REST, mark
from tests.marking.test_pages import SCALE, group_of

LIN, SAM = 0, 1
LOOK = "look?x=1_attention%2Fscale"


@pytest.fixture
def site(course: Course) -> Iterator[Site]:
    """Every answer is marked by two."""
    with running(Desk(course, ASSIGNMENT, double=100), "lin", "sam") as site:
        yield site


def lins_mark(site: Site, points: str = "2", comment: str = "Lin's words.") -> Reply:
    return site.mark(group_of(site, RIGHT[:20]), points, comment)


def waiting(site: Site, marker: int) -> str:
    """The start's numbers of the first question: answers, marked, own, waiting."""
    (found,) = re.findall(r"Question 1.*?</td>\s*((?:<td>\d+</td>)+)", site.get("", marker).text, re.DOTALL)
    return " ".join(re.findall(r"\d+", found))


def test_what_one_has_marked_waits_for_the_other_alone(course: Course, site: Site) -> None:
    lins_mark(site)
    assert held(course, "ada", "scale") == (2.0, None, False, "Lin's words.")
    assert (waiting(site, LIN), waiting(site, SAM)) == ("5 4 3 1", "5 1 0 4")


def test_nothing_of_the_first_mark_is_shown_before_the_second(course: Course, site: Site) -> None:
    before = group_of(site, RIGHT[:20], SAM)
    site.get("", SAM)  # lets go of the answers
    lins_mark(site, "1.5", "Only once.")
    page = group_of(site, RIGHT[:20], SAM)
    (address, *_) = re.findall(r'href="(group[^"]+)" data-one>ada<', page.text)
    alone = site.get(address.replace("&amp;", "&"), SAM)
    assert 'action="mark"' in alone.text and 'value=""' in alone.text and "Take this mark back" not in alone.text
    look = site.get(LOOK, SAM)
    assert "wait for your second mark" in look.text
    for shown in (page, alone, look):
        body = shown.text.partition('id="lines"')
        words = body[0] + body[2].partition("</div>")[2]  # but for the comments that are offered, which name nobody
        assert "1.5" not in words and "Only once." not in words and "by lin" not in words, shown.text
    count = before.text.count('name="member"')
    assert page.text.count('name="member"') == count == 3


def test_the_second_mark_stays_out_of_the_gradebook(course: Course, site: Site) -> None:
    lins_mark(site)
    after = site.mark(group_of(site, RIGHT[:20], SAM), "1", "Sam's words.", marker=SAM)
    assert "3 answers marked with 1 point." in after.text
    assert held(course, "ada", "scale") == (2.0, None, False, "Lin's words.")
    assert waiting(site, SAM) == "5 4 0 1"
    page = site.get("", SAM).text
    assert "3 marked by two: 0 the same, mean difference 1, kappa" in page


def test_somebody_decides_where_two_differ_and_both_see_it(course: Course, site: Site) -> None:
    lins_mark(site)
    site.mark(group_of(site, RIGHT[:20], SAM), "1", "Sam's words.", marker=SAM)
    look = site.get(LOOK, SAM).text
    assert "Two people gave different points" in look
    (address, *_) = re.findall(r'<a href="(group[^"]+)">ada</a>', look)
    alone = site.get(address.replace("&amp;", "&"), LIN)
    assert "lin: 2 points. Lin&#39;s words." in alone.text and "sam: 1 point. Sam&#39;s words." in alone.text
    site.mark(alone, "2", "Lin's words.")  # decided, though nothing changes
    assert held(course, "ada", "scale")[0] == 2.0
    undecided = site.get(LOOK, LIN).text.partition("<h2>2 points")[0]
    assert ">ada<" not in undecided and ">bob<" in undecided
    assert "3 marked by two" in site.get().text  # what they gave stays what they gave


def test_one_person_gives_one_mark_and_a_third_none(course: Course) -> None:
    desk = Desk(course, ASSIGNMENT, double=100)
    mark(desk, Marker("lin"), 2.0, "", "ada")
    for name, seconds in (("lin", []), ("sam", ["ada"]), ("sam", []), ("kim", [])):
        found = [one for one in desk.read_for(Marker(name)).answers[KEY] if one.second]
        assert [one.student for one in found] == seconds, name
        if found:
            mark(desk, Marker(name), 1.0, "", "ada")
    assert held(course, "ada", "scale")[0] == 2.0 and len(pairs(desk.log, KEY)) == 1


def test_two_seconds_at_once_are_one(course: Course) -> None:
    desk, other = (Desk(course, ASSIGNMENT, double=100) for _ in range(2))
    mark(desk, Marker("lin"), 2.0, "", "ada")
    read, reads = desk.read_for, []

    def meanwhile(marker: Marker) -> ReadClass:
        found = read(marker)
        if not reads:
            mark(other, Marker("kim"), 0.5, "", "ada")
        reads.append(marker)
        return found

    desk.read_for = meanwhile  # type: ignore[method-assign]
    sam = Marker("sam")
    mark(desk, sam, 1.0, "", "ada")
    (one,) = pairs(desk.log, KEY)
    assert one.graders == ("lin", "kim") and "1 answer not marked" in sam.said


def test_undo_takes_a_second_mark_back_and_leaves_the_first(course: Course, site: Site) -> None:
    lins_mark(site)
    site.mark(group_of(site, RIGHT[:20], SAM), "1", marker=SAM)
    back = site.follow(site.post("undo", [], SAM), SAM)
    assert "3 answers put back as before." in back.text
    assert held(course, "ada", "scale")[0] == 2.0 and waiting(site, SAM) == "5 1 0 4"


def test_an_answer_that_changed_has_to_be_marked_again_by_both(course: Course, site: Site) -> None:
    lins_mark(site)
    page = group_of(site, RIGHT[:20], SAM)
    hand_in(course, "ada", {"scale": "Something else.", **REST})
    after = site.mark(page, "1", marker=SAM)
    assert "2 answers marked with 1 point. 1 answer not marked" in after.text
    assert held(course, "ada", "scale")[2]


def test_nobody_takes_back_anothers_first_mark_that_is_hidden(course: Course, site: Site) -> None:
    lins_mark(site)
    row = next(one.row for one in Desk(course, ASSIGNMENT).read().answers[KEY] if one.student == "ada")
    site.post("undo", [("a", row)], SAM)
    assert held(course, "ada", "scale")[0] == 2.0


@pytest.mark.parametrize(("percent", "count"), [(0, 0), (1, 1), (25, 1), (50, 2), (100, 4)])
def test_the_share_is_what_was_asked_for_and_stays(course: Course, percent: int, count: int) -> None:
    desk = Desk(course, ASSIGNMENT, double=percent)
    mark(desk, Marker("lin"), 2.0, "", "ada", "bob", "cid", "dan")  # eve has written nothing
    seconds = [[one.student for one in desk.read_for(Marker("sam")).answers[KEY] if one.second] for _ in range(2)]
    assert seconds[0] == seconds[1] and len(seconds[0]) == count


def test_marks_that_were_given_elsewhere_have_no_second(course: Course) -> None:
    from tests.marking.test_marks import as_the_formgrader_does

    as_the_formgrader_does(course, "ada", 2.0, None)
    desk = Desk(course, ASSIGNMENT, double=100)
    assert not any(one.second for one in desk.read_for(Marker("sam")).answers[KEY])


def pair(first: float, second: float) -> MarkPair:
    return MarkPair(first, second, ("lin", "sam"), "", ("", ""), False)


def test_agreement_in_numbers() -> None:
    """Kappa by hand: points 0, 1, 2 each once from both; one pair of three differs by one."""
    assert agreement([]) is None
    same = agreement([pair(0, 0), pair(2, 2)])
    assert same is not None and (same.count, same.same, same.difference, same.kappa) == (2, 2, 0.0, 1.0)
    found = agreement([pair(0, 0), pair(1, 1), pair(2, 1)])
    assert found is not None and (found.count, found.same) == (3, 2)
    assert found.difference == pytest.approx(1 / 3) and found.kappa == pytest.approx(1 - (1 / 3) / (9 / 9))
    opposite = agreement([pair(0, 2), pair(2, 0)])
    assert opposite is not None and opposite.kappa == pytest.approx(-1.0)
    alike = agreement([pair(1, 1), pair(1, 1)])
    assert alike is not None and alike.kappa is None


def test_equal_answers_with_different_points_and_some_of_each_group_are_shown_again(course: Course) -> None:
    with running(Desk(course, ASSIGNMENT), "lin") as site:
        site.mark(group_of(site, RIGHT[:20]), "2", "Good.")
        page = group_of(site, RIGHT[:20])
        (address,) = re.findall(r'href="(group[^"]+)" data-one>bob<', page.text)
        site.mark(site.get(address.replace("&amp;", "&")), "1")
        look = site.get(LOOK).text
        assert "Equal answers, different points" in look and "<h2>2 points: 2 answers</h2>" in look
        assert "<h2>1 point: 1 answer</h2>" in look and "<h2>0 points: 1 answer</h2>" in look
        assert "2 points by lin" in look and "0 points by the grader" in look
        assert hidden(page.text, "split") and SCALE in site.get().text
