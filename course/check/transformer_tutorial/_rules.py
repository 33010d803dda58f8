"""Rules of this assignment's exercises, and the mistakes that they name. The library for students gets a copy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course.check._rules import (
    Answers,
    Case,
    Check,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    compare_value,
    find_mistake,
    named,
    right,
    unsteady,
    without_side_effects,
    wrong,
)
from course.check._rules.likeness import likeness

Array = np.ndarray

OVERFLOW = Mistake("P-overflow", "Large logits give nan.",
                   "torch's own softmax subtracts the largest logit first; exp alone overflows.")  # fmt: skip
P_LIST = Mistake("P-list", "The probabilities are right, but they come as a list; a tensor is asked for.",
                 "Pick all words at once: a tensor takes a list of places between its brackets.")  # fmt: skip
UNIFY_BIAS = Mistake("MAP-unify-bias", "unify_heads has no bias; the assignment asks for one.",
                     "nn.Linear has one unless told otherwise.")  # fmt: skip
#: What a map takes and gives, in words.
_MAPS = ("to_keys", "to_queries", "to_values")
_ENDS = dict.fromkeys(_MAPS, "one word vector (k numbers) and give the vectors of all heads, end to end")
_ENDS["unify_heads"] = "the vectors of all heads, end to end, and give one word vector (k numbers)"


def probabilities(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Finite numbers, the right ones, in a tensor."""
    got = answers.arrays.get("probabilities")
    want = case.expected["probabilities"]
    if got is not None and got.dtype.kind == "f" and got.shape == want.shape and not np.isfinite(got).all():
        return named(exercise, "P-overflow")
    judgement = compare_case(exercise, case, answers)
    tensor = answers.arrays.get("tensor")
    return named(exercise, "P-list") if judgement.earned == 1 and tensor is not None and not tensor else judgement


def maps_in_words(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Where no mistake explains them, the sizes of each map in words."""
    judgement = compare_case(exercise, case, answers)
    bias = answers.arrays.get("unify_bias")
    if judgement.earned == 1 and bias is not None and not bias.all():
        return named(exercise, "MAP-unify-bias")
    if judgement.earned == 1 or any(check.mistake for check in judgement.checks):
        return judgement
    return Judgement([_map_in_words(check, answers.arrays.get(check.name)) for check in judgement.checks])


def _map_in_words(check: Check, got: Array | None) -> Check:
    if check.passed or got is None:
        return check
    if check.name in _ENDS and got.shape == (2,):
        message = f"{check.name} takes {got[1]} numbers and gives {got[0]}. It must take {_ENDS[check.name]}."
        return Check(check.name, False, message, "nn.Linear takes what goes in first; heads and k are its arguments.")
    if check.name == "biases" and got.shape == (3,):
        names = ", ".join(name for name, bias in zip(_MAPS, got, strict=True) if bias)
        return Check(check.name, False, f"{names}: a bias that the assignment does not ask for.")
    if check.name == "registered":
        return Check(check.name, False, "Not all of the four maps belong to the module.", "self.name = nn.Linear(…)")
    return check


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


NEVER_FED = Mistake(
    "M7-mlp", "The feed-forward network was never called, so what it should be given cannot be seen.",
    "Attention, add and norm, feed-forward network, add and norm: all four are in forward.",
)  # fmt: skip


def _first_half(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the feed-forward network is given."""
    got = answers.arrays.get("between")
    if got is None:
        return named(exercise, "M7-mlp")
    check = compare_value("between", got, case.expected["between"], exercise)
    if check.passed or got.shape != case.expected["between"].shape:
        return Judgement([check])
    known = {key: {"between": made["between"]} for key, made in case.mistakes.items() if "between" in made}
    if mistake := find_mistake(exercise, replace(case, mistakes=known), answers):  # whatever the second half does
        return mistake.judgement()
    message = "What the feed-forward network is given is not norm_1 of the sum."
    return wrong("between", message, "Two lines: attend; then add x and normalise.")


first_half = without_side_effects(_first_half)

GIVEN_ATTENTION = Mistake("GIVEN-attention", "With the attention that its own __init__ makes, the class stops.",
                          "Is the given line self.attention = … still there, as it was?")  # fmt: skip
GIVEN_MASK = Mistake("GIVEN-mask", "The mask does not reach the attention.", "The given line of forward hands it on.")
GIVEN_RATE = Mistake("GIVEN-rate", "The attention is made with another dropout rate than the one that was asked for.",
                     "DotProductAttention(dropout) is a given line.")  # fmt: skip
#: The rate that hidden cells make a class with.
RATE = 0.5


def _split(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the stand-in for the attention is given; or what real attention makes of it, for whoever attends alone."""
    got, want = answers.arrays.get("output"), case.expected["output"]
    check = compare_value("output", got, want, exercise)
    if check.passed or got is None or got.shape != want.shape:
        return Judgement([check]) if not check.passed else _as_given(exercise, answers, check)
    if np.allclose(got, case.expected["attended"], atol=1e-4, rtol=1e-3):
        return _as_given(exercise, answers, right("output").checks[0])
    if unsteady(answers, "output"):
        return named(exercise, "M16")
    if mistake := find_mistake(exercise, case, answers):
        return mistake.judgement()
    like = likeness(got, want, exercise.atol, exercise.rtol)
    message = "What the attention was given does not follow from the three maps" + (f": {like}" if like else ".")
    return wrong("output", message, "Map x, then split the last axis into (heads, k), three times.")


def _as_given(exercise: Exercise, answers: Answers, check: Check) -> Judgement:
    """Given lines are as they were. What was not handed over is not asked for."""
    for mistake, name, want in (("attention", "works", 1), ("mask", "told", 1), ("rate", "rate", RATE)):
        got = answers.arrays.get(name)
        if got is not None and not (got.shape == () and abs(float(got) - want) < 1e-3):
            return named(exercise, f"GIVEN-{mistake}")
    return Judgement([check])


split = without_side_effects(_split)
