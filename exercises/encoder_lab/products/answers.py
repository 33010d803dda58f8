"""Right and wrong answers to ``products``."""

from .._answers import right_functions, wrong_functions

HEAD = "def products(query, keys):"

RIGHT = right_functions(
    HEAD,
    {
        "einsum": "return torch.einsum('d,td->td', query, keys) / len(query) ** 0.5",
        "query scaled": "return keys * (query / math.sqrt(query.numel()))",
        "loop": "return torch.stack([query * key / math.sqrt(len(key)) for key in keys])",
        "a list": "return (query * keys / math.sqrt(query.size(-1))).tolist()",
        "diagonal": "return keys @ torch.diag(query) / query.size(0) ** 0.5",
    },
)
WRONG = wrong_functions(
    HEAD,
    ("not scaled", "query * keys", "M2"),
    ("divided by d", "query * keys / len(query)", "M3"),
    ("root of the tokens", "query * keys / math.sqrt(len(keys))", "M3-keys"),
    ("added up", "keys @ query / math.sqrt(len(query))", "product-sum"),
    ("softmax", "(query * keys / math.sqrt(len(query))).softmax(-1)", "product-softmax"),
    ("plus", "(query + keys) / math.sqrt(len(query))", "product-added"),
    ("keys with keys", "keys * keys / math.sqrt(len(query))", "product-keys"),
    ("divided", "query / keys / math.sqrt(len(query))", "product-divided"),
    ("root subtracted", "query * keys - math.sqrt(len(query))", "product-minus"),
    ("transposed", "(query * keys / math.sqrt(len(query))).T", "product-turned"),
    ("no sign", "(query * keys).abs() / math.sqrt(len(query))", "product-absolute"),
)

ACCEPTED = {"products-66d2fd5c": "A list of the same numbers is as right."}
