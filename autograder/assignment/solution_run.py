"""What reached a test from the instructor's solution, and how a submission's visits differ from it.

A submission passes without doubt only where the test holds and all that came is what the solution gave there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal

from autograder.remote.alike import difference, difference_in_kind
from autograder.remote.snapshots import Snapshot

_PRINTED = "printed"
_MAX_SHOWN = 60


@dataclass(frozen=True)
class Visited:
    """One place. takes: ``same`` values as the solution's, or any of their ``kind`` and shape.

    least: how often it was visited at least; most: at most, None where that is chance. lengths: whether there were
    always as many elements.
    """

    came: Sequence[Snapshot]
    takes: Literal["same", "kind"] = "same"
    least: int = 0
    most: int | None = None
    lengths: bool = True

    def with_run(self, came: Sequence[Snapshot]) -> "Visited":
        """As loose as another run of the solution shows that it must be."""
        as_often = self.most is not None and len(came) == len(self.came)
        if as_often and self.takes == "same" and not _first(map(difference, self.came, came)):
            return self
        lengths = as_often and self.lengths and not _first(map(difference_in_kind, self.came, came))
        least = min(self.least, len(came))
        return Visited(self.came or came, "kind", least, self.most if as_often else None, lengths)

    def difference(self, came: Sequence[Snapshot]) -> str:
        if self.takes == "same":
            words = _first(map(difference, self.came, came))
        else:
            wanted = [*self.came, *[self.came[-1]] * (len(came) - len(self.came))] if self.came else []
            pairs = zip(wanted, came, strict=False)
            words = _first(difference_in_kind(one, other, self.lengths) for one, other in pairs)
        if words or (self.least <= len(came) and (self.most is None or len(came) <= self.most)):
            return words
        return f"a value came {_times(len(came))}, not {_times(self.least)}"


@dataclass(frozen=True)
class Deviation:
    """place: an expression of a test and an operation, as :mod:`autograder.remote.places` says it, or a check's mark.

    wanted, came: the first values that differ, as text, for instructors alone.
    """

    place: str
    words: str
    wanted: str = ""
    came: str = ""

    def __str__(self) -> str:
        values = f" ({self.came}, the solution: {self.wanted})" if self.wanted or self.came else ""
        return f"{self.words}{values}"


@dataclass(frozen=True)
class SolutionRun:
    """visits: by place; marks: how often each check is gone through, at least and at most; result: the cell's value."""

    visits: Mapping[str, Visited] = field(default_factory=dict)
    marks: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    result: float | None = None

    @classmethod
    def of(
        cls, visits: Mapping[str, Sequence[Snapshot]], marks: Mapping[str, int], result: float | None
    ) -> "SolutionRun":
        visited = {place: Visited(came, least=len(came), most=len(came)) for place, came in _joined(visits).items()}
        return cls(visited, {mark: (count, count) for mark, count in marks.items()}, result)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SolutionRun":
        visits = {place: Visited(**one) for place, one in data["visits"].items()}
        return cls(visits, {mark: tuple(count) for mark, count in data["marks"].items()}, data["result"])

    def with_run(self, visits: Mapping[str, Sequence[Snapshot]], marks: Mapping[str, int]) -> "SolutionRun":
        """As loose as another run of the solution shows that it must be: what is chance is compared in kind."""
        again = _joined(visits)
        unseen = Visited((), least=0, most=0)
        visited = {
            place: self.visits.get(place, unseen).with_run(again.get(place, ()))
            for place in (*self.visits, *(again.keys() - self.visits.keys()))
        }
        counts = {
            mark: _counts(self.marks.get(mark, (0, 0)), marks.get(mark, 0))
            for mark in (*self.marks, *(marks.keys() - self.marks.keys()))
        }
        return replace(self, visits=visited, marks=counts)

    def opened(self, places: Collection[str]) -> "SolutionRun":
        """With places at which the test holds for other values, too."""
        visits = {place: replace(one, takes="kind") if place in places else one for place, one in self.visits.items()}
        return replace(self, visits=visits)

    def differences(
        self, visits: Mapping[str, Sequence[Snapshot]], marks: Mapping[str, int], result: float | None
    ) -> list[Deviation]:
        """How a run of which the test holds is not the solution's, in the order of the test's text."""
        found = list(self._of_visits(_joined(visits)))
        found += self._of_marks(marks)
        if (result is None) != (self.result is None):
            kinds = ["no number" if one is None else "a number" for one in (result, self.result)]
            found.append(Deviation("result", "the cell's result is {}, not {}".format(*kinds)))
        return sorted(found, key=lambda one: _order(one.place))

    def _of_visits(self, visits: Mapping[str, Sequence[Snapshot]]) -> Iterator[Deviation]:
        for place in sorted({*self.visits, *visits}):
            came, visited = visits.get(place, ()), self.visits.get(place)
            if visited is None:
                if place.endswith(" changes"):
                    yield Deviation(place, "it changes what the solution leaves as it is")
                elif place != _PRINTED and not place.startswith("name "):
                    yield Deviation(place, "it is asked where the solution is not asked")
            elif words := visited.difference(came):
                yield _shown(place, words, visited.came, came)

    def _of_marks(self, marks: Mapping[str, int]) -> Iterator[Deviation]:
        for mark, (least, most) in self.marks.items():
            count = marks.get(mark, 0)
            if count < least or (most is not None and count > most):
                yield Deviation(f"check {mark}", f"the check is gone through {_times(count)}, not {_times(least)}")
        for mark in sorted(marks.keys() - self.marks.keys()):
            yield Deviation(f"check {mark}", "the check is gone through, and with the solution it is not")


