"""The whole classifier, made of the student's own parts, and again with ready-made ones for some of them."""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.check.limits import TookTooLong, attempt_limit
from course.check.with_ready_parts import meaning
from course.tutorial_parts import ReadyPositions, ReadySelfAttention, ReadyTransformerBlock, ready_mean_pooling

#: What may be ready-made, in the order of the answers' names: the layers that ``__init__`` makes, and what comes from
#: the notebooks before.
PARTS = ("layers", "positions", "blocks", "pooling")
READY: dict[str, tuple[str, Any]] = {
    "positions": ("PositionalEncoding", ReadyPositions),
    "blocks": ("TransformerBlock", ReadyTransformerBlock),
    "pooling": ("mean_pooling", ready_mean_pooling),
    "attention": ("SelfAttention", ReadySelfAttention),
}


def classifier_whole(student_class: Any, case: Any) -> dict[str, Any]:
    """``log_probabilities`` (b, classes) of the student's class with the stored weights, or ``problem``, what it
    stopped with; ``log_probabilities_positions_blocks`` and the like of those models with ready-made parts that run,
    with dropout switched off, and ``log_probabilities_dropout``, with nothing else changed.

    ``ready``: the parts that are ready-made in this notebook, because the student's do not pass their checks.
    """
    space = getattr(getattr(student_class, "__init__", None), "__globals__", {})
    ready = [part for part, (name, made) in READY.items() if space.get(name) is made]
    found: dict[str, Any] = {"ready": ready} if ready else {}
    for size in range(len(PARTS) + 1):
        for group in [*itertools.combinations(PARTS, size), *[("dropout",)] * (size == 1)]:
            try:
                with torch.no_grad(), attempt_limit(), _without_dropout(group):
                    found["_".join(("log_probabilities", *group))] = _run(student_class, space, case, group)
            except Exception as error:
                if not group:
                    found["problem"] = f"{type(error).__name__}: {error}"[:300]
                    if isinstance(error, TookTooLong):
                        return found  # what never ends is no answer, and with a ready-made part it would not count
    return found


def _without_dropout(group: tuple[str, ...]) -> AbstractContextManager[Any]:
    """Wherever a part is set aside, functions and modules of dropout give back what they were given."""
    return patch.object(F, "dropout", lambda x, *_, **__: x) if group else nullcontext()


def _run(student_class: Any, space: dict[str, Any], case: Any, group: tuple[str, ...]) -> Tensor:
    with meaning(space, dict(READY[part] for part in group if part in READY)):
        model = student_class(**vars(case.config))
        if "layers" in group:
            _replace_layers(model, space, case.config)
        blocks = [*model.transformer_blocks]
        # under the numbers of their places, whatever they were called
        container = nn.Sequential if isinstance(model.transformer_blocks, nn.Sequential) else _in_a_list
        model.transformer_blocks = container(*blocks)
        ready = [block for block in blocks if isinstance(block, ReadyTransformerBlock)]
        model = case.load(model, ("transformer_blocks.",) if ready else ())
        _load_ready(model, ready, case)
        result = model(case.input_ids.clone())
    if not isinstance(result, Tensor):
        raise TypeError(f"the classifier must give a tensor, but gave {type(result).__name__}")
    return result


def _load_ready(model: Any, blocks: list[ReadyTransformerBlock], case: Any) -> None:
    """The stored weights of ready-made parts, which have other names than the student's."""
    for number, block in enumerate(blocks):
        for name, weight in block.inner.named_parameters():
            weight.copy_(getattr(case, f"ready_{name.replace('.', '_')}")[number])
    if isinstance(model.pos_enc, ReadyPositions):
        model.pos_enc.table.weight[: len(case.ready_places)].copy_(case.ready_places)


def _in_a_list(*blocks: nn.Module) -> nn.ModuleList:
    return nn.ModuleList(blocks)


def _replace_layers(model: Any, space: dict[str, Any], sizes: Any) -> None:
    """Layers as ``__init__`` should have made them, of the parts that this notebook has."""
    places, block = space["PositionalEncoding"], space["TransformerBlock"]
    model.token_embedding = nn.Embedding(sizes.num_tokens, sizes.k)
    model.pos_enc = places(sizes.k, max_len=sizes.seq_length)
    model.transformer_blocks = nn.Sequential(*(block(sizes.k, sizes.heads) for _ in range(sizes.depth)))
    model.classification_head = nn.Linear(sizes.k, sizes.num_classes)
