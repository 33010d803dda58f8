"""Which object of the other side a handle stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Link:
    """connection: the one that asks; number: the other side's; ended: that kernel is gone."""

    connection: Any
    number: int
    about: dict[str, Any] = field(default_factory=dict, repr=False)
    ended: bool = False


class RemoteRefused(BaseException):
    """An operation that would let the other side decide what a test compares. No ``except Exception`` swallows it."""


class RemoteDied(BaseException):
    """The student's kernel is gone, or does not answer as one does. No ``except Exception`` swallows it."""
