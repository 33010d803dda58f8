"""Whatever the student's kernel answers, the tester gets data or a refusal, and runs nothing of it."""

import builtins
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.remote import kinds
from autograder.remote.handle import RemoteDied, RemoteRefused
from autograder.remote.kinds import CannotCross
from autograder.remote.tester import Remote
from tests.remote.kernels import Kernels

pytestmark = pytest.mark.slow

MANY = settings(
    max_examples=200, deadline=None, phases=[Phase.generate, Phase.explicit], suppress_health_check=list(HealthCheck)
)
TAGS = sorted({kind.tag for kind in kinds._by_tag.values()})
ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 7), st.integers(), st.floats(), st.text(max_size=5),
    st.sampled_from(["0x10", "AAAA", "<i8", "O", "<U0", "builtins", "__main__", "os", "system", "eval", "object",
                     "type", "list"]),
    st.sampled_from([1 << 40, 1 << 62, -(1 << 70), "numpy", "ndarray", "class", "function", "__eq__", "__class__",
                     "Point"]),
)  # fmt: skip


def node(inner: Any) -> Any:
    return st.one_of(
        st.tuples(st.sampled_from(TAGS), inner).map(list),
        st.lists(inner, max_size=5),
        st.dictionaries(
            st.sampled_from(["r", "h", "back", "class", "k", "m", "q", "array", "of", "fields", "size"]),
            inner,
            max_size=4,
        ),
        st.integers(0, 5).map(lambda n: {"h": n}),
        st.integers(0, 5).map(lambda n: {"r": n}),
    )


NODES = st.recursive(ATOMS, node, max_leaves=8)
DESCRIPTIONS = st.fixed_dictionaries(
    {"k": st.sampled_from(["class", "function", "object"]), "m": ATOMS, "q": ATOMS},
    optional={
        "class": NODES, "bases": st.lists(NODES, max_size=2),
        "special": st.lists(st.sampled_from(["__len__", "__iter__", 3]), max_size=2),
        "exception": st.booleans(), "own": st.lists(ATOMS, max_size=2),
        "fields": st.none() | st.lists(ATOMS, max_size=2),
        "tuple": st.none() | st.lists(ATOMS, max_size=2), "sig": NODES,
        "type": st.lists(ATOMS, max_size=2), "hash": ATOMS,
        "plain": st.booleans(), "module": ATOMS,
    },
)  # fmt: skip
REPLIES = st.fixed_dictionaries(
    {
        "objects": st.lists(st.tuples(st.integers(-1, 7), st.tuples(st.sampled_from(TAGS), NODES) | NODES), max_size=4)
        | NODES,
        "handles": st.lists(st.tuples(st.integers(0, 5), DESCRIPTIONS), max_size=4) | NODES,
    },
    optional={
        "value": NODES, "error": NODES, "session": ATOMS, "printed": NODES, "trace": NODES, "unable": ATOMS,
        "stale": st.booleans(),
        "names": st.dictionaries(st.sampled_from(["f", "np", "__builtins__"]), st.lists(NODES, max_size=1)) | NODES,
        "op": st.sampled_from(["__call__", "getattr", "method", "eval"]), "args": NODES, "kwargs": NODES,
    },
)  # fmt: skip


@MANY
@given(REPLIES)
def test_any_reply_is_data_or_a_refusal(reply):
    kernels = Kernels("def f(*a): return 1", "class Point: pass", names=["f"])
    kernels.tester["np"] = np = object()
    answers = iter([json.dumps(reply)])

    def ask(request: str) -> str:
        if (answer := next(answers, None)) is None:
            raise RemoteDied("no more")
        return answer

    kernels.remote._send = ask
    before = dict(vars(builtins))
    try:
        kernels.tester["f"]([1], lambda: 3)
    except (RemoteDied, RemoteRefused):
        assert kernels.remote.failures
    except BaseException as error:
        assert "error" in reply and not isinstance(error, CannotCross)
    assert kernels.tester["np"] is np
    assert before == vars(builtins)


@MANY
@given(st.text(max_size=30) | NODES.map(json.dumps))
def test_any_text_is_an_answer_or_the_end(text):
    remote = Remote(lambda request: text, {})
    with pytest.raises((RemoteDied, RemoteRefused)):
        remote.bind(["x"])
        raise RemoteDied("a mapping without anything wrong")


def decoded(data: Any, entries: Any = ()) -> Any:
    remote = Remote(lambda request: "", {"__name__": "__main__", "Node": Node})
    remote._shared_classes = {"Node"}
    return remote.unpack({"objects": list(entries)}, lambda decoder: decoder.node(data))


class Node:
    def __init__(self):
        raise AssertionError("no constructor is called")

    def total(self):
        return 1

    @property
    def size(self):
        return 2


Node.__module__ = "__main__"
DEEP: Any = 1
for _ in range(500):
    DEEP = ["tuple", [DEEP]]


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (DEEP, ()), (["type", ["os", "system"]], ()), (["type", ["subprocess", "Popen"]], ()),
        (["enum", ["__main__", "Node", "x"]], ()), ({"back": 7}, ()), ({"h": 7}, ()), ({"r": 2}, [[2, ["list", []]]]),
        ({"r": 1}, [[1, ["ndarray", ["<U0", [10**12], "", False, True]]]]),
        ({"r": 1}, [[1, ["ndarray", ["<f8", [10**12], "", False, True]]]]),
        ({"r": 1}, [[1, ["ndarray", [{"fields": [], "size": 1 << 30}, [1], "", False, True]]]]),
        ({"r": 1}, [[1, ["instance", ["__main__", "Node", [["total", 5]], None]]]]),
        ({"r": 1}, [[1, ["instance", ["__main__", "Node", [["size", 5]], None]]]]),
        ({"r": 1}, [[1, ["instance", ["subprocess", "Popen", [], None]]]]),
        ({"r": 1}, [[1, ["set", [{"r": 1}]]]]), (["re.Pattern", ["a" * 100_000, 0, False]], ()),
        (["pattern", ["a" * 100_000, 0, False]], ()), (["ZoneInfo", "../../../etc/passwd"], ()),
        (["zoneinfo", "../../../etc/passwd"], ()),
    ],
)  # fmt: skip
def test_a_forged_value_is_refused(data, entries):
    with pytest.raises(CannotCross):
        decoded(data, entries)


def test_an_object_of_a_trusted_class_is_made_without_its_constructor():
    made = decoded({"r": 1}, [[1, ["instance", ["__main__", "Node", [["x", 5]], None]]]])
    assert made.x == 5 and made.total() == 1
