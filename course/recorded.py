"""What the check of a question with answers to choose from prints: that it read the answer, and no more."""

from __future__ import annotations


def recorded(name: str, what: str) -> None:
    """Print that an answer was read, without a ✓. Whether it is right is said after grading, with the reason."""
    print(f"– {name}: recorded, {what}. This says nothing about right or wrong: the feedback does, with the reason.")
