"""What the hidden cell on the scores of ``DotProductAttention`` runs: they are reached although what follows is wrong.

What is not returned, because a ``return`` is missing or a later step stopped, is the variable ``out`` of ``forward``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch import Tensor, nn

from course.check.limits import attempt_limit
from course.check.transformer_tutorial._steps import no_dropout


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


def attend(attention: Any, case: Any) -> Any:
    """The attention on copies of the inputs. Where nothing of the right shape comes back, its ``out`` for one head."""
    b, t, h, k = case.queries.shape
    queries, keys, values = (x.clone() for x in (case.queries, case.keys, case.values))
    variables: dict[str, Any] = {}
    output, problem = None, None
    try:
        with at_return(attention, variables):
            output = attention(queries, keys, values, b, h, t, k)
    except Exception as error:
        problem = error
    if isinstance(output, Tensor) and output.shape == (b, t, h * k):
        return output
    out = variables.get("out")
    if isinstance(out, Tensor) and h == 1 and out.numel() == b * t * k:
        return out.reshape(b, t, k)
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
