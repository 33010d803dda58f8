"""The pages, as a browser without a script uses them: read, mark, undo, split, two people at once."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.marking.answers import ReadClass
from autograder.marking.desk import Desk, Marker
from autograder.marking.log import MarkPair, agreement, pairs
from autograder.model.course import Course
from tests.marking.classroom import ASSIGNMENT, hand_in, held
from tests.marking.conftest import RIGHT, WRONG
from tests.marking.site import Reply, Site, hidden, place_of, running
from tests.marking.test_marks import KEY, REST, as_the_formgrader_does, mark

SCALE = "group?x=1_attention%2Fscale"


@pytest.fixture
def site(desk: Desk) -> Iterator[Site]:
    with running(desk, "lin", "sam") as site:
        yield site


def group_of(site: Site, text: str, marker: int = 0) -> Reply:
    """The page of the group whose label begins so."""
    page = site.follow(site.get(SCALE, marker), marker).text
    (address,) = re.findall(rf'href="(group[^"]+)"[^>]*>{re.escape(text)}', page)
    return site.get(address.replace("&amp;", "&"), marker)


def headings(page: Reply) -> list[str]:
    return re.findall(r'<h2 id="text-\d+">([^<]*)', page.text)


def test_the_start_lists_what_people_mark_and_leads_to_the_first_that_waits(site: Site) -> None:
    page = site.get().text
    rows = re.findall(r'href="group\?x=([^"&]+)"[^>]*>([^<]+)(?: <kbd>n</kbd>)?</a>', page)
    assert [unquote(key).partition("/")[2] for key, _ in rows] == ["scale", "padding", "cls", "figure", "project"]
    assert page.count('data-key="n"') == 1 and "Question 1 <kbd>n</kbd></a>" in page
    assert re.search(r"Question 1 <kbd>n</kbd></a>.*?<td>5</td><td>1</td><td>0</td><td>4</td>", page, re.DOTALL)


def test_a_group_is_marked_by_one_form_and_the_next_group_follows(course: Course, site: Site) -> None:
    page = site.follow(site.get(SCALE))
    assert headings(page) == ["1 answer", "1 answer", "1 answer"]  # one group: they differ in case and a sign alone
    assert "The same mark for these 3" in page.text and "names what goes wrong" in page.text
    after = site.mark(page, "1.5", "Say why.")
    assert "3 answers marked with 1.5 points." in after.text and "4 of 5 marked, 1 group left" in after.text
    assert all(held(course, student, "scale") == (1.5, None, False, "Say why.") for student in ("ada", "bob", "cid"))
    assert "<span>Say why.</span></button>" in after.text  # offered again
    after = site.mark(after, "0")
    assert held(course, "dan", "scale")[0] == 0.0
    assert "Question 2" in after.text  # the next exercise that waits


def test_a_page_shows_question_model_answer_scheme_and_whose_answers_these_are(site: Site) -> None:
    page = site.follow(site.get(SCALE)).text
    assert all(words in page for words in ("Model answer", "saturated", "Mark scheme", "ada", "square root of the dim"))
    assert "only here" not in page  # they differ in no word


def test_undo_brings_the_group_back(course: Course, site: Site) -> None:
    site.mark(site.follow(site.get(SCALE)), "2")
    page = site.follow(site.post("undo", []))
    assert "3 answers put back as before." in page.text and "The same mark for these 3" in page.text
    assert held(course, "ada", "scale") == (None, None, True, None)
    assert "There is nothing to undo." in site.follow(site.post("undo", [])).text


def test_one_answer_of_a_group_can_be_opened_and_marked_again(course: Course, site: Site) -> None:
    site.mark(group_of(site, RIGHT[:20]), "2", "Good.")
    page = group_of(site, RIGHT[:20])
    assert "Nothing waits here" in page.text and "2 points" in page.text
    alone = site.get(place_of(page, "bob"))
    assert headings(alone) == ["1 answer"] and 'value="2"' in alone.text and "Good.</textarea>" in alone.text
    site.mark(alone, "1", "Not so good.")
    assert held(course, "bob", "scale") == (1.0, None, False, "Not so good.")
    assert held(course, "ada", "scale") == (2.0, None, False, "Good.")


def test_a_group_is_split_and_put_back(course: Course, site: Site) -> None:
    hand_in(course, "fay", {"scale": RIGHT.replace("about one", "roughly one")})
    page = group_of(site, RIGHT[:20])
    assert len(headings(page)) == 4 and "only here: roughly; not here: about" in page.text
    forms = dict.fromkeys(re.findall(r'name="form" value="(\w+)"', page.text))
    rare = [one for one in forms if page.text.count(one) == 1]
    split = site.follow(site.post("regroup", [*hidden(page.text, "split"), ("form", rare[0])]))
    assert headings(split) == ["1 answer"] and ">fay<" in split.text and "Put back" in split.text
    site.mark(split, "0.5")
    assert held(course, "ada", "scale")[0] is None and held(course, "fay", "scale")[0] == 0.5
    back = site.follow(site.post("regroup", [*hidden(split.text, "split"), ("back", "1")]))
    assert len(headings(back)) == 4
    refused = site.post("regroup", hidden(back.text, "split"))
    assert refused.status == 409 and "choose some of the texts" in refused.text


def test_two_groups_are_joined_and_taken_apart(course: Course, site: Site) -> None:
    page = group_of(site, RIGHT[:20])
    (other,) = re.findall(rf'<option value="(\w+)">{WRONG[:10]}', page.text)
    asked = [*hidden(page.text, "split"), ("other", other)]
    joined = site.follow(site.post("regroup", asked))
    assert len(headings(joined)) == 4 and "The same mark for these 4" in joined.text and "Take apart" in joined.text
    hand_in(course, "fay", {"scale": WRONG.lower()})
    with running(Desk(course, ASSIGNMENT), "lin") as restarted:
        later = group_of(restarted, RIGHT[:20])
        assert ">fay<" in later.text and ">ada<" in later.text
        apart = restarted.follow(restarted.post("regroup", [*hidden(later.text, "split"), ("back", "1")]))
        assert len(headings(apart)) in (2, 3) and "Take apart" not in apart.text
    for wrong in ("gone", "blank", dict(hidden(page.text, "split"))["g"]):
        assert site.post("regroup", [*hidden(page.text, "split"), ("other", wrong)]).status == 409, wrong
    assert 'name="other"' not in group_of(site, "nothing answered").text


def test_two_people_are_never_at_the_same_answers(course: Course, site: Site) -> None:
    first = site.follow(site.get(SCALE))
    second = site.follow(site.get(SCALE, 1), 1)
    assert len(headings(first)) == 3 and WRONG[:10] in second.text
    same = site.get(SCALE + "&g=" + dict(hidden(first.text, "split"))["g"], 1)
    assert "lin is reading 3 of these now" in same.text and 'action="mark"' not in same.text
    late = site.mark(first, "2", marker=1)  # the form of another's page
    assert "3 answers left to somebody else" in late.text and held(course, "ada", "scale")[0] is None
    assert "3 answers marked" in site.mark(first, "2").text


def test_an_earlier_comment_is_shown_and_not_sent(course: Course, site: Site) -> None:
    site.mark(site.follow(site.get(SCALE)), "2", "Good.")
    hand_in(course, "ada", {"scale": "Another answer."})
    page = group_of(site, "Another")
    alone = site.get(place_of(page, "ada")).text
    assert "the answer changed since its mark" in alone and "Written about an earlier answer: Good." in alone
    assert re.search(r"<textarea[^>]*>\s*</textarea>", alone)


def test_figures_are_shown_as_they_ran(site: Site) -> None:
    page = site.follow(site.get("group?x=1_attention%2Ffigure")).text
    assert 'src="data:image/png;base64,' in page and "plt" in page


def test_anonymous_pages_hold_no_name(course: Course) -> None:
    with Gradebook(course.db_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace", email="ada@uni.example")
    with running(Desk(course, ASSIGNMENT, anonymous=True), "lin") as site:
        pages = site.get().text + site.follow(site.get(SCALE)).text
        assert "p-" in pages
        assert not re.search(r"\b(ada|bob|cid|dan|eve|Lovelace)\b", pages)


def test_exercises_are_shared_and_everybody_is_led_to_their_own(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    def assign(*words: str) -> dict[str, str]:
        capsys.readouterr()
        run = ["--course-dir", str(course.root), "assign-graders", ASSIGNMENT, "--json", *words]
        assert cli.main(run) == 0
        return {one["exercise"]: one["grader"] for one in json.loads(capsys.readouterr().out)["exercises"]}

    shares = assign("--graders", "lin,sam", "--by-exercise")
    assert assign() == shares and sorted(Counter(shares.values()).values()) == [2, 3]
    names = {"Question 1": "scale", "Question 2": "padding", "Question 3": "cls", "A figure": "figure"}
    with running(Desk(course, ASSIGNMENT), "lin", "sam") as site:
        for number, grader in enumerate(("lin", "sam")):
            page = site.get("", number).text
            (title,) = re.findall(r'data-key="n">([^<]+) <kbd>', page)
            assert shares[f"1_attention/{names.get(title, 'project')}"] == grader
            assert page.count("for lin") + page.count("for sam") == 5


def test_names_are_shown_on_request_after_the_last_mark(course: Course) -> None:
    with running(Desk(course, ASSIGNMENT, anonymous=True), "lin") as site:
        assert "Show names" not in site.get().text and site.post("names", []).status == 409
        page = site.follow(site.get(SCALE))
        while 'action="mark"' in page.text:
            page = site.mark(page, "1")
        assert "Show names" in page.text
        page = site.follow(site.post("names", []))
        assert "Show names" not in page.text and ">ada<" in group_of(site, RIGHT[:20]).text


def test_wrong_points_and_addresses_are_said_in_one_line(site: Site) -> None:
    page = site.follow(site.get(SCALE))
    for points in ("three", "9", "nan", ""):
        reply = site.post("mark", [*hidden(page.text, "mark"), ("points", points)])
        assert reply.status == 409 and reply.text.startswith("expected points"), points
    assert site.get("group?x=1_attention%2Fnothing").status == 404
    assert site.get("group").status == 400
    assert site.get("nothing").status == 404
    assert site.get(SCALE + "&g=gone&a=gone").status == 303


def test_an_encoder_that_fails_leaves_the_words(course: Course) -> None:
    (course.root / "course.toml").write_text('encoder = "nothing.here"\n')
    with running(Desk(Course(course.root), ASSIGNMENT), "lin") as site:
        page = site.follow(site.get(SCALE)).text
        assert "the encoder nothing.here failed" in page and "compared by their words" in page
        assert "The same mark for these 3" in page


LIN, SAM = 0, 1
LOOK = "look?x=1_attention%2Fscale"


@pytest.fixture
def double(course: Course) -> Iterator[Site]:
    """Every answer is marked by two."""
    with running(Desk(course, ASSIGNMENT, double=100), "lin", "sam") as double:
        yield double


def lins_mark(double: Site, points: str = "2", comment: str = "Lin's words.") -> Reply:
    return double.mark(group_of(double, RIGHT[:20]), points, comment)


def waiting(double: Site, marker: int) -> str:
    """The start's numbers of the first question: answers, marked, own, waiting."""
    (found,) = re.findall(r"Question 1.*?</td>\s*((?:<td>\d+</td>)+)", double.get("", marker).text, re.DOTALL)
    return " ".join(re.findall(r"\d+", found))


