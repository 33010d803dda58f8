"""Rules of this assignment's exercises, and the mistakes that they name."""

from collections.abc import Mapping

import numpy as np

from .._rules import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    MistakenAnswers,
    Rule,
    compare_case,
    named,
    pure,
    with_properties,
    without_side_effects,
    wrong,
)

LEFT_HOOK = Mistake(
    "LEFT-hook", "A hook is left on the model: whoever uses it afterwards gets other logits.",
    "register_forward_hook gives a handle, and the handle has remove().", share=0.5,
)  # fmt: skip
LEFT_WEIGHTS = Mistake(
    "LEFT-weights", "The model's weights are other ones afterwards.", "Put them back, or use a hook.", share=0.5
)
MADE_MISSING = Mistake(
    "MADE-missing", "__init__ makes no self.{layer}.", "Names count: the weights find their layers by them."
)
MADE_SIZE = Mistake(
    "MADE-size", "self.{layer} has other sizes than it should.", "Which sizes come in, which go out?", share=0.5
)
MADE_EXTRA = Mistake(
    "MADE-extra", "There is a weight or bias that Llama does not have: {layer}.",
    "Its linear layers have no bias: bias=False.", share=0.5,
)  # fmt: skip
TWICE = Mistake(
    "GEN-twice", "choose is not asked once for each new word: each call draws anew.",
    "Ask once, and keep what it gives.",
)  # fmt: skip
KEYS = Mistake(
    "K2-keys", "The logits are right, but the caches do not hold the keys of all tokens.",
    "What each block gives back, block by block.",
)  # fmt: skip
PLAIN = Mistake("RMS-plain", "There is no parameter self.weight: training and the stored weights find none.",
                "nn.Parameter(…), under this name.",
                share=0.5)  # fmt: skip

growing = with_properties(compare_case, {
    "times": ("With twice the {twice}, the cache becomes twice as large. Yours becomes {yours} times as large.",
              "Each size is one factor: is one missing, or there twice?"),
})  # fmt: skip
spelling = with_properties(compare_case, {
    "letters": ("A word loses letters, or gets more of them: its symbols together should be the word.",
                "Each symbol of the word is used once, by itself or in a pair."),
})  # fmt: skip
turning = with_properties(pure, {
    "lengths": ("A turn keeps lengths. In yours, pairs become longer or shorter.",
                "Of a pair (a, b): (a cos - b sin, b cos + a sin)."),
})  # fmt: skip


def leaving_nothing(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """An answer is right only if it leaves the model as it was: no hooks, the same weights."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned == 1:
        for id, name in (("LEFT-hook", "hooks"), ("LEFT-weights", "changed")):
            found = answers.arrays.get(name)
            if found is None or found.any():
                return named(exercise, id)
    return judgement


def with_parts(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The class makes the weights of the case, and no others: stored weights would put a wrong layer right.

    The answer ``made`` has a line for each parameter, its name and sizes; ``runs`` tells whether the class works
    as it is made.
    """
    judgement = pure(exercise, case, answers)
    lines = answers.text("made")
    if judgement.earned < 1 or lines is None:  # the hidden cell always hands it over
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


def _without(*names: str) -> Rule:
    """The default rule, for the other answers alone."""

    def others(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: array for name, array in arrays.items() if name not in names}

    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        expected, known = others(case.expected), MistakenAnswers(case.mistakes, others)
        return compare_case(exercise, Case(case.config, case.inputs, case.weights, {}, expected, known), answers)

    return rule


def _norm(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The output first; then whether the weight is a parameter, and how it starts."""
    judgement = _without("start")(exercise, case, answers)
    if "start" not in answers.arrays:  # a weight of another name looks as if there were none
        return Judgement([PLAIN.check()], judgement.earned * PLAIN.share)
    return judgement if judgement.earned < 1 else compare_case(exercise, case, answers)


def _asked_once(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The right ids; and choose was asked once for each new word."""
    judgement = compare_case(exercise, case, answers)
    asked = answers.arrays.get("asked")
    new = len(case.expected["ids"]) - len(case.inputs["prompt"])
    return named(exercise, "GEN-twice") if judgement.earned == 1 and asked is not None and asked != new else judgement


def _with_caches(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The logits first; then what is in the caches."""
    judgement = _without("keys")(exercise, case, answers)
    if judgement.earned < 1 or compare_case(exercise, case, answers).earned == 1:
        return judgement
    return named(exercise, "K2-keys")


norm, asked_once, with_caches = map(without_side_effects, (_norm, _asked_once, _with_caches))
