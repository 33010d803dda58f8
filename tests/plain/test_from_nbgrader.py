"""``docs/from-nbgrader.md``, typed in nbgrader's quickstart course."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_blocks import type_in
from tests.grading import ROOT
from tests.plain.conftest import Graded, scores

GUIDE = (ROOT / "docs" / "from-nbgrader.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.xdist_group("stock and ours")
def test_the_guide_is_followed_to_the_letter_and_all_three_ways_give_the_same_points(
    both: dict[str, Graded], tmp_path: Path
) -> None:
    course = both["ps1"].course
    assert course is not None
    root = Path(shutil.copytree(course.root, tmp_path / "course"))
    for student in ("bob", "dan", "eve"):
        shutil.rmtree(root / "submitted" / student)
    for folder in ("autograded", ".autograder", "gradebook.db"):
        path = root / folder
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    type_in(root, "nbgrader generate_assignment ps1 --force")
    found = []
    for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL):
        for line in block.splitlines():
            type_in(root, line)
        found.append(scores(root, "ps1"))
    assert [set(one) for one in found] == [{"ada", "cyd"}] * 2
    for one in found:
        assert one == {student: both["ps1"].stock[student] for student in one}
    assert (root / "feedback" / "ada" / "ps1" / "problem1.html").is_file()
    assert (root / "reports" / "ps1" / "index.html").is_file()
