"""Right and wrong answers to ``causal_attention``."""

from __future__ import annotations

from .._answers import functions, wrong_functions

HEAD = "def causal_attention(query, key, value):"
RIGHT = functions(HEAD, {
    "torch's own": "return F.scaled_dot_product_attention(query, key, value, is_causal=True)",
    "a mask of minus infinity, added": """
        mask = torch.full((query.size(-2), query.size(-2)), -torch.inf).triu(1)
        return ((query @ key.mT) / query.size(-1) ** 0.5 + mask).softmax(-1) @ value
    """,
    "where, and a large number": """
        n = torch.arange(query.shape[2])
        scores = torch.einsum("bhid,bhjd->bhij", query, key) * query.shape[3] ** -0.5
        return torch.einsum("bhij,bhjd->bhid", torch.where(n[:, None] >= n, scores, -1e9).softmax(3), value)
    """,
    "token by token": """
        rows = []
        for i in range(query.shape[2]):
            scores = query[:, :, i : i + 1] @ key[:, :, : i + 1].transpose(2, 3) / math.sqrt(query.shape[3])
            rows.append(scores.softmax(-1) @ value[:, :, : i + 1])
        return torch.cat(rows, dim=2)
    """,
    "the query scaled first, weights divided by their sum": """
        scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-1, -2)
        scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, float("-inf"))
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        return (weights / weights.sum(-1, keepdim=True)) @ value
    """,
})  # fmt: skip

WRONG = wrong_functions(
    HEAD,
    ("nothing masked", "scores.softmax(-1)", "D1-open"),
    ("triangle turned round", "scores.masked_fill(ones.tril(-1) > 0, -torch.inf).softmax(-1)", "D1-turned"),
    ("one too far", "scores.masked_fill(ones.triu(2) > 0, -torch.inf).softmax(-1)", "D1-next"),
    ("without the diagonal", "scores.masked_fill(ones.triu(0) > 0, -torch.inf).softmax(-1)", "D1-self"),
    ("hidden scores are 0", "(scores * ones.tril()).softmax(-1)", "D1-zero"),
    ("mask after the softmax", "scores.softmax(-1) * ones.tril()", "D1-late"),
    ("not scaled", "(scores * d**0.5).masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1)", "D1-unscaled"),
    ("divided by d", "(scores / d**0.5).masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1)", "D1-whole"),
    ("multiplied by the root", "(scores * d).masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1)", "D1-times"),
    ("scaled by tokens", "(scores * (d / t)**0.5).masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1)", "D1-tokens"),
    ("softmax over queries", "scores.masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-2)", "D1-queries"),
    ("no softmax", "scores * ones.tril()", "D1-softmax"),
    ("weights transposed", "scores.masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1).mT", "D1-transposed"),
    ("cut off", "scores.masked_fill(ones.triu(1) > 0, -torch.inf).softmax(-1).detach()", "CUT"),
    ("hidden scores made small", "(scores * (1 - 0.9 * ones.triu(1))).softmax(-1)", ""),
    body="""
        t, d = query.shape[-2:]
        scores = query @ key.transpose(-1, -2) / d**0.5
        ones = torch.ones(t, t)
        return ({code}) @ value
    """,
) + wrong_functions(
    HEAD,
    ("the query is scaled in place", "query.div_(query.shape[-1] ** 0.5) @ key.transpose(-1, -2)", "CHANGED"),
    body="""
        scores = {code}
        return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf).softmax(-1) @ value
    """,
)
