"""Are two values the same? Arrays and tensors within tolerance, modules by their parameters, pictures by pixels."""

import io
import sys
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

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
