"""What a forked kernel is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Launch:
    """Its folder, its environment, and where its connection file lies: empty for a tester, which needs none.

    talkative: whether clients of Jupyter's listen, for a heartbeat and every status; the grader needs neither.
    """

    folder: str
    variables: dict[str, str]
    connection_file: str
    talkative: bool = False
