"""What the report says of questions on students' own code: shared tokens, and code that was asked nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from autograder.model.verdict import SubmissionVerdict
from autograder.pipeline.judge_questions import ASKED_NOTHING
from autograder.report.code import Answer

_TOKEN = re.compile(r"""["']token["']\s*:\s*["']([0-9a-f]{8})-[0-9a-f]{8}["']""")


def same_tokens(answers: Iterable[Answer]) -> list[tuple[str, tuple[str, ...]]]:
    """(place, students) for every token that two students have: it is drawn at random for each."""
    who: dict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in answers:
        for token in _TOKEN.findall(answer.source):
            who[answer.place, token].add(answer.student)
    return sorted((place, tuple(sorted(students))) for (place, _), students in who.items() if len(students) > 1)


def asked_nothing(verdicts: Sequence[SubmissionVerdict]) -> list[tuple[str, str, str]]:
    """(cell, student, reason) where a student's code was asked nothing for a reason that a person should know."""
    return [
        (cell.cell, verdict.student, check.message)
        for verdict in verdicts for notebook in verdict.notebooks for cell in notebook.cells
        for check in cell.checks if check.name == ASKED_NOTHING
    ]  # fmt: skip
