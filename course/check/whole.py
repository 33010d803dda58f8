"""A whole model, put together from the student's own parts, and again with some of them replaced by ready-made ones.

A part that is wrong loses points of its own. The outputs of a model in which that part alone is ready-made show whether
everything else fits together.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from course import pretrained
from course.check import stand_ins
from course.parts import ReadyAttentionBlock, ReadyEmbeddings

#: Parts that are ready-made together: the list is made of blocks, so that ``earlier``, the embeddings and blocks of the
#: notebooks before, has a ready-made list as well. The student's own model comes first.
GROUPS = [
    (),
    ("loop",),
    ("classifier",),
    ("loop", "classifier"),
    ("list",),
    ("list", "loop"),
    ("list", "classifier"),
    ("list", "loop", "classifier"),
    ("earlier",),
    ("earlier", "loop"),
    ("earlier", "classifier"),
]


def pretrained_logits(student_class: Any, checkpoint: str, input_ids: Tensor) -> dict[str, Any]:
    """``logits`` (batch, n_classes) of ``student_class`` with a checkpoint's weights, or ``problem``."""
    return _logits(lambda: trained(student_class, checkpoint)(input_ids))


def small_logits(student_class: Any, block: Any, case: Any) -> dict[str, Any]:
    """The logits of a small model with the stored weights of ``case``, for every group of ready-made parts.

    student_class, block: the student's classes of the model and of its blocks.
    Returns ``logits``, or ``problem``, what the model stopped with; ``logits_list_loop`` and the like of those models
    with ready-made parts that run.
    """
    found: dict[str, Any] = {}
    for group in GROUPS:
        answer = _logits(partial(_small, student_class, block, case, group))
        if group:
            answer = {"_".join(("logits", *group)): logits for name, logits in answer.items() if name == "logits"}
        found |= answer
    return found


def _logits(model: Callable[[], Any]) -> dict[str, Any]:
    try:
        with torch.no_grad():
            logits = model()
        if not isinstance(logits, Tensor):
            raise TypeError(f"the model must give a tensor, but gave {type(logits).__name__}")
        return {"logits": logits}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"[:300]}


@cache
def trained(student_class: Any, checkpoint: str) -> nn.Module:
    """A model of ``student_class`` with a checkpoint's weights, in eval mode. Made once.

    Raises what the class raises, and StateDictError where its parameters are not those of the checkpoint.
    """
    return pretrained.load(partial(stand_ins.build, student_class), checkpoint)


def _small(student_class: Any, block: Any, case: Any, group: tuple[str, ...]) -> Any:
    config, input_ids = case.config, case.input_ids
    model: Any = stand_ins.build(student_class, config)
    if "earlier" in group:
        stand_ins.put_in(model, ReadyEmbeddings(config), [ReadyAttentionBlock(config) for _ in range(config.n_layers)])
    elif "list" in group:
        stand_ins.put_in(model, model.embeddings, [block(config) for _ in range(config.n_layers)])
    case.load(model)
    # the stand-ins leave hooks in what they touch
    ready_classifier = copy.deepcopy(nn.Sequential(model.pre_classifier, nn.ReLU(), model.classifier))
    if "loop" not in group:
        return ready_classifier(stand_ins.pooled_by(model, input_ids)) if "classifier" in group else model(input_ids)
    hidden_states = model.embeddings(input_ids)
    for layer in model.attention_layers:
        hidden_states, _ = layer(hidden_states)
    if "classifier" in group:
        return ready_classifier(hidden_states[:, 0])
    return _own_classifier(model, config, input_ids, hidden_states)


def _own_classifier(model: Any, config: Any, input_ids: Tensor, final: Tensor) -> Any:
    """The student's classifier on ``final`` (batch, tokens, dim), whatever the loop before it does.

    config: the case's own, because a model need not keep it.
    """
    given = (model, input_ids, final)
    try:
        return stand_ins.run_classifier(*given, config.n_layers, config.n_heads)
    except Exception:
        with suppress(Exception):
            return stand_ins.run_classifier_alone(*given)
        raise
