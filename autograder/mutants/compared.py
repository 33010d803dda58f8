"""One call made on two versions of the same code: results, arguments afterwards, gradients, training and evaluation."""

import contextlib
import copy
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.mutants.recorded import Call
from autograder.mutants.same import difference, shapes

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
