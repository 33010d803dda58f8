"""Groups of like answers: what is alike, what never is, and how often the nearest answer is of the same kind."""

import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from traitlets.config import Config

from autograder.errors import GradingError
from autograder.gradebook.marks import MarkState
from autograder.marking.answers import ClassAnswer, ReadAnswer
from autograder.marking.desk import Desk, Marker
from autograder.marking.exercises import RubricLine, rubric_lines
from autograder.marking.groups import (
    BY_WORDS,
    TextEncoder,
    clusters,
    differing_words,
    form,
    grouped,
    put_back,
    put_together,
    read_splits,
    write_splits,
)
from autograder.model.course import Course
from autograder.nbgrader.plug_in import AskFirst
from tests.marking.classroom import ASSIGNMENT, NOTEBOOK, held
from tests.marking.likeness import QUESTIONS, by_chance, measured
from tests.marking.site import hidden, running
from tests.marking.test_marks import as_the_formgrader_does, mark
from tests.marking.test_pages import SCALE


def answer(text: str, row: str = "", blank: bool = False, waits: bool = True) -> ClassAnswer:
    return ClassAnswer(row, row or text, "", ReadAnswer(text, text, blank, "manual"), MarkState(None, waits, None))


def texts(*given: str, split: dict[str, str] | None = None) -> list[list[str]]:
    answers = [answer(text, str(number)) for number, text in enumerate(given)]
    return [[one.text for one in group.answers] for group in grouped(answers, BY_WORDS, split or {})]


def test_equal_but_for_case_spaces_and_punctuation_is_one_group() -> None:
    assert [len(group) for group in texts("It sums to one.", "it sums  to ONE", "It sums to one!", "Pads.")] == [3, 1]


@pytest.mark.parametrize(("one", "other"), [
    ("The softmax does change the order of the values", "The softmax does not change the order of the values"),
    ("The variance of the dot product is 1 after it", "The variance of the dot product is 8 after it"),
    ("The model can't see the words that come later", "The model can see the words that come later"),
])  # fmt: skip
def test_a_negation_or_a_number_keeps_two_texts_apart(one: str, other: str) -> None:
    assert len(texts(one, other)) == 2


def test_every_pair_of_a_group_is_alike() -> None:
    similar = np.array([[1, 0.9, 0.5], [0.9, 1, 0.9], [0.5, 0.9, 1]])
    assert sorted(map(sorted, clusters(similar, 0.8))) == [[0, 1], [2]]
    assert sorted(map(sorted, clusters(similar, 0.4))) == [[0, 1, 2]]
    assert clusters(np.zeros((0, 0)), 0.4) == []


def test_answers_to_a_plain_test_are_grouped_by_how_they_differ_from_the_solution() -> None:
    short, nan = "another length ([1], the solution: [1, 2])", "nan (nan, the solution: 1)"
    given = [
        replace(answer(code), read=ReadAnswer(code, code, False, "manual", differs=words))
        for code, words in (("def f(): return [1]", short), ("f = lambda: [1]", short), ("def f(): return [2]", nan))
    ]
    found = [[one.read.differs for one in group.answers] for group in grouped(given, BY_WORDS)]
    assert found == [[short, short], [nan]]


def test_answers_without_a_word_are_the_last_group() -> None:
    groups = grouped([answer("x", "1", blank=True), answer("words", "2"), answer("y", "3", blank=True)], BY_WORDS)
    assert [(group.name == "blank", len(group.answers)) for group in groups] == [(False, 1), (True, 2)]
    assert grouped([], BY_WORDS) == []


def test_the_order_does_not_depend_on_who_comes_first_and_stays_when_marks_are_given() -> None:
    answers = [answer(text, str(number)) for number, text in enumerate(["a b", "c d", "a b.", "a b e", "f"])]
    names = [group.name for group in grouped(answers, BY_WORDS)]
    assert [group.name for group in grouped(answers[::-1], BY_WORDS)] == names
    marked = [answer(one.text, one.row, waits=False) for one in answers]
    assert [group.name for group in grouped(marked, BY_WORDS)] == names


