"""``softmax``: the definition earns one half of the points, large numbers the other."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, SampleAnswer, variant

from ._answers import by_head
from ._rules import CHANGED, half_for_large_numbers


def cases(generator: np.random.Generator) -> list[Case]:
    far = np.array([[900.0], [-900.0], [0.0], [0.0]])
    drawn = [_case(generator.normal(0, 1.5, shape)) for shape in ((3, 5), (6, 4))]
    far = far + generator.normal(0, 1.5, (4, 5))
    far[2, 1] -= 1600  # within one row: only its largest number may be subtracted
    far[3, 2] += 1800  # and not the mean, far below it; nor is one maximum enough for all rows above 0
    return [*drawn, _case(far), _case(generator.normal(0, 1.5, (1, 6)))]


def _case(scores: np.ndarray) -> Case:
    import torch  # needed only to draw cases: notebooks and judging run without it

    scores = scores.astype(np.float32).astype(np.float64)
    weights = torch.softmax(torch.from_numpy(scores), dim=-1).numpy()
    return Case({}, {"scores": scores}, expected={"weights": weights, "scores": scores})


# The lines of the solution that mistakes change.
LARGEST = "x.max(axis=-1, keepdims=True)"
RETURNED = "return exponentials / exponentials.sum(axis=-1, keepdims=True)"
UNDIVIDED = ("The rows do not sum to 1: the exponentials were not divided by their sum.",
             "Sum along the row, keep the axis, divide.")  # fmt: skip
WHICH = "Which number must be subtracted, for no exponent to be above 0?"

MISTAKES = [
    Mistake("M1", "The columns sum to 1; it is each row that must.",
            "A row belongs to one query: along which axis of (n, m) do its numbers stand?", ("axis=-1", "axis=0")),
    Mistake("M1-all", "All numbers together sum to 1; it is each row that must.",
            "Both the maximum and the sum need to be told which axis to run along.",
            ("max(axis=-1, keepdims=True)", "max()"), ("sum(axis=-1, keepdims=True)", "sum()")),
    Mistake("M1-none", "The scores came back as they are.", "e to the power of each, divided by the row's sum.",
            (RETURNED, "return x")),
    Mistake("M1-undivided", *UNDIVIDED, (RETURNED, "return exponentials")),
    Mistake("M1-undivided-large", *UNDIVIDED, (RETURNED, "return np.exp(x)")),
    Mistake("M1-shares", "Each number was divided by its row's sum, without the exponential.",
            "Without it, negative scores give negative weights.",
            (RETURNED, "return x / x.sum(axis=-1, keepdims=True)")),
    Mistake("M1-sigmoid", "This is the sigmoid: each number by itself, and no row sums to 1.",
            "In a softmax the numbers of a row compete: what one gets, the others lose.",
            (RETURNED, "return 1 / (1 + np.exp(-x))")),
    Mistake("M1-negative", "The smallest score got the largest weight.", "Look at the sign in the exponent.",
            ("np.exp(x - largest)", "np.exp(x.min(axis=-1, keepdims=True) - x)")),
    Mistake("M1-logarithm", "These are the logarithms of the weights.", "Leave the last logarithm out.",
            (RETURNED, "return x - largest - np.log(exponentials.sum(axis=-1, keepdims=True))")),
    Mistake("M1-power", "Powers of 2 were made; of e they should be.", "np.exp is e to the power of each number.",
            ("np.exp(", "np.exp2(")),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.",
            (RETURNED, f"x = np.exp({RETURNED.removeprefix('return ')})\n"
                       "    return x / x.sum(axis=-1, keepdims=True)")),
    Mistake("M1-column-shift", "From each number the largest of its column was subtracted, not the largest of its row.",
            "What is subtracted must be the same number for a whole row; else it does not cancel.",
            (LARGEST, "x.max(axis=0)")),
    Mistake("M1-overflow", "Large scores give nan: their exponential is more than a float can hold.",
            "Subtract something from each row first; it cancels in the division.", (LARGEST, "0"), share=0.5),
    Mistake("M1-min-shift", "A row with numbers far apart gives nan: its smallest number was subtracted.", WHICH,
            (LARGEST, LARGEST.replace("max", "min")), share=0.5),
    Mistake("M1-mean-shift", "A row with one number far above the others gives nan: its mean was subtracted.", WHICH,
            (LARGEST, LARGEST.replace("max", "mean")), share=0.5),
    Mistake("M1-size-shift",
            "A row with large negative numbers gives nan: its largest number without the sign was subtracted.",
            "The largest number of a row may be negative. Is abs needed?",
            (LARGEST, LARGEST.replace("x.", "np.abs(x).")), share=0.5),
    Mistake("M1-one-shift", "A row whose numbers are far below the rest comes out as nan.",
            "One maximum for the whole array is not enough: each row needs its own.", (LARGEST, "x.max()"), share=0.5),
    CHANGED.by((LARGEST, f"{LARGEST}\n    x -= largest"), ("np.exp(x - largest)", "np.exp(x)")),
    Mistake("", "axis not kept", "", (", keepdims=True", "")),
    Mistake("", "one row loses its axis", "", (RETURNED, f"{RETURNED.replace('return ', 'return (')}).squeeze()")),
]  # fmt: skip

HEAD = "def softmax(x):"


def for_one_table(body: str) -> SampleAnswer:
    """A softmax that is right for one table of scores, not for a stack: multi-head attention asks head by head."""
    return SampleAnswer(text=variant(HEAD, body), cells={"multihead_attention_answer": by_head()},
                        also_costs={"no_loops": 0})  # fmt: skip


RIGHT = {
    "the course's own": for_one_table("""
        max = np.max(x, axis=1, keepdims=True)
        e_x = np.exp(x - max)
        sum = np.sum(e_x, axis=1, keepdims=True)
        f_x = e_x / sum
        return f_x
    """),
    "row by row": for_one_table("""
        out = np.empty_like(x)
        for i in range(len(x)):
            e = np.exp(x[i] - x[i].max())
            out[i] = e / e.sum()
        return out
    """),
    "transposed twice": for_one_table("""
        e = np.exp(x.T - x.max(axis=1))
        return (e / e.sum(axis=0)).T
    """),
    # right for one table, as asked; what calls it with a stack of them pays for that itself
    "axis 1, while the heads are a stack": SampleAnswer(
        changes=(("axis=-1", "axis=1"),), also_costs={"multihead_attention": 3, "no_loops": 0}
    ),
    "a list": [(RETURNED, f"{RETURNED.replace('return ', 'return (')}).tolist()")],
    "logaddexp": for_one_table("return np.exp(x - np.logaddexp.reduce(x, axis=1, keepdims=True))"),
    "longdouble": [("np.exp(x", "np.exp(x.astype(np.longdouble)")],
    "float32 inside": variant(HEAD, """
        z = (x - x.max(axis=-1)[..., None]).astype(np.float32)
        return np.exp(z) / np.exp(z).sum(axis=-1)[..., None]
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, half_for_large_numbers, MISTAKES, right=RIGHT,
    shows=("each row sums to 1", "large numbers too", "the argument is left alone"),
    axes={"weights": "n, m"},
)  # fmt: skip
