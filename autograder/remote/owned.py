"""One side's own objects of which the other side holds handles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.remote.kinds import CannotCross


class OwnedObjects:
    """Each object under one number, for as long as the other side holds its handle."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._next = 1

    def number(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number, self._next = self._next, self._next + 1
            self._objects[number], self._numbers[id(value)] = value, number
        return number

    def object(self, number: Any) -> Any:
        if type(number) is not int or number not in self._objects:
            raise CannotCross("expected an object that was handed over before")
        return self._objects[number]

    def numbers(self) -> Iterable[int]:
        return self._objects.keys()

    def forget(self, numbers: Iterable[Any]) -> None:
        for number in numbers:
            if type(number) is int and number in self._objects:
                del self._numbers[id(self._objects.pop(number))]
