"""Parts that stand in for a student's own, so that a class is looked at while the classes it uses may be wrong.

A stand-in answers with a stored linear map and notes what it was given. As the heads of some solutions do, it can give
a pair, of which the output is the first.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course.check.limits import attempt_limit


class ReachedInto(AttributeError):
    """Somebody asked a stand-in for what only the real part has: its layers, say."""


class Closed(nn.Module):
    """A stand-in: who asks for what it does not have wanted the real part."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError as error:
            raise ReachedInto(*error.args) from None


class StandIn(Closed):
    """x (…, d) -> x @ matrix + shift (…, e), alone or as the first of a pair."""

    def __init__(self, matrix: Tensor, shift: Tensor | float = 0.0, pair: bool = False) -> None:
        super().__init__()
        self.matrix, self.shift, self.pair = matrix, shift, pair
        self.received: list[Tensor] = []

    def forward(self, *given: Any, **named: Any) -> Any:
        x = handed(*given, **named)
        self.received.append(x.detach().clone())
        output = x @ self.matrix + self.shift
        return (output, None) if self.pair else output


class Fixed(Closed):
    """Whatever comes, the same stored tensor leaves: stands for embeddings, or for a whole encoder."""

    def __init__(self, output: Tensor, pair: bool = False) -> None:
        super().__init__()
        self.output, self.pair = nn.Parameter(output, requires_grad=False), pair
        self.received: list[Tensor] = []

    def forward(self, *given: Any, **named: Any) -> Any:
        self.received.append(handed(*given, **named).detach().clone())
        return (self.output.clone(), None) if self.pair else self.output.clone()


class FirstToken(StandIn):
    """A classification head that picks the first token itself, for models whose own head does so."""

    def forward(self, *given: Any, **named: Any) -> Any:
        x = handed(*given, **named)
        return super().forward(x[:, 0] if x.dim() == 3 else x)


class OpenHead(StandIn):
    """A classification head whose layers may be called one by one."""

    def __init__(self, matrix: Tensor, shift: Tensor | float = 0.0) -> None:
        super().__init__(matrix, shift)
        self.linear, self.dropout = StandIn(matrix, shift), nn.Identity()


class OpenAttentionHead(StandIn):
    """A head of attention whose layers and method may be called one by one: each in its place, or all is different."""

    def __init__(self, matrix: Tensor, shift: Tensor | float = 0.0, pair: bool = False) -> None:
        super().__init__(matrix, shift, pair)
        eye = torch.eye(*matrix.shape, dtype=matrix.dtype)
        self.wq, self.wk, self.wv = StandIn(2 * eye), StandIn(3 * eye), StandIn(matrix, shift)

    def scaled_dot_product_attention(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, None]:
        return value + (3 * query - 2 * key).sum(-1, keepdim=True), None


class OpenAttention(StandIn):
    """An attention whose heads and layer may be called one by one: each in its place, or all is different."""

    def __init__(self, matrix: Tensor, shift: Tensor, pair: bool, heads: int) -> None:
        super().__init__(matrix, shift, pair)
        parts = torch.eye(len(matrix), dtype=matrix.dtype).chunk(heads, dim=1)
        self.heads = nn.ModuleList(StandIn(part) for part in parts)
        self.output_linear = StandIn(matrix, shift)


class OpenNetwork(StandIn):
    """A feed-forward network whose layers may be called one by one: each in its place, or all is different."""

    def __init__(self, matrix: Tensor, shift: Tensor) -> None:
        super().__init__(matrix, shift)
        eye = torch.eye(len(matrix), dtype=matrix.dtype)
        self.linear_1, self.gelu, self.linear_2 = StandIn(2 * eye), StandIn(3 * eye), StandIn(matrix / 6, shift)
        self.dropout = nn.Identity()


class OpenLayer(StandIn):
    """A layer of the encoder whose parts may be called one by one, pre-LN: each in its place, or all is different."""

    def __init__(self, matrix: Tensor, shift: Tensor | float = 0.0, pair: bool = False) -> None:
        super().__init__(matrix, shift, pair)
        eye = torch.eye(len(matrix), dtype=matrix.dtype)
        self.layer_norm_1, self.layer_norm_2 = StandIn(2 * eye), StandIn(3 * eye)
        # x + attention(2 x), and then half as much again: x (I + (M / 1.5 - I)) 1.5 = x M
        self.attention = StandIn((matrix / 1.5 - eye) / 2, shift / 1.5, pair)
        self.feed_forward = StandIn(eye / 6)


def handed(*given: Any, **named: Any) -> Tensor:
    """The first tensor that a part is called with, by place or by any name."""
    for value in (*given, *named.values()):
        if isinstance(value, Tensor):
            return value
    raise TypeError("the part was called without a tensor")


def stand_in_class(names: Sequence[str], parts: Sequence[nn.Module]) -> tuple[type, list[dict[str, Any]]]:
    """A class to put in place of a student's: its instances are ``parts``, one after the other.

    names: the names of its arguments, in order
    -> the class, and the list that fills with the arguments of each call
    """
    made: list[dict[str, Any]] = []

    class Part:
        def __new__(cls, *args: Any, **kwargs: Any) -> nn.Module:  # type: ignore[misc]
            made.append(dict(zip(names, args, strict=False)) | kwargs)
            return parts[(len(made) - 1) % len(parts)]

    return Part, made


def like(known: Any, parts: Sequence[nn.Module]) -> nn.Module:
    """These parts in a list such as the student's: a Sequential can be called, a ModuleList cannot."""
    return nn.Sequential(*parts) if isinstance(known, nn.Sequential) else nn.ModuleList(parts)


def first(output: Any) -> Any:
    """The tensor itself where a part returns (output, something else)."""
    return output[0] if isinstance(output, tuple | list) and len(output) else output


def selects_first_token(head: nn.Module, d_model: int) -> bool:
    """Does a classification head take whole sentences (B, T, d_model) and pick the first token itself?"""
    try:
        with torch.no_grad(), attempt_limit():
            return bool(first(head.eval()(torch.zeros(2, 3, d_model))).dim() == 2)
    except NotImplementedError:
        raise
    except Exception:
        return False
