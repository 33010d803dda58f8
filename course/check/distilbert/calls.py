"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name. A part of a class is looked at
twice: in the class as it stands, and, as ``ready_…``, with every other part ready-made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check import stand_ins
from course.check.base import several
from course.check.layers_made import fed_to, layers_made, runs
from course.check.ready_steps import with_ready
from course.check.side_effects import other_entries
from course.check.unfinished_code import complete, last_local_tensor, ready_block, run_block
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


def attention_scores(student_class: Any, case: Any) -> dict[str, Any]:
    return _either_way(
        student_class, case, _weights, {"weights": "stop()"}, {"stop": _stop}, by_itself=_softmax_of_scores
    )


def attention_weights(student_class: Any, case: Any) -> dict[str, Any]:
    return _either_way(student_class, case, _weights, {"scores": "ready_scores"}, {"ready_scores": _scores(case)})


def attention_context(student_class: Any, case: Any) -> dict[str, Any]:
    block = case.load(ReadyAttentionBlock(case.config))
    names = {"ready_weights": block(case.hidden_states)[1].detach(), "ready_v": _heads(block.v_lin, case)}
    steps = {"scores": "ready_weights.log()", "weights": "ready_weights"}
    found, problem = dict[str, Any](), None
    try:
        found = _either_way(student_class, case, _output, steps, names, as_it_stands)
    except Exception as error:
        problem = error
    with suppress(Exception):  # heads that are cut out wrongly lose points with the scores
        block = _fed_with(
            case.hidden_states, ready_block(with_ready(student_class, {**steps, "v": "ready_v"}, names), case)
        )
        with_values = _output(block, case.hidden_states.clone())
        found |= {f"values_{name}": value for name, value in with_values.items()}
    if problem is not None and not found:
        raise problem
    return {
        **found,
        "made": layers_made(student_class, case.config),
        "runs": _runs_as_made(student_class, case, steps, names),
    }


def as_it_stands(student_class: Any, case: Any) -> nn.Module:
    """The block with the layers that its own ``__init__`` makes, and the case's weights."""
    block: nn.Module = case.load(student_class(case.config))
    return block


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


def _either_way(
    student_class: Any,
    case: Any,
    call: Callable[[nn.Module, Tensor], Mapping[str, Any]],
    steps: Mapping[str, str],
    names: Mapping[str, Any],
    own: Callable[[Any, Any], nn.Module] = ready_block,
    by_itself: Callable[[nn.Module, Tensor], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """What ``call`` gives for the student's block, and as ``ready_…`` for it with ready-made steps.

    steps, names: as in :func:`course.check.ready_steps.with_ready`. own: makes the block of the first call.
    by_itself: the second call, where it is another one.
    Raises what the first call raised where both fail.
    """

    def as_own() -> dict[str, Any]:
        given = case.hidden_states.clone()
        return {**call(own(student_class, case), given), "changed": not torch.equal(given, case.hidden_states)}

    def as_ready() -> Mapping[str, Any]:
        block = _fed_with(case.hidden_states, ready_block(with_ready(student_class, steps, names), case))
        return (by_itself or call)(block, case.hidden_states.clone())

    return own_and_ready(as_own, as_ready)


def _fed_with(hidden_states: Tensor, block: nn.Module) -> nn.Module:
    """The block, whose projections get the block's own input, whatever the given lines before them make of it."""

    def feed(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return (hidden_states,) if getattr(given[0], "shape", None) == hidden_states.shape else None

    for name in PROJECTIONS:
        getattr(block, name).register_forward_pre_hook(feed)
    return block


def _weights(block: nn.Module, hidden_states: Tensor) -> dict[str, Any]:
    return {name: run_block(block, hidden_states)[1] for name in ("weights", "again")}


def _stop() -> None:
    raise StopIteration


def _softmax_of_scores(block: nn.Module, hidden_states: Tensor) -> dict[str, Any]:
    """The softmax of the variable ``scores`` of a forward pass that stops after it."""
    found = {}
    for name in ("weights", "again"):
        try:
            block(hidden_states)
        except Exception as error:
            scores = last_local_tensor(error, block, ("scores",))
            if scores is None:
                raise
            found[name] = scores.softmax(dim=-1)
    return found


def _output(block: nn.Module, hidden_states: Tensor) -> dict[str, Any]:
    context, given = list[Tensor](), hidden_states.clone()
    hook = fed_to(block.out_lin, context)  # type: ignore[arg-type]
    output, weights = several(block(hidden_states), "output", "weights")
    hook.remove()
    again = block(given)[0]
    return {"output": output, "weights": weights, "context": context[0] if context else None, "again": again}


def _scores(case: Any) -> Tensor:
    """(batch, heads, queries, keys), by the distances of queries and keys: |q - k|² = |q|² + |k|² - 2 q·k"""
    block = case.load(ReadyAttentionBlock(case.config))
    q, k = (_heads(layer, case).double() for layer in (block.q_lin, block.k_lin))
    squares = q.square().sum(-1)[..., None] + k.square().sum(-1)[..., None, :]
    distances = torch.cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist")
    scores: Tensor = (squares - distances.square()) / (2 * q.shape[-1] ** 0.5)
    return scores.float()


def _heads(layer: nn.Module, case: Any) -> Tensor:
    """(batch, heads, tokens, dim_per_head): what a projection makes of the case's input"""
    made: Tensor = layer(case.hidden_states).detach()
    return made.unflatten(-1, (case.config.n_heads, -1)).transpose(1, 2)


def _runs_as_made(student_class: Any, case: Any, steps: Mapping[str, str], names: Mapping[str, Any]) -> bool:
    """Whether the block runs with the layers that its ``__init__`` makes, what other parts judge ready-made or not."""
    values = {**steps, "v": "ready_v"}
    for parts, layers in (({}, ()), ({}, PROJECTIONS), (steps, PROJECTIONS), (values, PROJECTIONS)):
        with suppress(Exception):
            block = (with_ready(student_class, parts, names) if parts else student_class)(case.config).eval()
            ready = ReadyAttentionBlock(case.config) if layers else None
            for name in layers:
                setattr(block, name, getattr(ready, name))
            if runs(block, case.hidden_states):
                return True
    return False


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
