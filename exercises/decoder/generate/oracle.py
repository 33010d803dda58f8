"""The loop that writes, in NumPy: an injected model with stored numbers, and a given chooser in place of chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    named,
    without_side_effects,
)

from ..._attention import softmax

Array = np.ndarray
VOCABULARY = 9
#: prompt, most new words, context, new words until the end (None: it never comes), is the end in the prompt?
PLANS = (
    (3, 6, 20, None, False),
    (4, 8, 16, 5, False),
    (7, 5, 4, None, False),
    (5, 7, 6, 4, True),
    (2, 0, 5, None, True),
)


def make(generator: np.random.Generator) -> list[Case]:
    """An end that comes and one that does not, a prompt that is too long, an end in the prompt, no word at all."""
    return [_drawn(generator, *plan) for plan in PLANS]


def _drawn(
    generator: np.random.Generator, prompt: int, words: int, context: int, until: int | None, inside: bool
) -> Case:
    while True:
        inputs = {
            name: generator.normal(0, 1, shape).astype(np.float32)
            for name, shape in (
                ("own", (VOCABULARY, VOCABULARY)),
                ("carried", (VOCABULARY, VOCABULARY)),
                ("places", (8, VOCABULARY)),
            )
        } | {"prompt": generator.integers(0, VOCABULARY, prompt)}
        without_end = _written(inputs, words, -1, context)
        if until is None:
            free = sorted(set(range(VOCABULARY)) - set(without_end[prompt:].tolist()))
            end = int(free[0]) if free else -1
        else:
            end = int(without_end[prompt + until - 1])
        if inside:
            inputs["prompt"][0] = end
            without_end = _written(inputs, words, -1, context)
        config = {"words": words, "context": context, "end": end}
        new = without_end[prompt:].tolist()
        found = new.index(end) + 1 if end in new else None
        if end >= 0 and found == until and (inside or end not in inputs["prompt"]) and _clear(inputs, config):
            return Case(config, inputs, expected={"ids": _written(inputs, words, end, context)})


def _logits(inputs: Mapping[str, Array], ids: Array) -> Array:
    """Each word's own numbers, the mean of what all words up to it carry, and the place's numbers."""
    own, carried, places = (inputs[name].astype(np.float64) for name in ("own", "carried", "places"))
    count = np.arange(1, len(ids) + 1)
    result: Array = own[ids] + carried[ids].cumsum(0) / count[:, None] + places[(count - 1) % len(places)]
    return result


def _closest(logits: Array) -> int:
    return int(np.abs(logits).argmin())


def _written(
    inputs: Mapping[str, Array],
    words: int,
    end: int,
    context: int,
    window: Callable[[Array, int], Array] = lambda ids, context: ids[-context:],
    choose: Callable[[Array], int] = _closest,
    place: int = -1,
) -> Array:
    ids = inputs["prompt"]
    for _ in range(words):
        ids = np.append(ids, choose(_logits(inputs, window(ids, context))[place]))
        if ids[-1] == end:
            break
    return ids


def _clear(inputs: Mapping[str, Array], config: Mapping[str, int]) -> bool:
    """Whether rounding decides nowhere which word is chosen."""

    def choose(logits: Array) -> int:
        distances = np.sort(np.abs(logits))
        margins.append(distances[1] - distances[0])
        return _closest(logits)

    margins: list[float] = [1.0]
    _written(inputs, config["words"], config["end"], config["context"], choose=choose)
    return min(margins) > 1e-3


def _by(**options: Any) -> Callable[[Case], Mapping[str, Array]]:
    """more: new words more than allowed; other options are those of ``_written``"""

    def answers(case: Case) -> Mapping[str, Array]:
        given = {name: case.config[name] for name in ("words", "end", "context")} | options
        given["words"] += given.pop("more", 0)
        return {"ids": _written(case.inputs, **given)}

    return answers


def _after(change: Callable[[Array, Case], Array]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"ids": change(case.expected["ids"], case)}


def _end_anywhere(case: Case) -> Mapping[str, Array]:
    prompt = case.inputs["prompt"]
    one = min(case.config["words"], 1)
    return _by(words=one)(case) if case.config["end"] in prompt else {"ids": case.expected["ids"]}


def _end_before(case: Case) -> Mapping[str, Array]:
    prompt = case.inputs["prompt"]
    return {"ids": prompt if case.config["end"] in prompt else case.expected["ids"]}


def _total(case: Case) -> Mapping[str, Array]:
    return _by(words=max(case.config["words"] - len(case.inputs["prompt"]), 0))(case)


def _without_end(ids: Array, case: Case) -> Array:
    return ids[:-1] if len(ids) > len(case.inputs["prompt"]) and ids[-1] == case.config["end"] else ids


MISTAKES = [
    Mistake("GEN-new", "The prompt is missing.", "The result begins with the prompt.",
            _after(lambda ids, case: ids[len(case.inputs["prompt"]) :])),
    Mistake("GEN-on", "Writing goes on behind the end word.", "Stop behind the end word.", _by(end=-1)),
    Mistake("GEN-no-end", "The end word itself is missing.", "Append it, then stop.", _after(_without_end), share=0.5),
    Mistake("GEN-anywhere", "An end word in the prompt stops the writing.", "Only a new end word stops it.",
            _end_anywhere, share=0.5),
    Mistake("GEN-begin", "An end word in the prompt stops the writing.", "Only a new end word stops it.", _end_before,
            share=0.5),
    Mistake("GEN-long", "The model is given more words than its context holds.", "The last context words only.",
            _by(window=lambda ids, context: ids)),
    Mistake("GEN-head", "The model is given the first words, not the last ones.", "ids[-context:]",
            _by(window=lambda ids, context: ids[:context])),
    Mistake("GEN-one", "The model is given the last word only.", "All words that fit into its context.",
            _by(window=lambda ids, context: ids[-1:])),
    Mistake("GEN-short", "The model is given one word less than its context holds.", "ids[-context:]",
            _by(window=lambda ids, context: ids[-max(context - 1, 1) :])),
    Mistake("GEN-cut", "The result holds only the words of the last context.", "Crop what the model is given, not ids.",
            _after(lambda ids, case: ids[-case.config["context"] :])),
    Mistake("GEN-place", "The logits of the first place were used.", "The next word is predicted at the last place.",
            _by(place=0)),
    Mistake("GEN-greedy", "The likeliest word is taken, whatever choose says.", "choose(logits) gives the next word.",
            _by(choose=lambda logits: int(logits.argmax()))),
    Mistake("GEN-softmax", "choose is given probabilities.", "It is given logits.",
            _by(choose=lambda logits: _closest(softmax(logits)))),
    Mistake("GEN-more", "One word too many is written.", "At most words new ones.", _by(more=1)),
    Mistake("GEN-less", "One word too few is written.", "At most words new ones.", _by(more=-1)),
    Mistake("GEN-total", "words is the number of new words, not that of all.", "range(words)", _total),
    Mistake("GEN-prompt", "Nothing was written.", "Append each new word to ids.",
            lambda case: {"ids": case.inputs["prompt"]}),
    Mistake("GEN-twice", "choose is not asked once for each new word: each call draws anew.",
            "Ask once, and keep what it gives."),
    SIDE_EFFECTS[0],
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The right ids; and choose was asked once for each new word."""
    judgement = compare_case(exercise, case, answers)
    asked = answers.arrays.get("asked")
    new = len(case.expected["ids"]) - len(case.inputs["prompt"])
    return named(exercise, "GEN-twice") if judgement.earned == 1 and asked is not None and asked != new else judgement


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch")
