"""The rule of the exercise on the trained model's logits: no visible check judges by it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_value, named, right, wrong

#: In place of a checkpoint's name: the small model, whose weights are stored with the case.
SMALL = "small"
#: Exercise -> the part of the model that it is about, which the hidden cell can replace by a ready-made one.
PARTS = {
    **dict.fromkeys(("position_ids", "embeddings"), "earlier"),
    **dict.fromkeys(("attention_init", "attention_scores", "attention_weights"), "earlier"),
    **dict.fromkeys(("attention_context", "attention_block"), "earlier"),
    "encoder_list": "list",
    "encoder_loop": "loop",
    "classifier": "classifier",
}
WORDS = {"earlier": "embeddings and blocks", "list": "encoder list", "loop": "encoder loop", "classifier": "classifier"}


def pretrained_logits(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Embeddings, blocks and model are the student's own, put together without stand-ins. Where parts lost their
    points, a small model decides: it must be right with these parts ready-made. So a mistake costs its own points once.
    Where the model stops as it stands, one of these parts must be the reason: what has more gaps is unfinished.
    """
    checkpoint = case.config["checkpoint"]
    if checkpoint == "distilbert" and "absent" in answers.arrays:
        return right("pretrained_logits")  # nothing may depend on weights that need a download
    charged = {part for name, part in PARTS.items() if answers.charged(f"distilbert/{name}")}
    # own logits are no evidence for a classifier that lost its points: a ready-made model gives the same
    if "classifier" not in charged and _close(answers.arrays.get("logits"), case.expected["logits"]):
        return right("pretrained_logits")
    if not charged:
        return _wrong_logits(exercise, case, answers)
    if checkpoint != SMALL:
        return right("pretrained_logits")  # the small model decides
    if not any(name in answers.arrays for name in ("logits", *(f"logits_{part}" for part in charged))):
        parts = " and ".join(WORDS[part] for part in _in_order(charged))
        message = f"Put together, your model stops. It gives no logits before its {parts} run."
        return wrong("pretrained_logits", message, "Fix these parts first: this one has no code of its own.")
    if "earlier" in charged:  # the list is made of ready-made blocks then
        charged.discard("list")
    # what stands between loop and classifier was charged with the classifier, which works on it
    for replaced in [charged, charged | {"loop"}] if "classifier" in charged else [charged]:
        if _close(answers.arrays.get("_".join(("logits", *_in_order(replaced)))), case.expected["logits"]):
            words = ", ".join(WORDS[part] for part in _in_order(charged))
            return right(f"pretrained_logits, with ready-made parts in place of yours: {words}")
    return _wrong_logits(exercise, case, answers)


def _in_order(parts: set[str]) -> list[str]:
    return [part for part in WORDS if part in parts]


def _close(given: np.ndarray | None, wanted: np.ndarray) -> bool:
    if given is None or given.shape != wanted.shape or given.dtype.kind != "f":
        return False
    return bool(np.isfinite(given).all()) and float(np.abs(given - wanted).max()) <= 2e-4


def _wrong_logits(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given, problem = answers.arrays.get("logits"), answers.text("problem")
    if given is None and isinstance(problem, str):
        return named(exercise, "M18-crash", problem=problem)
    shape = compare_value("logits", given, case.expected["logits"], exercise)
    if given is None or given.shape != case.expected["logits"].shape:
        return wrong("pretrained_logits", shape.message, shape.hint)
    return named(exercise, "M18-batch" if len(given) > 1 and case.config["checkpoint"] != SMALL else "M18")
