"""Copies of what a test hands over, where the solution leaves it as it is: what a student's code does to its copy
changes nothing that the test compares with.
"""

from __future__ import annotations

import copy
from collections import deque
from contextlib import suppress
from typing import Any

from autograder.remote.connection import Connection
from autograder.remote.kinds import SharedKind, kind_of, kind_of_base
from autograder.remote.objects import read_state, write_state
from autograder.remote.wire import tag_of_known

_LIBRARIES = ("numpy", "torch", "pandas")


class Lent:
    """The copies of one call: what is the same object in two arguments stays the same."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._made: dict[int, tuple[Any, Any]] = {}  # by the original's id, with it: so that the id stays its own

    def copy(self, value: Any) -> Any:
        """The value itself where it is no data, the student's own, or cannot be copied."""
        if id(value) not in self._made:
            number = self._connection.shared.number_of(value)
            made = value
            if number is None or number % 2 == 0:
                with suppress(Exception):
                    made = self._copy(value, type(value))
            self._made[id(value)] = value, made
        return self._made[id(value)][1]

    def _copy(self, value: Any, cls: type) -> Any:
        if cls in (tuple, frozenset):
            return cls(map(self.copy, value))
        if self._connection.known_class(cls) and tag_of_known(cls) == "instance" and kind_of_base(cls) is None:
            made: tuple[Any, Any] = (value, object.__new__(cls))
            self._made[id(value)] = made
            write_state(made[1], {name: self.copy(one) for name, one in read_state(value).items()})
            return made[1]
        if not isinstance(kind_of(cls), SharedKind):
            return value
        if cls.__module__.partition(".")[0] in _LIBRARIES:
            holds_objects = getattr(getattr(value, "dtype", None), "hasobject", False)
            return copy.copy(value) if holds_objects else copy.deepcopy(value)
        return self._container(value, cls)

    def _container(self, value: Any, cls: type) -> Any:
        if cls not in (list, set, deque) and not issubclass(cls, dict):
            return value  # a file or a generator: to move on in it is to change it
        made = copy.copy(value)
        self._made[id(value)] = value, made  # it may hold itself
        if cls in (list, deque):
            for at, one in enumerate(value):
                made[at] = self.copy(one)
        elif cls is not set:
            dict.update(made, {key: self.copy(one) for key, one in value.items()})
        return made
