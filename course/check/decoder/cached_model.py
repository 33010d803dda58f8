"""The decoder with a cache: reading in pieces gives what reading in one go gives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.cache_parts import CachedBlock, in_pieces
from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._caches import interleaved
from course.check.modules import undisturbed
from course.check.side_effects import check_side_effects
from course.decoder_parts import DecoderConfig, ReadyModel

CONFIG = DecoderConfig(vocabulary=11, context=12, dim=12, heads=2, layers=3)
NAME = "cached_model"


@undisturbed
def cached_model(kind: Any) -> None:
    """Each block gets its own cache and the new tokens alone, and positions go on where the cache ends."""
    with running(NAME, "making a model", "The layers are given: leave __init__ out."):
        model = kind(CONFIG, CachedBlock).eval()
    for weight in model.parameters():
        weight.add_(0.3 * torch.randn_like(weight))
    whole = ReadyModel(CONFIG).eval()
    whole.load_state_dict(model.state_dict())
    ids = torch.tensor([[3, 7, 7, 1, 0, 5, 2], [2, 2, 4, 9, 10, 6, 6]])
    weights = [weight for weight in model.parameters() if weight.ndim == 2]
    check_side_effects(NAME, lambda given: _run(model, given, None)[0], ids, weights=weights)
    logits, caches = _run(model, ids[:, :4], None)
    if not close(logits, whole(ids[:, :4])):
        look = "Words plus positions, every block, final_norm, dot products with all word vectors. No softmax."
        fail(NAME, "without caches, the logits are those of the model of notebook 1.", "Yours are others.", look)
    _step(model, ids, caches)
    for sizes in ([4, 1, 1, 1], [1] * 7, [2, 3, 2]):
        with running(NAME, f"reading in pieces of {sizes} tokens", "Are the caches handed on?"):
            found = in_pieces(model, ids, sizes)[0]
        if not close(found, whole(ids)):
            came = f"In yours, pieces of {sizes} tokens give other logits."
            fail(
                NAME, "reading in pieces gives the logits of reading in one go.", came, "Which cache does a block get?"
            )
    with running(NAME, "two texts by turns", "Are the caches handed on?"):
        found = in_pieces(interleaved(model), ids, [3, 2, 2])[0]
    if not close(found, whole(ids)):
        came, look = (
            "Yours gives other logits then.",
            "All that it knows of a text lies in the caches that it is given.",
        )
        fail(NAME, "two texts can be read by turns, each with its own caches.", came, look)
    passed(NAME, "the logits of the model without a cache", "positions go on", "one cache for each block")


def _run(model: Any, ids: Tensor, caches: Any) -> tuple[Tensor, Any]:
    past = "no caches" if caches is None else f"caches of {caches[0][0].shape[2]} tokens"
    with running(NAME, f"ids of shape {tuple(ids.shape)} and {past}", "Print the shape after every step."):
        found = model(ids, caches)
    if not (isinstance(found, tuple) and len(found) == 2):
        fail(NAME, "two things come back: the logits and the caches.", "Yours gives something else.")
    same_shape(NAME, "the logits", found[0], (*ids.shape, CONFIG.vocabulary), "(batch, new, vocabulary)")
    if not isinstance(found[1], list | tuple) or len(found[1]) != CONFIG.layers:
        fail(NAME, f"a model of {CONFIG.layers} blocks gives {CONFIG.layers} caches.", "Yours gives something else.")
    return found


def _step(model: Any, ids: Tensor, caches: Any) -> None:
    """One more token: what reaches the blocks."""
    seen: list[tuple[Any, ...]] = []
    keys = [cache[0].clone() for cache in caches]

    def note(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.append((*given, *(named[key] for key in ("x", "cache") if key in named)))

    watches = [block.register_forward_pre_hook(note, with_kwargs=True) for block in model.blocks]
    _run(model, ids[:, 4:5], caches)
    for watch in watches:
        watch.remove()
    if len(seen) != CONFIG.layers or any(given[0].shape[1] != 1 for given in seen):
        came = "Yours computes others again, or leaves a block out."
        fail(NAME, "one new token goes once through every block, alone.", came, "What is cached is not computed again.")
    want = model.token_embedding(ids[:, 4:5]) + model.position_embedding.weight[4]
    if not close(seen[0][0], want):
        look = "How many tokens does a cache hold? Its keys are (batch, heads, tokens, head_size)."
        fail(NAME, "behind 4 cached tokens, the next has position 4.", "Yours has another vector.", look)
    for number, given in enumerate(seen):
        if len(given) < 2 or given[1] is None or not torch.equal(given[1][0], keys[number]):
            came = f"In yours, block {number} gets something else."
            fail(NAME, "each block gets the cache that it made itself.", came, "block(x, its cache)")
