"""Answers that an author writes down to test an exercise: right ones in many styles, wrong ones with their names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent, indent


@dataclass(frozen=True)
class SampleAnswer:
    """One right or wrong way to do an exercise.

    name: what is special about it; unique within the exercise.
    text: the whole answer (a cell or a file), or
    changes: (old, new) replacements in the instructor's solution, or
    methods: (class, method) -> the statements that replace that method's body in the instructor's solution.
    cells: other solution cells and files (by grade id or file name) that belong to the same answer, whole.
    points: what is left of the exercise's own points; None stands for all of them, as every right answer must have.
    share: the same as a share of the points, in place of ``points``.
    also_costs: points left of other graded cells, where the answer must lose some there too; all others lose nothing.
    mistake: the id that feedback must name; empty where the mistake has no name.
    passes_check: True where the visible check cannot see the mistake.
    cell: the solution cell or file; default ``Exercise.cell``, else ``<exercise>_answer``.
    """

    name: str = ""
    text: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    methods: Mapping[tuple[str, str], str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    points: float | None = None
    also_costs: Mapping[str, float] = field(default_factory=dict)
    mistake: str = ""
    passes_check: bool = False
    cell: str = ""
    share: float | None = None

    def __str__(self) -> str:
        return self.name


def variant(head: str, body: str) -> str:
    """The text of an answer: ``head`` (its last line ends in a colon), and below it the body, in any indentation."""
    deepest = head.split("\n")[-1]
    margin = len(deepest) - len(deepest.lstrip()) + 4
    return f"{head}\n{indent(dedent(body).strip(), ' ' * margin)}\n"
