"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name. A part of a class is looked at
twice: in the class as it stands, and, as ``ready_…``, with every other part ready-made.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch

from course.check import stand_ins
from course.check.called import whole
from course.check.side_effects import other_entries
from course.check.with_ready_parts import own_and_ready
from course.parts import ReadyAttentionBlock, ReadyEmbeddings

PROJECTIONS = ("q_lin", "k_lin", "v_lin")


def embeddings(student_class: Any, case: Any) -> dict[str, Any]:
    answers = whole(student_class, case, ReadyEmbeddings, ("position_ids", "merge"), "input_ids", "embeddings")
    return {**answers, "made": _layers_made(student_class, case.config)}


def attention_init(student_class: Any, case: Any) -> dict[str, Any]:
    block = student_class(case.config)
    layers = [getattr(block, name) for name in PROJECTIONS]
    names = {name for name, _ in block.named_parameters()}
    return {
        **{name: tuple(layer.weight.shape) for name, layer in zip(PROJECTIONS, layers, strict=True)},
        "biases": [layer.bias is not None for layer in layers],
        "float32": [layer.weight.dtype == torch.float32 for layer in layers],
        "distinct": len({id(layer) for layer in layers}),
        "registered": sum(f"{name}.weight" in names for name in PROJECTIONS),
    }


def attention_block(student_class: Any, case: Any) -> dict[str, Any]:
    methods = ("attention_scores", "attention_weights", "attention_context")
    answers = whole(student_class, case, ReadyAttentionBlock, methods, "hidden_states", "output", "weights")
    return {**answers, "made": _layers_made(student_class, case.config)}


def encoder_list(student_class: Any, case: Any) -> dict[str, Any]:
    model = student_class(case.config)
    layers = list(model.attention_layers)
    block = getattr(student_class.__init__, "__globals__", {}).get("AttentionBlock", ReadyAttentionBlock)
    return {
        "length": len(layers),
        "distinct": len({id(layer) for layer in layers}),
        "registered": sum(name.endswith("q_lin.weight") for name, _ in model.named_parameters()),
        "blocks": all(isinstance(layer, block) for layer in layers),
    }


def encoder_loop(student_class: Any, case: Any) -> dict[str, Any]:
    stand_in = (case.stand_in_embedded, case.stand_in_matrices, case.stand_in_shifts, case.stand_in_attention)
    return vars(stand_ins.run_loop(stand_ins.build(student_class, case.config), case.input_ids, *stand_in))


def classifier(student_class: Any, case: Any) -> dict[str, Any]:
    given = (case.load(stand_ins.build(student_class, case.config)), case.input_ids, case.stand_in_final)
    sizes = (case.config.n_layers, case.config.n_heads)
    return own_and_ready(
        lambda: {name: stand_ins.run_classifier(*given, *sizes) for name in ("logits", "again")},
        lambda: {name: stand_ins.run_classifier_alone(*given) for name in ("logits", "again")},
    )


def padding_mask(function: Any, case: Any) -> dict[str, Any]:
    return {"weights": function(case.scores.clone(), case.attention_mask.clone())}


def tokens(function: Any, case: Any) -> dict[str, Any]:
    from course.tokenizer import load_tokenizer

    return {"tokens": function(load_tokenizer(), case.input_ids)}


def head_average(function: Any, case: Any) -> dict[str, Any]:
    stored = dict(enumerate(case.attention_probs))
    given = {layer: weights.clone() for layer, weights in stored.items()}
    return {"attention_per_layer": function(given), "changed": other_entries(given, stored)}


def figure(function: Any, case: Any) -> dict[str, Any]:
    from course.check.figure_data import read_figure  # matplotlib takes a second

    return vars(read_figure(function(case.attention_per_layer, case.tokens)))


def _layers_made(student_class: Any, config: Any) -> list[str] | None:
    """The layers of the class by name, and ``name sizes`` of every parameter, say ``out_lin.weight 12 12``.

    Loading stored weights, or ready-made layers, would put them right. None where it stops.
    """
    with suppress(Exception):
        module = student_class(config)
        layers = [name for name, _ in module.named_children()]
        parameters = module.named_parameters(remove_duplicate=False)
        return [*layers, *(" ".join([name, *map(str, parameter.shape)]) for name, parameter in parameters)]
    return None
