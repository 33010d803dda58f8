"""``make test`` leaves out most of the slow tests, and nothing that anybody asks for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grading import ROOT

FILE = """
import pytest

@pytest.mark.parametrize("number", range(200))
@pytest.mark.slow
def test_slow(number): ...

def test_quick(): ...
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_all.py").write_text(FILE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    return tmp_path


def collected(project: Path, *words: str, **variables: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.drawn", "-p", "no:xdist", "--collect-only", "-q", *words]
    clean = {name: value for name, value in os.environ.items() if name not in ("DRAW", "EVERY")}
    environment = {**clean, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    return set(re.findall(r"::(test_\S+)", done.stdout))


def test_of_a_whole_run_a_part_of_the_slow_tests_is_drawn_and_can_be_drawn_again(project: Path) -> None:
    some = collected(project, "tests", DRAW="a")
    assert "test_quick" in some and 5 < len(some) < 60
    assert collected(project, "tests", DRAW="a") == some != collected(project, "tests", DRAW="b")
    assert collected(project, "tests") not in (some, collected(project, "tests"))


@pytest.mark.parametrize(
    "words", [("tests/test_all.py",), ("tests/test_all.py::test_slow", "tests/test_all.py::test_quick")]
)
def test_what_is_named_is_run_whole(project: Path, words: tuple[str, ...]) -> None:
    assert len(collected(project, *words, DRAW="a")) == 201


def test_continuous_integration_runs_all(project: Path) -> None:
    assert len(collected(project, "tests", EVERY="1")) == 201
    assert re.search(r"^EVERY=1 make test$", (ROOT / ".ci" / "run").read_text(), re.M)
