"""A student's ``forward`` with one step of it ready-made, so that the steps after a broken one can be looked at."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any


def with_ready(student_class: type, steps: Mapping[str, str], names: Mapping[str, Any]) -> type:
    """A subclass whose ``forward`` computes each variable in ``steps`` by the given expression.

    The first statement that sets the variable is replaced, with those after it that only change it (``x = f(x)``);
    where none does, one is put before the first that uses it. A statement that sets others as well stays, in front.
    A gap that was not filled in is left out.
    names: what the expressions use besides the variables of ``forward``
    Raises ValueError where ``forward`` cannot be read, or has none of the variables.
    """
    return rewritten(student_class, names, _put_in, *steps.items())


def _put_in(body: list[ast.stmt], *steps: tuple[str, str]) -> list[ast.stmt]:
    left, new, fresh = dict(steps), list[ast.stmt](), set[str]()
    set_anywhere = {name for statement in body for name in set_by(statement)}
    for statement in body:
        if set_by(statement) and set_by(statement) <= fresh & _changed_by(statement):
            continue  # a further step of what is ready-made
        fresh -= used_by(statement)
        found = set_by(statement) & set(left)
        fresh |= found
        wanted = {name for name in used_by(statement) & set(left) if name not in set_anywhere}
        kept = not found or bool(set_by(statement) - found)
        made = [ast.parse(f"{name} = {left.pop(name)}").body[0] for name in sorted(found | wanted)]
        new += [statement, *made] if kept and found else [*made, *([statement] if kept else [])]
    if len(left) == len(steps):
        raise ValueError(f"forward has no {', '.join(dict(steps))}")
    return filled(new)


def ending_after(student_class: type, part: str, variable: str) -> type:
    """A subclass whose ``forward`` ends after the last statement that uses ``self.<part>``, and gives ``variable``.

    A line that only gives another value that name still belongs to it. Raises ValueError where ``forward`` cannot be
    read, or does not use the part.
    """
    return rewritten(student_class, {}, _first_lines, part, variable)


def _first_lines(body: list[ast.stmt], part: str, variable: str) -> list[ast.stmt]:
    places = [place for place, statement in enumerate(body) if mentions(statement, part)]
    if not places:
        raise ValueError(f"forward does not use {part}")
    end = places[-1] + 1
    while end < len(body) and set_by(body[end]) == {variable} and variable not in used_by(body[end]):
        end += 1
    return [*body[:end], *ast.parse(f"return {variable}").body]


def beginning_after(student_class: type, part: str, variable: str, names: Mapping[str, Any]) -> type:
    """A subclass whose ``forward`` begins where ``variable`` is first used after the last use of ``self.<part>``.

    Its value is the one in ``names``. Raises ValueError where ``forward`` cannot be read, or does not use the variable.
    """
    return rewritten(student_class, names, _last_lines, part, variable)


def _last_lines(body: list[ast.stmt], part: str, variable: str) -> list[ast.stmt]:
    before = [place for place, statement in enumerate(body) if mentions(statement, part)]
    after = range(before[-1] + 1 if before else 0, len(body))
    first = next((place for place in after if variable in used_by(body[place])), None)
    if first is None:
        raise ValueError(f"forward does not use {variable}")
    return filled(body[first:])


def rewritten(
    student_class: type, names: Mapping[str, Any], rewrite: Callable[..., list[ast.stmt]], *arguments: Hashable
) -> type:
    """A subclass whose ``forward`` has the body ``rewrite(body, *arguments)``, which may use ``names``.

    rewrite: a function that gives the same for the same body and arguments, as it is asked once for all cases
    Raises ValueError where ``forward`` cannot be read, and what ``rewrite`` raises.
    """
    forward: Any = getattr(student_class, "forward", None)
    try:
        code = _code(_source(forward), tuple(names), rewrite, arguments)
    except (OSError, TypeError, SyntaxError) as error:
        raise ValueError("the source of forward cannot be read") from error
    space = {**forward.__globals__, "_ready_names": dict(names), "_ready_class": student_class}
    exec(code, space)
    ready: type = space["Ready"]
    return ready


@lru_cache(maxsize=64)
def _source(function: Any) -> str:
    """The source of a method; read once: Python splits all of its class into tokens for it."""
    return textwrap.dedent(inspect.getsource(function))


@lru_cache(maxsize=256)
def _code(
    source: str, names: tuple[str, ...], rewrite: Callable[..., list[ast.stmt]], arguments: tuple[Hashable, ...]
) -> CodeType:
    """What defines ``Ready``, the subclass, given ``_ready_class`` and ``_ready_names``."""
    function = ast.parse(source).body[0]
    if not isinstance(function, ast.FunctionDef):
        raise ValueError("forward is not written with def")
    taken = {argument.arg for argument in function.args.args}
    given = [ast.parse(f"{name} = _ready_names[{name!r}]").body[0] for name in names if name not in taken]
    function.body = [*given, *rewrite(function.body, *arguments)]
    owner = ast.parse("class Ready(_ready_class):\n    pass")
    assert isinstance(owner.body[0], ast.ClassDef)
    owner.body[0].body = [function]
    return compile(ast.fix_missing_locations(owner), "<ready>", "exec")


def filled(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without the gaps, ``raise NotImplementedError``, that were not filled in."""
    return [statement for statement in body if not isinstance(statement, ast.Raise)]


def set_by(statement: ast.stmt) -> set[str]:
    """The names that an assignment sets."""
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return set()


def mentions(statement: ast.stmt, *parts: str) -> bool:
    """Whether the statement uses one of ``self.<part>``, say."""
    return any(isinstance(node, ast.Attribute) and node.attr in parts for node in ast.walk(statement))


def _changed_by(statement: ast.stmt) -> set[str]:
    """The names that an assignment sets to something made of their old values."""
    return set_by(statement) if isinstance(statement, ast.AugAssign) else set_by(statement) & used_by(statement)


def used_by(statement: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
