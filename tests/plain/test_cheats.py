"""Every cheat of the corpus, graded in one class: none earns more than the honest wrong answer under it."""

import ast
import html
import importlib
import json
import re
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import pytest

from autograder.isolation import available
from autograder.model.verdict import read
from tests.grading import ROOT
from tests.plain import one_process
from tests.plain.cheats.__main__ import leaks, ours
from tests.plain.cheats.cheat import ALONE, BY_ID, CHEATS, GIVEN, HELPER, KINDS, TARGETS, Target
from tests.plain.cheats.course import ASSIGNMENT, RIGHT, WRONG

pytestmark = pytest.mark.xdist_group("cheats")  # one test worker grades the class once

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cheats") / "course"


@pytest.fixture(scope="module")
def earned(course: Path) -> dict[str, dict[str, float] | None]:
    """student or cheat -> graded cell -> points."""
    available()  # what the grader says is in its gradebook alone
    return ours(CHEATS, course)


@pytest.mark.slow
def test_no_cheat_earns_more_than_the_honest_wrong_answer_under_it(earned):
    more = {}
    for cheat in CHEATS:
        found = earned[cheat.id]
        assert found is not None, f"{cheat.id} has no grade"
        more |= {(cheat.id, cell): points for cell, points in found.items() if points > BY_ID[cell].earns}
    assert more == {}


@pytest.mark.slow
def test_each_cheat_is_named_in_the_report_or_fails_its_test(course, earned):
    """Named: with the student, the cell and what came. What fails is a wrong answer like any."""
    page = (course / "reports" / ASSIGNMENT / "index.html").read_text(encoding="utf-8")
    shown = [html.unescape(row) for row in re.findall(r'<tr class="offered">(.*?)</tr>', page, re.DOTALL)]
    silent = {}
    for cheat in CHEATS:
        (path,) = (course / "autograded" / cheat.id).glob("*/verdicts.json")
        (cell,) = (one for book in read(path).notebooks for one in book.cells if one.cell == cheat.target)
        named = any(re.search(rf"\b{cheat.id}\b", row) for row in shown)
        told = [check.message for check in cell.checks if not check.passed and check.message]
        as_wrong = cell.status != "passed" and cell.points is not None and bool(told)
        if not (named if cell.points is None else as_wrong):
            silent[cheat.id] = cell
    assert silent == {}


@pytest.mark.slow
def test_of_cheats_with_a_test_of_their_own_those_alone_pay_that_say_why(tmp_path):
    """Which values are the solution's is all that stands against them: each passes its test."""
    earned = ours([cheat for _, _, cheat in ALONE], tmp_path / "course", *(target for _, target, _ in ALONE))

    def points(student: str, target: Target) -> float:
        return sum((earned[student] or {}).get(name, 0) for name in target.cells)

    paid = [target.id for _, target, cheat in ALONE if points(cheat.id, target) > points(WRONG, target)]
    assert [name for name in paid if name not in {target.id for _, target, _ in ALONE if target.own}] == []
    lost = [target.id for _, target, _ in ALONE if points(RIGHT, target) < sum(most for _, most in target.tests)]
    assert lost == []


@pytest.mark.slow
def test_honest_answers_earn_what_they_deserve_beside_the_cheats(earned):
    assert earned[RIGHT] == {target.id: target.points for target in TARGETS}
    assert earned[WRONG] == dict.fromkeys(BY_ID, 0)  # a part of the points waits for a person


@pytest.mark.slow
def test_no_hidden_test_stands_on_a_page_of_whoever_tried_to_read_it(earned, course):
    assert leaks(course) == {}


def test_the_guide_says_how_many_cheats_there_are_of_each_kind_and_that_none_pays_here():
    assert f"hands in {len(CHEATS)} cheats" in PAGE and f"that of {len(ALONE)} more" in PAGE
    found = dict(re.findall(r"^\| (.+?) \| (\d+ \| .+ \| \d+) \|$", PAGE, re.MULTILINE))
    for letter, (_, kind) in KINDS.items():
        number = sum(cheat.id.startswith(letter) for cheat in CHEATS)
        cheats, by_stock, here = found[kind].split(" | ")
        assert (int(cheats), here) == (number, "0")
        assert 0 <= int(by_stock) <= number


@pytest.mark.parametrize("alone", ALONE, ids=lambda alone: f"{alone[0]}.{alone[1].id}")
def test_in_one_process_each_cheat_with_an_exercise_of_its_own_passes_where_the_honest_wrong_answer_fails(
    alone, tmp_path, monkeypatch
):
    _, target, cheat = alone
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    answers = (target.right, target.wrong, cheat.answer)
    calls = [(f"{GIVEN}\n{target.given}", answer, *target.tests) for answer in answers]
    with get_context("fork").Pool(1, maxtasksperchild=1) as apart:  # a cheat changes the process that it runs in
        right, wrong, passing = apart.starmap(one_process.points, calls, chunksize=1)
    assert right == sum(points for _, points in target.tests) and passing > wrong


def test_what_cheats_change_of_the_grader_is_there():
    """A cheat that names what the grader no longer has would prove nothing."""
    lost = {}
    for cheat in CHEATS:
        for node in ast.walk(ast.parse(f"{cheat.code}\n{cheat.answer or ''}")):
            names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else ()
            module = getattr(node, "module", None)
            for name in (one.name for one in names if (module or one.name).startswith("autograder")):
                try:
                    found = importlib.import_module(module or name)
                    assert not module or hasattr(found, name) or importlib.import_module(f"{module}.{name}")
                except ImportError:
                    lost.setdefault(cheat.id, []).append(f"{module or ''}.{name}")
    assert lost == {}


@pytest.mark.slow
def test_every_test_that_is_cheated_at_is_judged_where_it_should_be(course, earned):
    stored = json.loads((course / ".autograder" / "calibration" / f"{ASSIGNMENT}.json").read_text())["notebooks"]
    cells = {name: one["judged"] for book in stored.values() for name, one in book.items() if name in BY_ID}
    assert cells == {target.id: target.judged for target in TARGETS}


def test_the_corpus_has_every_cheat_once_and_attacks_every_exercise():
    assert len(CHEATS) >= 170
    ids = [*(cheat.id for cheat in CHEATS), *(target.id for target in TARGETS), *(target.id for _, target, _ in ALONE)]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert {cheat.target for cheat in CHEATS} == set(BY_ID)
