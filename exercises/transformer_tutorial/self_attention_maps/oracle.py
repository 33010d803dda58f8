"""The four maps that ``SelfAttention.__init__`` makes: their sizes, their biases, and that they are four."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, named

Array = np.ndarray
#: The three maps from a word vector to the vectors of all heads.
MAPS = ("to_keys", "to_queries", "to_values")


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for k, heads in ((5, 3), (6, 4)):
        expected = {name: np.array([k * heads, k]) for name in MAPS}
        expected |= {
            "unify_heads": np.array([k, k * heads]),
            "biases": np.array([False] * 3),
            "distinct": np.array(3),
            "registered": np.array(4),
        }
        cases.append(Case({"k": k, "heads": heads}, expected=expected))
    return cases


def _three(rows: int, columns: int) -> dict[str, Array]:
    return {name: np.array([rows, columns]) for name in MAPS}


MISTAKES = [
    Mistake("MAP-one", "A map gives one vector of size k; it must give one for every head.",
            "All heads share one map: k numbers go in, the vectors of all heads come out, end to end.",
            lambda case: _three(case.config["k"], case.config["k"])),
    Mistake("MAP-turned", "Input and output size have changed places.",
            "nn.Linear takes what goes in first. Its weight has shape (out, in).",
            lambda case: _three(case.config["k"], case.config["k"] * case.config["heads"])),
    Mistake("MAP-wide", "Input and output both have the size of all heads together.",
            "What goes in is one word vector, k numbers.",
            lambda case: _three(case.config["k"] * case.config["heads"], case.config["k"] * case.config["heads"])),
    Mistake("MAP-heads", "A map gives one number per head.", "Each head gets a whole vector of size k.",
            lambda case: _three(case.config["heads"], case.config["k"])),
    Mistake("MAP-eight", "The number of heads is fixed at 8.", "It is an argument of __init__.",
            lambda case: _three(case.config["k"] * 8, case.config["k"])),
    Mistake("MAP-bias", "The maps have a bias; the assignment asks for none.",
            "nn.Linear has one unless told otherwise.", lambda case: {"biases": np.array([True] * 3)}),
    Mistake("MAP-shared", "Keys, queries and values share one map.", "Three layers, three objects.",
            lambda case: {"distinct": np.array(1)}),
    Mistake("MAP-two", "Two of the three maps are one and the same layer.", "Three layers, three objects.",
            lambda case: {"distinct": np.array(2)}),
    Mistake("MAP-unify", "unify_heads does not lead from all heads back to one vector of size k.",
            "What goes in are the vectors of all heads end to end; what comes out has the size of a word vector.",
            lambda case: {"unify_heads": np.array([case.config["k"] * case.config["heads"], case.config["k"]])}),
    Mistake("MAP-unify-bias", "unify_heads has no bias; the assignment asks for one.",
            "nn.Linear has one unless told otherwise."),
]  # fmt: skip
#: What a map takes and gives, in words.
ENDS = dict.fromkeys(MAPS, "one word vector (k numbers) and give the vectors of all heads, end to end")
ENDS["unify_heads"] = "the vectors of all heads, end to end, and give one word vector (k numbers)"


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Where no mistake explains them, the sizes of each map in words."""
    judgement = compare_case(exercise, case, answers)
    bias = answers.arrays.get("unify_bias")
    if judgement.earned == 1 and bias is not None and not bias.all():
        return named(exercise, "MAP-unify-bias")
    if judgement.earned == 1 or any(check.mistake for check in judgement.checks):
        return judgement
    return Judgement([_in_words(check, answers.arrays.get(check.name)) for check in judgement.checks])


def _in_words(check: Check, got: Array | None) -> Check:
    if check.passed or got is None:
        return check
    if check.name in ENDS and got.shape == (2,):
        message = f"{check.name} takes {got[1]} numbers and gives {got[0]}. It must take {ENDS[check.name]}."
        return Check(check.name, False, message, "nn.Linear takes what goes in first; heads and k are its arguments.")
    if check.name == "biases" and got.shape == (3,):
        names = ", ".join(name for name, bias in zip(MAPS, got, strict=True) if bias)
        return Check(check.name, False, f"{names}: a bias that the assignment does not ask for.")
    if check.name == "registered":
        return Check(check.name, False, "Not all of the four maps belong to the module.", "self.name = nn.Linear(…)")
    return check


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")
