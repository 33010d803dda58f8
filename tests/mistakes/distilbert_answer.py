"""What one student wrote into one solution cell of the DistilBERT sheet, and what it deserves."""

from __future__ import annotations

from dataclasses import dataclass

from tests.grading import solution

EMBEDDING, BLOCK, MODEL, PICTURE = (
    "1_embedding",
    "2_attention_block",
    "3_model_assembly",
    "4_attention_visualization",
)


@dataclass(frozen=True)
class StudentAnswer:
    """``text`` is the whole cell; where there is none it is the instructor's, ``changes`` (old, new) applied.

    loses: the graded cells that lose all their points; every other cell of the notebook keeps its own
    mistake: the catalogue's id by which the feedback must call it; None where it has no name
    unseen: the visible check cannot see it (its inputs are others than the hidden ones)
    fast: runs with ``make test-fast`` too
    """

    name: str
    notebook: str
    cell: str
    text: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    loses: tuple[str, ...] = ()
    mistake: str | None = None
    unseen: bool = False
    fast: bool = False

    def source(self) -> str:
        """The cell's text. Raises AssertionError where the instructor's solution has no such line (any more)."""
        if self.text:
            return self.text
        source = solution("distilbert", self.notebook, self.cell)
        for old, new in self.changes:
            assert old in source, f"{self.name}: the solution of {self.cell} has no {old!r}"
            source = source.replace(old, new)
        return source
