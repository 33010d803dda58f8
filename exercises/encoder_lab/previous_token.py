"""Each head's average weight on the token before."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case, variant

from ._answers import returning
from ._arrays import draw_attention


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for layers, heads, tokens in ((2, 5, 7), (4, 3, 6)):
        attentions = draw_attention(generator, layers, heads, tokens, tokens)
        diagonal = np.diagonal(attentions.astype(np.float64), offset=-1, axis1=2, axis2=3)
        made.append(Case({}, {"attentions": attentions}, expected={"weight": diagonal.mean(-1)}))
    return made


HEAD = "def previous_token(attentions):"
returns = returning(HEAD, "n = attentions.size(-1)")
EACH = "One number for every layer and head."

MISTAKES = [
    Mistake("previous-next", "That is the weight on the next token.",
            "Rows are queries: the token before is one column to the left.",
            returns("attentions.diagonal(1, -2, -1).mean(-1)")),
    Mistake("previous-self", "That is the weight of each token on itself.", "The diagonal is the token itself.",
            returns("attentions.diagonal(0, -2, -1).mean(-1)")),
    Mistake("previous-two", "That is the weight on the token before the previous one.",
            "One column to the left of the diagonal.", returns("attentions.diagonal(-2, -2, -1).mean(-1)")),
    Mistake("previous-sum", "The weights were added up, not averaged.", "A mean over the queries.",
            returns("attentions.diagonal(-1, -2, -1).sum(-1)")),
    Mistake("previous-max", "That is the largest weight, not the average.", "A mean over the queries.",
            returns("attentions.diagonal(-1, -2, -1).amax(-1)")),
    Mistake("previous-all", "The sum was divided by the number of all tokens; the first one has no token before it.",
            "Average over the queries that have one.", returns("attentions.diagonal(-1, -2, -1).sum(-1) / n")),
    Mistake("previous-around", "The first token's previous token was taken to be the last one.",
            "Average over the queries that have a token before them.",
            returns("attentions[:, :, range(n), [i - 1 for i in range(n)]].mean(-1)")),
    Mistake("previous-heads", "The heads were averaged too.", EACH,
            returns("attentions.diagonal(-1, -2, -1).mean((-1, 1))")),
    Mistake("previous-layers", "The layers were averaged too.", EACH,
            returns("attentions.diagonal(-1, -2, -1).mean((-1, 0))")),
]  # fmt: skip

RIGHT = {
    "positions": variant(HEAD, """
        n = attentions.size(-1)
        return attentions[:, :, range(1, n), range(n - 1)].mean(-1)
    """),
    "a list": variant(HEAD, "return attentions.diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1).tolist()"),
    "shifted": variant(HEAD, "return attentions[..., 1:, :-1].diagonal(dim1=-2, dim2=-1).mean(-1)"),
    "loop": variant(HEAD, """
        n = attentions.size(-1)
        return sum(attentions[:, :, i, i - 1] for i in range(1, n)) / (n - 1)
    """),
    "mask": variant(HEAD, """
        m = torch.ones(attentions.shape[-2:]).tril(-1).triu(-1)
        return (attentions * m).sum((-1, -2)) / m.sum()
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    accepted={"previous_token-7728b17e": "A list of the same numbers is as right."},
    shows=("one token back", "averaged over the queries that have one"),
    axes={"weight": "layers, heads"},
)  # fmt: skip
