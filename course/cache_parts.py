"""Ready-made parts of the notebook on the cache of keys and values: blocks that keep them, and what is measured.

A cache is a pair of tensors, keys and values, each (batch, heads, tokens, head_size); a model has one for each block.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.decoder_parts import BlockLayers, ModelLayers

Cache = tuple[Tensor, Tensor]


def ready_cached_attention(query: Tensor, key: Tensor, value: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
    """What the new tokens mix (batch, heads, new, head_size), by torch's own function, and the cache with them."""
    if cache is not None:
        key, value = (torch.cat(pair, -2) for pair in zip(cache, (key, value), strict=True))
    new, tokens = query.shape[-2], key.shape[-2]
    seen = torch.tril(torch.ones(tokens, tokens, dtype=torch.bool, device=query.device))[-new:]
    return F.scaled_dot_product_attention(query, key, value, attn_mask=seen), (key, value)


class CachedBlock(BlockLayers):
    """x of the new tokens (batch, new, dim) and the block's cache or None -> the same shape, and the new cache"""

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        query, key, value = (self.split_heads(part) for part in self.to_qkv(self.norm_1(x)).chunk(3, -1))
        attended, cache = ready_cached_attention(query, key, value, cache)
        x = x + self.out(self.merge_heads(attended))
        return self.mlp(self.norm_2(x)) + x, cache


class CachedModelLayers(ModelLayers):
    """The layers of the decoder, with blocks that take and give a cache; ``forward`` is an exercise."""

    def __init__(self, config: Any, block: Callable[[Any], nn.Module] = CachedBlock) -> None:
        super().__init__(config, block)


class ReadyCachedModel(CachedModelLayers):
    """ids of the new tokens (batch, new), caches or None -> their logits, and one cache for each block"""

    def forward(self, ids: Tensor, caches: Sequence[Cache] | None = None) -> tuple[Tensor, list[Cache]]:
        given: Sequence[Cache | None] = caches or [None] * len(self.blocks)
        start = given[0][0].shape[-2] if given[0] is not None else 0
        x = F.embedding(ids, self.token_embedding.weight)
        x = x + self.position_embedding.weight[start : start + ids.shape[1]]
        made = []
        for layer, cache in zip(self.blocks, given, strict=True):
            x, kept = layer(x, cache)
            made.append(kept)
        return F.linear(self.final_norm(x), self.token_embedding.weight), made


def in_pieces(model: Any, ids: Tensor, sizes: Iterable[int]) -> tuple[Tensor, Any]:
    """ids (batch, tokens), read in pieces of these sizes, each with the caches of the pieces before.

    Gives the logits of all tokens (batch, tokens, vocabulary), and the caches at the end.
    """
    found, caches = [], None
    for piece in ids.split(list(sizes), dim=1):
        logits, caches = model(piece, caches)
        found.append(logits)
    return torch.cat(found, dim=1), caches


def kept_keys(caches: Sequence[Cache]) -> Tensor:
    """The keys of all blocks: (blocks, batch, heads, tokens, head_size)"""
    return torch.stack([cache[0] for cache in caches])


@torch.no_grad()
def milliseconds_per_token(
    cached: Any, uncached: Callable[[Tensor], Tensor], lengths: Sequence[int], tries: int = 3
) -> dict[str, list[float]]:
    """The time for the logits of one more token, after so many others: with a cache, and with everything anew.

    The shortest of some tries counts, because other programs only make a time longer.
    """
    found: dict[str, list[float]] = {"without a cache": [], "with a cache": []}
    for length in lengths:
        ids = torch.arange(length)[None] % 50
        caches = cached(ids[:, :-1])[1]
        found["without a cache"].append(_shortest(partial(uncached, ids), tries))
        found["with a cache"].append(_shortest(partial(cached, ids[:, -1:], caches), tries))
    return found


def _shortest(call: Callable[[], Any], tries: int) -> float:
    times = []
    for _ in range(tries):
        begin = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begin))
    return min(times)
