"""The cheats: each is one submission. Its trick stands in the answer cell of the exercise that it attacks.

The exercises have test cells as people write them, a right answer, and an honest wrong one.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cheat:
    """target: id of the exercise; code: the trick; answer: what follows it, the honest wrong answer where it is None.

    early, late: cells of the student's at the start and at the end; files: what lies beside the notebook.
    """

    id: str
    target: str
    tries: str
    code: str = ""
    answer: str | None = None
    early: str = ""
    late: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


#: First letter of a cheat's id -> file, and what such cheats are.
KINDS = {
    "V": ("values", "answers that are no numbers, lists or texts, but agree with whoever asks"),
    "O": ("objects", "objects that answer for a plain value, or one question in two ways"),
    "P": ("process", "changes of the process in which the answer runs"),
    "R": ("reach", "reaches for what the test holds: its objects, random numbers, text, process"),
    "C": ("channel", "forged, endless and oversized messages to the grader"),
    "A": ("around", "ways around what a test compares: loops over nothing, branches, errors that it catches"),
    "L": ("learning", "ways to learn the test in one process and use it in another"),
}


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def _cheats() -> Iterator[Cheat]:
    lent = table("lent")
    for letter, (file, _) in KINDS.items():
        for name, one in table(file).items():
            if letter == "L":
                one = {"target": "mean", "answer": "#use KNOWN", "late": "print(get())", **one}
                one |= {"tries": f"what the test says, by {one['tries']}", "code": f"#use LEARN\n{one['code']}"}
            for part in one.keys() - {"target", "tries", "files"}:
                one[part] = re.sub(r"#use (\w+)", lambda found: lent[found[1]], one[part])
            yield Cheat(name, **one)


CHEATS = sorted(_cheats(), key=lambda cheat: cheat.id)


@dataclass(frozen=True)
class Target:
    """One exercise. ``earns``: what the honest wrong answer gets, 0 but for partial credit.

    ``given``: imports that its notebook needs beside ``GIVEN``. ``judged``: by its text, where. ``more``: test cells
    that follow. ``own``: why the assert itself takes what the cheat of its own gives, whatever a grader does.
    """

    id: str
    right: str
    wrong: str
    visible: str
    hidden: str
    points: float = 2
    earns: float = 0
    given: str = ""
    judged: str = "outside"
    more: Sequence[str] = ()
    own: str = ""

    @property
    def cells(self) -> list[str]:
        """The ids of its test cells."""
        return [self.id, *(f"{self.id}_{number}" for number, _ in enumerate(self.more, 1))]

    @property
    def tests(self) -> list[tuple[str, float]]:
        """Each test cell and its points."""
        return [(f"{self.visible}\n{self.hidden}", self.points), *((test, self.points) for test in self.more)]


#: The instructor's first cell, with imports and helpers that the tests use, and a module beside the notebook.
GIVEN, HELPER = (table("lent")[name] for name in ("GIVEN", "HELPER"))
TARGETS = [Target(name, **one) for name, one in table("exercises").items()]
BY_ID = {target.id: target for target in TARGETS}


def _alone() -> Iterator[tuple[str, Target, Cheat]]:
    for file in ("passing_values", "passing_names", "passing_state"):
        for kind, group in table(file).items():
            for name, one in group.items():
                tries, answer = one.pop("tries"), one.pop("cheat")
                yield kind, Target(name, **one), Cheat(name, name, tries, answer=answer)


#: Kind, exercise and its one cheat, which gives the test what the solution does not give, and passes.
ALONE = tuple(_alone())
