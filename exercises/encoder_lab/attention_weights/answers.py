"""Right and wrong answers to ``attention_weights``."""

from .._answers import right_functions, wrong_functions

HEAD = "def attention_weights(scores):"

RIGHT = right_functions(
    HEAD,
    {
        "method": "return scores.softmax(2)",
        "module": "return nn.Softmax(dim=-1)(scores)",
        "by hand": """
        e = (scores - scores.max(-1, keepdim=True).values).exp()
        return e / e.sum(-1, keepdim=True)
        """,
        "by logarithms": "return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))",
        "row by row": "return torch.stack([torch.stack([row.softmax(0) for row in matrix]) for matrix in scores])",
    },
)
WRONG = wrong_functions(
    HEAD,
    ("over the queries", "F.softmax(scores, dim=1)", "M1"),
    ("over the batch", "F.softmax(scores, dim=0)", "M1-batch"),
    ("over a whole sentence", "F.softmax(scores.flatten(1), dim=-1).view(scores.shape)", "M1-all"),
    ("logarithms", "F.log_softmax(scores, dim=-1)", "M1-log"),
    ("nothing done", "scores", "M1-none"),
    ("a sigmoid", "torch.sigmoid(scores)", "M1-sigmoid"),
    ("divided by the sum", "scores / scores.sum(-1, keepdim=True)", "M1-linear"),
    ("exponentials alone", "scores.exp()", "M1-exp"),
    ("twice", "F.softmax(F.softmax(scores, -1), -1)", "M1-twice"),
    ("by hand, and overflowing", "scores.exp() / scores.exp().sum(-1, keepdim=True)", "M1-overflow"),
)

ACCEPTED = {"detach": "Nothing is trained with the notebook's functions: what counts is the value."}
