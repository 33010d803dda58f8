"""One call made on two versions of the same code: results, arguments afterwards, gradients, training and evaluation."""

import contextlib
import copy
import io
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autograder.mutants.recorded import Call

ATOL, RTOL = 1e-5, 1e-4
_DRAWN: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()


def difference(want: Any, got: Any, at: str = "the result") -> str:
    """What differs first, in words; empty where nothing does. Objects of no known kind count as the same.

    So do equal numbers of another type: exercises take a mask of truth values for one of ones and zeros.
    """
    if _is_module(want) or _is_module(got):
        return _of_modules(want, got, at)
    if _is_array(want) or _is_array(got):
        return _of_arrays(want, got, at)
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        if sorted(map(str, want)) != sorted(map(str, got)):
            return f"{at}: other keys"
        return _first(difference(want[key], got[key], f"{at}[{key!r}]") for key in want)
    if isinstance(want, list | tuple) and isinstance(got, list | tuple):
        if len(want) != len(got):
            return f"{at}: {len(got)} entries, not {len(want)}"
        return _first(difference(*pair, f"{at}[{number}]") for number, pair in enumerate(zip(want, got, strict=True)))
    if is_picture(want) and is_picture(got):
        return "" if pixels(want) == pixels(got) else f"{at}: the picture looks different"
    if isinstance(want, str | bytes | None.__class__) or isinstance(got, str | bytes | None.__class__):
        return "" if want == got else f"{at}: {_short(got)}, not {_short(want)}"
    return ""


def _first(found: Any) -> str:
    return next((text for text in found if text), "")


def _is_array(value: Any) -> bool:
    torch = sys.modules.get("torch")
    tensor = torch is not None and isinstance(value, torch.Tensor)
    return tensor or isinstance(value, np.ndarray | np.generic | int | float | complex)


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def plain(value: Any) -> np.ndarray:
    """A tensor, an array or a number as an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return np.asarray(value.numpy())
    return np.asarray(value)


def _of_arrays(want: Any, got: Any, at: str) -> str:
    try:
        first, second = plain(want), plain(got)  # a list of numbers is as good as an array
    except (TypeError, ValueError):
        return f"{at}: {type(got).__name__}, not {type(want).__name__}"
    if first.shape != second.shape:
        return f"{at}: shape {second.shape}, not {first.shape}"
    if first.dtype.kind not in "fiubc" or second.dtype.kind not in "fiubc":
        return "" if np.array_equal(first, second) else f"{at}: other values"
    wide = np.float64 if first.dtype.kind in "fiub" else complex
    a, b = first.astype(wide), second.astype(wide)
    with np.errstate(all="ignore"):
        largest = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
        close = np.isclose(b, a, atol=ATOL * max(1.0, largest), rtol=RTOL, equal_nan=True)
    if close.all():
        return ""
    worst = tuple(int(place) for place in np.argwhere(~close)[0])
    where = f" at {list(worst)}" if worst else ""
    return f"{at}{where}: {b[worst]:.6g}, not {a[worst]:.6g}"


def _of_modules(want: Any, got: Any, at: str) -> str:
    if not (_is_module(want) and _is_module(got)):
        return f"{at}: {type(got).__name__}, not {type(want).__name__}"
    return shapes(want, got, at)


def shapes(want: Any, got: Any, at: str = "the module") -> str:
    """Where two modules have other parameters or buffers, by name and shape; which of them are learned."""
    learned = [{name for name, _ in module.named_parameters()} for module in (want, got)]
    states = [{name: tuple(value.shape) for name, value in module.state_dict().items()} for module in (want, got)]
    for name in sorted(states[0].keys() | states[1].keys()):
        if states[0].get(name) != states[1].get(name):
            return f"{at}: {name} {states[1].get(name, 'is missing')}, not {states[0].get(name, 'there')}"
    for name in sorted(learned[0] ^ learned[1]):
        return f"{at}: {name} is {'learned' if name in learned[1] else 'not learned'}"
    return ""


def is_picture(value: Any) -> bool:
    return hasattr(value, "savefig")


def pixels(figure: Any) -> bytes:
    """A figure as it looks, drawn once: nobody changes it afterwards."""
    if figure not in _DRAWN:
        written = io.BytesIO()
        figure.savefig(written, format="rgba", dpi=40)
        _DRAWN[figure] = written.getvalue()
    return _DRAWN[figure]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


Namespace = dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """One way of making a call, and what the solution gives then: result, arguments afterwards, gradients, state."""

    call: Call
    mode: str
    found: dict[str, Any]


def expected(ours: Namespace, call: Call) -> Iterator[Expected]:
    """What the solution, whose names these are, gives for every way of making the call; nothing where it stops."""
    for mode in _modes(call):
        with contextlib.suppress(Exception):
            yield Expected(call, mode, _ran(ours, call, mode, None))


def compare(want: Expected, theirs: Namespace) -> str:
    """What differs when the same call is made with the mutant's names; empty where nothing does."""
    try:
        got = _ran(theirs, want.call, want.mode, want.found.get("state"))
    except _OtherState as error:
        return str(error)
    except Exception as error:
        return f"it stops with {type(error).__name__}: {str(error)[:120]}"
    return (
        difference(want.found["result"], got["result"])
        or difference(want.found["after"], got["after"], "what was given, afterwards")
        or difference(want.found["gradients"], got["gradients"], "the gradient")
    )