def test_a_split_text_has_a_group_of_its_own_and_is_kept(tmp_path: Path) -> None:
    one, other = "The scores become too large for the softmax", "The scores become too large for a softmax"
    assert len(texts(one, other)) == 1
    split = {form(answer(other)): "own"}
    assert texts(one, other, split=split) == [[one], [other]] or texts(one, other, split=split) == [[other], [one]]
    write_splits(tmp_path, "a", {"n/c": split})
    assert read_splits(tmp_path, "a") == {"n/c": split}
    (tmp_path / ".autograder" / "marks" / "a" / "splits.json").write_text("[1")
    assert read_splits(tmp_path, "a") == {}


LARGE, ONE, PADS = "The scores become too large for it", "Else the variance is 1 no more", "Padding is left out"


def forms(*given: str) -> list[str]:
    return [form(answer(text)) for text in given]


def test_joined_groups_stay_one_when_like_answers_come_and_are_taken_apart_again() -> None:
    assert len(texts(LARGE, ONE, PADS)) == 3
    own = put_together({}, forms(LARGE, ONE), joins=True)
    assert sorted(map(sorted, texts(LARGE, ONE, PADS, split=own))) == [[ONE, LARGE], [PADS]]
    later = [LARGE, ONE, PADS, LARGE.upper(), f"{LARGE} now"]
    assert sorted(map(len, texts(*later, split=own))) == [1, 4]
    apart = texts(*later, split=put_back(own, forms(*later[:2])))
    assert sorted(map(sorted, apart)) == [[ONE], [PADS], sorted([LARGE, LARGE.upper(), f"{LARGE} now"])]


def test_split_and_joined_one_after_the_other_go_back_step_by_step() -> None:
    like = f"{LARGE} now"
    split = put_together({}, forms(like), joins=False)
    joined = put_together(split, forms(like, PADS), joins=True)
    again = put_together(joined, forms(PADS), joins=False)
    assert sorted(map(sorted, texts(LARGE, like, PADS, split=joined))) == [sorted([like, PADS]), [LARGE]]
    assert len(texts(LARGE, like, PADS, split=again)) == 3
    assert put_back(again, forms(PADS)) == joined
    assert put_back(joined, forms(like, PADS)) == split
    assert put_back(split, forms(like)) == {}


def test_groups_that_a_number_keeps_apart_are_joined_by_a_person_alone() -> None:
    one, other = "It has 8 heads in all", "It has 12 heads in all"
    assert len(texts(one, other)) == 2
    assert len(texts(one, other, split=put_together({}, forms(one, other), joins=True))) == 1


def test_words_that_differ_are_told() -> None:
    assert differing_words("It does not sum", "It does sum, always") == (["not"], ["always"])


def test_signs_alone_are_compared_by_what_is_shown() -> None:
    assert len(texts("???", "!!!")) == 2


def test_there_are_enough_answers_in_several_kinds_per_question() -> None:
    kinds = [question["kinds"] for question in QUESTIONS]
    assert sum(len(kind) for one in kinds for kind in one.values()) >= 60
    assert all(len(one) >= 3 and all(len(kind) >= 4 for kind in one.values()) for one in kinds)


def test_words_find_the_same_kind_more_often_than_chance() -> None:
    assert measured(BY_WORDS) > 2 * by_chance()


ENCODER = """
    import json, numpy as np
    def encode(texts):
        print("progress")
        with open("seen.json", "a") as file:
            file.write(json.dumps(texts) + "\\n")
        return np.array([[text.count("a"), text.count("b"), 1.0] for text in texts])
"""


