"""Classes that cross by name: those of data, built-in exceptions, and those of the course's own cells."""

from __future__ import annotations

from typing import Any

from autograder.remote.describe import crosses_by_name
from autograder.remote.kinds import CannotCross, InlineKind, register
from autograder.remote.names import find_class


def _read(payload: Any, decoder: Any) -> type:
    cls = find_class(payload[0], payload[1], decoder.side.namespace())
    if cls is None or not (crosses_by_name(cls) or decoder.side.known_class(cls)):
        raise CannotCross(f"expected a class of data, but got {str(payload[1])[:80]}")
    return cls


register(InlineKind("type", lambda value, _: value, _read))
