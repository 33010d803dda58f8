"""The visible checks that notebooks call, held against the library that students get with them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.exercise.pack import pack_names
from autograder.model import cells
from autograder.plain.names import names_of
from autograder.references.store import PACKS


def missing_checks(assignment: Assignment, package: str, folder: Path) -> Iterator[str]:
    """Every ``check.something`` in a released notebook that the library does not have. Nothing is imported.

    package: the one of the visible checks, ``course.check``; empty where there is none. folder: where it begins.
    """
    if not package:
        return
    known = cache(lambda module: _names(folder, package, module))
    for name, notebook in assignment.release.items():
        modules: dict[str, str] = {}  # how a notebook calls a module of checks -> the module
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            try:
                tree = cells.parse(cell.source)
            except SyntaxError:  # a cell that shows a mistake on purpose, or is no Python
                continue
            modules |= dict(_imported(tree, package))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                    module = modules[node.value.id]
                    if node.attr not in known(module):
                        yield f"{name}.ipynb, cell '{cells.grade_id(cell)}': {package}.{module} has no {node.attr}"


def _imported(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            found = ((alias.asname, alias.name) for alias in node.names if alias.name.startswith(f"{package}."))
            yield from ((called, module.removeprefix(f"{package}.")) for called, module in found if called)


def _names(folder: Path, package: str, module: str) -> set[str]:
    """What a module binds at its top level; of a package, too, its modules that hold a function of their own name, and
    the checks that are made of packs.
    """
    top = folder.joinpath(*package.split("."))
    stem = top.joinpath(*module.split("."))
    found = set(pack_names(top / PACKS / f"{module}.zip"))
    for path in (stem.with_suffix(".py"), *stem.glob("*.py")):
        if path.is_file():
            bound = names_of(path.read_text(encoding="utf-8")).bound
            found |= bound if path in (stem.with_suffix(".py"), stem / "__init__.py") else bound & {path.stem}
    return found
