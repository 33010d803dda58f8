"""Tables in Markdown: printed row by row, so that a run cut short keeps what it measured, and kept for a file."""

from __future__ import annotations

from collections.abc import Sequence

_LINES: list[str] = []


def say(line: str) -> None:
    print(line, flush=True)
    _LINES.append(line)


def title(text: str) -> None:
    say(f"\n## {text}\n")


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
