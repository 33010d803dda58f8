"""A graded submission, ready to be saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.model.answer_digests import Digests
from autograder.model.verdict import SubmissionVerdict


@dataclass(frozen=True)
class Graded:
    """A verdict, and the notebooks with the verdict written into them, ready to be saved.

    ``answers``: per notebook what the student answered, as digests; None where nobody could read it.
    ``slowest`` is what the slowest part of a cell took, in seconds; ``cut`` is true where a limit ended one.
    ``ran``: the notebooks that were run for this verdict; the others were judged by an earlier run.
    """

    verdict: SubmissionVerdict
    notebooks: Mapping[str, NotebookNode]
    log: tuple[str, ...]
    slowest: float = 0.0
    cut: bool = False
    answers: Mapping[str, Digests] | None = None
    ran: tuple[str, ...] = ()
