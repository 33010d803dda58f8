"""Right and wrong answers to ``scaled_dot_product_attention``."""

from autograder.exercise import SampleAnswer

from .._answers import function, right_functions, wrong_functions

HEAD = "def scaled_dot_product_attention(query, key, value):"

RIGHT = right_functions(
    HEAD,
    {
        "own steps": "return attention_weights(attention_scores(query, key)) @ value",
        "ready made": "return F.scaled_dot_product_attention(query, key, value)",
        "einsum": """
        w = torch.einsum('bnd,bmd->bnm', query, key).div(key.size(-1) ** 0.5).softmax(-1)
        return torch.einsum('bnm,bme->bne', w, value)
        """,
        "both": """
        w = F.softmax(query @ key.mT / math.sqrt(key.size(-1)), dim=-1)
        return w @ value, w
        """,
        "summed by hand": """
        s = query @ key.mT / key.size(-1) ** 0.5
        return (s.softmax(-1)[..., None] * value[:, None]).sum(2)
        """,
    },
)
WRONG = [
    *wrong_functions(
        HEAD,
        ("not scaled", "F.softmax(scores, -1) @ value", "M2"),
        ("divided by d", "F.softmax(scores / root**2, -1) @ value", "M3"),
        ("multiplied by the root", "F.softmax(scores * root, -1) @ value", "M3-inverse"),
        ("over the queries", "F.softmax(scores / root, 1) @ value", "M1"),
        ("over the batch", "F.softmax(scores / root, 0) @ value", "M1-batch"),
        ("no softmax", "scores / root @ value", "M1-none"),
        ("root of the keys' number", "F.softmax(scores / key.size(1) ** 0.5, -1) @ value", "M3-keys"),
        ("root of the batch", "F.softmax(scores / len(key) ** 0.5, -1) @ value", "M3-batch"),
        ("scaled too late", "F.softmax(scores, -1) / root @ value", "M3-late"),
        ("softmax of the mixture", "F.softmax(scores / root @ value, -1)", "M9"),
        ("every value alike", "torch.full_like(scores, 1 / scores.size(-1)) @ value", "M9-mean"),
        ("cut to a query's length", "(F.softmax(scores / root, -1) @ value)[..., : query.size(-1)]", "cut-width"),
        ("weights transposed", "F.softmax(scores / root, -1).transpose(1, 2) @ value", ""),
        body="""
        scores = query @ key.transpose(1, 2)
        root = math.sqrt(key.size(-1))
        return {code}
    """,
    ),
    SampleAnswer(
        "cut to the number of keys",
        function(
            HEAD,
            """
            scores = query @ key.mT / math.sqrt(key.size(-1))
            return (scores.softmax(-1) @ value)[:, : key.size(1)]
            """,
        ),
        points=0,
        mistake="cut-queries",
    ),
    SampleAnswer(
        "not scaled, with a mask neither: paid for once",
        function(HEAD, "return (query @ key.mT).softmax(-1) @ value"),
        cells={
            "masked_attention_answer": function(
                "def scaled_dot_product_attention(query, key, value, mask=None):",
                """
                s = query @ key.mT
                if mask is not None:
                    s = s.masked_fill(mask == 0, -math.inf)
                return s.softmax(-1) @ value
                """,
            )
        },
        points=0,
        mistake="M2",
    ),
]

ACCEPTED = {"detach": "Nothing is trained with the notebook's functions: what counts is the value."}
