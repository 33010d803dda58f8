"""What the hidden cells on ``DotProductAttention`` run: each part is reached although the parts beside it may be wrong.

``output`` is what the student's own code gives, ``ready_output`` what it gives with ready-made scores. What is not
returned, because a ``return`` is missing or a later step stopped, is the variable ``out`` of ``forward``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from course.check.limits import TookTooLong, attempt_limit
from course.check.side_effects import side_effects

#: queries, keys (b*h, t, k) -> (b*h, t, t)
Score = Callable[[Tensor, Tensor], Tensor]
#: out (b*h, t, k), b, h -> (b, t, h*k)
Unfold = Callable[[Tensor, int, int], Tensor]


def scores(attention: Any, case: Any) -> dict[str, Any]:
    """The output, and ``score``: what ``calculate_score`` alone gives for the one head there is."""
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    one_head = case.queries[:, :, 0].clone(), case.keys[:, :, 0].clone()
    calls = {"output": lambda: attend(attention, case), "score": lambda: attention.calculate_score(*one_head)}
    for name, call in calls.items():
        try:
            with attempt_limit(), no_dropout():
                answers[name] = call()
        except Exception as error:
            problem = error
    if problem is not None and not any(isinstance(answer, Tensor) for answer in answers.values()):
        raise problem
    return answers


def outputs(attention: Any, case: Any, ready: Score, unfold: Unfold | None = None) -> dict[str, Any]:
    """``output`` and ``ready_output``, nothing dropped. unfold: step 5, where its points are another cell's."""
    with no_dropout():
        return both(attention, ready, lambda: attend(attention, case, unfold))


def both(attention: Any, ready: Score, call: Callable[[], Any], name: str = "output") -> dict[str, Any]:
    """What the call gives with the attention's own scores and with ready-made ones; raises where it never runs."""
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    for prefix in ("", "ready_"):
        try:
            with attempt_limit():
                answers[f"{prefix}{name}"] = call()
        except Exception as error:
            problem = problem or error
        attention.calculate_score = ready
    del attention.calculate_score
    if problem is not None and not answers:
        raise problem
    return answers


def attend(attention: Any, case: Any, unfold: Unfold | None = None) -> Any:
    """The attention on copies of the inputs. Where nothing of the right shape comes back, its ``out``, unfolded."""
    b, t, h, k = case.queries.shape
    queries, keys, values = (x.clone() for x in (case.queries, case.keys, case.values))
    arguments = {"mask": case.mask.clone()} if hasattr(case, "mask") else {}
    variables: dict[str, Any] = {}
    output, problem = None, None
    try:
        with at_return(attention, variables):
            output = attention(queries, keys, values, b, h, t, k, **arguments)
    except Exception as error:
        problem = error
    if isinstance(output, Tensor) and output.shape == (b, t, h * k):
        return output
    out = variables.get("out")
    if isinstance(out, Tensor) and h == 1 and out.numel() == b * t * k:
        return out.reshape(b, t, k)
    if isinstance(out, Tensor) and unfold is not None:
        if out.shape == (b * h, t, k):
            return unfold(out, b, h)
        if out.shape in ((b, t, h, k), (b, t, h * k)):
            return out.flatten(2)
    if problem is not None:
        raise problem
    return output


@contextmanager
def at_return(module: nn.Module, variables: dict[str, Any]) -> Iterator[None]:
    """Within the block, ``variables`` fills with those of ``module.forward`` when it ends, by a return or an error."""

    def watch(frame: FrameType, event: str, value: Any) -> None:
        if event == "return" and frame.f_code.co_name == "forward" and frame.f_locals.get("self") is module:
            variables.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextmanager
def no_dropout() -> Iterator[None]:
    """Within the block, dropout drops nothing, whoever calls it: it has points of its own."""

    def identity(input: Tensor, *arguments: Any, **named: Any) -> Tensor:
        return input

    places = [(nn.functional, "dropout"), (torch, "dropout"), (nn.Dropout, "forward")]
    kept = [getattr(place, name) for place, name in places]
    nn.functional.dropout = torch.dropout = identity
    nn.Dropout.forward = lambda self, input: input  # type: ignore[method-assign]
    try:
        yield
    finally:
        for (place, name), value in zip(places, kept, strict=True):
            setattr(place, name, value)


def effects(attention: Any, case: Any, ready: Score) -> dict[str, Any]:
    """``changed`` and ``cut``: see :mod:`course.check.side_effects`. Where ``forward`` runs with ready-made scores,
    what is found is its own: ``calculate_score`` has points of its own.
    """
    attention.calculate_score = ready
    found = _effects(attention, case)
    del attention.calculate_score
    return found or _effects(attention, case)


def _effects(attention: Any, case: Any) -> dict[str, Any]:
    b, t, h, k = case.queries.shape
    masks = [case.mask] if hasattr(case, "mask") else []

    def call(queries: Tensor, keys: Tensor, values: Tensor, *masks: Tensor) -> Any:
        return attention(queries, keys, values, b, h, t, k, *masks)

    try:
        with attempt_limit(), no_dropout():
            return side_effects(call, case.queries, case.keys, case.values, *masks)
    except TookTooLong:  # the scores, which have points of their own, may never end
        return {}
