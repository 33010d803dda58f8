"""The padding mask: from scores and mask to weights, of which a padded key gets none.

The right answers know no mask: the real keys are taken out, the softmax is applied to them alone, and zeros are put
where the others were. That is what a sentence gets without padding.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from .._attention import Array, softmax
from ._rules import mask_rule


def cases(generator: np.random.Generator) -> list[Case]:
    """Sentences padded at the end and in front, one without padding, and padding with by far the largest scores."""
    behind = _case(2 * generator.normal(size=(3, 2, 5, 5)), [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
    in_front = _case(generator.normal(size=(2, 3, 4, 4)), [[0, 1, 1, 1], [1, 1, 1, 0]])
    alone = _case(2 * generator.normal(size=(1, 2, 3, 3)), [[1, 1, 1]])
    mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]])
    # far below 0 where the key is real: neither a score of -100 nor one lowered by 100 is low enough beside these
    offset = np.where(mask, -30.0, 10.0)[:, None, None]
    return [behind, in_front, alone, _case(offset + generator.normal(size=(2, 4, 6, 6)), mask)]


def _case(scores: Array, mask: object) -> Case:
    scores, mask = scores.astype(np.float32), np.array(mask)
    weights = np.zeros(scores.shape)
    for sentence, real in enumerate(mask.astype(bool)):
        weights[sentence][..., real] = softmax(scores[sentence][..., real].astype(np.float64))
    return Case({}, {"scores": scores, "attention_mask": mask}, expected={"weights": weights})


# Lines of the solution that mistakes change.
MASK = "padded = attention_mask[:, None, None, :] == 0"
LINE = "scores = scores.masked_fill(padded, torch.finfo(scores.dtype).min)"
RESULT = "return scores.softmax(dim=-1)"
#: The scores that padded keys get.
INFINITE = (", torch.finfo(scores.dtype).min)", ", -math.inf)")
INVERTED = (MASK, MASK.replace("== 0", "== 1"))
QUERIES = (MASK, MASK.replace("[:, None, None, :]", "[:, None, :, None]"))
BOTH = (MASK, f"{MASK}\n    padded = padded | padded.transpose(2, 3)")


def ways(mistake: Mistake, *lines: str) -> list[Mistake]:
    """The mistake, as each of these lines makes it in place of the one that masks the scores."""
    return [mistake.by((LINE, line)) for line in lines]


def unmasked(result: str) -> list[tuple[str, str]]:
    return [(LINE, "pass"), (RESULT, f"return {result}")]


NONE = Mistake("M19-none", "These are scores, not weights: no softmax was applied.",
               "The function returns what the softmax makes of the masked scores.")  # fmt: skip
IGNORED = Mistake("M19-ignored", "Padded keys get as much weight as without a mask.",
                  "masked_fill without an underscore gives a new tensor; is the softmax applied to that one?",
                  )  # fmt: skip
TURNED = Mistake("M19-inverted", "The mask is the wrong way round: only padding gets weight.",
                 "1 marks a real token, 0 padding.")  # fmt: skip
OF_QUERIES = Mistake(
    "M19-queries", "The queries are masked in place of the keys: real tokens still look at padding.",
    "In (batch, heads, queries, keys) the keys are the last axis. On which axis does your mask have its tokens?",
)  # fmt: skip
OF_BOTH = Mistake("M19-both", "The rows of padded queries are masked as well: nothing is left for their softmax.",
                  "Only keys are masked. What padded queries collect is used by nobody.")  # fmt: skip
AFTER = Mistake("M19-after", "The weights were masked after the softmax: a row no longer sums to 1.",
                "Mask the scores, before the softmax: the softmax then shares the whole weight among the real keys.",
                )  # fmt: skip
ZERO = Mistake("M19-zero", "The scores of padded keys are 0, and e to the power of 0 is 1: they still get weight.",
               "Which score becomes the weight 0?")  # fmt: skip
ADDED = Mistake("M19-added", "The mask itself was added to the scores: padded keys are only 1 lower than before.",
                "Their scores have to be so low that the softmax makes 0 of them.")  # fmt: skip
LOW = Mistake("M19-low", "Padded keys still get a little weight: their scores are not low enough.", "Scores can be "
              "large themselves. Minus infinity, or the lowest number of the type, is low enough for all.")  # fmt: skip

MISTAKES = [
    *ways(IGNORED, "pass", "scores.masked_fill(padded, -math.inf)"),
    Mistake("M19-one", "Every sentence has the mask of the first one.", "Row i of the mask is for sentence i.",
            (MASK, "padded = attention_mask[:1, None, None, :] == 0")),
    Mistake("M19-digits", "The weights have too few digits.", "float16 has three: keep the type of the scores.",
            (RESULT, RESULT.replace(".softmax(dim=-1)", ".half().softmax(dim=-1).float()"))),
    TURNED.by(INVERTED),
    TURNED.by(INVERTED, INFINITE),
    OF_QUERIES.by(QUERIES),
    OF_QUERIES.by(QUERIES, INFINITE),
    OF_BOTH.by(BOTH),
    OF_BOTH.by(BOTH, INFINITE),
    AFTER.by(*unmasked("scores.softmax(dim=-1) * ~padded")),
    AFTER.by(*unmasked("scores.softmax(-1) * ~padded / (~padded).float().mean(-1)[..., None]")),
    *ways(ZERO, "scores = scores.masked_fill(padded, 0)", "scores = scores * ~padded"),
    *ways(ADDED, "scores = scores + attention_mask[:, None, None, :]", "scores = scores - padded.float()"),
    *ways(LOW, *(f"scores = scores.masked_fill(padded, {low})" for low in (-1, -10.0, -100.0, "scores.min().item()"))),
    *ways(LOW, *(f"scores = scores - {less} * padded" for less in (10, 100))),
    Mistake("M19-nan", "Some weights are nan.", "0 times minus infinity is nan: choose the padded scores, with "
            "masked_fill or where, and multiply nothing.").by((LINE, "scores = scores + padded * -math.inf")),
    Mistake("M19-axis", "The softmax runs over the queries: the columns sum to 1, not the rows.",
            "Each query's weights sum to 1 over the keys, the last axis.").by((RESULT, RESULT.replace("-1", "-2"))),
    NONE.by((RESULT, "return scores")),
    NONE.by((RESULT, "return scores"), INFINITE),
    Mistake("", "the mask on the axis of the heads", "", (MASK, MASK.replace("None, None, :", ":, None, None"))),
    Mistake("", "the mask without new axes", "", (MASK, "padded = attention_mask == 0")),
    Mistake("", "minus infinity after the softmax", "",
            *unmasked("scores.softmax(dim=-1).masked_fill(padded, -math.inf)")),
    Mistake("", "softmax over the heads", "", (RESULT, RESULT.replace("-1", "1"))),
    Mistake("", "the logarithm of the weights", "", (RESULT, RESULT.replace("softmax", "log_softmax"))),
    Mistake("M19-end", "Padding is looked for at the end alone. Here it also stands in front, or in between.",
            "The mask says for each token whether it is padding.",
            (MASK, "tokens = scores.shape[-1]\n    lengths = attention_mask.sum(-1)\n"
                   "    padded = (torch.arange(tokens) >= lengths[:, None])[:, None, None]")),
    Mistake("M19-twice", "A softmax was applied twice.", "The first gives weights already.",
            (RESULT, f"{RESULT}.softmax(dim=-1)")),
]  # fmt: skip

HEAD = "def masked_weights(scores, attention_mask):"
RIGHT = {
    "minus infinity, by masked_fill": variant(HEAD, """
        padded = attention_mask.view(len(scores), 1, 1, -1) == 0
        return nn.functional.softmax(scores.masked_fill(padded, float("-inf")), dim=3)
    """),
    "a large number added": variant(HEAD, """
        lowered = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        return torch.softmax(scores + lowered, dim=-1)
    """),
    "the logarithm of the mask": variant(HEAD, "return (scores + attention_mask[:, None, None].log()).softmax(-1)"),
    "where": variant(HEAD, """
        real = attention_mask.bool().unsqueeze(1).unsqueeze(2)
        return torch.where(real, scores, torch.finfo(scores.dtype).min).softmax(dim=-1)
    """),
    "in place, expanded": variant(HEAD, """
        real = attention_mask[:, None, None, :].expand_as(scores)
        scores[real == 0] = -math.inf
        return scores.softmax(-1)
    """),
    "exponentials of the real keys alone, divided by their sum": variant(HEAD, """
        real = attention_mask[:, None, None, :]
        exponentials = (scores - scores.masked_fill(real == 0, -math.inf).amax(-1, keepdim=True)).exp()
        exponentials = torch.where(real == 1, exponentials, 0.0)
        return exponentials / exponentials.sum(-1, keepdim=True)
    """),
    "weights of padding taken out after the softmax, and the rest divided by its sum": variant(HEAD, """
        weights = scores.softmax(-1) * attention_mask[:, None, None, :]
        return weights / weights.sum(-1, keepdim=True)
    """),
    "sentence by sentence": variant(HEAD, """
        rows = []
        for sentence, mask in zip(scores, attention_mask):
            weights = torch.zeros_like(sentence)
            weights[:, :, mask == 1] = sentence[:, :, mask == 1].softmax(-1)
            rows.append(weights)
        return torch.stack(rows)
    """),
    "torch's own attention, with the identity as values": variant(HEAD, """
        eye = torch.eye(scores.shape[-1]).expand_as(scores)
        bias = torch.zeros_like(scores).masked_fill(attention_mask[:, None, None] < 1, -math.inf) + scores
        zeros = torch.zeros_like(scores)
        return nn.functional.scaled_dot_product_attention(zeros, zeros, eye, attn_mask=bias)
    """),
    "float64 inside, then back": variant(HEAD, """
        low = torch.finfo(torch.float64).min
        doubled = scores.double().masked_fill(~attention_mask[:, None, None].to(torch.bool), low)
        return doubled.softmax(-1).to(scores.dtype)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, mask_rule, MISTAKES, right=RIGHT, framework="torch",
    accepted={
        "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
        "padding_mask-c5b292cf": "masked_fill_ changes the scores that it was given; in a block nobody uses them any "
        "more.",
    },
    shows=("padded keys get no weight", "rows sum to 1", "a sentence gets what it gets without padding"),
    axes={"weights": "batch, heads, queries, keys"},
)  # fmt: skip
