"""From ids to log-probabilities."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._calls import undisturbed
from course.check.transformer_tutorial._classifier import TOKENS, K, bare_model, run


@undisturbed
def classifier_forward(kind: Any) -> None:
    """ids -> vectors times √k -> positions -> blocks -> average -> head -> log-probabilities"""
    name = "classifier_forward"
    model, blocks = bare_model(name, kind)
    ids = torch.randint(1, TOKENS, (3, 5))
    out = run(name, model, ids)
    if not close(out.exp().sum(1), torch.ones(3)):
        came = (
            "Yours are probabilities already."
            if close(out.sum(1), torch.ones(3))
            else f"Yours sum to {float(out.exp().sum(1)[0]):.3g}."
        )
        fail(
            name,
            "the output holds log-probabilities: e to the power of each, they sum to 1 over the classes.",
            came,
            "log_softmax comes last, over the classes.",
        )
    vectors = model.token_embedding(ids)
    entered = model.pos_enc.seen[0][0] if model.pos_enc.seen else None
    if entered is None:
        fail(name, "the positions are added by pos_enc.", "Yours never calls it.")
    if not close(entered, vectors * K**0.5):
        fail(
            name,
            "what enters pos_enc are the token vectors times √k.",
            "Yours are not.",
            "First the factor, then the positions.",
        )
    seen = [block.seen[0][0] if block.seen else None for block in blocks]
    for number, given in enumerate(seen):
        want = entered + sum(10.0**before for before in range(number))
        if given is None or not close(given, want, 1e-3):
            fail(
                name,
                f"block {number} takes what came before it.",
                "In yours it takes something else, or is never called.",
                "What one block gives is what the next one takes.",
            )
    swapped = run(name, model, ids.flip(1))
    if not close(swapped, out, 1e-3):
        fail(
            name,
            "the head takes the average over all tokens, whose order does not matter.",
            "In yours it matters.",
            "Which axis counts the tokens?",
        )
    twice = run(name, model, torch.tensor([[3, 3, 5], [3, 5, 5]]))
    if close(twice[0], twice[1], 1e-5):
        fail(name, "all tokens count alike: a word that comes twice counts twice.", "In yours it does not.", "Average.")
    passed(name, "√k, then positions", "every block in its turn", "average", "log-probabilities")