def test_an_encoder_runs_in_a_process_of_its_own_and_sees_each_text_once(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(textwrap.dedent(ENCODER))
    encoder = TextEncoder(tmp_path, "ours")
    similar = encoder.similarities(["aaa", "bbb", "aa", "bb"])
    assert similar[0, 2] > 0.9 and similar[1, 3] > 0.9 and similar[0, 1] < 0
    encoder.similarities(["aaa", "bbb", "ab"])
    assert (tmp_path / "seen.json").read_text().split("\n")[1] == '["ab"]'
    assert "ours" not in sys.modules


@pytest.mark.parametrize(("code", "said"), [
    ("raise ValueError('no checkpoint')", "no checkpoint"),
    ("encode = lambda texts: [[1.0]]", r"expected 2 finite vectors, got an array \(1, 1\)"),
    ("encode = lambda texts: [[float('nan')]] * 2", "expected 2 finite vectors"),
    ("encode = lambda texts: exit(3)", "exit code 3"),
])  # fmt: skip
def test_an_encoder_that_fails_says_why_in_one_line(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "ours.py").write_text(code)
    with pytest.raises(GradingError, match=said):
        TextEncoder(tmp_path, "ours").similarities(["a", "b"])


def test_lines_are_paragraphs_and_items_with_the_points_that_they_state() -> None:
    scheme = """An answer.
=== BEGIN MARK SCHEME ===
1 point for the axis, which
is the last one.

- half a point: says softmax
- the keys (1.5 points)
says why (half a point)
that is so (1 mark).
1 point: the signs
**1 point**: and sizes
2. Two points if both.

No point for "an error": nothing fails.
=== END MARK SCHEME ==="""
    assert rubric_lines(scheme) == [
        RubricLine("1 point for the axis, which is the last one.", 1.0),
        RubricLine("half a point: says softmax", 0.5),
        RubricLine("the keys (1.5 points)", 1.5),
        RubricLine("says why (half a point)", 0.5),
        RubricLine("that is so (1 mark).", 1.0),
        RubricLine("1 point: the signs", 1.0),
        RubricLine("1 point: and sizes", 1.0),
        RubricLine("Two points if both.", 2.0),
        RubricLine('No point for "an error": nothing fails.', 0.0),
    ]
    assert rubric_lines("An answer without a scheme. 1 point") == []


@pytest.mark.parametrize(("markdown", "shown"), [
    ("1 point for `[CLS]`: *why* it reads `x * y`, and ``a`b``", "1 point for [CLS]: why it reads x * y, and a`b"),
    ("**Both** `__init__` and _forward_ of `q_lin`", "Both __init__ and forward of q_lin"),
    ("snake_case, 2 * 3 * 4, a ` alone", "snake_case, 2 * 3 * 4, a ` alone"),
])  # fmt: skip
def test_a_line_has_no_marks_of_markdown(markdown: str, shown: str) -> None:
    scheme = f"=== BEGIN MARK SCHEME ===\n{markdown}\n=== END MARK SCHEME ==="
    assert [line.text for line in rubric_lines(scheme)] == [shown]


def test_a_line_may_say_something_else_to_the_student() -> None:
    scheme = "- 1 point: the axis is named. To the student: You say which axis.\n- half a point: an example"
    first, second = rubric_lines(f"=== BEGIN MARK SCHEME ===\n{scheme}\n=== END MARK SCHEME ===")
    assert (first.text, first.points, first.comment) == ("1 point: the axis is named.", 1.0, "You say which axis.")
    assert second.comment == second.text == "half a point: an example"
    assert (first.name, second.name) == ("the axis is named", "an example")


def test_a_page_of_one_submission_gets_the_script_that_asks_before_it_overwrites() -> None:
    for resources, added in (({"submission_id": "x"}, 1), ({}, 0)):
        page, _ = AskFirst(config=Config()).preprocess(nbformat.v4.new_notebook(), resources)  # type: ignore[arg-type]
        assert len(page.cells) == added


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
