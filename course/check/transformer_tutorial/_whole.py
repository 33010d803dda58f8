"""The whole classifier: made of what the notebook has, and again with everything ready-made but ``forward``."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from course.check._rules.case_inputs import names_around
from course.check.called import with_ready_parts
from course.check.limits import attempt_limit
from course.check.transformer_tutorial._ready import ReadyTransformer
from course.check.with_ready_parts import meaning, own_and_ready
from course.tutorial_parts import ReadyPositions, ReadySelfAttention, ReadyTransformerBlock, ready_mean_pooling


def ready_classifier(student_class: Any) -> Any:
    """The class with ready-made layers and methods: what is left is ``forward``."""
    methods = ("embed", "encode", "classify")
    return with_ready_parts(student_class, ReadyTransformer, methods, ReadyTransformer.layers)


def classifier_whole(student_class: Any, case: Any) -> dict[str, Any]:
    """``log_probabilities`` (b, classes) with the stored weights, and ``made``: whether positions and blocks are
    ready-made in this notebook, because the student's do not pass their checks.
    """
    space = names_around(student_class)
    # no weights fit into a block that is ready-made in part
    in_part = space.get("SelfAttention") is ReadySelfAttention
    names = {"TransformerBlock": ReadyTransformerBlock} if in_part else {}

    def run(kind: Any, names: dict[str, Any]) -> dict[str, Any]:
        with meaning(space, names), torch.no_grad(), attempt_limit():
            return _run(kind, case)

    return own_and_ready(
        partial(run, student_class, names),
        partial(run, ready_classifier(student_class), {"mean_pooling": ready_mean_pooling}),
    )


def _run(kind: Any, case: Any) -> dict[str, Any]:
    model = kind(**vars(case.config))
    blocks = [*model.transformer_blocks]
    # under the numbers of their places, whatever they were called
    container = nn.Sequential if isinstance(model.transformer_blocks, nn.Sequential) else _in_a_list
    model.transformer_blocks = container(*blocks)
    ready = [block for block in blocks if isinstance(block, ReadyTransformerBlock)]
    places = isinstance(model.pos_enc, ReadyPositions)
    model = case.load(model, ("transformer_blocks.",) if ready else ())
    _load_ready(model, ready, case)
    result = model(case.input_ids.clone())
    if not isinstance(result, Tensor):
        raise TypeError(f"the classifier must give a tensor, but gave {type(result).__name__}")
    return {"log_probabilities": result, "made": [places, bool(ready)]}


def _load_ready(model: Any, blocks: list[ReadyTransformerBlock], case: Any) -> None:
    """The stored weights of ready-made parts, which have other names than the student's."""
    for number, block in enumerate(blocks):
        for name, weight in block.inner.named_parameters():
            weight.copy_(getattr(case, f"ready_{name.replace('.', '_')}")[number])
    if isinstance(model.pos_enc, ReadyPositions):
        model.pos_enc.table.weight[: len(case.ready_places)].copy_(case.ready_places)


def _in_a_list(*blocks: nn.Module) -> nn.ModuleList:
    return nn.ModuleList(blocks)
