"""The extension of notebook 3: padding must not change what a sentence means."""

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.distilbert._small import build, small_config
from course.check.modules import undisturbed

NAME = "padding"
#: Three sentences of 5, 3 and 4 tokens.
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])


@undisturbed
def padding(block_kind: Any, model_kind: Any) -> None:
    """Padded keys get no weight, in the block and in the whole model."""
    config = small_config(n_layers=2)
    block = _lively(build(NAME, block_kind, config))
    hidden_states = torch.randn(*MASK.shape, config.dim)
    plain, _ = _block(block, hidden_states, None)
    output, weights = _block(block, hidden_states, MASK)
    _padded_keys(weights)
    _real_tokens(block, hidden_states, output)
    everything, _ = _block(block, hidden_states, torch.ones_like(MASK))
    if not close(everything, plain, 1e-4):
        fail(
            NAME,
            "a mask of ones changes nothing.",
            "Yours does.",
            "1 marks a real token, 0 padding; was it the other way round?",
        )
    _whole_model(_lively(build(NAME, model_kind, config)))
    passed(NAME, "padded keys get no weight", "rows still sum to 1", "logits do not depend on the padding")


def _lively(module: nn.Module) -> nn.Module:
    for parameter in module.parameters():
        parameter.copy_(torch.randn_like(parameter) * 0.5)
    return module


def _block(block: nn.Module, hidden_states: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    with running(
        NAME,
        "block(hidden_states, attention_mask)",
        "The mask is (batch, tokens); the scores are (batch, heads, queries, keys).",
    ):
        output, weights = block(hidden_states, mask)
    same_shape(NAME, "the block's output", output, tuple(hidden_states.shape), "(batch, tokens, dim)")
    finite(NAME, "the block's output", output, "-inf times 0 is nan: mask the scores, before the softmax.")
    return output, weights


def _padded_keys(weights: Tensor) -> None:
    padded = (MASK == 0)[:, None, None, :].expand_as(weights)
    if float(weights[padded].abs().max()) > 1e-6:
        real = weights[1, :, :3, :3]
        look = "Scores of padded keys must become so small that the softmax makes 0 of them; a score of 0 is not small."
        if float(real.abs().max()) < 1e-6:
            look = "In yours the real tokens get none: 1 marks a real token, 0 padding."
        fail(NAME, "a padded key gets no weight.", f"In yours one gets {float(weights[padded].max()):.2f}.", look)
    sums = weights.sum(-1)
    if not close(sums, torch.ones_like(sums), 1e-4):
        fail(
            NAME,
            "each query's weights still sum to 1.",
            f"One row of yours sums to {float(sums.min()):.2f}.",
            "Mask before the softmax, not after it.",
        )


def _real_tokens(block: nn.Module, hidden_states: Tensor, output: Tensor) -> None:
    changed = torch.where(MASK[:, :, None] == 1, hidden_states, hidden_states + 3)
    again, _ = _block(block, changed, MASK)
    if not close(again[MASK == 1], output[MASK == 1], 1e-4):
        fail(
            NAME,
            "what stands in the padding makes no difference to the real tokens.",
            "In yours it does.",
            "Which axis of the scores are the keys?",
        )


def _whole_model(model: nn.Module) -> None:
    ids = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [9, 10, 11, 12, 0]])
    with running(NAME, "model(input_ids, attention_mask)", "The mask must reach every block."):
        together = model(ids, MASK)
        alone = model(ids[1:2, :3])
    if not close(together[1:2], alone, 1e-3):
        fail(
            NAME,
            "a padded sentence gets the same logits as without padding.",
            "Yours get others.",
            "Does the loop hand the mask to every block, and are the blocks the masked ones?",
        )
