"""Right and wrong answers to ``attention_scores``."""

from autograder.exercise import SampleAnswer

from .._answers import function, right_functions, wrong_functions

HEAD = "def attention_scores(query, key):"

RIGHT = right_functions(
    HEAD,
    {
        "torch.vmap": "return torch.vmap(lambda q, k: q @ k.T / math.sqrt(k.shape[-1]))(query, key)",
        "a comprehension": "return torch.stack([torch.mm(q, k.T).div(k.size(-1) ** 0.5) for q, k in zip(query, key)])",
        "einsum": "return torch.einsum('bnd,bmd->bnm', query, key) / key.shape[-1] ** 0.5",
        "queries scaled": "return (query / math.sqrt(query.size(-1))) @ key.mT",
        "added up": "return (query[:, :, None] * key[:, None]).sum(-1) / math.sqrt(key.size(2))",
        "sentence by sentence": "return torch.stack([(q @ k.T) * q.size(1) ** -0.5 for q, k in zip(query, key)])",
        "in float64": "return (query.double() @ key.double().transpose(-1, -2) / math.sqrt(key.size(-1))).float()",
    },
)
WRONG = [
    *wrong_functions(
        HEAD,
        ("not scaled", "query @ key.transpose(1, 2)", "M2"),
        ("divided by d", "query @ key.transpose(1, 2) / key.size(-1)", "M3"),
        ("multiplied by the root", "query @ key.transpose(1, 2) * math.sqrt(key.size(-1))", "M3-inverse"),
        ("root of the keys' number", "query @ key.transpose(1, 2) / math.sqrt(key.size(1))", "M3-keys"),
        ("root of the queries' number", "query @ key.transpose(1, 2) / math.sqrt(query.size(1))", "M3-queries"),
        ("root of the batch", "query @ key.transpose(1, 2) / math.sqrt(len(key))", "M3-batch"),
        ("query and key exchanged", "key @ query.transpose(1, 2) / math.sqrt(key.size(-1))", "M4-swap"),
        ("a softmax already", "F.softmax(query @ key.transpose(1, 2) / math.sqrt(key.size(-1)), -1)", "M1-early"),
    ),
    SampleAnswer(
        "not scaled, and the steps put together: paid for once",
        function(HEAD, "return query @ key.mT"),
        cells={
            "scaled_dot_product_attention_answer": function(
                "def scaled_dot_product_attention(query, key, value):",
                "return attention_weights(attention_scores(query, key)) @ value",
            )
        },
        points=0,
        mistake="M2",
    ),
]

ACCEPTED = {"detach": "Nothing is trained with the notebook's functions: what counts is the value."}
