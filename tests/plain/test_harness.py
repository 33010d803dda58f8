"""``python -m tests.plain COURSE`` on nbgrader's own course and on one in many styles: nothing more, nothing less."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plain import courses

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stock and ours")]
SUBMISSIONS = ("solution", "untouched", "half-1", "half-2", "mutant-1", "style-1")


def test_no_point_more_and_none_less_without_a_word(quickstart: Path, tmp_path: Path, capsys) -> None:
    found = {one.assignment: one for one in courses.compare(quickstart, tmp_path, courses.Options(1, 1, 1))}
    for one in found.values():
        courses.show(one)
    said = capsys.readouterr().out
    assert not any(one.refused or one.has_fault for one in found.values()), said
    assert {name: (one.submissions, one.solution) for name, one in found.items()} == {
        "ps1": (len(SUBMISSIONS), (4, 4, 4)),
        "styles": (len(SUBMISSIONS), (6, 7, 8)),  # a line on stderr costs a test its points in stock nbgrader
    }
    assert "STDERR   styles/warned 0 → 1 " in said


def test_a_judge_that_gives_more_or_takes_without_a_word_is_found(quickstart: Path, tmp_path: Path) -> None:
    """The comparison itself, with the points that stock nbgrader gave turned round."""
    options = courses.Options(mutants=0, styles=0, only=("styles",))
    (right,) = courses.compare(quickstart, tmp_path, options)
    (kept,) = tmp_path.glob("styles/points.json")
    kept.write_text(
        kept.read_text().replace(' 2.0, ""]', ' 1.0, ""]').replace('"total_right", 0.0', '"total_right", 1.0')
    )
    (wrong,) = courses.compare(quickstart, tmp_path, options)
    assert not right.has_fault, right.refused
    assert {one.kind for one in wrong.differences if one.is_fault} == {"more", "less"}
