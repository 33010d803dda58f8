"""The corpus of plain test cells in ``corpus/*.toml``: solution, wrong answers, test, and where it is judged."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Answer:
    """What a student might write in the solution's place, and the points that it earns in one process."""

    source: str
    points: float


@dataclass(frozen=True)
class Entry:
    """setup: a trusted cell above the solution. odd: right answers in a style that is not the solution's.

    only_ipython: the test is no Python without IPython (magics, a bare ``await``).
    """

    name: str
    setup: str
    solution: str
    test: str
    points: float
    answers: tuple[Answer, ...]
    odd: tuple[Answer, ...]
    judged: str
    needs: tuple[str, ...]
    only_ipython: bool

    @property
    def can_run(self) -> bool:
        return all(find_spec(name) for name in self.needs)

    @property
    def all_answers(self) -> tuple[Answer, ...]:
        """The solution first."""
        return (Answer(self.solution, self.points), *self.answers)


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(_entry(one) for path in sorted(FOLDER.glob("*.toml")) for one in _read(path))


def _read(path: Path) -> list[dict]:
    return tomllib.loads(path.read_text(encoding="utf-8"))["entry"]


def _entry(one: dict) -> Entry:
    wrong = [Answer(source, 0.0) for source in one.get("wrong", [])]
    partly = [Answer(answer["code"], answer["points"]) for answer in one.get("partly", [])]
    return Entry(
        one["name"],
        one.get("setup", "").strip("\n"),
        one["solution"].strip("\n"),
        one["test"].strip("\n"),
        one.get("points", 1),
        tuple(wrong + partly),
        tuple(Answer(source.strip("\n"), one.get("points", 1)) for source in one.get("right", [])),
        one.get("judged", "outside"),
        tuple(one.get("needs", ())),
        one.get("only_ipython", False),
    )


def notebook(chosen: Sequence[Entry], answer: int = 0) -> NotebookNode:
    """A source notebook of entries, in order. answer: which of each entry's answers stands in the solution cell."""
    return new_notebook(cells=[cell for one in chosen for cell in _cells(one, answer)])


def _cells(one: Entry, answer: int) -> Iterator[NotebookNode]:
    """An entry with fewer answers gets its last."""
    written = one.all_answers[min(answer, len(one.answers))].source
    if one.setup:
        yield new_code_cell(one.setup, metadata=marks(f"{one.name}_setup", locked=True))
    yield new_code_cell(
        f"### BEGIN SOLUTION\n{written}\n### END SOLUTION", metadata=marks(f"{one.name}_answer", solution=True)
    )
    yield new_code_cell(one.test, metadata=marks(one.name, grade=True, locked=True, points=one.points))


def marks(grade_id: str, **given: object) -> dict[str, dict]:
    """nbgrader's metadata of a cell."""
    flags = {"grade": False, "locked": False, "solution": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": grade_id, **flags, **given}}
