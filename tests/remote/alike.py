"""Whether two values are the same in type and content, and the values that tests send to and fro."""

import datetime
import math
import re
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from pathlib import PosixPath, PurePosixPath
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st


def alike(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, complex):
        return alike(one.real, other.real) and alike(one.imag, other.imag)
    if isinstance(one, list | tuple | deque):
        return len(one) == len(other) and all(map(alike, one, other)) and getattr(one, "maxlen", 0) == getattr(
            other, "maxlen", 0)  # fmt: skip
    if isinstance(one, dict):
        return alike(list(one.items()), list(other.items())) and getattr(one, "default_factory", 0) == getattr(
            other, "default_factory", 0)  # fmt: skip
    if isinstance(one, set | frozenset):
        return sorted(map(_text, one)) == sorted(map(_text, other))
    if isinstance(one, slice):
        return alike([one.start, one.stop, one.step], [other.start, other.stop, other.step])
    if isinstance(one, SimpleNamespace):
        return alike(vars(one), vars(other))
    if isinstance(one, Decimal):
        return str(one) == str(other)
    if isinstance(one, datetime.datetime | datetime.time):
        return one.replace(tzinfo=None) == other.replace(tzinfo=None) and repr(one) == repr(other)
    return bool(one == other)


def _text(value: Any) -> str:
    """What is the same for equal sets, in whatever order they are gone through."""
    if isinstance(value, frozenset | tuple):
        parts = [_text(part) for part in value]
        return f"{type(value).__name__}{sorted(parts) if isinstance(value, frozenset) else parts}"
    return repr(value)


ZONES = st.sampled_from(
    [None, datetime.UTC, ZoneInfo("Europe/Berlin"), datetime.timezone(datetime.timedelta(hours=-3), "B")]
)
NUMBERS = st.one_of(
    st.integers(), st.integers(min_value=1 << 60, max_value=1 << 200), st.floats(), st.complex_numbers(), st.booleans(),
    st.decimals(allow_nan=False), st.fractions(),
)  # fmt: skip
WORDS = st.one_of(st.text(), st.text(st.characters(categories=["Cs"]), max_size=3), st.binary())
HASHABLE = st.recursive(
    st.one_of(
        st.none(), NUMBERS, WORDS, st.just(...), st.dates(), st.timedeltas(), st.uuids(),
        st.sampled_from([range(3), range(0, 10**30, 7), ZoneInfo("UTC"), int, dict, ValueError, type(None), object]),
        st.sampled_from([PosixPath("a/b"), PurePosixPath("/x"), re.compile(r"(a|b)+", re.I), re.compile(b"x")]),
        st.datetimes(timezones=ZONES), st.times(),
    ),
    lambda inner: st.one_of(st.tuples(inner, inner), st.tuples(inner), st.frozensets(inner, max_size=4)),
    max_leaves=6,
)  # fmt: skip
FACTORIES = st.sampled_from([list, int, dict, None])
DATA = st.recursive(
    st.one_of(HASHABLE, st.builds(slice, HASHABLE, HASHABLE, HASHABLE), st.builds(bytearray, st.binary())),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.builds(OrderedDict, st.dictionaries(HASHABLE, inner, max_size=3)),
        st.builds(defaultdict, FACTORIES, st.dictionaries(HASHABLE, inner, max_size=3)),
        st.builds(deque, st.lists(inner, max_size=3), st.sampled_from([None, 5])),
        st.builds(lambda value: SimpleNamespace(field=value), inner),
        st.builds(Counter, st.lists(HASHABLE, max_size=4)),
        st.sets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)
