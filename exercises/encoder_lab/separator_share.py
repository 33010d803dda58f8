"""How much of each head's weight goes to [SEP]."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case, variant

from ._answers import returning
from ._arrays import Array, draw_attention

WORDS = ["the", "old", "bank", "river", "sees", "a", "man", "dog", "walk"]


def cases(generator: np.random.Generator) -> list[Case]:
    """Last, three [SEP], none of them at the end, and fewer queries than keys."""
    made = []
    for heads, a, b in ((5, 3, 4), (4, 5, 2)):
        words = [str(word) for word in generator.choice(WORDS, a + b, replace=False)]
        tokens = ["[CLS]", *words[:a], "[SEP]", *words[a:], "[SEP]"]
        made.append(_case(tokens, draw_attention(generator, heads, len(tokens), len(tokens))))
    words = [str(word) for word in generator.choice(WORDS, 6, replace=False)]
    tokens = ["[CLS]", *words[:2], "[SEP]", *words[2:4], "[SEP]", words[4], "[SEP]", words[5]]
    return [*made, _case(tokens, draw_attention(generator, 3, 4, len(tokens)))]


def _case(tokens: list[str], attention: Array) -> Case:
    places = [i for i, token in enumerate(tokens) if token == "[SEP]"]
    expected = {"share": attention.astype(np.float64)[:, :, places].sum(-1).mean(-1)}
    return Case({}, {"attention": attention}, {}, {"tokens": tokens}, expected)


HEAD = "def separator_share(attention, tokens):"
returns = returning(HEAD, "at = [i for i, token in enumerate(tokens) if token == '[SEP]']")
SEVERAL = "A sentence may have several of them."

MISTAKES = [
    Mistake("share-first", "Only the first [SEP] was counted.", SEVERAL, returns("attention[:, :, at[0]].mean(-1)")),
    Mistake("share-last", "Only the last [SEP] was counted.", SEVERAL, returns("attention[:, :, at[-1]].mean(-1)")),
    Mistake("share-keys", "The sum over the queries was divided by the number of tokens: that is the number of keys.",
            "A mean over the queries.", returns("attention[:, :, at].sum((1, 2)) / len(tokens)")),
    Mistake("share-end", "The first and the last token that is [SEP] were counted, and none between them.", SEVERAL,
            returns("attention[:, :, [at[0], at[-1]]].sum(-1).mean(-1)")),
    Mistake("share-rows", "That is what [SEP] attends to, not who attends to [SEP].",
            "Rows are queries, columns are keys.", returns("attention[:, at].sum(1).mean(-1)")),
    Mistake("share-mean", "The weights on the [SEP] were averaged, not added.",
            "A query's weight on [SEP] is what all of them get together.", returns("attention[:, :, at].mean((1, 2))")),
    Mistake("share-sum", "The queries were added up, not averaged: a share is at most 1.", "A mean over the queries.",
            returns("attention[:, :, at].sum((1, 2))")),
    Mistake("share-max", "That is the largest weight on [SEP], not the average.", "A mean over the queries.",
            returns("attention[:, :, at].sum(-1).amax(-1)")),
    Mistake("share-cls", "That is the weight on [CLS].", "Which columns belong to the token?",
            returns("attention[:, :, 0].mean(-1)")),
    Mistake("share-others", "That is the weight on everything but [SEP].", "Which columns belong to the token?",
            returns("1 - attention[:, :, at].sum(-1).mean(-1)")),
    Mistake("share-heads", "The average runs over the heads: one number per query came back.", "One number per head.",
            returns("attention[:, :, at].sum(-1).mean(0)")),
    Mistake("", "the first [SEP] and the last token", "",
            returns("(attention[:, :, at[0]] + attention[:, :, -1]).mean(-1)")),
]  # fmt: skip

RIGHT = {
    "truth values": variant(HEAD, """
        at = torch.tensor([t == '[SEP]' for t in tokens])
        return attention[..., at].sum(-1).mean(-1)
    """),
    "einsum": variant(HEAD, """
        at = torch.tensor([float(t == '[SEP]') for t in tokens])
        return torch.einsum('hqk,k->hq', attention, at).mean(1)
    """),
    "averaged first": variant(HEAD, """
        return sum(attention.mean(1)[:, i] for i, t in enumerate(tokens) if t == '[SEP]')
    """),
    "loops": variant(HEAD, """
        at = [i for i, t in enumerate(tokens) if t == '[SEP]']
        sums = [sum(float(row[i]) for row in head for i in at) for head in attention]
        return torch.tensor(sums) / attention.shape[1]
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    accepted={"separator_share-a333d6e2": "No sentence of BERT begins with [SEP]: the first need not be looked at."},
    shows=("every [SEP] counts", "averaged over the queries"),
)  # fmt: skip
