"""Calling the student's code: in quiet surroundings, and with a word on what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

from course.check.base import fail, running, same_shape

Checked = TypeVar("Checked", bound=Callable[..., None])


def undisturbed(check: Checked) -> Checked:
    """A check draws random numbers of its own, computes no gradients, and leaves the notebook's generator alone."""

    @wraps(check)
    def quiet(*arguments: Any) -> None:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.default_generator.manual_seed(7)
            check(*arguments)

    return quiet  # type: ignore[return-value]


def make(name: str, student_class: Any, *arguments: Any, **named: Any) -> Any:
    """The student's module. Fails where ``student_class`` is no class, or cannot be made."""
    if not callable(student_class):
        fail(
            name,
            "give the check the class itself.",
            f"It got {student_class!r:.40}.",
            "Write its name without brackets.",
        )
    with running(name, f"making a {getattr(student_class, '__name__', 'module')}", "Look at __init__."):
        return student_class(*arguments, **named)


def attend(
    name: str, attention: Any, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> Tensor:
    """queries, keys, values (b, t, h, k) -> (b, t, h*k), shape checked"""
    b, t, h, k = queries.shape
    before = [x.clone() for x in (queries, keys, values)]
    with running(name, f"b = {b}, h = {h}, t = {t}, k = {k}", "Print the shape after every step."):
        extra = {} if mask is None else {"mask": mask}
        out = attention(queries, keys, values, b, h, t, k, **extra)
    same_shape(name, "the output", out, (b, t, h * k), "(b, t, h * k)", "Are the heads back after the tokens?")
    if any(not torch.equal(x, old) for x, old in zip((queries, keys, values), before, strict=True)):
        fail(
            name,
            "queries, keys and values must keep their numbers.",
            "Yours were changed in place.",
            "Make new tensors.",
        )
    result: Tensor = out
    return result
