"""``docs/from-nbgrader.md``, typed in nbgrader's quickstart course."""

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_blocks import type_in
from tests.grading import ROOT
from tests.plain.conftest import scores
from tests.plain.notebooks import hand_in

GUIDE = (ROOT / "docs" / "from-nbgrader.md").read_text(encoding="utf-8")
SQUARES = "def squares(n):\n{}    return [number ** 2 for number in range(1, n + 1)]"
RIGHT = {
    "squares": SQUARES.format("    if n < 1:\n        raise ValueError\n"),
    "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
    "sum_of_squares_application": "def pyramid(n):\n    return sum_of_squares(n)",
}


@pytest.mark.slow
@pytest.mark.xdist_group("stock and ours")
def test_the_guide_is_followed_to_the_letter_and_both_ways_give_the_same_points(quickstart: Path, tmp_path: Path):
    root = Path(shutil.copytree(quickstart, tmp_path / "course"))
    (root / "gradebook.db").unlink()
    type_in(root, "nbgrader generate_assignment ps1 --force")
    hand_in(root, "ada", "ps1", RIGHT)
    hand_in(root, "cyd", "ps1", RIGHT | {"squares": SQUARES.format("")})  # nothing is raised
    found = []
    for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL):
        for line in block.splitlines():
            type_in(root, line)
        found.append(scores(root, "ps1"))
    assert found[0] == found[1] and len(found) == 2
    wrong = {cell for cell, points in found[0]["ada"].items() if found[0]["cyd"][cell] != points}
    assert wrong == {"problem1/squares_invalid_input"} and found[0]["ada"]["problem1/correct_squares"] == 1
    assert (root / "feedback" / "ada" / "ps1" / "problem1.html").is_file()
    assert (root / "reports" / "ps1" / "index.html").is_file()
