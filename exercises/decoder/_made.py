"""What a class of notebook 4 makes in ``__init__``: stored weights would put a wrong layer right."""

from __future__ import annotations

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, Rule, named, wrong

MADE_MISTAKES = (
    Mistake("MADE-missing", "__init__ makes no self.{layer}.", "Names count: the weights find their layers by them."),
    Mistake("MADE-size", "self.{layer} has other sizes than it should.", "Which sizes come in, which go out?",
            share=0.5),
    Mistake("MADE-extra", "There is a weight or bias that Llama does not have: {layer}.",
            "Its linear layers have no bias: bias=False.", share=0.5),
)  # fmt: skip


def with_parts(rule: Rule) -> Rule:
    """``rule``, for an answer whose class makes the weights of the case, and no others.

    The answer ``made`` has a line for each parameter, its name and sizes; ``runs`` tells whether the class works
    as it is made.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        if judgement.earned < 1:
            return judgement
        lines = answers.text("made")
        if lines is None:  # the hidden cell always hands it over
            return judgement
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            return named(exercise, "MADE-missing", layer="weight")
        found = {name: sizes for name, _, sizes in (line.partition(" ") for line in lines)}
        for name, weight in case.weights.items():
            if name not in found:
                return named(exercise, "MADE-missing", layer=name.removesuffix(".weight"))
            if found[name] != " ".join(map(str, weight.shape)):
                return named(exercise, "MADE-size", layer=name.removesuffix(".weight"))
        if extra := sorted(found.keys() - case.weights.keys()):
            return named(exercise, "MADE-extra", layer=extra[0])
        runs = answers.arrays.get("runs")
        if runs is None or not runs.all():
            message = "With ready-made weights the class works; as its own __init__ makes it, it stops."
            return wrong("runs", message, "Print the shapes of the layers that __init__ makes.")
        return judgement

    return judge
