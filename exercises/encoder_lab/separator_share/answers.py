"""Right and wrong answers to ``separator_share``."""

from autograder.exercise import SampleAnswer

from .._answers import function, right_functions, wrong_functions

HEAD = "def separator_share(attention, tokens):"

RIGHT = right_functions(
    HEAD,
    {
        "truth values": """
        at = torch.tensor([t == '[SEP]' for t in tokens])
        return attention[..., at].sum(-1).mean(-1)
        """,
        "einsum": """
        at = torch.tensor([float(t == '[SEP]') for t in tokens])
        return torch.einsum('hqk,k->hq', attention, at).mean(1)
        """,
        "averaged first": "return sum(attention.mean(1)[:, i] for i, t in enumerate(tokens) if t == '[SEP]')",
        "loops": """
        at = [i for i, t in enumerate(tokens) if t == '[SEP]']
        sums = [sum(float(row[i]) for row in head for i in at) for head in attention]
        return torch.tensor(sums) / attention.shape[1]
        """,
    },
)
WRONG = [
    *wrong_functions(
        HEAD,
        ("the first [SEP]", "attention[:, :, at[0]].mean(-1)", "share-first"),
        ("the last [SEP]", "attention[:, :, at[-1]].mean(-1)", "share-last"),
        ("divided by the tokens", "attention[:, :, at].sum((1, 2)) / len(tokens)", "share-keys"),
        ("the first and the last [SEP]", "attention[:, :, [at[0], at[-1]]].sum(-1).mean(-1)", "share-end"),
        ("the first [SEP] and the last token", "(attention[:, :, at[0]] + attention[:, :, -1]).mean(-1)", ""),
        ("rows", "attention[:, at].sum(1).mean(-1)", "share-rows"),
        ("average of both [SEP]", "attention[:, :, at].mean((1, 2))", "share-mean"),
        ("sum over the queries", "attention[:, :, at].sum((1, 2))", "share-sum"),
        ("the largest", "attention[:, :, at].sum(-1).amax(-1)", "share-max"),
        ("[CLS]", "attention[:, :, 0].mean(-1)", "share-cls"),
        ("the others", "1 - attention[:, :, at].sum(-1).mean(-1)", "share-others"),
        body="at = [i for i, token in enumerate(tokens) if token == '[SEP]']\nreturn {code}",
    ),
    SampleAnswer(
        "over the heads",
        function(
            HEAD,
            """
            at = [i for i, token in enumerate(tokens) if token == "[SEP]"]
            return attention[:, :, at].sum(-1).mean(0)
            """,
        ),
        points=0,
        costs={"separator_heads": 0},
        mistake="share-heads",
    ),
]

ACCEPTED = {"separator_share-a333d6e2": "No sentence of BERT begins with [SEP]: the first token need not be looked at."}
