"""What students were to write into a solution cell of code, read from its solution and its released stub."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from nbformat import NotebookNode

from autograder.model import cells
from autograder.plain.names import names_of, statements_of


@dataclass(frozen=True)
class Gap:
    """One solution cell of code.

    asked: the names that an answer must bind; empty where it binds none. own: all names that the cell may bind without
    standing in for another cell. given: the statements that stub and solution have in common.
    """

    stub: str
    asked: frozenset[str]
    own: frozenset[str]
    given: frozenset[str]

    def stub_without(self, names: Iterable[str]) -> str:
        """The stub without the placeholders of these names: the student has bound them elsewhere.

        Given statements stay, so that what the stub hands out is not lost.
        """
        taken, body = set(names), statements_of(self.stub)
        dropped = [node for node in body if _text(node) not in self.given and names_of(_text(node)).bound & taken]
        if not dropped:
            return self.stub
        lines: dict[int, bool] = {}  # number -> whether it is kept
        for node in body:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            for number in range(first, (node.end_lineno or first) + 1):
                if lines.setdefault(number, node not in dropped) != (node not in dropped):
                    return "\n".join(_text(one) for one in body if one not in dropped)  # two statements on one line
        numbered = enumerate(self.stub.split("\n"), 1)
        return "\n".join(line for number, line in numbered if lines.get(number, True)).strip("\n")


def gaps_of(source: NotebookNode, stubs: Mapping[str | None, str]) -> dict[str, Gap]:
    """Grade id -> gap, for the solution cells of code. stubs: grade id -> released text."""
    used = frozenset().union(
        *(names_of(cell.source).loaded for cell in source.cells if cell.cell_type == "code" and cells.is_locked(cell))
    )
    return {
        grade_id: _gap(cell.source, stubs.get(grade_id, ""), used)
        for cell in source.cells
        if cell.cell_type == "code" and cells.is_solution(cell) and (grade_id := cells.grade_id(cell))
    }


@lru_cache(maxsize=512)
def _gap(solution: str, stub: str, used: frozenset[str]) -> Gap:
    released, solved = names_of(stub).bound, names_of(solution).bound
    answers = {_text(node) for node in statements_of(solution)}
    given = frozenset(text for node in statements_of(stub) if (text := _text(node)) in answers)
    handed_out = frozenset().union(*(names_of(text).bound for text in given))
    asked = (released - handed_out) | ((solved - released) & used)
    if answers <= given:  # a cell without a solution: all of it is to be changed
        asked = released
    return Gap(stub, asked, released | solved, given)


def _text(node: ast.stmt) -> str:
    return ast.unparse(node)


def added_definitions(text: str, released: str) -> str:
    """What a student wrote into a locked cell of code: the statements that bind names which the cell does not bind."""
    bound = names_of(released).bound
    known = {_text(node) for node in statements_of(released)}
    added = (_text(node) for node in statements_of(text) if not isinstance(node, ast.Assert))
    return "\n".join(one for one in added if one not in known and names_of(one).bound - bound)
