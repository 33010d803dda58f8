"""Attention with a cache: torch's own attention in float64 over all tokens at once, of which the last rows are new."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CUT, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    """A prompt, a piece after a cache, one token after a cache, and a piece with large scores."""
    import torch
    from torch.nn import functional as F

    made = []
    for (batch, heads, size), old, new, spread in (
        ((2, 3, 4), 0, 5, 1.2), ((3, 2, 6), 4, 3, 1.2), ((2, 4, 3), 6, 1, 1.2), ((3, 4, 5), 2, 7, 25.0),
    ):  # fmt: skip
        shape = (batch, heads, old + new, size)
        query, key, value = (generator.normal(0, width, shape).astype(np.float32) for width in (spread, 1.2, 1.0))
        double = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
        output = F.scaled_dot_product_attention(*double, is_causal=True).numpy()[:, :, old:]
        inputs = {name: x[:, :, old:] for name, x in (("query", query), ("key", key), ("value", value))}
        if old:
            inputs |= {"old_keys": key[:, :, :old], "old_values": value[:, :, :old]}
        expected = {"output": output, "keys": key, "values": value}
        made.append(Case({"cached": bool(old)}, inputs, expected=expected))
    return made


HEAD = "def cached_attention(query, key, value, cache):"
SCALE = "query @ keyᵀ / √head_size"
# Lines of the solution that mistakes change.
TRIANGLE = "triu(1 + cached)"
SEEN = 'scores.masked_fill(later, float("-inf"))'
BACK = "weights @ value, (key, value)"
ROOT = "math.sqrt(query.shape[-1])"
UNUSED = ("if cache is not None:", "if False:")
ALONE = ("The new tokens see each other only: the cache is not used.",
         "Old keys and new ones, one after the other.")  # fmt: skip

MISTAKES = [
    Mistake("K1-first", "The mask begins at the wrong token: the first new one sees one key only.",
            "Row 0 of the scores belongs to the first new token, and the cached ones stand before it.",
            (TRIANGLE, "triu(1)")),
    Mistake("K1-open", "New tokens see later ones: nothing is masked.",
            "A piece of several tokens needs the causal mask, too.", (SEEN, "scores")),
    Mistake("K1-next", "Each token sees one token too many: the next one.", "Where does the triangle end?",
            (TRIANGLE, "triu(2 + cached)")),
    Mistake("K1-self", "A token does not see itself.", "The token's own key belongs to what is seen.",
            (TRIANGLE, "triu(cached)")),
    Mistake("K1-alone", *ALONE, UNUSED),
    Mistake("K1-alone", *ALONE, UNUSED, (TRIANGLE, "triu(1)")),
    Mistake("K1-before", "The new keys and values stand before the old ones.", "A cache grows at its end.",
            ("[cache[0], key]", "[key, cache[0]]"), ("[cache[1], value]", "[value, cache[1]]")),
    Mistake("K1-old", "The cache that comes back is the old one.", "Give back what was put together.",
            (BACK, "weights @ value, cache or (key, value)")),
    Mistake("K1-new", "The cache that comes back has only the new tokens.", "Give back what was put together.",
            (BACK, "weights @ value, (key[:, :, cached:], value[:, :, cached:])")),
    Mistake("K1-zero", "Hidden scores became 0, and still get weight.",
            "What must a score be, for the softmax to make exactly 0 of it?", ('float("-inf")', "0.0")),
    Mistake("K1-late", "The mask came after the softmax: the weights no longer sum to 1.",
            "Hide the scores, then take the softmax.",
            (f"{SEEN}.softmax(dim=-1)", "scores.softmax(dim=-1).masked_fill(later, 0)")),
    Mistake("K1-unscaled", "The scores are not divided by √head_size.", SCALE, (f" / {ROOT}", "")),
    Mistake("K1-whole", "The scores are divided by head_size, not by its root.", SCALE, (ROOT, "query.shape[-1]")),
    Mistake("K1-keys", "The scores are divided by the root of the number of keys.", SCALE,
            (ROOT, "math.sqrt(key.shape[-2])")),
    Mistake("K1-queries", "The softmax runs over the queries.", "Each query's weights sum to 1 over the keys.",
            ("softmax(dim=-1)", "softmax(dim=-2)")),
    CUT.by(("weights @ value,", "weights.detach() @ value,")),
]  # fmt: skip

RIGHT = {
    "torch's fused attention": variant(HEAD, """
        keys, values = (key, value) if cache is None else (torch.cat(pair, 2) for pair in zip(cache, (key, value)))
        seen = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - query.shape[2])
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=seen), (keys, values)
    """),
    "places compared": variant(HEAD, """
        past = cache[0].size(2) if cache is not None else 0
        if past:
            key, value = torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)
        row = past + torch.arange(query.size(2))[:, None]
        scores = query @ key.mT * query.size(-1) ** -0.5
        scores = torch.where(torch.arange(key.size(2)) <= row, scores, -torch.inf)
        return torch.softmax(scores, -1) @ value, [key, value]
    """),
    "token by token": variant(HEAD, """
        keys, values = cache or (key[:, :, :0], value[:, :, :0])
        rows = []
        for number in range(query.shape[2]):
            keys = torch.cat([keys, key[:, :, number : number + 1]], 2)
            values = torch.cat([values, value[:, :, number : number + 1]], 2)
            scores = query[:, :, number : number + 1] @ keys.transpose(2, 3) / math.sqrt(query.shape[3])
            rows.append(scores.softmax(-1) @ values)
        return torch.cat(rows, 2), (keys, values)
    """),
    "old and new scores apart": variant(HEAD, """
        later = torch.full((query.shape[2], query.shape[2]), float("-inf")).triu(1)
        scores = query @ key.transpose(-1, -2) + later
        if cache is not None:
            scores = torch.cat([query @ cache[0].transpose(-1, -2), scores], -1)
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
        return (scores / query.shape[-1] ** 0.5).softmax(-1) @ value, (key, value)
    """),
    "einsum": variant(HEAD, """
        if cache is not None:
            key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value)))
        total = key.shape[2]
        hidden = ~torch.tril(torch.ones(total, total)).bool()[total - query.shape[2]:]
        scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(key.shape[-1])
        weights = F.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=3)
        return torch.einsum("bhqk,bhkd->bhqd", weights, value), (key, value)
    """),
    "a large negative number": [('float("-inf")', "-1e30")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("the cache grows", "new tokens see all earlier ones", "none sees a later one"),
    axes={"output": "batch, heads, new, head_size"}
    | dict.fromkeys(("keys", "values"), "batch, heads, cached + new, head_size"),
)  # fmt: skip
