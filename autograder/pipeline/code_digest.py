"""The text behind Python objects: of a function its own definition and every definition that it reaches."""

import ast
import functools
import hashlib
import os
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib.util import resolve_name
from pathlib import Path

from autograder.model.cells import tree_of
from autograder.references import loader

#: Rules and mistakes live here. What they import from elsewhere is part of the grader or of the course library.
_RULES = loader.PACKAGE
_PACKAGE = "autograder"
_GRADER = Path(__file__).resolve().parents[1]

#: (module, name of one of its definitions); an empty name stands for all of them.
Definition = tuple[str, str]


def imported_files(roots: Iterable[str]) -> list[Path]:
    """The files of ``autograder`` that these modules come to import, rules left out."""
    waiting, found = list(roots), dict[str, Path]()
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(_RULES) or (path := _file(name)) is None:
            continue
        found[name] = path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += [name.rpartition(".")[0], *_modules(path, package)]
    return sorted(found.values())


def _modules(path: Path, package: str) -> set[str]:
    """What a module imports of this package, as names of modules; among them names that are none.

    Read by a pattern: to parse fifty modules would take a fifth of a second in every run.
    """
    text = path.read_text(encoding="utf-8")
    found = set(re.findall(r"(?m)^\s*import (autograder[\w.]*)", text))
    for module, names in re.findall(r"(?m)^\s*from ((?:autograder|\.)[\w.]*) import (\([^)]*\)|.*)$", text):
        module = resolve_name(module, package)
        found |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
    return found


def described(value: object, within: tuple[int, ...] = ()) -> object:
    """A value as JSON can hold it, with the code of the rules' package that its functions and classes reach."""
    if isinstance(value, str | bytes | int | float | complex | None):
        return repr(value)
    if id(value) in within:  # a function that calls itself
        return "itself"
    inside = functools.partial(described, within=(*within, id(value)))
    if isinstance(value, functools.partial):
        return [inside(value.func), inside(value.args), inside(value.keywords)]
    if isinstance(value, types.MethodType):
        return [inside(value.__func__), inside(value.__self__)]
    if isinstance(value, types.FunctionType):
        bound = [inside(cell.cell_contents) for cell in value.__closure__ or ()]
        return [_reached(value.__module__, value.__qualname__), bound, inside(value.__defaults__)]
    if isinstance(value, type):
        return _reached(value.__module__, value.__qualname__)
    if isinstance(value, Mapping):
        return [[inside(key), inside(inner)] for key, inner in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, Sequence):
        return [inside(inner) for inner in value]
    if callable(as_bytes := getattr(value, "tobytes", None)):  # an array
        return hashlib.sha256(as_bytes()).hexdigest()
    names = [field.name for field in fields(value)] if is_dataclass(value) else sorted(getattr(value, "__dict__", ()))
    return [inside(type(value)), [[name, inside(getattr(value, name))] for name in names]]


@lru_cache(maxsize=4096)
def _reached(module: str, qualified: str) -> str:
    """Digest of a definition of the rules' package and of all that it reaches there; elsewhere its name alone."""
    name = qualified.partition(".")[0]
    waiting, found = [(module, "" if name.startswith("<") else name)], dict[Definition, str]()
    while waiting:
        module, name = one = waiting.pop()
        if one in found or not module.startswith(_RULES) or (path := _file(module)) is None:
            continue
        text = _read(path, module)
        if name in text.imported:
            waiting.append(text.imported[name])
        elif not name:
            waiting += [(module, other) for other in text.defined]
        found[one] = "\n".join(text.defined.get(name, ()))
        waiting += [(used[0] or module, used[1]) for used in text.uses.get(name, ())]
    # without the package's name, which is made of the folder that the course lies in
    texts = sorted(((module.partition(".")[2], name), text) for (module, name), text in found.items())
    return hashlib.sha256(repr((qualified, texts)).encode()).hexdigest()[:16]


class _Text:
    """A module's definitions by name, as text without comments and docstrings, and what each of them uses."""

    def __init__(self, path: Path, module: str) -> None:
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        tree = tree_of(path.read_text(encoding="utf-8"))
        self.imported: dict[str, Definition] = {}
        self.defined: dict[str, list[str]] = {}
        self.uses: dict[str, set[Definition]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._import_from(resolve_name("." * node.level + (node.module or ""), package), node.names)
        known = {name for node in tree.body for name in _bound(node)} | self.imported.keys()
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                continue
            text, uses = ast.unparse(_WithoutDocstrings().visit(node)), set(self._used(node, known))
            # a statement that binds nothing may change whatever it names
            for name in _bound(node) or {used for _, used in uses}:
                self.defined.setdefault(name, []).append(text)
                self.uses.setdefault(name, set()).update(uses)

    def _import_from(self, module: str, names: Sequence[ast.alias]) -> None:
        for alias in names:
            inner = f"{module}.{alias.name}"
            self.imported[alias.asname or alias.name] = (inner, "") if _file(inner) else (module, alias.name)

    def _used(self, node: ast.AST, known: set[str]) -> Iterator[Definition]:
        """``attention.softmax`` is one definition of the module ``attention``, not all of it."""
        parts = {
            id(inner.value): (self.imported[inner.value.id][0], inner.attr)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and self.imported.get(inner.value.id, ("", "?"))[1] == ""
        }
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in known:
                yield parts.get(id(inner), ("", inner.id))


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement of a module binds there."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    inside = list(ast.walk(node))
    stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored | {one.name for one in inside if isinstance(one, ast.FunctionDef | ast.ClassDef)}


@lru_cache(maxsize=512)
def _read(path: Path, module: str) -> _Text:
    return _Text(path, module)


@lru_cache(maxsize=2048)
def _file(name: str) -> Path | None:
    """The source of a module of this package or of a course's exercises; None where there is no such module."""
    if name.startswith(_RULES):
        return loader.source_of(name)
    if name.partition(".")[0] != _PACKAGE:
        return None
    base = os.path.join(_GRADER, *name.split(".")[1:])
    return next((Path(path) for path in (f"{base}/__init__.py", f"{base}.py") if os.path.isfile(path)), None)
