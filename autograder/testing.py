"""What a hidden cell imports: stored inputs in, answers out.

A kernel with student code holds this module and, of the rest of ``autograder``, what starts and confines it and
its line to the grader: ``errors``, ``exercise``, ``files``, ``isolation``, ``kernel``, ``remote``, ``tester``. None of
these knows an expected value, a verdict or where either is kept. Where ``AUTOGRADER_ANSWERS`` names a folder (a grading
run), :meth:`StoredCase.compare` writes the answers there as safetensors for the judge. Elsewhere (the
instructor's own Jupyter) it asks the judge on the spot and raises ``AssertionError``.

Which ready-made parts run while a hidden cell calls the student's code is noted, wherever that code has them from. As
long as it calls, the functions of listed parts have other code, which notes the part and then does what they did.
Functions of torch that are not written in Python are seen by a mode of torch's. What a part is made of is not noted.
"""

import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from fnmatch import filter
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

from safetensors.numpy import load, save

from autograder.exercise import case_inputs
from autograder.exercise.values import READY_MADE, text_array


class ReadyMade:
    """``ran``: the names of the parts' functions that have run since this was entered.

    listed: a module and the name of a function or class in it; a star stands for any text. Imports none of them.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.ran: set[str] = set()
        self._parts = _parts(tuple(listed), len(sys.modules))
        self._kept: dict[FunctionType, FunctionType] = {}
        self._beneath, self._mode, self._without_mode = 0, cast(Any, nullcontext()), cast(Any, nullcontext)

    def __enter__(self) -> "ReadyMade":
        compiled = {}  # torch's name of a function, which is that of its operator, too -> the part's
        for name, part in self._parts.items():
            for key, function in _functions(name, part):
                if function not in self._kept:
                    kept = self._kept[function] = _copy(function)
                    function.__code__ = _calling(partial(self._run, key, kept), kept.__code__)
                    vars(function).setdefault("__wrapped__", kept)  # whoever asks what it takes is told the same
            if not isinstance(part, type | FunctionType):
                compiled[part.__name__] = name
        if torch := sys.modules.get("torch"):
            self._mode, self._without_mode = _mode(torch, compiled, self._note), torch._C.DisableTorchFunction
        self._mode.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for function, kept in self._kept.items():
            function.__code__ = kept.__code__
            if vars(function).get("__wrapped__") is kept:
                del vars(function)["__wrapped__"]
        with suppress(RuntimeError):  # the student's code ended the mode
            self._mode.__exit__(None, None, None)

    def _note(self, name: str) -> None:
        if not self._beneath:
            self.ran.add(name)

    def _run(self, name: str, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Without torch's mode, under which some modules of torch would take another path."""
        self._note(name)
        self._beneath += 1
        try:
            with self._without_mode():
                return function(*args, **kwargs)
        finally:
            self._beneath -= 1


@lru_cache(maxsize=1)
def _parts(listed: tuple[str, ...], imported: int) -> dict[str, Any]:
    """Name -> function or class of what is imported; of those that a star stands for, what the module itself makes.

    imported: how many modules are, so that all are looked at again when there are more.
    """
    found = {}
    for owner, _, last in (one.rpartition(".") for one in listed):
        for module in filter(list(sys.modules), owner):
            space = getattr(sys.modules[module], "__dict__", {})
            for name in filter(list(space), last):
                own = name == last or getattr(space[name], "__module__", None) in (module, None)
                if own and callable(space[name]) and hasattr(space[name], "__name__"):
                    found[f"{module}.{name}"] = space[name]
    return found


def _functions(name: str, part: Any) -> Iterator[tuple[str, FunctionType]]:
    """The function itself; of a class its methods, without those by which an object is made."""
    found = {name: part}
    if isinstance(part, type):
        found = {f"{name}.{key}": one for key, one in vars(part).items() if key == "__call__" or key[:1] != "_"}
    for key, one in found.items():
        function = getattr(one, "__func__", getattr(one, "fget", one))
        if isinstance(function, FunctionType):
            yield key, function


