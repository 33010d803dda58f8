"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included. Stand-ins
take the place of the parts that other exercises ask for.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.check._rules.case_inputs import NoSuchMethod, method_of
from course.check.base import is_stub
from course.check.called import with_ready_parts
from course.check.limits import attempt_limit
from course.check.side_effects import side_effects
from course.check.transformer_tutorial import _stand_ins
from course.check.transformer_tutorial._ready import ReadySteps
from course.check.with_ready_parts import made, own_and_ready

Effects = dict[str, list[bool]]


def _together(*effects: Effects) -> Effects:
    """The side effects of several calls."""
    names = [name for name in ("changed", "cut", "unsteady") if any(name in one for one in effects)]
    return {name: [each for one in effects for each in one.get(name, ())] for name in names}


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
        "float32": all(part.weight.dtype == torch.float32 for part in [*maps, built.unify_heads]),
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
    noted = side_effects(built, case.x, weights=maps) | _stand_ins.attention_inside(student_class, case)
    return {"output": built(case.x.clone()), "again": built(case.x.clone()), **noted}


def classifier_parts(student_class: Any, case: Any) -> dict[str, Any]:
    built = student_class(**vars(case.config))
    blocks = list(built.transformer_blocks)
    known = {id(weight) for weight in built.parameters()}
    return {
        **_stand_ins.model_inside(student_class, case.config),
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


class _Fed(Exception):
    """Stops a block where its feed-forward network is called."""


class _Feeding(nn.Module):
    """In place of the feed-forward network: keeps what it was given, and the block's input as it was then."""

    def __init__(self, stops: bool = False) -> None:
        super().__init__()
        self.scale, self.stops = nn.Parameter(torch.tensor(3.0)), stops
        self.entered: Any = None
        self.given: Any = None
        self.x: Any = None
        self.x_before: Any = None

    def forward(self, x: Tensor) -> Tensor:
        self.entered, self.given = x, x.clone()
        self.x_before = None if self.x is None else self.x.detach().clone()
        if self.stops:
            raise _Fed
        return self.scale * x.relu() - 1


def _the_class(student_class: Any) -> Any:
    if not isinstance(student_class, type):
        raise TypeError("the check asks for the class itself: write its name without brackets")
    return student_class


def _block(student_class: Any, case: Any, feeding: _Feeding) -> Any:
    built = case.load(_the_class(student_class)(case.config.k, case.config.heads))
    built.attention, built.mlp = _Attending(), nn.Sequential(feeding, nn.Identity(), nn.Identity())
    return built


def block_attention(student_class: Any, case: Any) -> dict[str, Any]:
    """What the network is given (``between``), whatever becomes of it; or, where that is not made of what norm_1 gives,
    what norm_1 gives.
    """
    feeding, normed = _Feeding(stops=True), list[Tensor]()
    built, whole = _block(student_class, case, feeding), _block(student_class, case, _Feeding())
    built.norm_1.register_forward_hook(lambda module, given, output: normed.append(output))

    def enter(x: Tensor) -> Any:
        with suppress(_Fed):
            built(x)
        return feeding.entered

    with torch.enable_grad():
        entered = enter(case.x.clone().requires_grad_() * 1)  # no leaf: may be changed in place
        between = normed[-1] if normed and not _made_of(normed[-1], entered) else feeding.given
    effects, passed = (
        side_effects(call, case.x, weights=[block.attention.scale, *block.norm_1.parameters()])
        for call, block in ((enter, built), (whole, whole))
    )
    return {"between": between, **_stand_ins.first_half(effects, passed)}


def _made_of(first: Tensor, then: Any) -> bool:
    if not (torch.is_tensor(then) and then.requires_grad and first.requires_grad):
        return not first.requires_grad
    return torch.autograd.grad(then.sum(), first, allow_unused=True)[0] is not None


def block_feed_forward(student_class: Any, case: Any) -> dict[str, Any]:
    """What the network was given (``between``), and what the block gives."""
    feeding = _Feeding()
    built = _block(student_class, case, feeding)
    found = {"output": built(case.x.clone()), "between": feeding.given}

    def call(x: Tensor) -> Any:
        feeding.x = x
        return built(x)

    noted = side_effects(call, case.x, weights=[feeding.scale, *built.norm_2.parameters()])
    if noted and feeding.x_before is not None:  # what the first half does to x is another exercise
        noted["changed"] = [not torch.equal(feeding.x, feeding.x_before)]
    noted = _stand_ins.second_half(noted, feeding.entered is not None and feeding.entered.requires_grad)
    return {**found, **noted, **_stand_ins.block_inside(student_class, case)}


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
    """What each method gives, without padding."""
    built, _ = _classifier(student_class, case)
    embed, encode, classify = (method_of(built, name) for name in ("embed", "encode", "classify"))
    mask = torch.ones(case.states.shape[:2], dtype=torch.bool)
    head = [built.classification_head.weight, built.classification_head.bias]
    return {
        "embedded": embed(case.input_ids.clone()),
        "encoded": encode(case.states.clone(), mask.clone()),
        "log_probabilities": classify(case.average.clone()),
        **_together(
            side_effects(embed, case.input_ids, weights=[built.token_embedding.weight]),
            side_effects(encode, case.states, mask),
            side_effects(classify, case.average, weights=head),
        ),
    }


def classifier_padding(student_class: Any, case: Any) -> dict[str, Any]:
    """What ``encode`` gives for the states, and for each sentence without its padding (``alone``); and the ``masks``
    that the blocks got.
    """
    built, blocks = _classifier(student_class, case)
    encode, states, mask = method_of(built, "encode"), case.states, case.mask
    found = {"encoded": encode(states.clone(), mask.clone())}
    masks = [block.mask for block in blocks if block.called]
    with suppress(Exception):
        rows = [encode(x[real][None], real[real][None]) for x, real in zip(states, mask, strict=True)]
        alike = len({row.shape for row in rows}) == 1  # else not one row for each sentence
        found["alone"] = torch.cat(rows) if alike else rows[0]
    told = bool(masks) and all(torch.is_tensor(one) and one.shape == mask.shape for one in masks)
    return {**found, "called": len(masks), "masks": torch.stack(masks).bool() if told else None}


def attention_cost(function: Any, case: Any) -> dict[str, Any]:
    counts = [function(*sizes) for sizes in case.sizes.tolist()]
    columns = [[float(count) for count in part] for part in zip(*counts, strict=True)]
    return dict(zip(("encoder", "decoder", "cross", "next_word"), columns, strict=True))


def attention_scores(student_class: Any, case: Any) -> dict[str, Any]:
    return _by_method(student_class, "calculate_score", score=(case.queries, case.keys))


def attention_output(student_class: Any, case: Any) -> dict[str, Any]:
    with no_dropout():
        return _by_method(student_class, "mix", output=(case.score, case.values))


def _by_method(student_class: Any, method: str, **asked: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """The answer of this name: what the method of the attention gives for these inputs."""
    function = method_of(_attention(student_class), method)
    ((name, given),) = asked.items()
    return {name: function(*(x.clone() for x in given)), **side_effects(function, *given)}


def _attention(student_class: Any, rate: float = 0.0) -> Any:
    return _the_class(student_class)(rate).eval()


def attention_heads(student_class: Any, case: Any) -> dict[str, Any]:
    attention, h = _attention(student_class), case.x.shape[2]
    fold, unfold = method_of(attention, "fold"), method_of(attention, "unfold")
    return {
        "fold": fold(case.x.clone()),
        "unfold": unfold(case.out.clone(), h),
        **_together(side_effects(fold, case.x), side_effects(lambda out: unfold(out, h), case.out)),
    }


def attention_mask(student_class: Any, case: Any) -> dict[str, Any]:
    """``output`` of the class as it stands; ``ready_output``, with its own ``hide`` and all other steps ready-made;
    ``weights``, a softmax of what ``hide`` alone gives.
    """
    others = ("calculate_score", "mix", "fold", "unfold")
    ready = with_ready_parts(_the_class(student_class), ReadySteps, others)
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    try:
        with no_dropout():
            answers = own_and_ready(partial(_attended, student_class, case), partial(_attended, ready, case))
    except Exception as error:
        problem = error
    try:
        hide = method_of(_attention(student_class), "hide")
        answers["weights"] = torch.softmax(hide(case.score.clone(), case.mask.clone(), case.queries.shape[2]), -1)
    except Exception:  # it is not needed where the class as it stands is right
        if problem is not None:
            raise problem from None
    return answers


def _attended(kind: Any, case: Any) -> dict[str, Any]:
    attention, given = _attention(kind), (case.queries, case.keys, case.values, case.mask)
    with attempt_limit():
        output = _attend(attention, *(x.clone() for x in given))
        return {"output": output, **side_effects(partial(_attend, attention), *given)}


def _attend(attention: Any, queries: Tensor, keys: Tensor, values: Tensor, *mask: Tensor) -> Any:
    """(b, t, h, k) three times, and a mask (b, t) -> (b, t, h * k)"""
    return attention(queries, keys, values, *(queries.shape[axis] for axis in (0, 2, 1, 3)), *mask)


def attention_dropout(student_class: Any, case: Any) -> dict[str, Any]:
    """In train mode, twice in eval mode, and with the rate 0: of ``mix``; or of the class as it stands (``within``),
    where there is no ``mix`` of the student's.
    """
    rate, found = case.config.rate, dict[str, Any]()
    runs = (("trained", rate, True), ("evaluated", rate, False), ("again", rate, False), ("undropped", 0.0, False))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        for name, share, mode in runs:
            attention = _attention(student_class, share).train(mode)
            try:
                found[name] = method_of(attention, "mix")(case.score.clone(), case.values[:, :, 0].clone())
            except Exception as error:
                if not (is_stub(error) or isinstance(error, NoSuchMethod)):
                    raise
                with suppress(Exception):
                    found |= {name: _attend(attention, case.queries, case.keys, case.values), "within": True}
                if name not in found:
                    raise
    return found


@contextmanager
def no_dropout() -> Iterator[None]:
    """Within the block, dropout drops nothing, whoever calls it: what is dropped has points of its own."""

    def identity(input: Tensor, *arguments: Any, **named: Any) -> Tensor:
        return input

    forward = patch.object(nn.Dropout, "forward", lambda self, input: input)
    with patch.object(F, "dropout", identity), patch.object(torch, "dropout", identity), forward:
        yield
