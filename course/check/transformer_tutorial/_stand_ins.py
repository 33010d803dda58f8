"""Stand-ins for the classes of earlier exercises: they keep what they were made with, and the mask that came."""

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from course.check.with_ready_parts import meaning

#: The rate that SelfAttention and PositionalEncoding are made with here.
RATE = 0.5


class Noting(nn.Module):
    """Stands in for a class of an earlier exercise: keeps what it was made with, and the mask that it was given."""

    def __init__(self, *made_with: Any) -> None:
        super().__init__()
        self.made_with, self.mask, self.called = made_with, None, False
        self.weight = nn.Parameter(torch.ones(()))


class NotingAttention(Noting):
    """In place of ``DotProductAttention``."""

    def __init__(self, dropout: float) -> None:
        super().__init__(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, b: int, h: int, t: int, k: int, mask: Any = None
    ) -> Tensor:
        self.mask, self.called = mask, True
        return (queries + keys + values).flatten(2)


class NotingLayer(Noting):
    """In place of ``SelfAttention`` and ``TransformerBlock``."""

    def __init__(self, k: int, heads: int = 8, dropout: float = 0.1) -> None:
        super().__init__(k, heads)

    def forward(self, x: Tensor, mask: Any = None) -> Tensor:
        self.mask, self.called = mask, True
        return x * 0.5


class NotingPlaces(Noting):
    """In place of ``PositionalEncoding``."""

    def __init__(self, emb_size: int, dropout: float = 0.1, max_len: int = 512) -> None:
        super().__init__(emb_size, max_len)

    def forward(self, x: Tensor) -> Tensor:
        return x


def attention_inside(student_class: Any, case: Any) -> dict[str, Any]:
    """Of ``SelfAttention`` as its ``__init__`` makes it: whether it ``works``, the ``rate`` that its attention was made
    with, and whether the mask is ``told``; what cannot be known is left out.
    """
    layer = _made(student_class, {"DotProductAttention": NotingAttention}, case.config.k, case.config.heads, RATE)
    if layer is None:
        return {}
    layer = case.load(layer)  # what is wrong with the maps has had its price
    own = _noted(layer)
    found: dict[str, Any] = {"works": _works(layer, case.x)} | _told(layer, own, case.x)
    return found | ({"rate": float(own[0].made_with[0])} if len(own) == 1 else {})


def block_inside(student_class: Any, case: Any) -> dict[str, Any]:
    """Of ``TransformerBlock`` as its ``__init__`` makes it: the same, with the ``sizes`` of its attention, how many
    ``norms`` there are, counted in weights and biases, and the ``network``: what its feed-forward network makes of the
    input with weights that are the same for everybody.
    """
    block = _made(student_class, {"SelfAttention": NotingLayer}, case.config.k, case.config.heads)
    if block is None:
        return {}
    own = _noted(block)
    found: dict[str, Any] = {"works": _works(block, case.x)} | _told(block, own, case.x)
    if len(own) == 1:
        found["sizes"] = [int(size) for size in own[0].made_with]
    norms = [getattr(block, name, None) for name in ("norm_1", "norm_2")]
    parts = [getattr(norm, part, None) for norm in norms for part in ("weight", "bias")]
    found["norms"] = sum(part is not None and part.shape == (case.config.k,) for part in parts)
    network = getattr(block, "mlp", None)
    found["network"] = torch.zeros(0)
    with suppress(Exception):
        for number, weight in enumerate(network.parameters()):  # type: ignore[union-attr]
            values = torch.sin(torch.arange(1.0, weight.numel() + 1) * (number + 1))
            weight.data.copy_(values.reshape(weight.shape))
        found["network"] = network(case.x)  # type: ignore[misc]
    return found


def first_half(entered: dict[str, list[bool]], whole: dict[str, list[bool]]) -> dict[str, list[bool]]:
    """``changed`` and ``cut`` of the first half of a block. A gradient that comes back from the block's output, and not
    from what the feed-forward network was given, is cut off in the second half.
    """
    if "cut" not in entered or "cut" not in whole:
        return entered
    return {**entered, "cut": [both[0] and both[1] for both in zip(entered["cut"], whole["cut"], strict=True)]}


def second_half(found: dict[str, list[bool]], reached: bool) -> dict[str, list[bool]]:
    """``changed`` and ``cut`` of the second half of a block. A gradient that comes back to the block's input, and not
    to what the network was given, is cut off in between; one that does neither may be cut off in the first half.
    """
    if "cut" not in found:
        return found
    at_x, *cut = found["cut"]
    return {**found, "cut": [*cut, not reached and not at_x]}


def model_inside(student_class: Any, config: Any) -> dict[str, Any]:
    """Of ``Transformer`` as its ``__init__`` makes it: the ``room`` of its table of positions, the ``block_sizes``, and
    whether the head has a bias; what cannot be known is left out.
    """
    ready = {"PositionalEncoding": NotingPlaces, "TransformerBlock": NotingLayer}
    model = _made(student_class, ready, **vars(config))
    if model is None:
        return {}
    bias = getattr(getattr(model, "classification_head", None), "bias", None)
    found: dict[str, Any] = {"head_bias": bias is not None}
    for name, stand_in in (("room", NotingPlaces), ("block_sizes", NotingLayer)):
        sizes = [[int(size) for size in part.made_with] for part in _noted(model) if isinstance(part, stand_in)]
        found |= {name: sizes} if sizes or name == "room" else {}
    return found


def dropped(student_class: Any, case: Any) -> dict[str, Any]:
    """``trained``: what ``PositionalEncoding`` gives in train mode, made with the rate 0.5, for many sentences."""
    with suppress(Exception), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        encoding = student_class(case.config.emb_size, dropout=RATE, max_len=case.config.max_len).train()
        return {"trained": encoding(case.x.repeat(40, 1, 1))}
    return {}


def _made(student_class: Any, ready: dict[str, Any], *sizes: Any, **named: Any) -> Any:
    """The class's own object, made while these names mean the stand-ins; None where that fails."""
    with meaning(getattr(student_class.__init__, "__globals__", {}), ready), suppress(Exception):
        return student_class(*sizes, **named).eval()
    return None


def _noted(module: nn.Module) -> list[Noting]:
    """The stand-ins that the module has made."""
    return [part for part in module.modules() if isinstance(part, Noting)]


def _works(module: nn.Module, x: Tensor) -> bool:
    with suppress(Exception):
        return bool(torch.is_tensor(module(x.clone())))
    return False


def _told(module: nn.Module, own: list[Noting], x: Tensor) -> dict[str, bool]:
    """``told``: whether the mask that the module is given reaches its stand-in; empty where it takes none."""
    mask = torch.arange(x.shape[1]).expand(x.shape[:2]) > 0
    with suppress(Exception):
        try:
            module(x.clone(), mask)
        except TypeError as error:
            if "positional argument" in str(error):
                return {}
    used = [part for part in own if part.called]
    return {"told": all(torch.is_tensor(part.mask) and torch.equal(part.mask, mask) for part in used)} if used else {}
