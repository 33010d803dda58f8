"""Right and wrong answers to ``masked_attention``."""

from .._answers import right_functions, wrong_functions

HEAD = "def scaled_dot_product_attention(query, key, value, mask=None):"

RIGHT = right_functions(
    HEAD,
    {
        "where": """
        s = query @ key.mT / math.sqrt(key.size(-1))
        s = s if mask is None else torch.where(mask == 0, float('-inf'), s)
        return s.softmax(-1) @ value
        """,
        "ready made": """
        allowed = None if mask is None else mask.bool()
        return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        """,
        "a large number": """
        s = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            s = s.masked_fill(~mask.bool(), -1e9)
        return s.softmax(-1) @ value
        """,
        "added": """
        s = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            s = s + torch.zeros_like(mask).masked_fill(mask == 0, -math.inf)
        return s.softmax(-1) @ value
        """,
    },
)
#: Every step before is right here: nothing has been charged.
UNSCALED = [
    ("not scaled", "s", "M2"),
    ("divided by d", "s / key.size(-1)", "M3"),
    ("multiplied by the root", "s * math.sqrt(key.size(-1))", "M3-inverse"),
    ("scaled by the number of keys", "s / math.sqrt(key.size(1))", "M3-keys"),
    ("scaled by the number of queries", "s / math.sqrt(query.size(1))", "M3-queries"),
    ("scaled by the values' length", "s / math.sqrt(value.size(-1))", "M3-value"),
]
WRONG_SCALES = wrong_functions(
    HEAD,
    *UNSCALED,
    body="""
        s = torch.bmm(query, key.transpose(1, 2))
        s = {code}
        if mask is not None:
            s = s.masked_fill(mask == 0, -math.inf)
        return torch.bmm(F.softmax(s, dim=-1), value)
    """,
)
WRONG = WRONG_SCALES + wrong_functions(
    HEAD,
    ("filled with 0", "F.softmax(scores.masked_fill(mask == 0, 0.0), -1)", "M10-zero"),
    ("filled with a tiny number", "F.softmax(scores.masked_fill(mask == 0, 1e-9), -1)", "M10-zero"),
    ("filled with -1", "F.softmax(scores.masked_fill(mask == 0, -1.0), -1)", "M10-minus-one"),
    ("filled with plus infinity", "F.softmax(scores.masked_fill(mask == 0, math.inf), -1)", "M10-infinity"),
    ("mask ignored", "F.softmax(scores, -1)", "M10-ignored"),
    ("scores multiplied", "F.softmax(scores * mask, -1)", "M10-zero"),
    ("after the softmax", "F.softmax(scores, -1) * mask", "M10-late"),
    ("mask added", "F.softmax(scores + mask, -1)", "M10-added"),
    ("inverted", "F.softmax(scores.masked_fill(mask == 1, -math.inf), -1)", "M10-inverted"),
    ("0 times infinity", "F.softmax(scores + (1 - mask) * -math.inf, -1)", "M10-infinity"),
    body="""
        scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(key.size(-1))
        if mask is None:
            return torch.bmm(F.softmax(scores, dim=-1), value)
        return torch.bmm({code}, value)
    """,
)

ACCEPTED = {
    "detach": "Nothing is trained in this assignment: what counts is the value.",
}