def _counts(known: tuple[int, int | None], count: int) -> tuple[int, int | None]:
    least, most = known
    return (least, most) if least == most == count else (min(least, count), None)


def _joined(visits: Mapping[str, Sequence[Snapshot]]) -> dict[str, Sequence[Snapshot]]:
    """What was printed is one text, whose white space does not count."""
    found = dict(visits)
    if _PRINTED in found:
        text = "".join(one[1] for one in found[_PRINTED] if one[0] == "text")
        found[_PRINTED] = [["text", " ".join(text.split())]]
    return found


def _shown(place: str, words: str, wanted: Sequence[Snapshot], came: Sequence[Snapshot]) -> Deviation:
    pairs = zip_longest(wanted, came)
    first, other = next(
        ((one, two) for one, two in pairs if one is None or two is None or difference(one, two)), ([], [])
    )
    return Deviation(place, words, *(text_of(one) for one in (first, other)))


def text_of(one: Snapshot | None) -> str:
    """A short text for a person."""
    if not one:
        return "nothing"
    if one[0] in ("int", "float"):
        return f"{one[1]:g}" if one[0] == "float" else str(one[1])[:_MAX_SHOWN]
    if one[0] in ("text", "constant", "raised"):
        shown = repr(one[1]) if one[0] == "text" else str(one[1])
        return shown[:_MAX_SHOWN]
    if one[0] == "list":
        inside = ", ".join(text_of(inner) for inner in one[1][:5])
        return f"[{inside[:_MAX_SHOWN]}{', ...' if len(one[1]) > 5 else ''}]"
    if one[0] == "other":
        return str(one[2] or one[1])[:_MAX_SHOWN]
    if one[0] in ("array", "digest"):
        return f"an array {tuple(one[1])}"
    return {"own": "an object", "object": "an object", "dict": "a dict", "ended": "well"}.get(one[0], f"a {one[0]}")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _order(place: str) -> tuple[int, int, str]:
    """By part and line of the test; names first, the result and what was printed last."""
    if place.startswith("name "):
        return 0, 0, place
    head = place.partition(".")[0]
    if head.isdigit():
        line = place.partition(".")[2].partition(":")[0]
        return int(head), int(line) if line.isdigit() else 0, place
    return 1_000, 0, place


def _first(words: Iterator[str]) -> str:
    return next(filter(None, words), "")
