"""Right and wrong answers to ``moved``."""

from .._answers import right_functions, wrong_functions

HEAD = "def moved(original, shuffled, order):"
DIFFERENCE = "(original[:, order] - shuffled)"
RIGHT = right_functions(
    HEAD,
    {
        "put back": """
        back = torch.empty_like(shuffled)
        back[:, order] = shuffled
        return (original - back).norm(dim=-1).mean(1)
        """,
        "inverse": "return (original - shuffled[:, order.argsort()]).pow(2).sum(-1).sqrt().mean(-1)",
        "a list": "return (original[:, order] - shuffled).norm(dim=-1).mean(-1).tolist()",
        "linalg": "return torch.linalg.vector_norm(original[:, order] - shuffled, dim=2).mean(dim=1)",
        "loop": """
        places = list(enumerate(order.tolist()))
        sums = [sum((a[j] - b[i]).norm() for i, j in places) for a, b in zip(original, shuffled)]
        return torch.stack(sums) / len(order)
        """,
    },
)
WRONG = wrong_functions(
    HEAD,
    ("places", "(original - shuffled).norm(dim=-1).mean(-1)", "moved-places"),
    ("the wrong direction", "(original - shuffled[:, order]).norm(dim=-1).mean(-1)", "moved-back"),
    ("a sum", f"{DIFFERENCE}.norm(dim=-1).sum(-1)", "moved-sum"),
    ("the farthest", f"{DIFFERENCE}.norm(dim=-1).amax(-1)", "moved-max"),
    ("no root", f"{DIFFERENCE}.pow(2).sum(-1).mean(-1)", "moved-square"),
    ("one long vector", f"{DIFFERENCE}.flatten(1).norm(dim=-1)", "moved-whole"),
    ("signs cancel", f"{DIFFERENCE}.mean((1, 2))", "moved-signed"),
    ("size of a number", f"{DIFFERENCE}.abs().mean((1, 2))", "moved-absolute"),
    ("added", "(original[:, order] + shuffled).norm(dim=-1).mean(-1)", "moved-added"),
    ("the original alone", "original[:, order].norm(dim=-1).mean(-1)", "moved-original"),
    ("the shuffled alone", "shuffled.norm(dim=-1).mean(-1)", "moved-shuffled"),
    ("the original with itself", "(original[:, order] - original).norm(dim=-1).mean(-1)", "moved-itself"),
    ("the shuffled with itself", "(shuffled[:, order] - shuffled).norm(dim=-1).mean(-1)", "moved-itself-shuffled"),
    ("along the tokens", f"{DIFFERENCE}.norm(dim=1).mean(-1)", "moved-columns"),
    ("over the layers", f"{DIFFERENCE}.norm(dim=-1).mean(0)", "moved-layers"),
)

ACCEPTED = {"moved-71edc23c": "A list of the same numbers is as right."}
