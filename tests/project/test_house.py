"""Where things stand in the grader, and what they are called."""

import ast
import importlib
import subprocess
from collections import Counter

import pytest
from alembic.script import ScriptDirectory
from nbgrader.api import get_alembic_version
from nbgrader.dbutil import ALEMBIC_DIR

from tests.conftest import MINUTES, MORE_THAN_PYTHON
from tests.grading import ROOT
from tests.tree import modules
from tools import ceilings

GRADER = ROOT / "autograder"
MODULES = [path for path in modules("autograder") if "templates" not in path.parts]
#: What students' kernels, forked processes and the index of exercises need never be told apart by name alone.
FOREIGN = {"course", "torch", "transformers", "tokenizers"}


def test_the_top_of_the_grader_holds_the_command_line_the_errors_and_what_hidden_tests_import():
    assert {path.stem for path in GRADER.glob("*.py")} == {"__init__", "cli", "errors", "testing"}


def test_no_module_repeats_its_folders_name_as_a_prefix():
    repeated = [
        str(path.relative_to(ROOT))
        for path in modules("autograder", "course", "exercises")
        if path.stem.lstrip("_").startswith(f"{path.parent.name}_")
    ]
    assert repeated == []


def test_the_grader_imports_neither_this_course_nor_what_this_course_is_about():
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name.partition(".")[0] in FOREIGN
    }
    assert found == set()


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_no_two_classes_of_the_grader_have_one_name():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_module_is_longer_than_500_lines():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules("autograder", "course", "exercises", "tools")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert long == {}


def test_who_lists_the_repository_sees_at_most_22_names():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git repository here")
    there = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    assert len({name.partition("/")[0] for name in there}) <= 22


def test_what_make_test_leaves_out_is_there_and_continuous_integration_leaves_nothing_out():
    for name in MORE_THAN_PYTHON | MINUTES:
        assert (ROOT / "tests" / name).is_dir() or (ROOT / "tests" / f"{name}.py").is_file(), name
    assert (ROOT / ".ci" / "run").read_text().endswith("\nmake test-all\n")
    assert "\t$(BIN)/python -m pytest tests --numprocesses" in (ROOT / "Makefile").read_text()


def test_no_room_is_larger_than_its_ceiling(capsys):
    if subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip("no git repository here")
    assert ceilings.main([]) == 0, capsys.readouterr().out


def test_a_room_above_its_ceiling_is_named_and_ceilings_only_go_down(tmp_path, monkeypatch, capsys):
    project = tmp_path / "pyproject.toml"
    project.write_text("[other]\ncourse = [9, 9]\n[tool.ceilings]\ncourse = [5, 9]\ntools = [7, 1]\n")
    monkeypatch.setattr(ceilings, "PROJECT", project)
    monkeypatch.setattr(ceilings, "measured", lambda room: {"course": (6, 8), "tools": (7, 1)}[room])
    assert ceilings.main(["--lower"]) == 1
    assert "1 lines and 0 files too many" in capsys.readouterr().out
    assert project.read_text() == "[other]\ncourse = [9, 9]\n[tool.ceilings]\ncourse = [5, 8]\ntools = [7, 1]\n"


@pytest.mark.parametrize(
    "module", [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in modules("tools")]
)
def test_every_module_of_a_program_can_be_imported(module):
    importlib.import_module(module)


def test_the_gradebook_that_tests_make_once_is_told_the_newest_revision_that_nbgrader_brings_along():
    assert get_alembic_version() == ScriptDirectory(ALEMBIC_DIR).get_current_head()
