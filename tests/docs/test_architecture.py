"""``docs/architecture.md`` names files that exist, and its packages import each other in one direction."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tests.grading import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GRADER = ROOT / "autograder"
#: Folders that a course has while it is used, and files of every submission.
MADE_IN_USE = {"submitted/", "feedback/", "reports/", "inputs/"}


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


def test_the_table_has_a_row_for_every_package():
    section = PAGE.partition("## Who may import whom")[2].partition("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", section)) == packages()


def test_packages_lie_in_layers():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@lru_cache
def modules() -> dict[str, Path]:
    """Dotted name -> file of every module of the grader; templates of courses are none of its modules."""
    files = [path for path in GRADER.rglob("*.py") if "templates" not in path.parts]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports(name: str) -> Iterator[str]:
    """The modules that a module imports at its top, as dotted names."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (one if one in modules() else str(node.module) for one in inner)


def test_modules_import_each_other_in_no_circle():
    known = {name: [one for one in imports(name) if one in modules()] for name in modules()}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above[above.index(name) :], name])
        if name not in done:
            for one in known[name]:
                visit(one, (*above, name))
            done.add(name)

    for name in known:
        visit(name, ())
