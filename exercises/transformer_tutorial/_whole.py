"""The rule of the exercise on the whole classifier: no visible check judges by it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, compare_value, named, right, wrong

from .._attention import Array

#: Exercise of an earlier notebook -> the part that is ready-made where the exercise lost points.
EARLIER = {
    **dict.fromkeys(
        (
            "attention_scores",
            "attention_output",
            "attention_dropout",
            "attention_heads",
            "attention_mask",
            "self_attention_maps",
            "self_attention_forward",
            "block_attention",
            "block_feed_forward",
        ),
        "blocks",
    ),
    **dict.fromkeys(("positional_values", "positional_forward"), "positions"),
    "mean_pooling": "pooling",
}
CLASSIFIER = ("classifier_parts", "classifier_forward", "classifier_padding")
#: What may be ready-made, in the order of the answers' names (``PARTS`` in ``_whole.py``).
PARTS = ("layers", "positions", "blocks", "pooling")
#: The axes of what a case stores of a classifier with mistakes: one of ``classifier_forward`` or none; how the average
#: counts padding; what the blocks are told: the mask, or some of them nothing; last, all of them the opposite.
FORWARD_MISTAKES = (
    "", "M15-logits", "M15-softmax", "M15-axis", "M15-negative", "M15-all", "M15-first", "M15-last", "M15-sum",
    "EMB-scale", "EMB-scale-k", "EMB-divided", "M11-none", "M11-before", "M14-none", "M14-first", "M14-last",
    "M14-reversed",
)  # fmt: skip
POOLS = ("as asked for", "all", "length", "padding")

Lost = Mapping[str, frozenset[str]]


def classifier_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The classifier made of the student's own parts, without stand-ins.

    In place of a part of an earlier notebook that lost its points, or does not pass its check, the classifier has a
    ready-made one with weights of its own, so that the part costs nothing twice. A named mistake in the classifier
    itself is computed along. Where the classifier is wrong in a way that nobody knows, there is no whole to judge.
    """
    handed_over = answers.text("ready")
    ready = frozenset(handed_over if isinstance(handed_over, list) else ())
    own, lost = answers.arrays.get("log_probabilities"), _lost(answers)
    wanted = next(_known(case, ready, {})) if ready else case.expected["log_probabilities"]
    if compare_value("log_probabilities", own, wanted, exercise).passed:
        return right("classifier_whole")
    # what padding lost may follow from a mistake in forward that has a name
    if nameless := [name for name in CLASSIFIER[:2] if name in lost and not lost[name]]:
        message = f"Put together, the classifier cannot be right before these parts are: {', '.join(nameless)}."
        return wrong("classifier_whole", message, "Fix them first: this part has no code of its own.")
    for group in _groups(lost, ready):
        # with dropout at work no number can be compared; the hidden cell switches it off where parts are ready-made
        aside = group or (("dropout",) if "M16" in lost.get("classifier_forward", ()) else ())
        given = answers.arrays.get("_".join(("log_probabilities", *aside)))
        if given is not None and any(_close(given, known) for known in _known(case, ready.union(group), lost)):
            return right(f"classifier_whole, with what is wrong above ({', '.join(lost)}) set aside")
    return _not_whole(exercise, case, answers)


def _known(case: Case, ready: Collection[str], lost: Lost) -> Iterator[Array]:
    """(b, classes), once for every way to have made the mistakes that were named in the classifier."""
    stored = case.expected["_".join(("known", *(part for part in ("positions", "blocks") if part in ready)))]
    named_in_forward, named_in_padding = (lost.get(f"classifier_{part}", ()) for part in ("forward", "padding"))
    forward = [number for number, id in enumerate(FORWARD_MISTAKES) if id in named_in_forward] or [0]
    pools = range(len(POOLS)) if "M15-padding" in named_in_padding else [0]
    masks = list(range(stored.shape[2]))
    if "M10-unsaid" in named_in_padding:
        masks = masks[:-1]
    else:
        masks = masks[-1:] if "M10-inverted" in named_in_padding else masks[:1]
    for place in itertools.product(forward, pools, masks):
        yield stored[place]


def _lost(answers: Answers) -> Lost:
    """Exercise that lost points -> the ids of the mistakes that were named there."""
    lost = {}
    for name in (*EARLIER, *CLASSIFIER):
        if answers.charged(f"transformer_tutorial/{name}"):
            checks = answers.earlier[f"transformer_tutorial/{name}"].checks
            lost[name] = frozenset(check.mistake for check in checks if check.mistake and not check.passed)
    return lost


def _groups(lost: Lost, ready: Collection[str]) -> Iterator[tuple[str, ...]]:
    """The parts that may be ready-made here, none of them first."""
    allowed = {EARLIER[name] for name in lost if name in EARLIER}
    allowed |= {"layers"} if "classifier_parts" in lost else set()
    allowed |= {"blocks"} if "attention" in ready else set()  # no weights fit into a block that is ready-made in part
    parts = [part for part in PARTS if part in allowed]
    for size in range(len(parts) + 1):
        yield from itertools.combinations(parts, size)


def _close(given: Array, wanted: Array) -> bool:
    """What follows from a mistake may be no number at all: a block that is told the opposite of the mask."""
    return (
        given.shape == wanted.shape
        and given.dtype.kind == "f"
        and bool(np.allclose(given, wanted, atol=1e-4, rtol=1e-3, equal_nan=True))
    )


def _not_whole(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    own, problem = answers.arrays.get("log_probabilities"), answers.text("problem")
    if own is None and isinstance(problem, str):
        return named(exercise, "whole-crash", problem=problem)
    shape = compare_value("log_probabilities", own, case.expected["log_probabilities"], exercise)
    if own is None or own.shape != case.expected["log_probabilities"].shape:
        return wrong("classifier_whole", shape.message, shape.hint)
    return named(exercise, "whole")