def test_what_one_has_marked_waits_for_the_other_alone(course: Course, double: Site) -> None:
    lins_mark(double)
    assert held(course, "ada", "scale") == (2.0, None, False, "Lin's words.")
    assert (waiting(double, LIN), waiting(double, SAM)) == ("5 4 3 1", "5 1 0 4")


def test_nothing_of_the_first_mark_is_shown_before_the_second(course: Course, double: Site) -> None:
    before = group_of(double, RIGHT[:20], SAM)
    double.get("", SAM)  # lets go of the answers
    lins_mark(double, "1.5", "Only once.")
    page = group_of(double, RIGHT[:20], SAM)
    alone = double.get(place_of(page, "ada"), SAM)
    assert 'action="mark"' in alone.text and 'value=""' in alone.text and "Take this mark back" not in alone.text
    look = double.get(LOOK, SAM)
    assert "wait for your second mark" in look.text
    for shown in (page, alone, look):
        body = shown.text.partition('id="lines"')
        words = body[0] + body[2].partition("</div>")[2]  # but for the comments that are offered, which name nobody
        assert "1.5" not in words and "Only once." not in words and "by lin" not in words, shown.text
    count = before.text.count('name="member"')
    assert page.text.count('name="member"') == count == 3


def test_the_second_mark_stays_out_of_the_gradebook(course: Course, double: Site) -> None:
    lins_mark(double)
    after = double.mark(group_of(double, RIGHT[:20], SAM), "1", "Sam's words.", marker=SAM)
    assert "3 answers marked with 1 point." in after.text
    assert held(course, "ada", "scale") == (2.0, None, False, "Lin's words.")
    assert waiting(double, SAM) == "5 4 0 1"
    page = double.get("", SAM).text
    assert "3 marked by two: 0 the same, mean difference 1, kappa" in page


