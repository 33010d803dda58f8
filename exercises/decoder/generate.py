"""The loop that writes, in NumPy: an injected model with stored numbers, and a given chooser in place of chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._rules import TWICE, asked_once

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


def cases(generator: np.random.Generator) -> list[Case]:
    """An end that comes and one that does not, a prompt that is too long, an end in the prompt, no word at all."""
    return [_drawn(generator, *plan) for plan in PLANS]


def _drawn(
    generator: np.random.Generator, prompt: int, words: int, context: int, until: int | None, inside: bool
) -> Case:
    while True:
        inputs = {
            name: generator.normal(0, 1, shape).astype(np.float32)
            for name, shape in (
                ("stand_in_own", (VOCABULARY, VOCABULARY)),
                ("stand_in_carried", (VOCABULARY, VOCABULARY)),
                ("stand_in_places", (8, VOCABULARY)),
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
    """Each word's own numbers, the mean of what all words up to it carry, and the position's numbers."""
    own, carried, places = (inputs[f"stand_in_{name}"].astype(np.float64) for name in ("own", "carried", "places"))
    count = np.arange(1, len(ids) + 1)
    result: Array = own[ids] + carried[ids].cumsum(0) / count[:, None] + places[(count - 1) % len(places)]
    return result


def _closest(logits: Array) -> int:
    return int(np.abs(logits).argmin())


def _written(
    inputs: Mapping[str, Array], words: int, end: int, context: int, choose: Callable[[Array], int] = _closest
) -> Array:
    ids = inputs["prompt"]
    for _ in range(words):
        ids = np.append(ids, choose(_logits(inputs, ids[-context:])[-1]))
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
    _written(inputs, config["words"], config["end"], config["context"], choose)
    return min(margins) > 1e-3


HEAD = "def generate(model, ids, words, choose, end, context):"
# Lines of the solution that mistakes change.
LOGITS = "model(ids[None, -context:])[:, -1]"
APPEND = "ids = torch.cat([ids, choose(logits)])"
STOP = "if ids[-1] == end:"
ANYWHERE = ("An end word in the prompt stops the writing.", "Only a new end word stops it.")
MOST = "At most words new ones."

MISTAKES = [
    Mistake("GEN-new", "The prompt is missing.", "The result begins with the prompt.",
            ("for _ in range(words):", "prompt = len(ids)\n    for _ in range(words):"),
            ("return ids", "return ids[prompt:]")),
    Mistake("GEN-on", "Writing goes on after the end word.", "Stop after the end word.", (STOP, "if False:")),
    Mistake("GEN-no-end", "The end word itself is missing.", "Append it, then stop.",
            (APPEND, "new = choose(logits)\n        if new == end:\n            break\n"
                     "        ids = torch.cat([ids, new])"), share=0.5),
    Mistake("GEN-anywhere", *ANYWHERE, (STOP, "if end in ids:"), share=0.5),
    Mistake("GEN-begin", *ANYWHERE, (LOGITS, f"{LOGITS}\n        if end in ids:\n            break"), share=0.5),
    Mistake("GEN-long", "The model is given more words than its context holds.", "The last context words only.",
            (LOGITS, "model(ids[None])[:, -1]")),
    Mistake("GEN-head", "The model is given the first words, not the last ones.", "ids[-context:]",
            (LOGITS, "model(ids[None, :context])[:, -1]")),
    Mistake("GEN-one", "The model is given the last word only.", "All words that fit into its context.",
            (LOGITS, "model(ids[None, -1:])[:, -1]")),
    Mistake("GEN-short", "The model is given one word less than its context holds.", "ids[-context:]",
            (LOGITS, "model(ids[None, -(context - 1):])[:, -1]")),
    Mistake("GEN-cut", "The result holds only the words of the last context.", "Crop what the model is given, not ids.",
            ("return ids", "return ids[-context:]")),
    Mistake("GEN-place", "The logits of the first position were used.",
            "The next word is predicted at the last position.", (LOGITS, LOGITS.replace("[:, -1]", "[:, 0]"))),
    Mistake("GEN-greedy", "The likeliest word is taken, whatever choose says.", "choose(logits) gives the next word.",
            ("choose(logits)", "logits.argmax(-1)")),
    Mistake("GEN-softmax", "choose is given probabilities.", "It is given logits.",
            ("choose(logits)", "choose(logits.softmax(-1))")),
    Mistake("GEN-more", "One word too many is written.", MOST, ("range(words)", "range(words + 1)")),
    Mistake("GEN-less", "One word too few is written.", MOST, ("range(words)", "range(words - 1)")),
    Mistake("GEN-total", "words is the number of new words, not that of all.", "range(words)",
            ("range(words)", "range(words - len(ids))")),
    Mistake("GEN-prompt", "Nothing was written.", "Append each new word to ids.", (APPEND, "choose(logits)")),
    TWICE.by((STOP, "if choose(logits) == end:")),
    Mistake("", "logits without their first axis", "", (LOGITS, "model(ids[None, -context:])[0, -1]"),
            (APPEND, "ids = torch.cat([ids, choose(logits).reshape(1)])")),
    CHANGED,
]  # fmt: skip

RIGHT = {
    "a list": variant(HEAD, """
        written = ids.tolist()
        for _ in range(words):
            logits = model(torch.tensor([written[-context:]]))[:, -1, :]
            written.append(int(choose(logits)))
            if written[-1] == end:
                break
        return torch.tensor(written)
    """),
    "while": variant(HEAD, """
        length = len(ids) + words
        while len(ids) < length:
            window = ids[max(len(ids) - context, 0) :]
            new = choose(model(window.unsqueeze(0))[:, -1]).reshape(1)
            ids = torch.cat((ids, new))
            if new.item() == end:
                return ids
        return ids
    """),
    "calling itself": variant(HEAD, """
        if words == 0:
            return ids
        new = choose(model(ids[-context:].view(1, -1))[:, -1])
        ids = torch.cat([ids, new])
        return ids if int(new) == end else generate(model, ids, words - 1, choose, end, context)
    """),
    "a row that is filled": variant(HEAD, """
        row = torch.zeros(len(ids) + words, dtype=torch.long)
        row[: len(ids)] = ids
        count = len(ids)
        for count in range(len(ids), len(row)):
            with torch.no_grad():
                row[count] = choose(model(row[max(0, count - context) : count][None])[0, -1:])[0]
            if row[count] == end:
                return row[: count + 1]
        return row
    """),
    "new words in a list of their own": variant(HEAD, """
        new = []
        while len(new) < words and end not in new:
            window = torch.cat([ids, torch.tensor(new, dtype=torch.long)])[-context:]
            new.append(choose(model(window[None])[:, -1]).item())
        return torch.cat([ids, torch.tensor(new, dtype=ids.dtype)])
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, asked_once, MISTAKES, right=RIGHT, framework="torch",
    shows=("the prompt stays", "it stops after the end word", "the model reads what fits"),
    accepted={"detach": "Words are numbers, through which nobody trains."},
    axes={"ids": "tokens"},
)  # fmt: skip
