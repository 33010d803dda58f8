"""Short words for the judgements that rules give: right, wrong, or wrong in a way that has a name."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.exercise import Judgement
from autograder.oracles.attention import Knobs
from autograder.verdict import Check


@dataclass(frozen=True)
class TurnedKnobs:
    """A known mistake of the attention block: how a student is told of it, and which knobs it turns."""

    id: str
    message: str
    hint: str
    knobs: Knobs


def right(name: str) -> Judgement:
    return Judgement([Check(name, True)])


def wrong(name: str, message: str, hint: str = "") -> Judgement:
    """Wrong in a way that the catalogue does not know."""
    return Judgement([Check(name, False, message, hint)])


def named(mistake: str, message: str, hint: str) -> Judgement:
    """Wrong in a way that has a name."""
    return Judgement([Check(mistake, False, message, hint, mistake)])