def test_somebody_decides_where_two_differ_and_both_see_it(course: Course, double: Site) -> None:
    lins_mark(double)
    double.mark(group_of(double, RIGHT[:20], SAM), "1", "Sam's words.", marker=SAM)
    look = double.get(LOOK, SAM).text
    assert "Two people gave different points" in look
    (address, *_) = re.findall(r'<a href="(group[^"]+)">ada</a>', look)
    alone = double.get(address.replace("&amp;", "&"), LIN)
    assert "lin: 2 points. Lin&#39;s words." in alone.text and "sam: 1 point. Sam&#39;s words." in alone.text
    double.mark(alone, "2", "Lin's words.")  # decided, though nothing changes
    assert held(course, "ada", "scale")[0] == 2.0
    undecided = double.get(LOOK, LIN).text.partition("<h2>2 points")[0]
    assert ">ada<" not in undecided and ">bob<" in undecided
    assert "3 marked by two" in double.get().text  # what they gave stays what they gave


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


def test_undo_takes_a_second_mark_back_and_leaves_the_first(course: Course, double: Site) -> None:
    lins_mark(double)
    double.mark(group_of(double, RIGHT[:20], SAM), "1", marker=SAM)
    back = double.follow(double.post("undo", [], SAM), SAM)
    assert "3 answers put back as before." in back.text
    assert held(course, "ada", "scale")[0] == 2.0 and waiting(double, SAM) == "5 1 0 4"


