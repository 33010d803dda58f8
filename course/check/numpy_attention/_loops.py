"""Finding Python loops in the source of a function and of the functions that it calls."""

import ast
import re

#: Library calls that are a Python loop under another name.
DISGUISED = {
    "map",
    "vectorize",
    "apply_along_axis",
    "apply_over_axes",
    "frompyfunc",
    "fromiter",
    "fromfunction",
    "nditer",
    "ndenumerate",
    "ndindex",
    "starmap",
    "exec",
    "eval",
}
LOOPS: dict[type, str] = {
    ast.For: "a for loop",
    ast.AsyncFor: "a for loop",
    ast.While: "a while loop",
    ast.ListComp: "a list comprehension",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression",
}


def find_loops(source: str, name: str) -> list[str] | None:
    """Each loop in words, in the function ``name`` and in what it mentions; None where there is no such function."""
    functions = _definitions(source)
    if name not in functions:
        return None
    modules = {"functools", *re.findall(r"\bfunctools\s+as\s+(\w+)", source)}
    return [
        f"{what} in {each}, line {line}"
        for each in _reachable(functions, name)
        for what, line in _loops(functions[each], modules)
    ]


def _definitions(source: str) -> dict[str, ast.FunctionDef]:
    """name -> the last function of that name at the top level; a broken cell elsewhere is no matter."""
    tree = _parsed(source)
    blocks = [tree] if tree else [_parsed(block) for block in re.split(r"(?m)^(?=[\w@%!])", source)]
    statements = [statement for block in blocks if block for statement in block.body]
    return {statement.name: statement for statement in statements if isinstance(statement, ast.FunctionDef)}


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: brackets or signs nested too deep
        return None


def _reachable(functions: dict[str, ast.FunctionDef], name: str) -> list[str]:
    seen = [name]
    for each in seen:  # grows while it is walked
        mentioned = {node.id for node in ast.walk(functions[each]) if isinstance(node, ast.Name)}
        seen += [other for other in functions if other in mentioned and other not in seen]
    return seen


def _functools_reduce(called: ast.expr, modules: set[str]) -> bool:
    """True for reduce(…) and functools.reduce(…); the reduce of a NumPy function loops in C."""
    if isinstance(called, ast.Attribute):
        return called.attr == "reduce" and isinstance(called.value, ast.Name) and called.value.id in modules
    return isinstance(called, ast.Name) and called.id == "reduce"


def _loops(function: ast.FunctionDef, modules: set[str]) -> list[tuple[str, int]]:
    """What loops in the body, in words, each with its line counted from the function's first.

    modules: names that mean functools
    """
    found = []
    for node in ast.walk(function):
        if type(node) in LOOPS:
            found.append((LOOPS[type(node)], getattr(node, "lineno", 0) or function.lineno))
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in DISGUISED or _functools_reduce(node.func, modules):
                found.append((f"{called}(…), a loop in disguise", node.lineno))
            elif called == function.name:
                found.append(("a call of itself", node.lineno))
    return found
