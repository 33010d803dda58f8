"""What a call prints, in order, so that it can be printed again where the test runs."""

import io
import sys
from typing import Any

from autograder.remote.kinds import CannotCross

MAX_PRINTED = 1 << 20


class _Stream(io.TextIOBase):
    def __init__(self, name: str, printed: "Printed") -> None:
        self._name, self._printed = name, printed

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._printed.add(self._name, str(text))
        return len(text)


class Printed:
    """``sys.stdout`` and ``sys.stderr`` for a while; bounded."""

    def __init__(self) -> None:
        self._parts: list[list[str]] = []
        self._size = 0
        self._before: list[tuple[Any, Any]] = []

    def add(self, stream: str, text: str) -> None:
        kept = text[: max(0, MAX_PRINTED - self._size)]
        self._size += len(text)
        if kept and self._parts and self._parts[-1][0] == stream:
            self._parts[-1][1] += kept
        elif kept:
            self._parts.append([stream, kept])

    def take(self) -> list[list[str]]:
        """What was printed since it was last taken: [[stream, text], …]."""
        parts, self._parts = self._parts, []
        if self._size > MAX_PRINTED:
            parts.append(["stderr", f"\\n[{self._size - MAX_PRINTED:,} more characters were printed]\\n"])
            self._size = MAX_PRINTED
        return parts

    def __enter__(self) -> "Printed":
        self._before.append((sys.stdout, sys.stderr))
        sys.stdout, sys.stderr = _Stream("stdout", self), _Stream("stderr", self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._before.pop()


def replay(parts: Any) -> None:
    """Print it again. Raises CannotCross where it is nothing that was printed."""
    told = isinstance(parts, list) and all(isinstance(part, list) and len(part) == 2 for part in parts)
    if not told or not all(isinstance(word, str) for part in parts for word in part):
        raise CannotCross("expected what was printed")
    for stream, text in parts:
        target = sys.stderr if stream == "stderr" else sys.stdout
        target.write(text[: 2 * MAX_PRINTED])
