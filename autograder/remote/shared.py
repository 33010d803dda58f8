"""Objects that both kernels hold a copy of: each has one number, and what changes on one side is told to the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.remote.kinds import CannotCross


class SharedObjects:
    """One side's table. The tester gives even numbers, the student's kernel odd ones."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._parity = first % 2
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._entries: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, value: Any, number: Any = None) -> int:
        """number: the one that the other side gave; without it, a new one."""
        if number is None:
            number, self._next = self._next, self._next + 2
        elif type(number) is not int or number % 2 == self._parity:
            raise CannotCross("expected a number that the other side may give")
        self._objects[number], self._numbers[id(value)] = value, number
        return number

    def number_of(self, value: Any) -> int | None:
        return self._numbers.get(id(value))

    def numbers(self) -> Iterable[int]:
        return self._objects.keys()

    def holds(self, number: Any) -> bool:
        return type(number) is int and number in self._objects

    def object(self, number: Any) -> Any:
        if not self.holds(number):
            raise CannotCross("expected an object that was handed over before")
        return self._objects[number]

    def entry(self, number: int) -> Any:
        """What the other side last heard of it."""
        return self._entries.get(number)

    def remember(self, number: int, entry: Any) -> None:
        self._entries[number] = entry

    def forget(self, numbers: Iterable[Any]) -> None:
        for number in numbers:
            if self.holds(number):
                self._numbers.pop(id(self._objects.pop(number)), None)
                self._entries.pop(number, None)

    def clear(self) -> None:
        self.forget(list(self._objects))
