"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included. Stand-ins
take the place of the parts that other exercises ask for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import is_stub
from course.check.limits import attempt_limit
from course.check.side_effects import side_effects
from course.check.transformer_tutorial import _given_lines
from course.check.transformer_tutorial._steps import (
    alone,
    as_half,
    first_half,
    no_dropout,
    second_half,
    softmax_done,
    with_ready_scores,
)
from course.check.with_ready_parts import made, own_and_ready


def mean_pooling(function: Any, case: Any) -> dict[str, Any]:
    noted = side_effects(function, case.hidden_states, case.mask)
    return {"pooled": function(case.hidden_states, case.mask), **noted}


def masked_word_probability(function: Any, case: Any) -> dict[str, Any]:
    found = function(case.logits, case.config.position, case.word_ids.tolist())
    numbers = [float(probability) for probability in found]
    return {"probabilities": numbers, "tensor": hasattr(found, "tolist")}


class _NoAttention(nn.Module):
    """For whoever could not write DotProductAttention: other parts are what is looked at."""

    def __init__(self, dropout: float) -> None:
        super().__init__()


def self_attention_maps(student_class: Any, case: Any) -> dict[str, Any]:
    sizes = case.config.k, case.config.heads
    built = made(student_class, sizes[0], heads=sizes[1], ready={"DotProductAttention": _NoAttention})
    maps = [built.to_keys, built.to_queries, built.to_values]
    registered = {id(weight) for weight in built.parameters()}
    names = ("to_keys", "to_queries", "to_values", "unify_heads")
    return {
        **{name: list(part.weight.shape) for name, part in zip(names, [*maps, built.unify_heads], strict=True)},
        "unify_bias": built.unify_heads.bias is not None,
        "biases": [part.bias is not None for part in maps],
        "distinct": len({id(part.weight) for part in maps}),
        "registered": sum(id(part.weight) in registered for part in [*maps, built.unify_heads]),
    }


class _Mixing(nn.Module):
    """In place of the attention: mixes what it is given."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, b: int, h: int, t: int, k: int, mask: Any = None
    ) -> Tensor:
        for name, given in {"queries": queries, "keys": keys, "values": values}.items():
            if given.ndim != 4:
                raise ValueError(f"the attention takes {name} of shape (b, t, heads, k), not {tuple(given.shape)}")
        return (queries + 2 * keys - 3 * values.flip(1)).reshape(b, t, h * k)


def self_attention_forward(student_class: Any, case: Any) -> dict[str, Any]:
    ready = {"DotProductAttention": _Mixing}
    built = case.load(made(student_class, case.config.k, heads=case.config.heads, ready=ready))
    built.attention = _Mixing()
    maps = [getattr(built, name).weight for name in ("to_queries", "to_keys", "to_values", "unify_heads")]
    noted = side_effects(built, case.x, weights=maps) | _given_lines.attention_inside(student_class, case)
    return {"output": built(case.x.clone()), "again": built(case.x.clone()), **noted}


def classifier_parts(student_class: Any, case: Any) -> dict[str, Any]:
    built = student_class(**vars(case.config))
    blocks = list(built.transformer_blocks)
    known = {id(weight) for weight in built.parameters()}
    return {
        **_given_lines.model_inside(student_class, case.config),
        "token_embedding": list(built.token_embedding.weight.shape),
        "classification_head": list(built.classification_head.weight.shape),
        "blocks": len(blocks),
        "distinct": len({id(block) for block in blocks}),
        "registered": sum(all(id(weight) in known for weight in block.parameters()) for block in blocks),
    }


class _Attending(nn.Module):
    """In place of the attention."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor, mask: Any = None) -> Tensor:
        return self.scale * x.flip(1) + 0.5


