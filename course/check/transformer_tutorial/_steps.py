"""The steps of ``DotProductAttention.forward``, and the halves of ``TransformerBlock.forward``, each by itself: the
student's own lines, with the others ready-made.

What is dropped has points of its own: everywhere else dropout drops nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.check.ready_steps import filled, mentions, rewritten, set_by, used_by

#: The steps between which ``forward`` is cut, and what takes the place of each of them.
STEPS = {
    "fold": "queries, keys, values = ready_fold(queries), ready_fold(keys), ready_fold(values)",
    "score": "score = ready_score(queries, keys)",
    "mask": "score = ready_mask(score, mask)",
    "mix": "out = ready_mix(score, values)",
    "unfold": "return ready_unfold(out)",
}
Steps = dict[str, list[ast.stmt]]


def alone(student_class: type, *own: str, score: Callable[[Tensor, Tensor], Tensor] | None = None) -> type:
    """A subclass with these own steps of the student's; all others are ready-made, ``score`` perhaps in another way.

    Raises ValueError where the steps cannot be told apart.
    """
    sizes: dict[str, int] = {}

    def fold(x: Tensor) -> Tensor:
        sizes.update(b=x.shape[0], h=x.shape[2])
        return x[:, :, 0] if x.shape[2] == 1 else torch.stack(x.unbind(2), dim=1).flatten(0, 1)

    def unfold(out: Tensor) -> Tensor:
        return torch.cat(out.unflatten(0, (sizes["b"], sizes["h"])).unbind(1), dim=-1)

    def mask(score: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return score
        hidden = torch.where(mask, 0.0, -torch.inf).unsqueeze(1)
        return (score.unflatten(0, (sizes["b"], -1)) + hidden.unsqueeze(1)).flatten(0, 1)

    def mix(score: Tensor, values: Tensor) -> Tensor:
        return torch.einsum("bqm,bmk->bqk", score.log_softmax(-1).exp(), values)

    parts = {"fold": fold, "score": score or ready_score, "mask": mask, "mix": mix, "unfold": unfold}
    return rewritten(student_class, {f"ready_{name}": part for name, part in parts.items()}, _own_steps, *own)


def _own_steps(body: list[ast.stmt], *own: str) -> list[ast.stmt]:
    steps = _steps(body)
    ready = {name: ast.parse(line).body for name, line in STEPS.items()}
    whole = [statement for name in STEPS for statement in (steps[name] if name in own else ready[name])]
    return [*ast.parse("ready_fold(queries)").body, *whole]  # in any case: it takes down the sizes


def with_ready_scores(student_class: type) -> type:
    """A subclass whose ``calculate_score`` is ready-made."""
    return type("Ready", (student_class,), {"calculate_score": staticmethod(ready_score)})


def ready_score(queries: Tensor, keys: Tensor) -> Tensor:
    """(b, t, k) twice -> (b, t, t)"""
    return torch.baddbmm(torch.zeros(()), queries, keys.mT, beta=0, alpha=keys.shape[-1] ** -0.5)


def _steps(body: list[ast.stmt]) -> Steps:
    """The statements of each step; a gap that was not filled in is left out."""
    body = filled(body)
    place = _first(body, lambda one: mentions(one, "calculate_score"))
    if place is None:
        raise ValueError("forward does not call calculate_score")
    rest = body[place + 1 :]
    masked = _first(rest, lambda one: isinstance(one, ast.If) and "mask" in used_by(one.test))
    rest, mask = (rest, []) if masked is None else (rest[masked + 1 :], rest[: masked + 1])
    done = _first(rest, lambda one: "out" in used_by(one) or isinstance(one, ast.Return))
    mix, unfold = (rest, []) if done is None else (rest[:done], rest[done:])
    return {"fold": body[:place], "score": [body[place]], "mask": mask, "mix": mix, "unfold": unfold}


def _first(body: list[ast.stmt], fits: Callable[[ast.stmt], bool]) -> int | None:
    return next((place for place, statement in enumerate(body) if fits(statement)), None)


def first_half(student_class: type) -> type:
    """Ends before the network or norm_2 comes into play, and gives ``x``. Raises ValueError where no line sets x."""
    return rewritten(student_class, {}, _first_half)


def _first_half(body: list[ast.stmt]) -> list[ast.stmt]:
    half = body[: _first_use(body, "mlp", "norm_2")]
    if not any("x" in set_by(statement) for statement in half):
        raise ValueError("nothing is called x before the second half")
    return [*filled(half), *ast.parse("return x").body]


def second_half(student_class: type, entered: Tensor) -> type:
    """``x`` is ``entered`` where the network comes into play. ValueError where it never does, or nothing is x."""
    return rewritten(student_class, {"ready_x": entered}, _second_half)


def _second_half(body: list[ast.stmt]) -> list[ast.stmt]:
    place = _first_use(body, "mlp")
    before = [statement for statement in body[:place] if "x" not in set_by(statement)]
    if len(before) == place:
        raise ValueError("nothing is called x before the second half")
    return filled([*before, *ast.parse("x = ready_x").body, *body[place:]])


def _first_use(body: list[ast.stmt], *parts: str) -> int:
    """The place of the first statement that uses ``self.<part>``."""
    place = _first(body, lambda one: mentions(one, *parts))
    if place is None:
        raise ValueError(f"forward does not use {' or '.join(parts)}")
    return place


def as_half(module: Any, half: type) -> Any:
    """The module, of whose forward only a half is left."""
    module.__class__ = half
    return module


@contextmanager
def no_dropout() -> Iterator[None]:
    """Within the block, dropout drops nothing, whoever calls it."""

    def identity(input: Tensor, *arguments: Any, **named: Any) -> Tensor:
        return input

    forward = patch.object(nn.Dropout, "forward", lambda self, input: input)
    with patch.object(F, "dropout", identity), patch.object(torch, "dropout", identity), forward:
        yield


@contextmanager
def softmax_done(weights: Tensor) -> Iterator[None]:
    """Within the block, the softmax leaves these weights as they are, and everything of another shape: how weights are
    made is another exercise. Weights of which some were dropped before are no longer these.
    """

    def stand_in(real: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def softmax(input: Tensor, *arguments: Any, **named: Any) -> Tensor:
            other = input.shape == weights.shape and not torch.equal(input, weights)
            return real(input, *arguments, **named) if other else input

        return softmax

    places: list[Any] = [F, torch, Tensor]
    first, second, third = (patch.object(place, "softmax", stand_in(place.softmax)) for place in places)
    with first, second, third:
        yield
