"""Notebook 1: ``Embeddings``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.encoder_lab._building import make, plain, settled
from course.check.encoder_lab._stand_ins import first
from course.check.modules import part, undisturbed


@undisturbed
def embeddings(kind: Any) -> None:
    """Words plus positions, normalised."""
    name = "embeddings"
    module = make(name, kind, 11, 8, 6)
    for table, shape in (("token_embeddings", (11, 6)), ("position_embeddings", (8, 6))):
        found = part(name, module, table)
        if tuple(getattr(found, "weight", torch.zeros(0)).shape) != shape:
            fail(
                name,
                f"Embeddings(11, 8, d_model=6): {table} has {shape[0]} rows of {shape[1]}.",
                f"Yours is {found}.",
            )
    plain(name, module, "layer_norm")
    ids = torch.tensor([[3, 7, 3, 1, 3], [3, 7, 3, 1, 3]])
    output = _embed(name, module, ids)
    same_shape(name, "the output", output, (2, 5, 6), "(batch, tokens, d_model)", "One vector for every token.")
    settled(name, output, _embed(name, module, ids))
    if not close(output[0], output[1]):
        fail(
            name,
            "two equal sentences must get equal vectors.",
            "In yours the place in the batch matters.",
            "The position is the place in the sentence: axis 1.",
        )
    if close(output[0, 0], output[0, 2]):
        fail(
            name,
            "the same word at two places must get two different vectors.",
            "Yours are equal.",
            "Are the position vectors added, and does every place have its own?",
        )
    if close(output[0, 0], _embed(name, module, torch.tensor([[7, 7, 3, 1, 3]]))[0, 0]):
        fail(
            name,
            "two words at the same place must get two different vectors.",
            "Yours are equal.",
            "Are the words in it?",
        )
    if not close(output.mean(-1), torch.zeros(2, 5), 1e-3):
        fail(
            name,
            "behind the layer norm each token's numbers have mean 0.",
            "Yours have not.",
            "Add first, then normalise.",
        )
    _dropped_last(name, module, ids)
    _which_row(name, module)
    too_long = torch.ones(1, 9, dtype=torch.long)
    try:
        module(too_long)
    except Exception:
        pass
    else:
        fail(name, "9 tokens are too many for 8 positions: that must be an error.", "Yours goes on as if nothing were.")
    module.position_embeddings.weight.zero_()
    module.token_embeddings.weight.copy_(1e-4 * torch.randn(11, 6))
    small = _embed(name, module, ids)
    spread = float(small.var(-1, unbiased=False).mean())
    note = (
        [] if spread > 0.99 else [f"but eps is not 1e-12: vectors of size 0.0001 get a variance of {spread:.2g}, not 1"]
    )
    share = getattr(getattr(module, "dropout", None), "p", None)
    if share != 0.1:
        note.append(f"but the dropout's share is {share or 'nothing'}, not 0.1 (no points lost)")
    passed(name, "words plus positions", "normalised", "too long is refused", *note)


def _dropped_last(name: str, module: Any, ids: Tensor) -> None:
    """In training each number is 0, or what it is otherwise, enlarged by one common factor."""
    output, training = _embed(name, module, ids), _embed(name, module.train(), ids)
    module.eval()
    kept = (training != 0) & (output.abs() > 1e-3)
    ratio = (training / output)[kept]
    if not len(ratio) or float(ratio.max() - ratio.min()) > 1e-3:
        fail(
            name,
            "in training the dropout comes last: a number is dropped, or it stays in proportion to the others.",
            "In yours the numbers change in other ways.",
            "Eq. (4): the dropout is around everything else.",
        )


def _which_row(name: str, module: Any) -> None:
    """Position t must take row t of the table."""
    module.token_embeddings.weight.zero_()
    table = torch.zeros(8, 6)
    table[torch.arange(6), torch.arange(6)] = 1.0
    module.position_embeddings.weight.copy_(table)
    places = _embed(name, module, torch.tensor([[5, 0, 9, 4]])).argmax(-1)[0].tolist()
    if places != [0, 1, 2, 3]:
        fail(
            name, "the tokens of a sentence stand at positions 0, 1, 2, 3, …", f"Yours use rows {places} of the table."
        )


def _embed(name: str, module: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape {tuple(ids.shape)}", "Which numbers does the table of positions want?"):
        output: Tensor = first(module(ids))
    finite(name, "the output", output)
    return output
