"""Tables in Markdown: printed row by row, so that a run cut short keeps what it measured, and kept for a file."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version

_LINES: list[str] = []


def say(line: str) -> None:
    print(line, flush=True)
    _LINES.append(line)


def title(text: str) -> None:
    """A heading, and what the table below it was measured with."""
    say(f"\n## {text}\n")
    of = version("transformer-course-autograder")
    say(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}; version {of}\n")


def row(values: Sequence[str]) -> None:
    say("| " + " | ".join(values) + " |")


def heads(names: Sequence[str]) -> None:
    row(names)
    say("|" + "---|" * len(names))


def spread(values: Sequence[float], digits: int = 1) -> str:
    """The middle one, and the least and the most: ``10.2 (9.8 to 11.0)``."""
    middle = sorted(values)[len(values) // 2]
    return f"{middle:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def everything() -> str:
    """All that was said so far."""
    return "\n".join(_LINES) + "\n"
