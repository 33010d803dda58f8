"""Every cheat of the corpus, graded in one class: none earns more than the honest wrong answer under it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.grading import ROOT
from tests.plain.cheats.__main__ import HEAD, ours, row, said
from tests.plain.cheats.corpus import CHEATS
from tests.plain.cheats.course import RIGHT, WRONG
from tests.plain.cheats.targets import BY_ID, TARGETS

pytestmark = pytest.mark.xdist_group("cheats")  # one test worker grades the class once

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's folder."""
    return tmp_path_factory.mktemp("cheats") / "course"


@pytest.fixture(scope="module")
def earned(graded: Path) -> dict[str, dict[str, float] | None]:
    """student or cheat -> graded cell -> points."""
    return ours(CHEATS, graded)


@pytest.mark.slow
def test_no_cheat_earns_more_than_the_honest_wrong_answer_under_it(earned):
    more = {}
    for cheat in CHEATS:
        found = earned[cheat.id]
        assert found is not None, f"{cheat.id} has no grade"
        more |= {(cheat.id, cell): points for cell, points in found.items() if points > BY_ID[cell].earns}
    assert more == {}


@pytest.mark.slow
def test_honest_answers_earn_what_they_deserve_beside_the_cheats(earned):
    assert earned[RIGHT] == {target.id: target.points for target in TARGETS}
    assert earned[WRONG] == {target.id: target.earns for target in TARGETS}


def rows_of_the_page() -> dict[str, list[str]]:
    """id -> the cells of its row in the guide's table."""
    table = PAGE.partition(f"| {' | '.join(HEAD)} |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[1:]]
    return {row[0]: row for row in rows}


def test_the_guides_table_has_a_row_for_every_cheat_and_says_what_it_tries():
    found = rows_of_the_page()
    assert list(found) == [cheat.id for cheat in CHEATS]
    for cheat in CHEATS:
        by_stock, here = found[cheat.id][-2:]
        assert found[cheat.id] == row(cheat, by_stock, here)
        assert by_stock == "no grade" or 0 <= float(by_stock) <= BY_ID[cheat.target].points


def test_the_guides_table_says_that_no_cheat_pays_here_and_many_do_on_stock_nbgrader():
    targets = {cheat.id: BY_ID[cheat.target] for cheat in CHEATS}
    found = rows_of_the_page()
    assert all(float(one[-1]) <= targets[name].earns for name, one in found.items())
    paying = [name for name, one in found.items() if one[-2] not in ("no grade", f"{targets[name].earns:g}")]
    assert len(paying) > len(CHEATS) / 2


@pytest.mark.slow
def test_the_guides_table_has_the_points_that_each_cheat_earns_here(earned):
    here = {cheat.id: said(earned[cheat.id], cheat.target) for cheat in CHEATS}
    assert {name: one[-1] for name, one in rows_of_the_page().items()} == here


@pytest.mark.slow
def test_every_test_that_is_cheated_at_is_judged_outside(graded, earned):
    stored = json.loads((graded / ".autograder" / "calibration" / "plain.json").read_text())["notebooks"]
    cells = {name: one["judged"] for book in stored.values() for name, one in book.items() if name in BY_ID}
    assert cells == dict.fromkeys(BY_ID, "outside")


def test_the_corpus_has_every_cheat_once_and_attacks_every_exercise():
    assert len(CHEATS) >= 40
    assert [name for name, count in Counter(cheat.id for cheat in CHEATS).items() if count > 1] == []
    assert {cheat.target for cheat in CHEATS} == set(BY_ID)
