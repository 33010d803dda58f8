"""The stretch goal of notebook 2: the gradient of attention by hand. Ungraded."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "attention_gradient"
SHAPE = (2, 3, 5, 4)
STEP = 1e-5


@undisturbed
def attention_gradient(function: Any) -> None:
    """The gradients at v, then at q and k, as autograd finds them and as finite differences show."""
    q, k, v, given = (torch.randn(SHAPE, dtype=torch.float64) for _ in range(4))
    if not begun(NAME, function, q, k, v, given):
        return
    with running(NAME, f"q, k, v and the gradient at the context, each {SHAPE}", "Print every shape."):
        found = function(q.clone(), k.clone(), v.clone(), given.clone())
    if not isinstance(found, list | tuple) or len(found) != 3:
        fail(NAME, "three gradients are expected: at q, k and v.", f"A {type(found).__name__} came.", "return a, b, c")
    wanted = dict(zip("qkv", _by_autograd(q, k, v, given), strict=True))
    yours = dict(zip("qkv", found, strict=True))
    for name in "vqk":
        same_shape(NAME, f"the gradient at {name}", yours[name], SHAPE, "(batch, heads, tokens, dim_per_head)")
        if not close(yours[name], wanted[name]):
            _differs(name, yours[name], wanted, (q, k, v, given))
    _by_differences(yours, (q, k, v), given)
    passed(NAME, "the gradients of autograd", "the differences of the loss when single numbers move")


def _by_autograd(q: Tensor, k: Tensor, v: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    with torch.enable_grad():
        tracked = [x.clone().requires_grad_() for x in (q, k, v)]
        return torch.autograd.grad(_context(*tracked), tracked, given)


def _context(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v, scale=1.0)


def _differs(name: str, yours: Tensor, wanted: dict[str, Tensor], values: tuple[Tensor, ...]) -> None:
    q, k, v, given = values
    expected = f"the gradient at {name} is that of autograd."
    if name == "v":
        fail(NAME, expected, "Yours differs.", "Each value goes to all queries: the weights are transposed.")
    if close(yours, wanted["k" if name == "q" else "q"]):
        fail(NAME, expected, "Yours is that of the other one.", "The order of the results is q, k, v.")
    weights = torch.einsum("bhqd,bhkd->bhqk", q, k).softmax(-1)
    incoming = torch.einsum("bhqd,bhkd->bhqk", given, v)
    skipped = {"the diagonal of the Jacobian alone": weights * (1 - weights) * incoming,
               "its first part alone": weights * incoming, "no softmax at all": incoming}  # fmt: skip
    for what, at_scores in skipped.items():
        if close(yours, at_scores @ k if name == "q" else at_scores.mT @ q):
            look = "Every weight of a row depends on every score of it: a sum over the row is missing."
            fail(NAME, expected, f"Yours is what {what} gives.", look)
    fail(NAME, expected, "Yours differs.", "Check the gradient at the scores first: each of its rows sums to 0.")


def _by_differences(yours: dict[str, Tensor], values: tuple[Tensor, ...], given: Tensor) -> None:
    """Moves one number of each of q, k and v a little up and down."""
    for place, name in enumerate("qkv"):
        losses = []
        for step in (STEP, -STEP):
            moved = [x.clone() for x in values]
            moved[place][1, 2, 3, 0] += step
            losses.append(float((_context(*moved) * given).sum()))
        slope = (losses[0] - losses[1]) / (2 * STEP)
        came = float(yours[name][1, 2, 3, 0])
        if abs(came - slope) > 1e-5:
            expected = f"the gradient at {name} says how the loss changes when a number of {name} moves."
            fail(NAME, expected, f"Yours says {came:.5f}, the loss {slope:.5f}.", "Is anything rounded?")
