"""All mutants of a part of a solution: every operator at every place, each result once."""

import ast
import difflib
import hashlib
import warnings
from dataclasses import dataclass

from autograder.model.cells import tree_of
from autograder.mutants import arrays, python
from autograder.mutants.parts import SolutionPart
from autograder.mutants.source import Edit, Source

OPERATORS = (*arrays.OPERATORS, *python.OPERATORS)  # a change that both make is called by the field
_MAX_WORDS = 70


@dataclass(frozen=True)
class Mutant:
    """One small change to a solution.

    id: stable as long as the changed statement is. line: in the text of the cell or file. before, after: what was
    changed, shortened. message: True where only the text of an error is changed.
    """

    id: str
    part: SolutionPart
    operator: str
    line: int
    before: str
    after: str
    text: str
    message: bool = False

    @property
    def description(self) -> str:
        return f"{self.operator}, line {self.line}: {self.before} → {self.after}"

    def diff(self) -> str:
        """The change as a unified diff without context."""
        old, new = self.part.text.splitlines(), self.text.splitlines()
        lines = difflib.unified_diff(old, new, self.part.place, self.id, n=0, lineterm="")
        return "\n".join(list(lines)[2:])


def mutants(part: SolutionPart) -> list[Mutant]:
    """In the order of the text; empty where the solution is no Python."""
    try:
        source = Source(part.text, part.lines)
    except SyntaxError:
        return []
    seen, found = {ast.dump(source.tree)}, []
    for edit in sorted(
        (edit for operator in OPERATORS for edit in operator(source)), key=lambda edit: (edit.start, edit.end)
    ):
        text = source.applied(edit)
        shape = _shape(text)
        if shape and shape not in seen:
            seen.add(shape)
            found.append(_mutant(part, source, edit, text))
    return found


def _shape(text: str) -> str:
    """The syntax tree as text; empty where the text is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = tree_of(text)
            compile(tree, "", "exec")
        return ast.dump(tree)
    except (SyntaxError, ValueError):
        return ""


def _mutant(part: SolutionPart, source: Source, edit: Edit, text: str) -> Mutant:
    start, end = source.statement(edit.start)
    statement = source.data[start:end]
    changed = source.data[start : edit.start] + edit.text.encode() + source.data[edit.end : max(end, edit.end)]
    earlier = source.data[:start].count(statement)  # the same statement further up
    name = hashlib.sha256(b"\0".join([part.name.encode(), statement, changed, str(earlier).encode()])).hexdigest()[:8]
    line = source.data[: edit.start].count(b"\n") + 1
    before = source.data[edit.start : edit.end].decode()
    return Mutant(
        f"{part.name}-{name}",
        part,
        edit.operator,
        line,
        _short(before),
        _short(edit.text),
        text,
        source.is_message(edit),
    )


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - 1] + "…"


def sample(chosen: list[Mutant], most: int, seed: int) -> list[Mutant]:
    """At most so many of them, the same for the same seed, whatever else there is; in the order given."""
    ranked = sorted(chosen, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.id}".encode()).digest())
    kept = {mutant.id for mutant in ranked[:most]}
    return [mutant for mutant in chosen if mutant.id in kept]
