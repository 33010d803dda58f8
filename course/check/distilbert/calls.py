"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name. A class as a whole is looked at
twice: as it stands, and, as ``ready_…``, with ready-made parts.
"""

from contextlib import suppress
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from course import pretrained
from course.check._rules.case_inputs import made, method_of
from course.check.called import whole, with_ready_parts
from course.check.distilbert import _stand_ins
from course.check.side_effects import other_entries
from course.check.with_ready_parts import own_and_ready
from course.parts import ReadyAttentionBlock, ReadyClassifier, ReadyEmbeddings

PROJECTIONS = ("q_lin", "k_lin", "v_lin")


def embeddings(student_class: Any, case: Any) -> dict[str, Any]:
    methods = ("position_ids", "merge")
    answers = whole(student_class, case, ReadyEmbeddings, methods, "input_ids", "embeddings", shorter=True)
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
    """Two calls of ``encode`` through stand-ins; in the second, each gives the weights of the sentences in reverse."""
    model, seen = made(student_class, case.config), list[Tensor]()
    stored = (case.stand_in_matrices, case.stand_in_shifts, case.stand_in_attention)
    layers = [_stand_ins.StandInLayer(*given, seen) for given in zip(*stored, strict=True)]
    _stand_ins.put_in(model, layers)
    encode, given = method_of(model, "encode"), case.hidden_states.clone()
    output, inputs = encode(given), list(seen)
    probs = getattr(model, "attention_probs", None)
    first, size = _stand_ins.kept(model, len(layers)), _stand_ins.size(probs)
    for layer in layers:
        layer.attention = layer.attention.flip(0)
    encode(case.hidden_states.clone())
    return {
        "layer_inputs": torch.stack(inputs) if inputs else torch.zeros(0, *given.shape),
        "output": output,
        "attention": first,
        "attention_again": _stand_ins.kept(model, len(layers)),
        "grown": _stand_ins.size(getattr(model, "attention_probs", None)) > size,
        "changed": not torch.equal(given, case.hidden_states),
    }


def pretrained_logits(student_class: Any, case: Any) -> dict[str, Any]:
    """With a checkpoint's weights; ``absent`` where these are not here."""
    checkpoint = case.config.checkpoint
    if not pretrained.available(checkpoint):
        return {"absent": True}

    def run(kind: Any) -> dict[str, Any]:
        with torch.no_grad():
            return {"logits": trained(kind, checkpoint)(case.input_ids)}

    return own_and_ready(partial(run, student_class), partial(run, ready_classifier(student_class)))


@cache
def trained(kind: Any, checkpoint: str) -> nn.Module:
    """A model of this class with a checkpoint's weights, in eval mode. Made once.

    Raises what the class raises, and StateDictError where its parameters are not those of the checkpoint.
    """
    return pretrained.load(kind, checkpoint).eval()


@cache
def ready_classifier(student_class: Any) -> Any:
    """The class with ready-made parts: what is left is how they are put together."""
    ready = with_ready_parts(student_class, ReadyClassifier, ("encode", "classify"), ReadyClassifier.layers)

    def init(self: Any, config: Any) -> None:
        ready.__init__(self, config)
        for name, child in list(self.named_children()):
            # a list of blocks under another name: that is the mistake of who made it
            if name != "attention_layers" and all(hasattr(block, "q_lin") for block in [*child.children()] or [child]):
                delattr(self, name)

    return type(student_class.__name__, (ready,), {"__init__": init})


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
