"""The cheats: each is one submission. Its trick stands in the answer cell of the exercise that it attacks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
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
