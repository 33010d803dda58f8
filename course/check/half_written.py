"""Calling code that may be half written: what it had computed by then still counts, and what it lacks is ready-made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from torch import Tensor, nn

from course.check.layers_made import fed_to, layers_made, runs
from course.check.ready_steps import with_ready
from course.parts import ReadyAttentionBlock


def left_behind(error: BaseException, module: nn.Module, names: tuple[str, ...]) -> Tensor | None:
    """The first tensor among the variables ``names`` of the call of ``module.forward`` in which the error came up."""
    trace = error.__traceback__
    while trace is not None:
        variables = trace.tb_frame.f_locals
        if trace.tb_frame.f_code.co_name == "forward" and variables.get("self") is module:
            tensors = [variables[name] for name in names if isinstance(variables.get(name), Tensor)]
            if tensors:
                return tensors[0].detach()
        trace = trace.tb_next
    return None


def run_block(block: nn.Module, hidden_states: Tensor) -> tuple[Any, Any]:
    """``block(hidden_states)``: -> output (batch, tokens, dim), weights (batch, heads, tokens, tokens)

    Where the code stops half-way the output is None, and the weights are those computed so far, or the scores where
    there are no weights yet. So each step can be looked at on its own.
    Raises what the block raised where it had neither.
    """
    try:
        output, weights = block(hidden_states)
        return output, weights
    except Exception as error:
        found = left_behind(error, block, ("weights", "scores"))
        if found is None:
            raise
        return None, found


def ready_block(kind: Any, case: Any) -> Any:
    """``kind(case.config)`` with the case's weights, in eval mode; layers that ``__init__`` lacks are ready-made.

    Which layers it has to make is another exercise's business.
    """
    block = kind.__new__(kind)
    with suppress(Exception):
        block.__init__(case.config)
    if "_modules" not in vars(block):
        nn.Module.__init__(block)
    if not hasattr(block, "config"):
        block.config = case.config
    for name, layer in ReadyAttentionBlock(case.config).named_children():
        if not isinstance(getattr(block, name, None), nn.Module):
            setattr(block, name, layer)
            if isinstance(layer, nn.LayerNorm):
                layer.eps = case.config.eps
    return case.load(block)


def either_way(
    kind: Any, steps: Mapping[str, str], names: Mapping[str, Any], call: Callable[[Any], Mapping[str, Any]]
) -> dict[str, Any]:
    """What ``call`` gives for the student's class, and as ``ready_…`` for it with ready-made steps.

    steps, names: as in :func:`course.check.ready_steps.with_ready`
    Raises what the first call raised where both fail.
    """
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    for prefix in ("", "ready_"):
        try:
            chosen = with_ready(kind, steps, names) if prefix else kind
            answers |= {f"{prefix}{name}": value for name, value in call(chosen).items()}
        except Exception as error:
            problem = problem or error
    if problem is not None and not answers:
        raise problem
    return answers


def weights_of(case: Any) -> Callable[[Any], dict[str, Any]]:
    """For :func:`either_way`: the weights, and as ``larger_…`` those of larger and larger queries and keys."""

    def call(kind: Any) -> dict[str, Any]:
        found = {}
        for name, factor in (("weights", 1), ("larger_1", 1.25), ("larger_2", 1.5), ("larger_3", 1.75)):
            block = ready_block(kind, case)
            for layer in (block.q_lin, block.k_lin, block.v_lin):
                for parameter in layer.parameters():
                    parameter.data.mul_(factor)
            found[name] = run_block(block, case.hidden_states)[1]
        return found

    return call


def _runs_alone(kind: Any, case: Any) -> bool | None:
    """Whether the block runs with the layers that its ``__init__`` makes; the projections may be ready-made."""
    with suppress(Exception):
        block, ready = kind(case.config).eval(), ReadyAttentionBlock(case.config)
        for name in ("q_lin", "k_lin", "v_lin"):
            setattr(block, name, getattr(ready, name))
        return runs(block, case.hidden_states)
    return None


def output_of(case: Any) -> Callable[[Any], dict[str, Any]]:
    """For :func:`either_way`: output and weights, what reached ``out_lin``, and the output of another call.

    Also which layers the class makes, and whether it runs with them.
    """

    def call(kind: Any) -> dict[str, Any]:
        block = ready_block(kind, case)
        context: list[Tensor] = []
        hook = fed_to(block.out_lin, context)
        output, weights = block(case.hidden_states)
        hook.remove()
        return {
            "output": output,
            "weights": weights,
            "context": context[0] if context else None,
            "again": block(case.hidden_states)[0],
            "made": layers_made(kind, case.config),
            "runs": _runs_alone(kind, case),
        }

    return call
