"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def position_ids(kind: Any, case: Any) -> dict[str, Any]:
    """With which ids the table of positions is asked last; where it is not called so, which row moves which token.

    A shorter batch comes first, so that nothing of its length is left. How words and positions are merged is not looked
    at: it may even be missing.
    """
    module, asked = case.load(kind(case.config)), []

    def note(table: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        asked.append(given[0] if given else named["input"])

    def run(ids: Tensor) -> Any:
        asked.clear()
        try:
            return module(ids)
        except Exception:
            if not asked:
                raise
            return None  # what comes after the table is another exercise

    handle = module.position_embeddings.register_forward_pre_hook(note, with_kwargs=True)
    run(case.input_ids[:, :2])
    output = run(case.input_ids)
    handle.remove()
    last = asked[-1] if asked else None
    if isinstance(last, Tensor) and (output is None or last.numel() >= case.input_ids.shape[1]):
        return {"ids": last + 0 * case.input_ids if last.shape[-1:] == case.input_ids.shape[1:] else last}
    return {"ids": _moved(module, case.input_ids, output)}


@torch.no_grad()
def _moved(module: Any, ids: Tensor, before: Tensor) -> Tensor:
    """For each token the row of the table that its vector depends on; -1 where there is none"""
    found = torch.full(ids.shape, -1)
    table = module.position_embeddings.weight
    for row in range(len(table)):
        kept = table[row].clone()
        table[row] += torch.linspace(-1, 3, table.shape[1])
        found[(module(ids) != before).any(-1)] = row
        table[row] = kept
    return found
