"""What guides and modules promise is what is there (G5): sentences that were untrue, and the tests that pages name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.grading import ROOT

#: (file, the untrue sentence)
UNTRUE = [
    ("docs/writing-exercises.md", "no other test, no other file"),
    ("autograder/pipeline/grade.py", "Knows no gradebook"),
    ("docs/security.md", "A lie gains nothing"),
    ("docs/plain-tests.md", "what a solution imports is nobody's answer"),
    ("README.md", "Not one answer in it"),
    ("docs/architecture.md", "one module per sheet"),
]


@pytest.mark.parametrize(("file", "sentence"), UNTRUE)
def test_an_untrue_promise_is_gone(file: str, sentence: str) -> None:
    assert sentence not in " ".join((ROOT / file).read_text(encoding="utf-8").split())


def test_every_test_that_the_guides_name_exists() -> None:
    """A promise is followed by the test that holds it: a file or a folder of tests, or one test in it."""
    missing = []
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"]:
        for named in re.findall(r"`(tests/[\w./]+)(?:::(\w+))?`", page.read_text(encoding="utf-8")):
            path, test = ROOT / named[0], named[1]
            if not path.exists() or (test and test not in _tests(path)):
                missing.append((page.name, *named))
    assert missing == []


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
