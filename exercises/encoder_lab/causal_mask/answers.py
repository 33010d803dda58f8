"""Right and wrong answers to ``causal_mask``."""

from .._answers import right_functions, wrong_functions

HEAD = "def causal_mask(n):"

RIGHT = right_functions(
    HEAD,
    {
        "truth values": "return torch.ones(1, n, n, dtype=torch.bool).tril()",
        "comparison": """
        i = torch.arange(n)
        return (i[:, None] >= i)[None]
        """,
        "whole numbers": "return torch.tril(torch.ones(n, n, dtype=torch.long)).unsqueeze(0)",
        "loops": "return torch.tensor([[[1.0 if j <= i else 0.0 for j in range(n)] for i in range(n)]])",
    },
)
WRONG = wrong_functions(
    HEAD,
    ("inverted", "(1 - torch.tril(torch.ones(n, n)))[None]", "M10-inverted"),
    ("upper triangle", "torch.triu(torch.ones(n, n))[None]", "M10-upper"),
    ("no diagonal", "torch.tril(torch.ones(n, n), -1)[None]", "M10-diagonal"),
    ("one too far", "torch.tril(torch.ones(n, n), 1)[None]", "M10-ahead"),
    ("all ones", "torch.ones(1, n, n)", "M10-ones"),
    ("the diagonal alone", "torch.eye(n)[None]", "M10-eye"),
    ("no axis in front", "torch.tril(torch.ones(n, n))", "M10-shape"),
    (
        "infinite already",
        "torch.zeros(n, n).masked_fill(torch.triu(torch.ones(n, n), 1) == 1, -math.inf)[None]",
        "M10-filled",
    ),
)
