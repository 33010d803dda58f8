"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included. Stand-ins
take the place of the parts that other exercises ask for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.both_ways import made
from course.check.side_effects import side_effects
from course.check.transformer_tutorial import _given_lines


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


def self_attention_maps(kind: Any, case: Any) -> dict[str, Any]:
    sizes = case.config.k, case.config.heads
    built = made(kind, sizes[0], heads=sizes[1], ready={"DotProductAttention": _NoAttention})
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
        mixed = queries + 2 * keys - 3 * values.flip(1)
        return mixed.flatten(2, 3).reshape(b, t, h * k)  # four axes, or an error


def self_attention_forward(kind: Any, case: Any) -> dict[str, Any]:
    ready = {"DotProductAttention": _Mixing}
    built = case.load(made(kind, case.config.k, heads=case.config.heads, ready=ready))
    built.attention = _Mixing()
    maps = [getattr(built, name).weight for name in ("to_queries", "to_keys", "to_values", "unify_heads")]
    noted = side_effects(built, case.x, weights=maps) | _given_lines.attention_inside(kind, case)
    return {"output": built(case.x.clone()), "again": built(case.x.clone()), **noted}


def classifier_parts(kind: Any, case: Any) -> dict[str, Any]:
    built = kind(**vars(case.config))
    blocks = list(built.transformer_blocks)
    known = {id(weight) for weight in built.parameters()}
    return {
        **_given_lines.model_inside(kind, case.config),
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


def _block(kind: Any, case: Any) -> tuple[Any, _Feeding]:
    built, feeding = case.load(kind(case.config.k, case.config.heads)), _Feeding()
    built.attention, built.mlp = _Attending(), nn.Sequential(feeding, nn.Identity(), nn.Identity())
    return built, feeding


def block_attention(kind: Any, case: Any) -> dict[str, Any]:
    built, feeding = _block(kind, case)
    output, given = built(case.x.clone()), feeding.given
    weights = [built.attention.scale, *built.norm_1.parameters()]
    entered = side_effects(lambda x: (built(x), feeding.given)[1], case.x, weights=weights)
    noted = _given_lines.first_half(entered, side_effects(built, case.x, weights=weights))
    return {"between": given, "output": output, **noted}


def block_feed_forward(kind: Any, case: Any) -> dict[str, Any]:
    built, feeding = _block(kind, case)
    output, given = built(case.x.clone()), feeding.given
    noted = side_effects(built, case.x, weights=[feeding.scale, *built.norm_2.parameters()])
    return {
        "between": given,
        "output": output,
        **_given_lines.second_half(noted, feeding.reached),
        **_given_lines.block_inside(kind, case),
    }
