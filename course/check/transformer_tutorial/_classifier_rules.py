"""Rules of the exercises on the classifier, and the mistakes that they name."""

from __future__ import annotations

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
    same_twice,
    shared_equally,
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