class _Feeding(nn.Module):
    """In place of the feed-forward network: keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.given, self.reached = nn.Parameter(torch.tensor(3.0)), None, False

    def forward(self, x: Tensor) -> Tensor:
        self.given, self.reached = x.clone(), x.requires_grad  # type: ignore[assignment]
        return self.scale * x.relu() - 1


def _the_class(student_class: Any) -> Any:
    if not isinstance(student_class, type):
        raise TypeError("the check asks for the class itself: write its name without brackets")
    return student_class


def _block(student_class: Any, case: Any) -> tuple[Any, _Feeding]:
    built, feeding = case.load(_the_class(student_class)(case.config.k, case.config.heads)), _Feeding()
    built.attention, built.mlp = _Attending(), nn.Sequential(feeding, nn.Identity(), nn.Identity())
    return built, feeding


def block_attention(student_class: Any, case: Any) -> dict[str, Any]:
    found, noted, problem = dict[str, Any](), dict[str, Any](), None
    try:
        built, feeding = _block(student_class, case)
        found = {"output": built(case.x.clone()), "between": feeding.given}
        weights = [built.attention.scale, *built.norm_1.parameters()]
        entered = side_effects(lambda x: (built(x), feeding.given)[1], case.x, weights=weights)
        noted = _given_lines.first_half(entered, side_effects(built, case.x, weights=weights))
    except Exception as error:  # the second half is another exercise
        problem = error
    with suppress(Exception):
        half = as_half(_block(student_class, case)[0], first_half(student_class))
        found["ready_between"] = half(case.x.clone())
        noted = side_effects(half, case.x, weights=[half.attention.scale, *half.norm_1.parameters()])
    if problem is not None and not found:
        raise problem
    return {**found, **noted}


def block_feed_forward(student_class: Any, case: Any) -> dict[str, Any]:
    found, noted, problem = dict[str, Any](), dict[str, Any](), None
    ready = _normed(case)
    try:
        built, feeding = _block(student_class, case)
        found = {"output": built(case.x.clone()), "between": feeding.given}
        noted = side_effects(built, case.x, weights=[feeding.scale, *built.norm_2.parameters()])
        noted = _given_lines.second_half(noted, feeding.reached)
    except Exception as error:  # the first half is another exercise
        problem = error
    with suppress(Exception):
        built, feeding = _block(student_class, case)
        found["ready_output"] = as_half(built, second_half(student_class, ready.clone()))(case.x.clone())

        def call(x: Tensor, entered: Tensor) -> Any:
            return as_half(built, second_half(student_class, entered * 1))(x)

        alone = side_effects(call, case.x, ready, weights=[feeding.scale, *built.norm_2.parameters()])
        noted = alone | ({"cut": [*alone["cut"][1:], not feeding.reached]} if "cut" in alone else {})
    if problem is not None and not found:
        raise problem
    return {**found, **noted, **_given_lines.block_inside(student_class, case)}


def _normed(case: Any) -> Tensor:
    """What the first half gives: (b, t, k)"""
    first = case.load(_Norms(case.config.k)).norm_1
    summed: Tensor = first(torch.stack([case.x, _Attending()(case.x)]).sum(0)).detach()
    return summed


class _Norms(nn.Module):
    def __init__(self, k: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(k), nn.LayerNorm(k)


class _Placing(nn.Module):
    """In place of the positions."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.1 * torch.arange(x.shape[1]).unsqueeze(1)


