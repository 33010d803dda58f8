"""The whole decoder: from ids to the logits of the next word."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.layers_made import fed_to
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects
from course.decoder_parts import DecoderConfig, ReadyBlock

CONFIG = DecoderConfig(vocabulary=11, context=9, dim=12, heads=3, layers=3)


@undisturbed
def language_model(kind: Any) -> None:
    """Embeddings, every block in its turn, the last norm, and one logit for each word. With ready-made blocks."""
    name = "language_model"
    with running(name, "making a model", "The layers are given: leave __init__ out."):
        model = kind(CONFIG, ReadyBlock).eval()
    for weight in model.parameters():
        weight.add_(0.3 * torch.randn_like(weight))
    ids = torch.tensor([[3, 7, 7, 1, 0, 5], [2, 2, 4, 9, 10, 6]])

    def run(given: Tensor) -> Tensor:
        with running(name, f"ids of shape {tuple(given.shape)}", "Print the shape after every step."):
            logits = model(given)
        same_shape(name, "the logits", logits, (*given.shape, CONFIG.vocabulary), "(batch, tokens, vocabulary)")
        result: Tensor = logits
        return result

    check_side_effects(name, model, ids, weights=[weight for weight in model.parameters() if weight.ndim == 2])
    logits = run(ids)
    if close(logits.exp().sum(-1), torch.ones(ids.shape)) or close(logits.sum(-1), torch.ones(ids.shape)):
        fail(name, "the model gives logits.", "Yours gives (log-)probabilities.", "The softmax is the loss's business.")
    if not close(run(ids[:, :4]), logits[:, :4]):
        fail(name, "the first words' logits do not depend on how many follow.", "In yours they do.", "Which positions?")
    for number, block in enumerate(model.blocks):
        seen: list[Tensor] = []
        watch = fed_to(block, seen)
        run(ids)
        watch.remove()
        if len(seen) != 1:
            fail(name, f"block {number} works once in a pass.", f"In yours it works {len(seen)} times.", "A for loop.")
        if number == 0:
            want = model.token_embedding(ids) + model.position_embedding.weight[: ids.shape[1]]
            if not close(seen[0], want):
                look = "token_embedding(ids) + the first rows of position_embedding"
                fail(
                    name, "the first block takes word vectors plus position vectors.", "Yours takes another sum.", look
                )
    model.final_norm.weight.zero_()
    model.final_norm.bias.copy_(model.token_embedding.weight[4])
    if not close(run(ids)[0, 0], model.token_embedding.weight @ model.token_embedding.weight[4]):
        fail(
            name,
            "a logit is the dot product of the last norm's result with the word's own vector.",
            "Yours is something else.",
            "final_norm(x) @ token_embedding.weight.T",
        )
    passed(name, "words plus positions", "every block once", "a logit for each word, by the embedding's own vectors")
