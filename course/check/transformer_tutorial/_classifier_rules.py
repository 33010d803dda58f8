"""Rules of the exercises on the classifier, and the mistakes that they name."""

from dataclasses import replace

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
    in_float32,
    named,
    shared_equally,
    whole,
    without_side_effects,
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


def _methods(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule for the answers of three methods; what differs from call to call is dropout."""
    judgement, differs = compare_case(exercise, case, answers), answers.arrays.get("unsteady")
    dropped = judgement.earned < 1 and differs is not None and differs.any()
    return named(exercise, "M16") if dropped else judgement


methods = without_side_effects(in_float32(_methods))


def padding(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Half of the points for the average, half for what the blocks are told."""
    return shared_equally([_average(exercise, case, answers), _masks(exercise, case, answers)])


def _average(exercise: Exercise, case: Case, answers: Answers) -> Check:
    """Padding changes nothing. What is wrong for a sentence without any, too, has its price where nothing is padded.

    ``alone``: each sentence cut to its real tokens.
    """
    got, want = answers.arrays.get("encoded"), case.expected["encoded"]
    check = compare_value("average", got, want, exercise)
    if check.passed or got is None:
        return check
    alone = answers.arrays.get("alone")
    if alone is not None and (got.shape != want.shape or not compare_value("average", alone, want, exercise).passed):
        return Check("average", True)
    return exercise.mistake("M15-padding").check()


def _masks(exercise: Exercise, case: Case, answers: Answers) -> Check:
    """``masks``: what each block that was called was given, (blocks, b, t); nothing where one of them got no mask."""
    masks, called, real = answers.arrays.get("masks"), answers.arrays.get("called"), case.inputs["mask"]
    if called is not None and not called:  # that has its price elsewhere
        return Check("mask", True)
    if masks is not None and called is not None and masks.shape == (int(called), *real.shape):
        if bool((masks == real).all()):
            return Check("mask", True)
        if bool((masks == ~real).all()):
            return exercise.mistake("M10-inverted").check()
    return exercise.mistake("M10-unsaid").check()


#: What made the parts from the notebooks before.
EARLIER = [
    f"transformer_tutorial/{name}"
    for name in (
        "attention_scores", "attention_output", "attention_dropout", "attention_heads", "attention_mask",
        "self_attention_maps", "self_attention_forward", "block_attention", "block_feed_forward",
        "positional_values", "positional_forward", "mean_pooling",
    )
]  # fmt: skip


def _probabilities(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """``made``: whether positions and blocks are ready-made, as where the student's do not pass their checks."""
    made = answers.arrays.get("made", np.zeros(2))
    parts = [part for part, ready in zip(("positions", "blocks"), made.ravel()[:2], strict=False) if ready]
    expected = case.expected["_".join(parts) or "log_probabilities"]
    judgement = compare_case(exercise, replace(case, expected={"log_probabilities": expected}), answers)
    got = answers.arrays.get("log_probabilities")
    known = judgement.earned == 1 or got is None or got.shape != expected.shape or got.dtype.kind != "f"
    return judgement if known else named(exercise, "whole")


#: The whole classifier, made of the classes that earlier exercises asked for.
log_probabilities = whole(in_float32(_probabilities), earlier=EARLIER)