class _Numbered(nn.Module):
    """In place of block number 1, 2, …: keeps the mask that it is given."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.mask, self.called = number, Tensor(), False

    def forward(self, x: Tensor, mask: Any = None) -> Tensor:
        self.mask, self.called = mask, True
        return torch.tanh(x / self.number) + self.number


def _classifier(student_class: Any, case: Any) -> tuple[Any, list[_Numbered]]:
    built = case.load(_the_class(student_class)(**vars(case.config)))
    blocks = [_Numbered(number + 1) for number in range(case.config.depth)]
    built.pos_enc, built.transformer_blocks = _Placing(), nn.Sequential(*blocks)
    return built, blocks


def classifier_forward(student_class: Any, case: Any) -> dict[str, Any]:
    built, _ = _classifier(student_class, case)
    weights = [built.token_embedding.weight, built.classification_head.weight, built.classification_head.bias]
    noted = side_effects(built, case.input_ids, weights=weights)
    return {**{name: built(case.input_ids.clone()) for name in ("log_probabilities", "again")}, **noted}


def classifier_padding(student_class: Any, case: Any) -> dict[str, Any]:
    """The answers for the ids, for each sentence without its padding (``alone``), and for more padding (``longer``).

    What stops after the blocks is another exercise: the blocks got the mask, or did not.
    """
    built, blocks = _classifier(student_class, case)
    ids, found = case.input_ids, dict[str, Any]()
    with no_dropout():
        try:
            found["log_probabilities"] = built(ids.clone())
        except Exception as error:
            if is_stub(error) or not any(block.called for block in blocks):
                raise
        masks = [block.mask for block in blocks if block.called]
        with suppress(Exception):
            found["alone"] = torch.stack([built(row[row != 0].repeat(len(ids), 1))[0] for row in ids])
            found["longer"] = built(nn.functional.pad(ids, (0, 3)))
    told = bool(masks) and all(torch.is_tensor(mask) and mask.shape == ids.shape for mask in masks)
    return {**found, "called": len(masks), "masks": torch.stack(masks).bool() if told else None}


def attention_cost(function: Any, case: Any) -> dict[str, Any]:
    counts = [function(*sizes) for sizes in case.sizes.tolist()]
    columns = [[float(count) for count in part] for part in zip(*counts, strict=True)]
    return dict(zip(("encoder", "decoder", "cross", "next_word"), columns, strict=True))


def attention_output(student_class: Any, case: Any) -> dict[str, Any]:
    return _attended(student_class, case, ("mix",))


def attention_heads(student_class: Any, case: Any) -> dict[str, Any]:
    return _attended(student_class, case, ("fold", "unfold"))


def attention_mask(student_class: Any, case: Any) -> dict[str, Any]:
    """With the mask alone, and with the mask and what follows it, where both work together."""
    return _attended(student_class, case, ("mask",), ("mask", "mix"))


def _attended(student_class: Any, case: Any, *steps: tuple[str, ...]) -> dict[str, Any]:
    """``output`` of the class as it stands; ``ready_output`` with these own steps alone, and ``ready_2_output`` with
    others. Side effects are those of the first steps.

    Where the steps cannot be told apart, ``ready_output`` is that of the class with ready-made scores.
    """
    found, problem = dict[str, Any](), None
    with no_dropout():
        try:
            with attempt_limit():
                found["output"] = _attend(student_class, case)
        except Exception as error:
            problem = error
        for number, own in enumerate(steps, 1):
            name = "ready_output" if number == 1 else f"ready_{number}_output"
            with suppress(Exception), attempt_limit():
                part = alone(student_class, *own)
                found[name] = _attend(part, case)
                found |= _side_effects(part, case) if number == 1 else {}
        if "ready_output" not in found:
            with suppress(Exception), attempt_limit():
                found["ready_output"] = _attend(with_ready_scores(student_class), case)
    if problem is not None and not found:
        raise problem
    return found


def _attend(student_class: Any, case: Any, attention: Any = None) -> Any:
    """What the attention, or one of this class without dropout, gives for copies of the inputs: (b, t, h * k)"""
    b, t, h, k = case.queries.shape
    attention = attention or case.load(_the_class(student_class)(0.0))
    queries, keys, values = (x.clone() for x in (case.queries, case.keys, case.values))
    masks = {"mask": case.mask.clone()} if hasattr(case, "mask") else {}
    return attention(queries, keys, values, b, h, t, k, **masks)


def _side_effects(student_class: Any, case: Any) -> dict[str, Any]:
    b, t, h, k = case.queries.shape
    attention, masks = case.load(student_class(0.0)), [case.mask] if hasattr(case, "mask") else []

    def call(queries: Tensor, keys: Tensor, values: Tensor, *masks: Tensor) -> Any:
        return attention(queries, keys, values, b, h, t, k, *masks)

    return side_effects(call, case.queries, case.keys, case.values, *masks)


def attention_dropout(student_class: Any, case: Any) -> dict[str, Any]:
    """In train mode, twice in eval mode, and with the rate 0: of the class as it stands, and, as ``ready_…``, with
    weights that are given, so that only what drops them matters.
    """

    def own() -> dict[str, Any]:
        with attempt_limit():
            return _dropped(student_class, case)

    def ready() -> dict[str, Any]:
        with softmax_done(case.shares), attempt_limit():
            steps = ("mix", "unfold") if _drops(student_class, case) else ("mix",)
            return _dropped(alone(student_class, *steps, score=lambda *_: case.shares.clone()), case)

    return own_and_ready(own, ready)


def _drops(student_class: Any, case: Any) -> bool:
    """Whether the last step drops something, too."""
    with suppress(Exception):
        found = _dropped(alone(student_class, "unfold"), case)
        return not torch.equal(found["trained"], found["evaluated"])
    return False


def _dropped(student_class: Any, case: Any) -> dict[str, Any]:
    rate, found = case.config.rate, {}
    runs = (("trained", rate, True), ("evaluated", rate, False), ("again", rate, False), ("undropped", 0.0, False))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        for name, share, mode in runs:
            found[name] = _attend(student_class, case, case.load(_the_class(student_class)(share)).train(mode))
    return found
