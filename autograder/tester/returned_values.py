"""What the student's code gave to each statement of a test: said where the statement failed and students may see it."""

import reprlib
from collections import deque
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np

from autograder.remote.places import line_in
from autograder.remote.tester import Remote
from autograder.tester.passed import PassedChecks

#: Values that are said of one statement, and characters of each.
MAX_VALUES = 3
MAX_CHARACTERS = 200
_KEPT = 50
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 10
_SHORT.maxstring, _SHORT.maxother = 100, MAX_CHARACTERS
#: As sets: a class of the student's may equal one of these by its name, but has another hash.
_PLAIN = {bool, int, float, complex, str, bytes, type(None)}
_CONTAINERS = {list, tuple, set, frozenset, dict}


class RecordingRemote(Remote):
    """Remembers the last values that calls gave, each with the line of the notebook that called.

    checks: they prove nothing while the student's code calls the test's.
    """

    values: deque[tuple[int, Any]]

    def __init__(self, ask: Callable[[str], str], namespace: MutableMapping[str, Any], checks: PassedChecks) -> None:
        super().__init__(ask, namespace)
        self._checks = checks

    def perform(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        before, self._checks.asleep = self._checks.asleep, True
        try:
            return super().perform(operation, args, kwargs)
        finally:
            self._checks.asleep = before

    def ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        value = super().ask(operation, *args, **kwargs)
        if operation in ("__call__", "method"):
            self.values.append((line_in(self.namespace()), value))
        return value

    def forget_values(self) -> None:
        self.values = deque(maxlen=_KEPT)

    def given_to(self, first: int, last: int) -> list[str]:
        """The plain values that calls from these lines gave, as text, the last of them."""
        texts = [_text(value) for line, value in self.values if first <= line <= last and is_plain(value)]
        return [text for text in texts if text][-MAX_VALUES:]


def _text(value: Any) -> str:
    """Empty where Python refuses to write the value, as it does an integer of many digits."""
    try:
        return _SHORT.repr(value)[:MAX_CHARACTERS]
    except ValueError:
        return ""


def is_plain(value: Any, depth: int = 3) -> bool:
    """Whether a value is data through and through, so that its text asks nobody."""
    if type(value) in _PLAIN:
        return True
    if type(value) is np.ndarray:
        return bool(value.dtype.kind in "biufcSU")
    if not depth or type(value) not in _CONTAINERS:
        return type(value).__module__ == "numpy" and isinstance(value, np.generic)
    inside = [*value.keys(), *value.values()] if type(value) is dict else value
    return all(is_plain(one, depth - 1) for one in inside)