def test_an_answer_that_changed_has_to_be_marked_again_by_both(course: Course, double: Site) -> None:
    lins_mark(double)
    page = group_of(double, RIGHT[:20], SAM)
    hand_in(course, "ada", {"scale": "Something else.", **REST})
    after = double.mark(page, "1", marker=SAM)
    assert "2 answers marked with 1 point. 1 answer not marked" in after.text
    assert held(course, "ada", "scale")[2]


def test_nobody_takes_back_anothers_first_mark_that_is_hidden(course: Course, double: Site) -> None:
    lins_mark(double)
    row = next(one.row for one in Desk(course, ASSIGNMENT).read().answers[KEY] if one.student == "ada")
    double.post("undo", [("a", row)], SAM)
    assert held(course, "ada", "scale")[0] == 2.0


@pytest.mark.parametrize(("percent", "count"), [(0, 0), (1, 1), (25, 1), (50, 2), (100, 4)])
def test_the_share_is_what_was_asked_for_and_stays(course: Course, percent: int, count: int) -> None:
    desk = Desk(course, ASSIGNMENT, double=percent)
    mark(desk, Marker("lin"), 2.0, "", "ada", "bob", "cid", "dan")  # eve has written nothing
    seconds = [[one.student for one in desk.read_for(Marker("sam")).answers[KEY] if one.second] for _ in range(2)]
    assert seconds[0] == seconds[1] and len(seconds[0]) == count


def test_marks_that_were_given_elsewhere_have_no_second(course: Course) -> None:
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
    with running(Desk(course, ASSIGNMENT), "lin") as double:
        double.mark(group_of(double, RIGHT[:20]), "2", "Good.")
        page = group_of(double, RIGHT[:20])
        double.mark(double.get(place_of(page, "bob")), "1")
        look = double.get(LOOK).text
        assert "Equal answers, different points" in look and "<h2>2 points: 2 answers</h2>" in look
        assert "<h2>1 point: 1 answer</h2>" in look and "<h2>0 points: 1 answer</h2>" in look
        assert "2 points by lin" in look and "0 points by the grader" in look
        assert hidden(page.text, "split") and SCALE in double.get().text
