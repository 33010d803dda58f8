"""What ``__init__`` makes, as the answer ``made`` tells.

Loading the stored weights puts a missing layer, or one of a wrong size, right: so these are judged on their own.
"""

from __future__ import annotations

from collections.abc import Collection

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, Rule, named

LAYER_MISTAKES = [
    Mistake(
        "L-missing",
        "__init__ makes no layer self.{layer}.",
        "Names count: the trained weights find their layers by them.",
    ),
    Mistake(
        "L-bias",
        "self.{layer} has no bias.",
        "A layer of torch has one unless told otherwise, and the trained weights bring one.",
    ),
    Mistake(
        "L-weight",
        "self.{layer} has no weight.",
        "A LayerNorm scales and shifts unless told otherwise; the trained weights bring a weight and a bias.",
    ),
    Mistake(
        "L-size",
        "self.{layer} has other sizes than the config says.",
        "Every size comes from the config; which of the two comes first?",
    ),
    Mistake(
        "L-alone",
        "With ready-made layers the class works; with those that its own __init__ makes it stops.",
        "Did a line of __init__ get lost, self.config = config, say?",
    ),
]


def with_layers(rule: Rule, others: Collection[str] = ()) -> Rule:
    """``rule``, for an answer whose layers are as they should be.

    others: layers that another exercise judges
    The answer ``runs`` tells whether the class works without stored weights.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        if wrong := _wrong_layer(exercise, case, _lines(answers, "made"), others):
            return wrong
        judgement = rule(exercise, case, answers)
        runs = answers.arrays.get("runs", answers.arrays.get("ready_runs"))
        if judgement.earned == 1 and runs is not None and not runs.any():
            return named(exercise, "L-alone")
        return judgement

    return judge


def _lines(answers: Answers, name: str) -> list[str] | None:
    """A list of texts that was handed over, by the code itself or with ready-made steps; None where there is none."""
    for prefix in ("", "ready_"):
        found = answers.text(prefix + name)
        if isinstance(found, list) and all(isinstance(line, str) for line in found):
            return found
    return None


def _wrong_layer(exercise: Exercise, case: Case, made: list[str] | None, others: Collection[str]) -> Judgement | None:
    if made is None:
        return None
    found = {name: sizes for name, _, sizes in (line.partition(" ") for line in made)}
    for name, weight in sorted(case.weights.items(), key=lambda pair: not pair[0].endswith("weight")):
        layer, _, part = name.rpartition(".")
        if layer in others:
            continue
        if name not in found:
            return named(exercise, f"L-{part}" if layer in found else "L-missing", layer=layer)
        if found[name] != " ".join(map(str, weight.shape)):
            return named(exercise, "L-size", layer=layer)
    return None
