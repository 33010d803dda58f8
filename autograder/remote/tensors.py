"""PyTorch's tensors and what goes with them; torch itself is only touched where something else has imported it."""

import importlib
import re
import sys
from typing import Any

from autograder.remote.arrays import numpy, read_array, write_array
from autograder.remote.kinds import CannotCross, InlineKind, Kind, SharedKind, register, register_finder
from autograder.remote.plain import expect

_DTYPE = re.compile(r"(complex|float|u?int|bool|bfloat)\d{0,3}")
_DEVICE = re.compile(r"(cpu|cuda|meta|mps)(:\d{1,3})?")
#: Types that NumPy does not know travel as the bits of one that it knows.
_AS_BITS = {"bfloat16": "int16"}


def torch() -> Any:
    """Raises CannotCross where torch is not installed."""
    module = sys.modules.get("torch")
    if module is None:
        try:
            module = importlib.import_module("torch")
        except ImportError:
            raise CannotCross("a tensor came, but torch is not installed here") from None
    return module


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _dtype(name: Any) -> Any:
    module = torch()
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise CannotCross("expected a type of torch's")
    found = getattr(module, name, None)
    if not isinstance(found, module.dtype):
        raise CannotCross(f"torch has no type {name}")
    return found


def _write_tensor(value: Any, encoder: Any) -> list[Any]:
    module = torch()
    if value.layout is not module.strided or value.is_quantized or value.device.type == "meta":
        raise CannotCross(f"a tensor of layout {value.layout} on {value.device} cannot be handed over")
    name, plain = _name(value.dtype), value.detach().cpu().resolve_conj().resolve_neg()
    if name in _AS_BITS:
        plain = plain.view(getattr(module, _AS_BITS[name]))
    gradient = value.grad if value.is_leaf and value.grad is not None else None
    return [
        name, write_array(plain.numpy(), encoder), bool(value.requires_grad), isinstance(value, module.nn.Parameter),
        None if gradient is None else _write_tensor(gradient, encoder),
    ]  # fmt: skip


def _read_tensor(payload: Any, decoder: Any) -> Any:
    module = torch()
    name, array, requires, parameter, gradient = payload
    made = module.from_numpy(numpy().array(read_array(array, decoder), order="C"))
    dtype = _dtype(name)
    made = made.view(dtype) if name in _AS_BITS else made
    if made.dtype is not dtype:
        raise CannotCross(f"expected a tensor of {name}")
    if parameter is True:
        made = module.nn.Parameter(made, requires_grad=requires is True)
    elif requires is True:
        made.requires_grad_(True)
    if gradient is not None:
        made.grad = _read_tensor(gradient, decoder)
    return made


def _fill_tensor(target: Any, payload: Any, decoder: Any) -> None:
    new = _read_tensor(payload, decoder)
    with torch().no_grad():
        if target.shape == new.shape and target.dtype is new.dtype:
            target.detach().copy_(new)
        else:
            target.data = new.detach()
    if target.is_leaf:
        if target.requires_grad is not new.requires_grad:
            target.requires_grad_(new.requires_grad)
        if new.grad is not None and target.grad is not None and target.grad.shape == new.grad.shape:
            target.grad.copy_(new.grad)
        elif (new.grad is None) is not (target.grad is None) or new.grad is not None:
            target.grad = new.grad


def _device(payload: Any, _: Any) -> Any:
    if not _DEVICE.fullmatch(expect(payload, str)):
        raise CannotCross("expected a device of torch's")
    return torch().device(payload)


TENSOR = SharedKind("tensor", _write_tensor, _read_tensor, _fill_tensor, whole=True)
SIZE = InlineKind("torch size", lambda v, e: [int(n) for n in v],
                  lambda p, d: torch().Size([expect(n, int) for n in p]))  # fmt: skip
DTYPE = InlineKind("torch dtype", lambda v, e: _name(v), lambda p, d: _dtype(p))
DEVICE = InlineKind("torch device", lambda v, e: str(v), _device)
for _kind in (TENSOR, SIZE, DTYPE, DEVICE):
    register(_kind)


def _find(cls: type) -> Kind | None:
    module = sys.modules.get("torch")
    if module is None or not cls.__module__.startswith("torch"):
        return None
    known: dict[type, Kind] = {
        module.Tensor: TENSOR,
        module.nn.Parameter: TENSOR,
        module.Size: SIZE,
        module.dtype: DTYPE,
        module.device: DEVICE,
    }
    return known.get(cls)


register_finder(_find)
