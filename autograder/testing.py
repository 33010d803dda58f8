"""What a hidden cell imports: stored inputs in, answers out.

A kernel with student code holds this module and, of the rest of ``autograder``, what starts and confines
it and its line to the grader: ``errors``, ``files``, ``isolation``, ``kernel``, ``remote``, ``tester``. None of these
knows an expected value, a verdict or where either is kept. Where ``AUTOGRADER_ANSWERS`` names a folder (a grading
run), :meth:`StoredCase.compare` writes the answers there as safetensors for the judge. Elsewhere (the
instructor's own Jupyter) it asks the judge on the spot and raises ``AssertionError``.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

#: Prefix of an array that holds text: UTF-8 JSON as bytes, so that one file carries every answer.
TEXT = "text:"


class StoredCase:
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
    ) -> None:
        self.slug, self.index = slug, index
        self.config = SimpleNamespace(**config)
        self._weights: dict[str, Any] = {}
        self._answers: dict[str, np.ndarray] = {}
        for name, value in texts.items():
            setattr(self, name, value)
        for name, array in arrays.items():
            value = _to_torch(array) if framework == "torch" else array.copy()
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
        return module.eval()

    def compare(self, **answers: Any) -> None:
        """Hand over what the student's code computed: tensors, arrays, numbers, text or lists of text.

        ``None`` stands for an answer that is not there. May be called more than once for a case.
        """
        self._answers |= {
            name: array
            for key, value in answers.items()
            if value is not None
            for name, array in [_as_array(key, value)]
        }
        folder = os.environ.get("AUTOGRADER_ANSWERS")
        if folder:
            target = Path(folder, self.slug, f"{self.index}.safetensors")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(save(self._answers))
        else:
            from autograder.pipeline.judge import compare_on_the_spot

            compare_on_the_spot(_stored(self.slug), self.slug, self.index, self._answers)


def reference(slug: str) -> Iterator[StoredCase]:
    """The stored cases of an exercise, say ``distilbert/attention_block``, one after the other."""
    folder = os.environ.get("AUTOGRADER_INPUTS")
    inputs = Path(folder, slug) if folder else _stored(slug) / slug / "inputs"
    about = json.loads((inputs / "inputs.json").read_text(encoding="utf-8"))
    arrays = load_file(inputs / "inputs.safetensors")
    for index, case in enumerate(about["cases"]):
        prefix = f"{index}/"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        yield StoredCase(slug, index, about["framework"], case["config"], case["texts"], own)


def _stored(slug: str) -> Path:
    """The folder ``exercises/`` of the course in whose folder, or below, the instructor's Jupyter works."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "exercises" / slug / "inputs").is_dir():
            return folder / "exercises"
    raise FileNotFoundError(
        f"{slug} has no stored reference in {here} or a folder above it: expected exercises/{slug}/ in the course's "
        f"folder, made by 'autograder references {slug.partition('/')[0]}'"
    )


def _torch() -> Any:
    """The module ``torch``: the grader itself needs none, exercises with tensors do. Raises ImportError."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise ImportError(
            "the inputs of this exercise are tensors, but torch is not installed here: install it, or write "
            'framework="numpy" in the exercise\'s oracle.py'
        ) from error


def _to_torch(array: np.ndarray) -> Any:
    return _torch().from_numpy(array.copy())


def _as_array(name: str, value: Any) -> tuple[str, np.ndarray]:
    """-> (name, contiguous array); text and lists of text travel as JSON bytes under ``text:name``."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if isinstance(value, str) or (isinstance(value, list | tuple) and _holds_text(value)):
        return TEXT + name, np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected a tensor or array of numbers, but it is {type(value).__name__}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:  # longdouble: safetensors knows no such numbers
        array = array.astype(np.float64)
    return name, np.array(array, order="C", subok=False)  # a copy: what was handed over stays as it was


def _holds_text(value: Any) -> bool:
    return any(isinstance(entry, str) or (isinstance(entry, list | tuple) and _holds_text(entry)) for entry in value)


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
