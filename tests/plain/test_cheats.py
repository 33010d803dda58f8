"""Every cheat of the corpus, graded in one class: none earns more than the honest wrong answer under it."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.plain.where import where_judged
from tests.grading import ROOT
from tests.plain.cheats.__main__ import ours
from tests.plain.cheats.corpus import CHEATS
from tests.plain.cheats.course import RIGHT, WRONG, source_notebook
from tests.plain.cheats.targets import BY_ID, TARGETS

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def earned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float] | None]:
    """student or cheat -> graded cell -> points."""
    return ours(CHEATS, tmp_path_factory.mktemp("cheats") / "course")


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


def test_every_test_that_is_cheated_at_is_judged_outside():
    judged = where_judged(source_notebook(), ("helper.py",), ())
    assert {name: one.where for name, one in judged.items()} == {target.id: "outside" for target in TARGETS}


def test_the_corpus_has_every_cheat_once_and_attacks_every_exercise():
    assert len(CHEATS) >= 40
    assert [name for name, count in Counter(cheat.id for cheat in CHEATS).items() if count > 1] == []
    assert {cheat.target for cheat in CHEATS} == set(BY_ID)
