"""Rules of the exercises on the classifier, and the mistakes that they name."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from .._rules import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    compare_value,
    named,
    right,
    same_twice,
    shared_equally,
    without_side_effects,
    wrong,
)

Array = np.ndarray

PART_BIAS = Mistake("PART-bias", "The head has no bias.", "nn.Linear has one unless told otherwise.")
PART_SIZES = Mistake("PART-sizes", "The blocks are made with other sizes than the model: TransformerBlock(k, heads).",
                     "k is the size of a word vector, heads the number of heads.")  # fmt: skip
PLACES = Mistake("GIVEN-positions", "The positions do not fit the model: as many numbers as a word vector has, and a "
                 "row for each of seq_length places.", "PositionalEncoding(k, max_len=seq_length) is a given line."
                 )  # fmt: skip


def parts_in_words(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Where no mistake explains them, the sizes of the parts in words."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned == 1:
        mistake = _wrong_sizes(case, answers)
        return named(exercise, mistake) if mistake else judgement
    if any(check.mistake for check in judgement.checks):
        return judgement
    return Judgement([_part_in_words(check, answers.arrays.get(check.name)) for check in judgement.checks])


def _wrong_sizes(case: Case, answers: Answers) -> str:
    """The id of a mistake in what was handed over of the parts' sizes; empty where there is none."""
    bias, room, sizes = (answers.arrays.get(name) for name in ("head_bias", "room", "block_sizes"))
    config = case.config
    if bias is not None and not bias.all():
        return "PART-bias"
    if sizes is not None and not (sizes == [config["k"], config["heads"]]).all():
        return "PART-sizes"
    if room is not None and (room.shape != (1, 2) or room[0, 0] != config["k"] or room[0, 1] < config["seq_length"]):
        return "GIVEN-positions"
    return ""


def _part_in_words(check: Check, got: Array | None) -> Check:
    """A wrong size, in words."""
    if check.passed or got is None:
        return check
    if check.name == "token_embedding" and got.shape == (2,):
        message = f"The embedding has {got[0]} rows of {got[1]} numbers. It needs a row for each of num_tokens, of k."
    elif check.name == "classification_head" and got.shape == (2,):
        message = f"The head takes {got[1]} numbers and gives {got[0]}. It must take k, and give num_classes."
    elif check.name == "blocks" and got.shape == ():
        message = f"There are {got} blocks, not as many as depth says."
    else:
        return check
    return Check(check.name, False, message, check.hint)


steady_and_pure = without_side_effects(same_twice("log_probabilities"))


def padding(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Half of the points for the average, half for what the blocks are told."""
    return shared_equally([_average(exercise, case, answers), _masks(exercise, case, answers)])


def _average(exercise: Exercise, case: Case, answers: Answers) -> Check:
    """Padding changes nothing. Where a sentence without any is wrong too, that has its price: it need only be as wrong.

    ``alone``: each sentence cut to its real tokens. ``longer``: with more padding.
    """
    got, want = answers.arrays.get("log_probabilities"), case.expected["log_probabilities"]
    check = compare_value("average", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape:
        return check
    alone, longer = (answers.arrays.get(name) for name in ("alone", "longer"))
    if alone is None or longer is None or compare_value("average", alone, want, exercise).passed:
        return exercise.mistake("M15-padding").check()
    same = any(other.shape == got.shape and np.allclose(got, other, atol=1e-4, rtol=1e-3) for other in (alone, longer))
    return Check("average", True) if same else exercise.mistake("M15-padding").check()


def _masks(exercise: Exercise, case: Case, answers: Answers) -> Check:
    """``masks``: what each block that was called was given, (blocks, b, t); nothing where one of them got no mask."""
    masks, called, real = answers.arrays.get("masks"), answers.arrays.get("called"), case.inputs["input_ids"] != 0
    if called is not None and not called:  # that has its price elsewhere
        return Check("mask", True)
    if masks is not None and called is not None and masks.shape == (int(called), *real.shape):
        if bool((masks == real).all()):
            return Check("mask", True)
        if bool((masks == ~real).all()):
            return exercise.mistake("M10-inverted").check()
    return exercise.mistake("M10-unsaid").check()


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
