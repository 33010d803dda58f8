"""Groups: ``groups.toml`` says who handed in together. One submission, one grade, and every member has it.

```toml
[distilbert]
red = ["ada", "bob"]
```

Whoever of a group hands in does it for all. Late days are each member's own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.errors import GradingError

NAME = "groups.toml"


@dataclass(frozen=True)
class Group:
    """Who works together on one assignment."""

    name: str
    members: tuple[str, ...]


def read_groups(root: Path, assignments: Collection[str] = ()) -> dict[str, tuple[Group, ...]]:
    """Assignment to its groups; empty where there is no file. Raises GradingError where it says something else.

    assignments: those that the course has; empty where nobody knows.
    """
    try:
        data = tomllib.loads((root / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise GradingError(f"{NAME} cannot be read: {error}; mend it, or delete it") from error
    for name in data:
        if assignments and name not in assignments:
            raise GradingError(f"{NAME}: unknown assignment {name!r}; known are {', '.join(sorted(assignments))}")
    return {name: _groups(name, table) for name, table in data.items()}


def _groups(assignment: str, table: object) -> tuple[Group, ...]:
    """A group without members is left: everybody in it may have been erased."""
    expected = f'{NAME}: [{assignment}]: expected a group and its members, such as red = ["ada", "bob"]'
    if not isinstance(table, dict):
        raise GradingError(f"{expected}; got {table!r}")
    found: list[Group] = []
    taken: dict[str, str] = {}
    for name, members in table.items():
        if not isinstance(members, list) or not all(isinstance(one, str) and one for one in members):
            raise GradingError(f"{expected}; got {name} = {members!r}")
        for member in members:
            if member in taken:
                raise GradingError(
                    f"{NAME}: [{assignment}]: {member} is named in {taken[member]} and in {name}; leave one of them"
                )
            taken[member] = name
        found.append(Group(name, tuple(members)))
    return tuple(found)


def submitters(groups: Iterable[Group], assignment: str, handed_in: Collection[str]) -> dict[str, str]:
    """Member to the one who handed in for the group. Raises GradingError where two of a group did."""
    found: dict[str, str] = {}
    for group in groups:
        those = [member for member in group.members if member in handed_in]
        if len(those) > 1:
            raise GradingError(
                f"{NAME}: {' and '.join(those)} of the group {group.name} both handed in {assignment}: one submission "
                "counts for all, so keep one and move the other folders away"
            )
        found |= dict.fromkeys(group.members, those[0]) if those else {}
    return found


def shared_times(groups: Iterable[Group], times: Mapping[str, datetime]) -> dict[str, datetime]:
    """Student to the moment their submission came in, with those for whom another member handed in."""
    found = dict(times)
    for group in groups:
        moments = [times[member] for member in group.members if member in times]
        if moments:
            found |= {member: found.get(member, max(moments)) for member in group.members}
    return found
