"""Notebooks that a class might hand in, made from a course's own solutions: right, untouched, half done, wrong, odd.

Everything follows from a seed: the same course gives the same notebooks.
"""

import ast
import random
from collections.abc import Callable, Iterator, Mapping

import nbformat
from nbformat import NotebookNode

#: grade id -> the text of a solution cell
Answers = Mapping[str, str]

_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div,
               ast.Mod: ast.Mult, ast.Pow: ast.Mult}  # fmt: skip
#: What an answer ``v`` might be instead, by a student whose style is not the instructor's.
STYLES = (
    "tuple(v) if isinstance(v, list) else list(v) if isinstance(v, tuple) else v",
    "__import__('numpy').array(v) if isinstance(v, list) else v.tolist() if hasattr(v, 'tolist') else v",
    "__import__('numpy').asarray(v)[()] if type(v) in (int, float, bool) else v",
    "type('Mine', (type(v),), {})(v) if type(v) in (int, float, str, list, dict, tuple, set) else v",
    "iter(v) if isinstance(v, list) else float(v) if type(v) is int else v",
)


def class_of(
    source: Mapping[str, NotebookNode], release: Mapping[str, NotebookNode], region: tuple[str, str],
    seed: int, mutants: int, styles: int,
) -> Iterator[tuple[str, dict[str, NotebookNode]]]:  # fmt: skip
    """Student -> notebooks. region: the course's words for where a solution begins and ends."""
    solved = {name: dict(solutions(notebook, region)) for name, notebook in source.items()}

    def filled(change: Callable[[str, str, int], str | None]) -> dict[str, NotebookNode]:
        """change: what becomes of a solution, by its id, text and number; None leaves the cell untouched."""
        number, found = 0, {}
        for name, notebook in release.items():
            answers = {}
            for grade_id, text in solved[name].items():
                number += 1
                if (answer := change(grade_id, text, number)) is not None:
                    answers[grade_id] = answer
            found[name] = with_answers(notebook, answers)
        return found

    yield "solution", filled(lambda grade_id, text, number: text)
    yield "untouched", filled(lambda grade_id, text, number: None)
    yield "half-1", filled(lambda grade_id, text, number: text if number % 2 else None)
    yield "half-2", filled(lambda grade_id, text, number: None if number % 2 else text)
    for kind, change, number in (("mutant", mutated, mutants), ("style", restyled, styles)):
        for student in (f"{kind}-{which}" for which in range(1, number + 1)):
            chance = random.Random(f"{seed} {student}")
            yield student, filled(lambda grade_id, text, number: change(text, chance))  # noqa: B023


def solutions(notebook: NotebookNode, region: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The solution cells of a source notebook, without the lines that mark a region."""
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            lines = [line for line in cell.source.split("\n") if not any(word in line for word in region)]
            yield marks["grade_id"], "\n".join(lines)


def with_answers(notebook: NotebookNode, answers: Answers) -> NotebookNode:
    made = nbformat.from_dict(notebook)
    for cell in made.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return made


def mutated(text: str, chance: random.Random) -> str:
    """The code with one small mistake; as it is where it is no Python (magics, words), or nothing fits."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    sites = [(node, operator) for node in ast.walk(tree) for operator in _MISTAKES]
    chance.shuffle(sites)
    return ast.unparse(tree) if any(operator(node) for node, operator in sites) else text


def restyled(text: str, chance: random.Random) -> str:
    """The code with every returned value, or else every value given to a name, in another style."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    style = chance.choice(STYLES)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value]
    for node in nodes or [node for node in tree.body if isinstance(node, ast.Assign)]:
        node.value = ast.parse(f"(lambda v: {style})({ast.unparse(node.value)})", mode="eval").body
    return ast.unparse(tree)


def _compare(node: ast.AST) -> bool:
    if found := isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        node.ops[0] = _COMPARE[type(node.ops[0])]()
    return found


def _arithmetic(node: ast.AST) -> bool:
    if found := isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        node.op = _ARITHMETIC[type(node.op)]()
    return found


def _constant(node: ast.AST) -> bool:
    if found := isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
        value = node.value
        node.value = not value if isinstance(value, bool) else f"{value}x" if isinstance(value, str) else value + 1
    return found


def _condition(node: ast.AST) -> bool:
    if found := isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    return found


def _returned(node: ast.AST) -> bool:
    if found := isinstance(node, ast.Return) and node.value is not None:
        node.value = ast.Constant(None)
    return found


def _dropped(node: ast.AST) -> bool:
    if found := isinstance(getattr(node, "body", None), list) and len(node.body) > 1:
        del node.body[-1]
    return found


def _swapped(node: ast.AST) -> bool:
    if found := isinstance(node, ast.Call) and len(node.args) > 1:
        node.args[:2] = node.args[1::-1]
    return found


_MISTAKES = (_compare, _arithmetic, _constant, _condition, _returned, _dropped, _swapped)
