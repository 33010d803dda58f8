"""The stretch goal of notebook 1: the gradient with respect to the scores, by hand. Ungraded."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "scores_gradient"
EXACT = 1e-10
STEP = 1e-5
#: What comes out of the text's example, and what then went wrong.
MISTAKES = {
    (12.0, 4.0): "That is D, the gradient of the weights. The way back through the softmax is missing.",
    (3.0, 3.0): "That is W · D. When one weight grows the others of its row shrink: something is subtracted.",
    (2.25, 0.75): "Each score changes all weights of its row, not its own alone. Is the sum over the keys there?",
    (-4.0, -12.0): "Your softmax runs over the queries. Each query's weights sum to 1 over the keys, axis 1.",
    (-1.5, 1.5): "The sign is the other way round: D less the row's average.",
    (6.0, -2.0): "That is D less the row's average. It is still to be multiplied by the weights.",
    (1.0, -3.0): "The plain mean of D was subtracted. The average counts each key by its weight.",
    (-1.0, -9.0): "The plain sum of D was subtracted. The average counts each key by its weight.",
}


@undisturbed
def scores_gradient(function: Callable[[Tensor, Tensor, Tensor], Any]) -> None:
    """Equal to finite differences and to autograd, in double precision."""
    given = [torch.randn(shape, dtype=torch.float64) for shape in ((3, 5), (5, 4), (3, 4))]
    if not begun(NAME, function, *(tensor.clone() for tensor in given)):
        return
    _by_hand(function)
    found = _called(function, *given)
    exact, measured = _by_autograd(*given), _by_finite_differences(*given)
    gap = float((found - exact).abs().max())
    if not gap <= EXACT:  # nan is not close to anything
        expected = f"the gradient of 3 queries, 5 keys and values of 4 numbers is autograd's, to {EXACT:g}."
        fail(NAME, expected, f"Yours differs by up to {gap:.2g}.", _look(found, exact, given))
    apart = float((found - measured).abs().max())
    passed(NAME, f"autograd agrees to {gap:.0e}", f"finite differences to {apart:.0e}", "each row sums to 0")


def _called(function: Callable[[Tensor, Tensor, Tensor], Any], *given: Tensor) -> Tensor:
    before = [tensor.clone() for tensor in given]
    with running(NAME, "scores, values and upstream in float64", "By hand: autograd is off here."):
        found = function(*given)
    same_shape(NAME, "the gradient", found, tuple(given[0].shape), "(n, m)", "One number for each score.")
    if any(not torch.equal(tensor, old) for tensor, old in zip(given, before, strict=True)):
        fail(NAME, "scores, values and upstream must stay as they are.", "Yours changed them.", "Make new tensors.")
    return torch.as_tensor(found).double()


def _by_hand(function: Callable[[Tensor, Tensor, Tensor], Any]) -> None:
    numbers = ([[0.0, math.log(3)]], [[12.0], [4.0]], [[1.0]])
    found = _called(function, *(torch.tensor(rows, dtype=torch.float64) for rows in numbers))
    if not close(found, [[1.5, -1.5]], 1e-5):
        look = next((says for wrong, says in MISTAKES.items() if close(found, [wrong], 1e-5)), "")
        came = f"Yours are {float(found[0, 0]):.4g} and {float(found[0, 1]):.4g}."
        expected = "the example's weights 1/4, 3/4 and D = (12, 4) give the gradients 1.5 and -1.5."
        fail(NAME, expected, came, look or "Go through the example in the text step by step.")


def _loss(scores: Tensor, values: Tensor, upstream: Tensor) -> Tensor:
    """A loss whose gradient with respect to the output is ``upstream``."""
    return (upstream * (scores.softmax(1) @ values)).sum()


def _by_autograd(scores: Tensor, values: Tensor, upstream: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = scores.clone().requires_grad_()
        return torch.autograd.grad(_loss(leaf, values, upstream), leaf)[0]


def _by_finite_differences(scores: Tensor, values: Tensor, upstream: Tensor) -> Tensor:
    found = torch.zeros_like(scores)
    for place in range(scores.numel()):
        step = torch.zeros_like(scores)
        step.view(-1)[place] = STEP
        rise = _loss(scores + step, values, upstream) - _loss(scores - step, values, upstream)
        found.view(-1)[place] = rise / (2 * STEP)
    return found


def _look(found: Tensor, exact: Tensor, given: list[Tensor]) -> str:
    if close(found, exact, 1e-5):
        return "Is something kept in float32?"
    if close(found, exact / given[1].shape[1] ** 0.5, 1e-6):
        return "The scores come already divided by √k: nothing is divided here."
    sums = found.sum(1)
    if not close(sums, torch.zeros_like(sums), 1e-6):
        return "Each row must sum to 0, and yours do not. Over which axis is the average taken, and is that axis kept?"
    return "Which axis of the values meets which axis of upstream?"
