"""A stored case as a hidden cell, or a visible check, sees it: its inputs, a call, and a way to hand over answers.

Knows no expected value. In a kernel with student code this is, with :mod:`autograder.testing`, all of the grader that
is used.
"""

import copy
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from .values import as_arrays, drawn


def called(target: Any, case: Any, name: str, given: Sequence[str], method: str = "") -> dict[str, Any]:
    """The answer ``name``; ``again``, that of a second call; ``changed``, whether the first one changed an input. In
    place of a drawing what it shows, name by name.

    target: a function; or, with ``method``, a class. An object of it is made with the case's ``config`` and weights, in
    eval mode.
    given: the names of the inputs, in the order of the function.

    Raises NoSuchMethod.
    """
    function = method_of(case.load(made(target, case.config)), method) if method else target
    inputs = [copy.deepcopy(getattr(case, one)) for one in given]
    answer = function(*inputs)
    changed = [not same(first, getattr(case, one)) for first, one in zip(inputs, given, strict=True)]
    if shown := drawn(answer):
        return {**shown, "changed": changed}
    # a copy: the second call may write into what the first one gave
    kept = copy.deepcopy(answer.detach() if hasattr(answer, "detach") else answer)
    again = function(*(copy.deepcopy(getattr(case, one)) for one in given))
    return {name: kept, "again": again, "changed": changed}


class NoSuchMethod(AttributeError):
    """The student's class has no method of the exercise's name."""


def method_of(thing: Any, name: str) -> Any:
    """The object's method. Raises NoSuchMethod."""
    if not hasattr(type(thing), name):
        raise NoSuchMethod(f"{type(thing).__name__} has no method {name}")
    return getattr(thing, name)


def made(kind: Any, config: Any) -> Any:
    """An object of the class. Where ``__init__`` stops, with what it had made: that is an exercise of its own."""
    thing = kind.__new__(kind)
    with suppress(Exception):
        thing.__init__(config)
    return thing.eval() if hasattr(thing, "eval") else thing


def names_around(target: Any) -> dict[str, Any]:
    """The names of the notebook that a class or function stands in."""
    own = [getattr(target, name, None) for name in ("forward", "__init__")] if isinstance(target, type) else []
    for function in (*own, target):
        space = getattr(function, "__globals__", None)
        if isinstance(space, dict):
            return space
    return {}


def same(first: Any, second: Any) -> bool:
    """Whether two inputs are equal: tensors, arrays, texts, or lists and dictionaries of these."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if hasattr(first, "shape") and hasattr(second, "shape"):
        return bool(np.array_equal(np.asarray(first), np.asarray(second)))
    return type(first) is type(second) and first == second


class CaseInputs:
    """One stored input of an exercise.

    ``config`` holds the sizes as attributes; every stored input (``hidden_states``, ``input_ids``, …)
    is an attribute too, a fresh copy for each case.
    """

    def __init__(
        self,
        slug: str,
        index: int,
        framework: str,
        config: dict[str, Any],
        texts: dict[str, Any],
        arrays: dict[str, np.ndarray],
        call: Sequence[str] = (),
    ) -> None:
        """call: where the exercise is a function of its own, the name of the method, or "", and those of its inputs."""
        self.slug, self.index = slug, index
        self._call = tuple(call)
        self.config = SimpleNamespace(**config)
        self._weights: dict[str, Any] = {}
        self._answers: dict[str, np.ndarray] = {}
        for name, value in texts.items():
            setattr(self, name, value)
        for name, array in arrays.items():
            value = _torch().from_numpy(array.copy()) if framework == "torch" else array.copy()
            if name.startswith("weights/"):
                self._weights[name.removeprefix("weights/")] = value
            else:
                setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.slug}: this case stores no input called {name!r}")

    def load(self, module: Any, without: tuple[str, ...] = ()) -> Any:
        """The student's module in eval mode, the stored weights injected by name.

        A layer that is missing, of the wrong size or shared with another is replaced: what ``__init__`` got
        wrong costs its own points, not those of ``forward``. A bias that the reference does not have becomes zero.

        without: beginnings of names that are left out, where something else stands in for a part.
        """
        weights = {name: weight for name, weight in self._weights.items() if not name.startswith(without)}
        layers = {name.rpartition(".")[0] for name in weights}
        _separate(module, sorted(layers - {""}))
        # weights first: they decide whether a layer stays, and a bias goes into the layer that does
        for name, weight in sorted(weights.items(), key=lambda pair: not pair[0].endswith("weight")):
            _inject(module, name, weight)
        for name in layers:
            bias = getattr(_walk(module, name.split(".")), "bias", None) if name else None
            if bias is not None and f"{name}.bias" not in weights:
                bias.data.zero_()
        return module.eval() if hasattr(module, "eval") else module

    def called(self, target: Any) -> dict[str, Any]:
        """What the student's function or class gives for this case, by names.

        Raises TypeError where the exercise does not say how it is called.
        """
        if not self._call:
            raise TypeError(f"{self.slug}: Exercise.given does not name the inputs that the function takes")
        method, *given = self._call
        return called(target, self, self.slug.rpartition("/")[2], given, method)

    def call(self, target: Any) -> None:
        """Call the student's function, or the exercise's method of the student's class, and hand over what it gives."""
        self.compare(**self.called(target))

    def compare(self, **answers: Any) -> None:
        """Hand over what the student's code computed: tensors, arrays, numbers, texts, lists of texts, or dictionaries.

        ``None`` stands for an answer that is not there. May be called more than once for a case.
        """
        for name, value in answers.items():
            if value is not None:
                self._answers |= as_arrays(name, value)


def _torch() -> Any:
    """The module ``torch``: the grader itself needs none, exercises with tensors do. Raises ImportError."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise ImportError(
            "the inputs of this exercise are tensors, but torch is not installed here: install it, or write "
            'framework="numpy" in the exercise'
        ) from error


def _walk(module: Any, path: list[str]) -> Any:
    """The part of a module at a dotted path; a plain list is entered too. None where there is none."""
    for step in path:
        if isinstance(module, list | tuple):
            module = module[int(step)] if int(step) < len(module) else None
        else:
            module = getattr(module, step, None)
        if module is None:
            return None
    return module


def _separate(module: Any, layers: list[str]) -> None:
    """A layer of its own under each name, where one and the same object stood under several."""
    seen: set[int] = set()
    for name in layers:
        *path, last = name.split(".")
        part = _walk(module, [*path, last])
        if part is not None and id(part) in seen:
            setattr(_walk(module, path), last, copy.deepcopy(part))
        seen.add(id(part))


def _inject(module: Any, name: str, weight: Any) -> None:
    nn = _torch().nn
    *path, kind = name.split(".")
    part = _walk(module, path)
    wrong = part is None or getattr(getattr(part, "weight", None), "shape", None) != weight.shape
    if kind == "weight" and weight.ndim == 2 and wrong and not isinstance(part, nn.Embedding):
        owner = _walk(module, path[:-1])
        if owner is None:
            raise AttributeError(f"expected a layer called {'.'.join(path)}; there is none")
        part = nn.Linear(weight.shape[1], weight.shape[0])
        setattr(owner, path[-1], part)
    if part is None:
        raise AttributeError(f"expected a layer called {'.'.join(path)}; there is none")
    setattr(part, kind, nn.Parameter(weight.clone(), requires_grad=False))
