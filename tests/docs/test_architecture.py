"""``docs/architecture.md`` names files that exist, and its table of imports is what the code does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.grading import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GRADER = ROOT / "autograder"
#: Folders that a course has while it is used, and files of every submission.
MADE_IN_USE = {"submitted/", "feedback/", "reports/", "inputs/"}
ROW = re.compile(r"(?m)^\| (?P<names>(?:`[\w.]+/?`(?:, )?)+) \| [^|]+ \| (?P<imports>[^|]+) \|$")


def named_paths() -> set[str]:
    """Every path between backticks: what holds a slash, and files with a usual ending."""
    words = re.findall(r"`([\w./-]+)`", PAGE)
    return {word for word in words if "/" in word or word.endswith((".py", ".toml"))} - MADE_IN_USE


def test_every_path_that_is_named_exists():
    places = (ROOT, GRADER, GRADER / "gradebook", GRADER / "release", ROOT / "exercises/numpy_attention/softmax")
    missing = {path for path in named_paths() if not any((place / path).exists() for place in places)}
    assert len(named_paths()) > 40
    assert missing == set()


def packages() -> set[str]:
    return {path.parent.name for path in GRADER.glob("*/__init__.py")}


def table() -> dict[str, set[str]]:
    """Package -> what it may import, as the page says."""
    section = PAGE.partition("## Who may import whom")[2].partition("\n## ")[0]
    found = {}
    for row in ROW.finditer(section):
        for name in re.findall(r"`([\w.]+?)/?`", row["names"]):
            named = re.findall(r"`(\w+)`", row["imports"])
            found[name.removesuffix(".py")] = packages() if row["imports"] == "all" else set(named)
    return found


def test_the_table_has_a_row_for_every_package():
    assert table().keys() == packages() | {"cli", "testing"}


@lru_cache
def modules() -> dict[str, Path]:
    """Dotted name -> file of every module of the grader; templates of courses are none of its modules."""
    files = [path for path in GRADER.rglob("*.py") if "templates" not in path.parts]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(name: str, everywhere: bool) -> Iterator[str]:
    """The modules that a module imports: at its top, or in its functions as well. Dotted names, of others too."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (one if one in modules() else str(node.module) for one in inner)


@pytest.mark.parametrize("package", sorted(packages() | {"cli", "testing"}))
def test_a_package_imports_only_what_the_table_allows(package):
    own = [name for name in modules() if name.split(".")[1:2] == [package]]
    found = {
        one.split(".")[1] for name in own for one in imports(name, everywhere=True) if one.startswith("autograder.")
    }
    found -= {package, "errors", "commands" if package == "cli" else ""}
    assert found <= table()[package]


def test_no_module_of_the_grader_imports_what_belongs_to_a_course():
    others = ("course", "torch", "transformers", "tokenizers")
    found = {(name, one) for name in modules() for one in imports(name, everywhere=True) if one.split(".")[0] in others}
    assert found == set()


def test_modules_import_each_other_in_no_circle():
    known = {name: [one for one in imports(name, everywhere=False) if one in modules()] for name in modules()}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name not in done:
            for one in known[name]:
                visit(one, (*above, name))
            done.add(name)

    for name in known:
        visit(name, ())