def _copy(function: FunctionType) -> FunctionType:
    of = function
    copy = FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)
    copy.__kwdefaults__ = of.__kwdefaults__
    return copy


def _calling(instead: Any, old: CodeType) -> CodeType:
    """Code that calls ``instead`` with whatever it is given, and says that it stands where the old code does."""
    new = _template(old.co_freevars)
    place = {name: getattr(old, name) for name in ("co_filename", "co_firstlineno", "co_name", "co_qualname")}
    return new.replace(co_consts=tuple(instead if one == "instead" else one for one in new.co_consts), **place)


@lru_cache
def _template(free: tuple[str, ...]) -> CodeType:
    """free: names of a surrounding function; a function's code is exchanged for one with as many of them."""
    names, space = ", ".join(free), dict[str, Any]()
    text = f"def around({names}):\n def part(*args, **kwargs):\n  call = 'instead'\n  return call(*args, **kwargs)\n"
    exec(f"{text}  ({names})\n return part", space)
    code: CodeType = space["around"](*free).__code__
    return code


def _mode(torch: Any, compiled: Mapping[str, str], note: Callable[[str], None]) -> Any:
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if name := compiled.get(getattr(function, "__name__", "").partition(".")[0]):
                note(name)
            return function(*args, **kwargs or {})

    return Mode()


class StoredCase(case_inputs.CaseInputs):
    """One stored input of an exercise, whose answers go to the judge, and with them which ready-made parts ran."""

    _ran: Collection[str] = ()

    def compare(self, **answers: Any) -> None:
        super().compare(**answers)
        if self._ran:
            self._answers[READY_MADE] = text_array(sorted(self._ran))
        folder = os.environ.get("AUTOGRADER_ANSWERS")
        if folder:
            target = Path(folder, self.slug, f"{self.index}.safetensors")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(save(self._answers))
        else:
            judge = _of_the_instructor("autograder.pipeline.judge")
            judge.compare_on_the_spot(_stored(self.slug), self.slug, self.index, self._answers)


def reference(slug: str) -> Iterator[StoredCase]:
    """The stored cases of an exercise, say ``distilbert/attention_block``, one after the other."""
    files = _inputs(slug)
    about, arrays = json.loads(files["inputs.json"]), load(files["inputs.safetensors"])
    with ReadyMade(os.environ.get("AUTOGRADER_READY_MADE", "").split()) as noted:
        for index, case in enumerate(about["cases"]):
            prefix, sizes, texts = f"{index}/", case["config"], case["texts"]
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            stored = StoredCase(slug, index, about["framework"], sizes, texts, own, about.get("call", ()))
            stored._ran = noted.ran
            yield stored


def _inputs(slug: str) -> Mapping[str, bytes]:
    """The files with the stored inputs, by their names."""
    if folder := os.environ.get("AUTOGRADER_INPUTS"):
        return {path.name: path.read_bytes() for path in Path(folder, slug).iterdir()}
    inputs: Mapping[str, bytes] = (
        _of_the_instructor("autograder.references.store").References(_stored(slug)).inputs(slug)
    )
    return inputs


def _of_the_instructor(module: str) -> Any:
    """A module that only the instructor's own Jupyter needs. Named by a text: it is no part of what kernels run, by
    which the runs of a class are told apart.
    """
    return import_module(module)


def _stored(slug: str) -> Path:
    """The folder ``exercises/`` of the course in whose folder, or below, the instructor's Jupyter works."""
    here, assignment = Path.cwd(), slug.partition("/")[0]
    for folder in (here, *here.parents):
        if (folder / "exercises" / assignment / "manifest.json").is_file():
            return folder / "exercises"
    raise FileNotFoundError(
        f"{slug} has no stored reference in {here} or a folder above it: expected exercises/{assignment}/ in the "
        f"course's folder, with what 'autograder references {assignment}' makes"
    )