class _OtherState(Exception):
    """The mutant's module has other parameters than the solution's."""


def _modes(call: Call) -> tuple[str, ...]:
    if "torch" not in sys.modules:
        return ("",)
    if call.source != "as called":
        return ("",)
    tensors = any(isinstance(value, sys.modules["torch"].Tensor) for value in _flat(call.arguments))
    return ("", *(("train mode",) if call.made is not None else ()), *(("gradients",) if tensors else ()))


def _ran(names: Namespace, call: Call, mode: str, state: Any) -> dict[str, Any]:
    """Result, arguments afterwards and gradients; of a module its state as well, drawn at random or the given one."""
    _seed(0)
    arguments, made = copy.deepcopy((call.arguments, call.made))
    torch = sys.modules.get("torch")
    found: dict[str, Any] = {"gradients": {}}
    one = None
    if made is None:
        called = names[call.name]
    else:
        kind, _, method = call.name.rpartition(".")
        one = names[kind](**made)
        if torch is not None and isinstance(one, torch.nn.Module):
            found["state"] = _prepared(torch, one, call, state)
            one.train(mode == "train mode")
        if method == "__init__":
            return {**found, "result": one, "after": made}
        called = getattr(one, method)
    leaves = _leaves(torch, arguments) if mode == "gradients" and torch is not None else {}
    _seed(1)
    result = called(**arguments)
    found |= {"result": result, "after": {} if leaves else arguments}
    if mode == "gradients" and torch is not None:
        found["gradients"] = _gradients(torch, result, leaves, one)
    return found


def _seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(number)


def _prepared(torch: Any, module: Any, call: Call, state: Any) -> Any:
    """Draw all parameters, those of norms too; or set those of the other version. In the precision of the call."""
    if any(str(getattr(value, "dtype", "")) == "torch.float64" for value in call.arguments.values()):
        module.double()
    if state is None:
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.normal_(0.0, 0.6)
        return {"module": module, "state": copy.deepcopy(module.state_dict())}
    found = shapes(state["module"], module)
    if found:
        raise _OtherState(found)
    module.load_state_dict({name: value.clone() for name, value in state["state"].items()})
    return None


def _leaves(torch: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Float arguments that follow gradients; set in their places."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            found[name] = value.detach().clone().requires_grad_()
            arguments[name] = found[name] * 1  # no leaf: it may be changed in place
    return found


def _gradients(torch: Any, result: Any, leaves: dict[str, Any], module: Any) -> dict[str, Any]:
    """Name -> gradient of a fixed weighted sum of all results, zeros where there is none."""
    outputs = [value for value in _flat(result) if isinstance(value, torch.Tensor) and value.is_floating_point()]
    total = sum((torch.sin(torch.arange(1.0, 1 + one.numel())) * one.double().flatten()).sum() for one in outputs)
    if not isinstance(total, torch.Tensor) or not torch.isfinite(total):
        return {}
    parameters = dict(module.named_parameters()) if isinstance(module, torch.nn.Module) else {}
    wanted = {**leaves, **parameters}
    if total.requires_grad and wanted:
        grads = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
    else:
        grads = [None] * len(wanted)
    return {
        name: torch.zeros_like(leaf) if grad is None else grad
        for (name, leaf), grad in zip(wanted.items(), grads, strict=True)
    }


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value
