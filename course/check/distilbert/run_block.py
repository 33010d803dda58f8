"""Calling a block that may be half written."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


def run_block(block: nn.Module, hidden_states: Tensor) -> tuple[Any, Any]:
    """``block(hidden_states)``: -> output (batch, tokens, dim), weights (batch, heads, tokens, tokens)

    Where the code stops half-way, what it had by then still counts: the output is None, the weights are those
    computed so far, or the scores where there are no weights yet. So each step can be looked at on its own.
    Raises what the block raised where it had neither.
    """
    try:
        output, weights = block(hidden_states)
        return output, weights
    except Exception as error:
        found = _left_behind(error, block)
        if found is None:
            raise
        return None, found


def _left_behind(error: Exception, block: nn.Module) -> Tensor | None:
    """The variable ``weights``, else ``scores``, of the call of ``block.forward`` in which the error came up."""
    trace = error.__traceback__
    while trace is not None:
        variables = trace.tb_frame.f_locals
        if trace.tb_frame.f_code.co_name == "forward" and variables.get("self") is block:
            tensors = [variables[name] for name in ("weights", "scores") if isinstance(variables.get(name), Tensor)]
            if tensors:
                return tensors[0].detach()
        trace = trace.tb_next
    return None
