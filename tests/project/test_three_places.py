"""The grader, the course and what students import: who may import whom, read off the source."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from autograder import testing
from tests.grading import ROOT
from tests.tree import modules

#: What only a course may need: the grader works for any subject.
OF_A_COURSE = {"course", "exercises", "tools", "torch", "transformers", "tokenizers"}


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def offenders(folder: str, forbidden: set[str]) -> list[str]:
    paths = [path for path in modules(folder) if "templates" not in path.parts]
    assert paths
    return [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in imported(path) if name in forbidden]


def test_the_grader_imports_nothing_of_a_course():
    assert offenders("autograder", OF_A_COURSE) == []


def test_what_students_import_knows_neither_grader_nor_exercises():
    assert offenders("course", {"autograder", "exercises", "tools"}) == []


def test_an_import_inside_of_a_function_is_found(tmp_path):
    (tmp_path / "module.py").write_text("def f():\n    from torch import nn\n    import course.check\n")
    assert list(imported(tmp_path / "module.py")) == ["torch", "course"]


def test_the_grader_requires_no_package_of_a_course():
    project = tomllib.loads((ROOT / "autograder" / "pyproject.toml").read_text())["project"]
    required = {Requirement(entry).name for entry in project["dependencies"]}
    assert required and not required & {*OF_A_COURSE, "transformer-course"}


def test_without_torch_an_exercise_with_tensors_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="torch is not installed here: install it, or write framework"):
        testing.StoredCase("a/b", 0, "torch", {}, {}, {"x": np.zeros(2)})
