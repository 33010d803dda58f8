"""``models.py`` beside the notebook, read as it stands now, statement by statement.

What cannot be read, or fails, costs itself and no other class.
"""

import ast
import itertools
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from course.check.base import fail
from course.check.limits import TookTooLong, own_line, time_limit

FILE = "models.py"
#: Seconds of work for one class statement, which only defines things.
STATEMENT_SECONDS = 3.0
_STARTS = re.compile(r"(class|def|async def|import|from|@)\b|@|\w+ *(:[^=]*)?=")
#: Lines that IPython alone understands: %%writefile, or a notebook that was saved as a script, leaves them in a file.
_NOTEBOOK_LINE = re.compile(r"(?m)^([ \t]*)(%{1,2}[a-z]|!|(?:pip3?|conda|mamba)[ \t]+install\b).*$")
_NAMES = re.compile(r"(?:async +)?(class|def) +(\w+)|(\w+) *(?::[^=]*)?=")


class NotRead(AttributeError):
    """A class is not there; the message says why, in one sentence."""


@dataclass(frozen=True)
class Statement:
    """A top-level statement: the names it binds, and its code or what Python says against it."""

    names: tuple[str, ...]
    line: int
    code: CodeType | None
    problem: str = ""


def read_models(path: Path = Path(FILE)) -> ModuleType:
    """The file as the module ``models``, new in ``sys.modules``: no class of an earlier version is left in it.

    Asking the module for a name that could not be read, or failed, raises NotRead with the reason; :func:`unread`
    lists them. Raises OSError where there is no such file.
    """
    data = path.read_bytes()
    known = sys.modules.get("models")
    if known is not None and getattr(known, "_read_from", None) == data:
        return known
    module = ModuleType("models")
    module.__file__ = str(path.absolute())
    missing: dict[str, str] = {}
    module.__dict__.update(_unread=missing, _read_from=data, __getattr__=lambda name: _missing(name, missing))
    sys.modules["models"] = module
    linecache.checkcache(module.__file__)
    text, left_out = _as_python(data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\0", "\ufffd"))
    vars(module)["_left_out"] = left_out
    for statement in _statements(text, module.__file__):
        problem = statement.problem or _run(statement, module)
        if problem:
            for name in statement.names or (FILE,):
                missing.setdefault(name, problem)
    return module


def unread(models: ModuleType) -> dict[str, str]:
    """name -> why it was not read; :data:`FILE` for a statement that binds no name"""
    found: dict[str, str] = vars(models).get("_unread", {})
    return found


def require_whole(models: ModuleType) -> None:
    """Raises NotRead where Python itself could not import the file."""
    for why in unread(models).values():
        raise NotRead(f"{why}, so Python cannot import {FILE}.")


def load(name: str) -> Any:
    """The class called ``name``, read anew from ``models.py``, so that the last saved change counts.

    Raises CheckFailed where the file is missing, or the class is not there or cannot be read. Where another class
    cannot be read, it says so.
    """
    try:
        models = read_models()
    except OSError:
        fail(
            FILE,
            "the file must lie in the same folder as this notebook.",
            f"It is not in {Path.cwd()}.",
            "It came with the notebook. On Colab: the panel “Files” at the left has a button for uploading.",
        )
    missing = unread(models)
    if name in missing:
        look = "The cause often stands one line further up: a bracket that is not closed, a colon that is missing."
        fail(FILE, f"Python must be able to read class {name}.", f"{missing[name]}.", look)
    others = " ".join(f"{why}." for why in dict.fromkeys(missing.values()))
    if name not in vars(models):
        came = f"{FILE} defines none of this name. {others}".strip()
        fail(FILE, f"a class called {name} is expected.", came, "Is it spelt so? Was the file saved?")
    if others:
        print(f"{others} The rest of {FILE} is used here, but Python itself cannot import the file.")
    for sentence in vars(models)["_left_out"]:  # lines for a notebook, such as %pip install x
        print(f"{sentence}.")
    return getattr(models, name)


def module_of(student_class: Any) -> ModuleType:
    """The module that a class was written in: where its names for other classes are looked up."""
    return sys.modules[student_class.__module__]


def _missing(name: str, why: dict[str, str]) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotRead(
        f"{why[name]}, so class {name} was not read." if name in why else f"{FILE} has no class {name}: is it misspelt?"
    )


def _run(statement: Statement, module: ModuleType) -> str:
    """Why it failed; empty where it did not."""
    try:
        with time_limit(STATEMENT_SECONDS, cpu=True):
            exec(statement.code or "", module.__dict__)
    except TookTooLong as late:
        return f"Line {statement.line} of {FILE} begins what does not end: it was stopped after {late.seconds:g} s"
    except (Exception, SystemExit) as error:
        found = re.search(r"line (\d+)", own_line(error))
        line = found[1] if found else statement.line
        return f"Line {line} of {FILE} stopped with {type(error).__name__}: {error}"
    return ""


def _as_python(text: str) -> tuple[str, list[str]]:
    """The text with its lines for a notebook switched off, each with a sentence about it."""
    found: list[str] = []

    def tell(number: int, line: str) -> None:
        found.append(f"Line {number} of {FILE}, {line.strip()!r}, belongs in a notebook: it was left out")

    def switched_off(match: re.Match[str]) -> str:
        tell(text.count("\n", 0, match.start()) + 1, match[0])
        return f"{match[1]}pass  # {match[0].strip()}"

    tree = _parsed(text)
    if not isinstance(tree, ast.Module):
        text = _NOTEBOOK_LINE.sub(switched_off, text)
        return text, found
    lines = text.split("\n")
    for statement in tree.body:  # a notebook that was saved as a script has calls in their place
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("get_ipython()."):
            tell(statement.lineno, lines[statement.lineno - 1])
            for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
                lines[number] = ""
    return "\n".join(lines), found


def _statements(text: str, file: str) -> Iterator[Statement]:
    """The statements of the whole file where Python can read it, else those of its parts, as far as it can."""
    whole = _parsed(text)
    if isinstance(whole, ast.Module):
        yield from _compiled(whole, file)
        return
    for start, part in _parts(text):
        parsed = _parsed("\n" * start + part)
        if isinstance(parsed, ast.Module):
            yield from _compiled(parsed, file)
        else:
            yield Statement(_named(part), start + 1, None, parsed)


def _parsed(text: str) -> ast.Module | str:
    """The tree, or what Python says against the text."""
    try:
        tree = ast.parse(text)
        compile(tree, FILE, "exec", dont_inherit=True)  # "return outside function" is found here and no earlier
    except SyntaxError as error:
        return f"Line {error.lineno} of {FILE} is not valid Python ({error.msg})"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{FILE} is not valid Python ({type(error).__name__})"
    return tree


def _compiled(tree: ast.Module, file: str) -> Iterator[Statement]:
    future = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    for statement in tree.body:
        code = compile(ast.Module([*future, statement], []), file, "exec", dont_inherit=True)
        yield Statement(_bound(statement), statement.lineno, code)


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return (statement.name,)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return tuple((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    return tuple(
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """(lines before it, text) of every part that begins where a top-level statement may begin."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _STARTS.match(line)]
    # a decorator belongs to what follows it
    starts = [number for number in starts if number == 0 or not lines[number - 1].startswith("@")]
    bounds = [0, *(number for number in starts if number), len(lines)]
    for start, end in itertools.pairwise(bounds):
        yield start, "\n".join(lines[start:end])


def _named(part: str) -> tuple[str, ...]:
    found = _NAMES.match(re.sub(r"\A(@.*\n)+", "", part))
    return (found[2] or found[3],) if found else ()
