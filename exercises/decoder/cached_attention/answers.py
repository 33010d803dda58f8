"""Right and wrong ways to attend with a cache."""

from __future__ import annotations

from .._answers import functions, right, wrong

HEAD = "def cached_attention(query, key, value, cache):"
TRIANGLE = "triu(1 + cached)"
BACK = "weights @ value, (key, value)"
SCALED = " / math.sqrt(query.shape[-1])"

RIGHT = [
    *functions(HEAD, {
        "torch's fused attention": """
            keys, values = (key, value) if cache is None else (torch.cat(pair, 2) for pair in zip(cache, (key, value)))
            seen = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - query.shape[2])
            return F.scaled_dot_product_attention(query, keys, values, attn_mask=seen), (keys, values)
        """,
        "places compared": """
            past = cache[0].size(2) if cache is not None else 0
            if past:
                key, value = torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)
            row = past + torch.arange(query.size(2))[:, None]
            scores = query @ key.mT * query.size(-1) ** -0.5
            scores = torch.where(torch.arange(key.size(2)) <= row, scores, -torch.inf)
            return torch.softmax(scores, -1) @ value, [key, value]
        """,
        "token by token": """
            keys, values = cache or (key[:, :, :0], value[:, :, :0])
            rows = []
            for number in range(query.shape[2]):
                keys = torch.cat([keys, key[:, :, number : number + 1]], 2)
                values = torch.cat([values, value[:, :, number : number + 1]], 2)
                scores = query[:, :, number : number + 1] @ keys.transpose(2, 3) / math.sqrt(query.shape[3])
                rows.append(scores.softmax(-1) @ values)
            return torch.cat(rows, 2), (keys, values)
        """,
        "old and new scores apart": """
            later = torch.full((query.shape[2], query.shape[2]), float("-inf")).triu(1)
            scores = query @ key.transpose(-1, -2) + later
            if cache is not None:
                scores = torch.cat([query @ cache[0].transpose(-1, -2), scores], -1)
                key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
            return (scores / query.shape[-1] ** 0.5).softmax(-1) @ value, (key, value)
        """,
        "einsum": """
            if cache is not None:
                key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value)))
            total = key.shape[2]
            hidden = ~torch.tril(torch.ones(total, total)).bool()[total - query.shape[2]:]
            scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(key.shape[-1])
            weights = F.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=3)
            return torch.einsum("bhqk,bhkd->bhqd", weights, value), (key, value)
        """,
    }),
    right("a large negative number", ('float("-inf")', "-1e30")),
]  # fmt: skip

WRONG = [
    wrong("the mask begins at the first key", "K1-first", (TRIANGLE, "triu(1)")),
    wrong("no mask", "K1-open", ('scores.masked_fill(later, float("-inf"))', "scores")),
    wrong("one too many", "K1-next", (TRIANGLE, "triu(2 + cached)")),
    wrong("itself hidden", "K1-self", (TRIANGLE, "triu(cached)")),
    wrong("the cache is not used", "K1-alone", ("if cache is not None", "if False"),
          ("triu(1 + cached)", "triu(1)")),
    wrong("the new ones first", "K1-before", ("[cache[0], key]", "[key, cache[0]]"),
          ("[cache[1], value]", "[value, cache[1]]")),
    wrong("the old cache comes back", "K1-old", (BACK, "weights @ value, cache or (key, value)")),
    wrong("only the new ones come back", "K1-new",
          (BACK, "weights @ value, (key[:, :, cached:], value[:, :, cached:])")),
    wrong("zeros for hidden scores", "K1-zero", ('float("-inf")', "0.0")),
    wrong("not scaled", "K1-unscaled", (SCALED, "")),
    wrong("scaled without root", "K1-whole", ("math.sqrt(query.shape[-1])", "query.shape[-1]")),
    wrong("softmax over the queries", "K1-queries", ("softmax(dim=-1)", "softmax(dim=-2)")),
    wrong("masked after the softmax", "K1-late",
          ('scores.masked_fill(later, float("-inf")).softmax(dim=-1)', "scores.softmax(dim=-1).masked_fill(later, 0)")),
    wrong("cut off", "CUT", ("weights @ value,", "weights.detach() @ value,")),
]  # fmt: skip
