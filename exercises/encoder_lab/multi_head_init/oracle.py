"""``MultiHeadAttention.__init__``: the list of heads and their sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, named

from .._arrays import Wrong
from .._naming import SIZES, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for heads, size in ((3, 4), (4, 5)):
        d_model = heads * size
        expected = {
            "length": np.array(heads),
            "distinct": np.array(heads),
            "registered": np.array(heads),
            "head_arguments": np.array([[d_model, size, size, size]] * heads),
            "output_linear": np.array([d_model, d_model]),
            "refuses_uneven": np.array(True),
        }
        cases.append(Case({"d_model": d_model, "num_attention_heads": heads}, expected=expected))
    return cases


def _heads(case: Case) -> int:
    return int(case.config["num_attention_heads"])


def _sizes(change: Callable[[Array, int], Array]) -> Wrong:
    return lambda case: {"head_arguments": change(case.expected["head_arguments"], _heads(case))}


def judge_init(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule, but sizes that are no whole numbers have a name."""
    given = answers.arrays.get("head_arguments")
    if given is not None and given.dtype.kind == "f":
        return named(exercise, "heads-float")
    return compare_case(exercise, case, answers)


MISTAKES = [
    Mistake(
        "M14-list",
        "The heads are in a plain Python list: their parameters are invisible to the model.",
        "nn.ModuleList is a list that registers what it holds.",
        lambda case: {"length": np.array(_heads(case)), "registered": np.array(0)},
    ),
    Mistake(
        "M14-same",
        "The list holds one and the same head several times.",
        "Make a new AttentionHead for each of them.",
        lambda case: {"length": np.array(_heads(case)), "distinct": np.array(1)},
    ),
    Mistake(
        "M14-one", "There is one head only.", "num_attention_heads says how many.", lambda case: {"length": np.array(1)}
    ),
    Mistake(
        "M14-off",
        "One head is missing.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_heads(case) - 1)},
    ),
    Mistake(
        "M14-size",
        "There are as many heads as a head has numbers.",
        "num_attention_heads says how many.",
        lambda case: {"length": case.expected["head_arguments"][0, 1]},
    ),
    Mistake(
        "heads-whole",
        "Every head works on d_model numbers.",
        "The heads share d_model among them.",
        _sizes(lambda rows, heads: np.repeat(rows[:, :1], 4, axis=1)),
    ),
    Mistake(
        "heads-narrow",
        "Every head is made with its own size as d_model: it cannot read a whole vector.",
        "d_model is the length of the vector that goes in; it stays whole.",
        _sizes(lambda rows, heads: np.repeat(rows[:, 1:2], 4, axis=1)),
    ),
    Mistake(
        "heads-count",
        "A head's size is the number of heads.",
        "d_model, shared by the heads.",
        _sizes(lambda rows, heads: np.array([[row[0], heads, heads, heads] for row in rows])),
    ),
    Mistake(
        "heads-uneven",
        "A vector that cannot be cut into equal parts is accepted, and an output comes.",
        "10 numbers for 3 heads: say in an error what does not fit.",
        lambda case: {**case.expected, "refuses_uneven": np.array(False)},
    ),
    Mistake("heads-float", "A head's size is a number with a decimal point.", "Whole numbers are divided by //."),
    SIZES,
]


_judge = with_names(judge_init, head_arguments="A head", output_linear="output_linear")
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")
