"""Right and wrong answers to ``previous_token``."""

from .._answers import right_functions, wrong_functions

HEAD = "def previous_token(attentions):"

RIGHT = right_functions(
    HEAD,
    {
        "positions": """
        n = attentions.size(-1)
        return attentions[:, :, range(1, n), range(n - 1)].mean(-1)
        """,
        "a list": "return attentions.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1).tolist()",
        "shifted": "return attentions[..., 1:, :-1].diagonal(dim1=-2, dim2=-1).mean(-1)",
        "loop": """
        n = attentions.size(-1)
        return sum(attentions[:, :, i, i - 1] for i in range(1, n)) / (n - 1)
        """,
        "mask": """
        m = torch.ones(attentions.shape[-2:]).tril(-1).triu(-1)
        return (attentions * m).sum((-1, -2)) / m.sum()
        """,
    },
)
WRONG = wrong_functions(
    HEAD,
    ("the next", "attentions.diagonal(1, -2, -1).mean(-1)", "previous-next"),
    ("itself", "attentions.diagonal(0, -2, -1).mean(-1)", "previous-self"),
    ("two back", "attentions.diagonal(-2, -2, -1).mean(-1)", "previous-two"),
    ("a sum", "attentions.diagonal(-1, -2, -1).sum(-1)", "previous-sum"),
    ("the largest", "attentions.diagonal(-1, -2, -1).amax(-1)", "previous-max"),
    ("divided by all tokens", "attentions.diagonal(-1, -2, -1).sum(-1) / n", "previous-all"),
    ("around the corner", "attentions[:, :, range(n), [i - 1 for i in range(n)]].mean(-1)", "previous-around"),
    ("over the heads", "attentions.diagonal(-1, -2, -1).mean((-1, 1))", "previous-heads"),
    ("over the layers", "attentions.diagonal(-1, -2, -1).mean((-1, 0))", "previous-layers"),
    body="n = attentions.size(-1)\nreturn {code}",
)

ACCEPTED = {"previous_token-7728b17e": "A list of the same numbers is as right."}
