"""How many bytes a cache takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from course.check.base import fail, passed, running
from course.check.modules import undisturbed

NAME = "cache_memory"
SIZES = {"layers": 3, "dim": 40, "heads": 10, "kv_heads": 5}
GIVEN = {"tokens": 7, "batch": 11, "bytes_per_number": 2}
#: What becomes twice as large -> how many times as large the cache becomes.
GROWS = {"layers": 2, "dim": 2, "kv_heads": 2, "tokens": 2, "batch": 2, "bytes_per_number": 2, "heads": 0.5}
LOOKS = {
    "layers": "Every layer has a cache of its own.",
    "dim": "A head has dim / heads numbers.",
    "heads": "More query heads of the same dim are smaller heads. Only heads of keys and values are kept.",
    "kv_heads": "Each of these heads keeps keys and values.",
    "tokens": "Every token is kept once: the weights between tokens are not kept.",
    "batch": "Every text of the batch has a cache of its own.",
    "bytes_per_number": "2 in float16, 4 in float32.",
}


@undisturbed
def cache_memory(function: Any) -> None:
    """A product: each size counts, and counts once."""
    before = _bytes(function)
    if not before > 0:
        fail(NAME, "a cache takes some memory.", f"Yours gives {before:g} bytes.")
    for size, want in GROWS.items():
        ratio = _bytes(function, **{size: 2 * (SIZES | GIVEN)[size]}) / before
        if abs(ratio - want) > 1e-6:
            came = f"Yours becomes {ratio:.3g} times as large."
            fail(NAME, f"with {size} twice as large, the cache becomes {want:g} times as large.", came, LOOKS[size])
    alone = _bytes(function, layers=1, dim=1, heads=1, kv_heads=1, tokens=1, batch=1, bytes_per_number=1)
    if alone != 2:
        came = f"Yours gives {alone:g}."
        fail(NAME, "with all sizes 1, a key and a value of one byte each are kept: 2.", came, "Bytes, not bits or KiB.")
    passed(NAME, "keys and values", "every size counts once")


def _bytes(function: Any, **changes: int) -> float:
    sizes = SIZES | GIVEN | changes
    config = SimpleNamespace(**{name: sizes[name] for name in SIZES})
    with running(NAME, f"the sizes {sizes}", "One number comes out."):
        return float(function(config, *(sizes[name] for name in GIVEN)))
