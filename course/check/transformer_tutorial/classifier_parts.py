"""The parts of ``Transformer``."""

from __future__ import annotations

from typing import Any

from course.check.base import fail, passed
from course.check.transformer_tutorial._calls import undisturbed
from course.check.transformer_tutorial._classifier import CLASSES, DEPTH, TOKENS, K, small_model


@undisturbed
def classifier_parts(kind: Any) -> None:
    """An embedding, as many blocks as depth says, and a head."""
    name = "classifier_parts"
    model = small_model(name, kind)
    for part in ("token_embedding", "pos_enc", "transformer_blocks", "classification_head"):
        if not hasattr(model, part):
            fail(name, f"the model must have a part called {part}.", "Yours has none.", "Look at __init__.")
    embedding, head = model.token_embedding, model.classification_head
    for part, layer, shape in (
        ("token_embedding", embedding, (TOKENS, K)),
        ("classification_head", head, (CLASSES, K)),
    ):
        got = tuple(getattr(getattr(layer, "weight", None), "shape", ()))
        if got != shape:
            fail(
                name,
                f"with k = {K}, {TOKENS} tokens and {CLASSES} classes, the weight of {part} has shape {shape}.",
                f"Yours has {got}.",
                "One row per token, k numbers each; k numbers in, one per class out.",
            )
    blocks = [*model.transformer_blocks]
    if len(blocks) != DEPTH:
        fail(name, f"with depth = {DEPTH} there are {DEPTH} blocks.", f"Yours are {len(blocks)}.")
    if len({id(block) for block in blocks}) < DEPTH:
        fail(
            name,
            "every block has weights of its own.",
            "In yours one block is there several times.",
            "Make a new one each time.",
        )
    if not {id(p) for block in blocks for p in block.parameters()} <= {id(p) for p in model.parameters()}:
        fail(
            name,
            "the model must know that the blocks belong to it.",
            "To yours their weights are unknown, and would not be trained.",
            "A plain list does not register what it holds.",
        )
    passed(name, "embedding", f"{DEPTH} blocks for depth {DEPTH}", "head")
