"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name. A part of a class is looked at
twice: in the class as it stands, and, as ``ready_…``, with every other part ready-made.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check import stand_ins
from course.check.called import whole
from course.check.layers_made import layers_made
from course.check.ready_steps import with_ready
from course.check.side_effects import other_entries
from course.check.unfinished_code import complete
from course.check.with_ready_parts import own_and_ready
from course.parts import ReadyAttentionBlock, ReadyEmbeddings

PROJECTIONS = ("q_lin", "k_lin", "v_lin")
READY_AROUND_POSITIONS = {
    "input_embeds": "self.word_embeddings(input_ids)",
    "embeddings": "input_embeds + position_embeddings",
}


def position_ids(student_class: Any, case: Any) -> dict[str, Any]:
    """With which ids the table of positions is asked last; where it is not called so, which row moves which token.

    How words and positions are merged is not looked at: it may even be missing. So where the table is not asked for
    positions, and no row of it moves a token, the lines around the positions are ready-made.
    """
    ids, module = case.input_ids, _with_layers(student_class, case)
    last, output = _asked_last(module, ids)
    if isinstance(last, Tensor) and (output is None or last.numel() >= ids.shape[1]):
        found = last + 0 * ids if last.shape[-1:] == ids.shape[1:] else last
        asks_for_words = torch.equal(found, ids)
    else:
        found = _moved(module, ids, output)
        asks_for_words = bool((found == -1).all())
    if asks_for_words:
        with suppress(Exception):  # the lines use other names
            module = _with_layers(with_ready(student_class, READY_AROUND_POSITIONS, {}), case)
            last, output = _asked_last(module, ids)
            found = _moved(module, ids, output) if last is None else found
    return {"ids": found}


def _asked_last(module: Any, ids: Tensor) -> tuple[Any, Any]:
    """What the table of positions is asked with last, and the output; None each where there is none.

    A shorter batch comes first, so that nothing of its length is left. What comes after the table may fail.
    """
    asked = list[Any]()

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
    run(ids[:, :2])
    output = run(ids)
    handle.remove()
    return asked[-1] if asked else None, output


def embeddings(student_class: Any, case: Any) -> dict[str, Any]:
    """As the class stands; and with the positions 0, 1, 2, …, however the table of positions is asked."""
    ids, tokens = case.input_ids, torch.arange(case.input_ids.shape[1])

    def count(table: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | None:
        asked = given[0] if given else named["input"]
        return ((tokens.expand_as(asked),), {}) if asked.shape[-1:] == tokens.shape else None

    def run(module: nn.Module) -> dict[str, Any]:
        given = ids.clone()
        found = {"embeddings": module(given), "changed": not torch.equal(given, ids)}
        return {**found, "again": module(ids.clone())}

    def with_ready_positions() -> dict[str, Any]:
        ready = student_class
        with suppress(ValueError):  # they have another name, or none
            ready = with_ready(student_class, {"position_ids": "ready_ids"}, {"ready_ids": tokens.expand_as(ids)})
        module = _with_layers(ready, case)
        module.position_embeddings.register_forward_pre_hook(count, with_kwargs=True)
        return run(module)

    answers = own_and_ready(lambda: run(_with_layers(student_class, case)), with_ready_positions)
    return {**answers, "made": layers_made(student_class, case.config)}


def _with_layers(student_class: Any, case: Any) -> Any:
    """The embeddings with the case's weights. Layers that ``__init__`` lacks are ready-made: they cost points once."""
    module = student_class(case.config)
    complete(module, ReadyEmbeddings, case.config)
    return case.load(module)


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
    answers = whole(student_class, case, ReadyAttentionBlock, methods, "output", "weights")
    return {**answers, "made": layers_made(student_class, case.config)}


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
