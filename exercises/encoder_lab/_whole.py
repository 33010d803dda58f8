"""The rules of the whole model and of the heads that attend to [SEP]: no visible check judges by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_case, compare_value, named, right, wrong

from ._arrays import Array

#: Exercise -> the part of the whole model that has a stand-in where the exercise lost points.
PARTS = {
    **dict.fromkeys(("head_attention", "attention_head", "multi_head_init", "multi_head_attention"), "attention"),
    "feed_forward": "feed_forward",
    "embeddings": "embeddings",
    "encoder_layer": "layer",
    "encoder": "encoder",
    "classification_head": "head",
    "classifier": "classifier",
}
STAND_INS = ("attention", "feed_forward", "embeddings", "layer", "encoder")
#: Mistake of the last class -> what goes to the head; and what is made of the head's logits.
POOLED: dict[str, Callable[[Array], Array]] = {
    "M15-mean": lambda x: x.mean(1),
    "M15-last": lambda x: x[:, -1],
    "M15-second": lambda x: x[:, 1],
    "M15-sum": lambda x: x.sum(1),
    "M15-max": lambda x: x.max(1),
    "M15-sentence": lambda x: x[0],
    "M15-all": lambda x: x,
    "M15-early": lambda x: np.maximum(x[:, 0], 0),
}
FINISHED: dict[str, Callable[[Array], Array]] = {
    "M15-softmax": lambda x: np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True)),
    "M15-relu": lambda x: np.maximum(x, 0),
}


def whole_model(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Where a class lost its points by a named mistake, a stand-in takes its place, so that it costs nothing twice; a
    mistake in the last class is computed along. With a class that is unfinished, or wrong in a way that nobody knows,
    there is no whole to judge.
    """
    charged = [name for name in PARTS if answers.charged(f"encoder_lab/{name}")]
    own = answers.arrays.get("own/logits")
    if "classifier" not in charged and compare_value("logits", own, case.expected["own/logits"], exercise).passed:
        return right("whole_model")
    if not charged:
        return _not_whole(exercise, case, answers)
    ids = {name: _named_mistakes(answers, name) for name in charged}
    if nameless := [name for name in charged if not ids[name]]:
        message = f"Put together, your classes cannot be right before these parts are: {', '.join(nameless)}."
        return wrong("whole_model", message, "Fix them first: this part has no code of its own.")
    if not case.config["stand_ins"]:
        return right("whole_model")  # the case with stand-ins decides
    part = _cover({PARTS[name] for name in charged} & set(STAND_INS))
    head = "classification_head" in charged
    given = answers.arrays.get(f"{part}{'_head' if head else ''}/logits")
    if part == "encoder" and head:
        message = "Too little of your model is right to be put together."
        return wrong("whole_model", message, exercise.mistake("whole").hint)
    for wanted in _logits(case, part, head, ids.get("classifier", frozenset())):
        if compare_value("logits", given, wanted, exercise).passed:
            return right(f"whole_model, with what is wrong above ({', '.join(charged)}) set aside")
    return _not_whole(exercise, case, answers)


def _named_mistakes(answers: Answers, name: str) -> frozenset[str]:
    checks = answers.earlier[f"encoder_lab/{name}"].checks
    return frozenset(check.mistake for check in checks if check.mistake and not check.passed)


def _cover(parts: set[str]) -> str:
    """The smallest part whose stand-in leaves none of these parts in the model."""
    if not parts:
        return "own"
    if len(parts) == 1:
        return parts.pop()
    return "layer" if parts <= {"attention", "feed_forward", "layer"} else "encoder"


def _logits(case: Case, part: str, head: bool, mistakes: frozenset[str]) -> Iterator[Array]:
    """With these stand-ins; and, where the last class lost its points, with the mistakes that were named there."""
    encoded = case.expected[f"encoded/{part}"]
    matrix, shift = case.weights["classifier.linear.weight"].T, case.weights["classifier.linear.bias"]
    if head:
        matrix, shift = case.inputs["head_matrix"], case.inputs["head_shift"]
    known = mistakes & (POOLED.keys() | FINISHED.keys())
    for mistake in known or [""]:  # none at all, or one that leaves the logits as they are: a cut from the graph, say
        pooled = POOLED.get(mistake, lambda x: x[:, 0])(encoded)
        yield FINISHED.get(mistake, lambda x: x)(pooled @ matrix.astype(np.float64) + shift)


def _not_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    own, problem = answers.arrays.get("own/logits"), answers.text("problem")
    if own is None and isinstance(problem, str):
        return named(exercise, "whole-crash", problem=problem)
    shape = compare_value("logits", own, case.expected["own/logits"], exercise)
    if own is None or own.shape != case.expected["own/logits"].shape:
        return wrong("whole_model", shape.message, shape.hint)
    return named(exercise, "whole")


def separator_heads(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; the heads with the largest of the student's own shares count where these lost points."""
    judgement = compare_case(exercise, case, answers)
    follows = answers.charged("encoder_lab/separator_share") and _largest_own(case, answers)
    return right("separator_heads") if follows else judgement


def _largest_own(case: Case, answers: Answers) -> bool:
    """Whether these are the heads with the largest of the student's own wrong shares, (layers, heads)."""
    heads, own = answers.arrays.get("heads"), answers.arrays.get("own_share")
    if heads is None or own is None or own.ndim != 2 or not own.size or len(own) != len(case.expected["heads"]):
        return False
    told_apart = bool(np.isfinite(own).all()) and float(np.ptp(own, axis=-1).min()) > 0
    return told_apart and np.array_equal(heads, own.argmax(-1))
