"""A stored case as a hidden cell, or a visible check, sees it: its inputs, and a way to hand over answers.

Knows no expected value. In a kernel with student code this is, with :mod:`autograder.testing`, all of the grader that
is used.
"""

import copy
from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from .called import called
from .values import as_arrays


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
