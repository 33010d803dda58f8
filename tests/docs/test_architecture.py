"""``docs/architecture.md`` names files that exist, and its packages import each other in one direction."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grading import ROOT
from tools import import_circles

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GRADER = ROOT / "autograder"
#: Folders that a course has while it is used, and files of every submission.
MADE_IN_USE = {"submitted/", "feedback/", "reports/"}


def named_paths() -> set[str]:
    """Every path between backticks: what holds a slash, and files with a usual ending."""
    words = re.findall(r"`([\w./-]+)`", PAGE)
    return {word for word in words if "/" in word or word.endswith((".py", ".toml"))} - MADE_IN_USE


def test_every_path_that_is_named_exists():
    places = (ROOT, GRADER, GRADER / "gradebook", GRADER / "release")
    missing = {path for path in named_paths() if not any((place / path).exists() for place in places)}
    assert len(named_paths()) > 40
    assert missing == set()


def packages() -> set[str]:
    return {path.parent.name for path in GRADER.glob("*/__init__.py")}


def test_the_table_has_a_row_for_every_package():
    section = PAGE.partition("## Who may import whom")[2].partition("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", section)) == packages()


def test_packages_lie_in_layers():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_modules_import_each_other_in_no_circle():
    assert [found for package in import_circles.PACKAGES if (found := import_circles.circle(package))] == []


def test_a_circle_is_found_wherever_in_a_file_its_imports_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "one.py").write_text("def f():\n    from ring import two\n    return two\n")
    (folder / "two.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ring.one import f\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert sorted(set(import_circles.circle("ring"))) == ["ring.one", "ring.two"]
