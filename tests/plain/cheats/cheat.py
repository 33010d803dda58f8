"""What a cheat is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cheat:
    """One submission. Its trick stands in the answer cell of the exercise that it attacks.

    target: id of the exercise; code: the trick; answer: what follows it, the honest wrong answer where it is None.
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
