"""Questions on a student's own code, made of its syntax tree, of what a run of it showed, and of a token.

The same text, facts and token make the same questions, on a student's machine and when grading. A question does not
know its right choice. Where choices are values of a kind, the right one is drawn first, each with the same chance, and
then what is asked for: so no form of a choice says anything. Parts to leave out stand at a drawn place in a row.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .own_code import MAX_PARTS, OwnCode, last_uses, line_of, parts_near

MAX_QUESTIONS = 3
MAX_CHOICES, MIN_CHOICES = 5, 3
TOKEN = re.compile(r"([0-9a-f]{8})-([0-9a-f]{8})")
_TEXT = re.compile(r"[^\x00-\x1f\x7f]{0,100}")

#: What a variant loses: key -> the end of the question.
PROPERTIES = {
    "zeros": "does {what} give weight to a position that has weight 0 now",
    "rows": "do the rows of {what} no longer sum to 1",
}


@dataclass(frozen=True)
class Noted:
    """A value that was noted. ``shape``: None where it is no array. ``steady``: its shape was the same each time.

    rows: each row is 0 or more and sums to 1; zeros: and some of its numbers are 0.
    """

    line: int
    name: str
    shape: tuple[int, ...] | None
    steady: bool = True
    rows: bool = False
    zeros: bool = False


@dataclass(frozen=True)
class Facts:
    """What runs of a student's code showed.

    asked: the exercise by whose first public case it was called. given: the arguments of its main function.
    lost: part -> the properties that are lost without it; empty where no variants were run. watching: a word.
    unfinished: the runs did not come to an end, and nothing is known.
    """

    asked: str
    name: str
    given: Sequence[Noted] = ()
    noted: Sequence[Noted] = ()
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    watching: str = ""
    unfinished: bool = False

    def to_json(self) -> dict[str, Any]:
        rows = [[list(vars(one).values()) for one in some] for some in (self.given, self.noted)]
        lost = {part: list(gone) for part, gone in self.lost.items()}
        names = {"asked": self.asked, "name": self.name, "watching": self.watching}
        return {**names, "rows": rows, "lost": lost, "unfinished": self.unfinished}

    @classmethod
    def from_json(cls, data: Any) -> Facts | None:
        """None where it is not what :meth:`to_json` makes: it comes out of a process with student code."""
        try:
            given, noted = ([_noted(*row) for row in some] for some in data["rows"])
            lost = {_text(part): [_text(one) for one in gone] for part, gone in data["lost"].items()}
            asked, name, watching = (_text(data[key]) for key in ("asked", "name", "watching"))
            return cls(asked, name, given, noted, lost, watching, data["unfinished"] is True)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    @property
    def weights(self) -> Noted | None:
        """The first value that is weights: hidden positions before others."""
        found = [one for one in self.noted if one.rows and one.steady]
        return next((one for one in found if one.zeros), next(iter(found), None))


def _noted(line: Any, name: Any, shape: Any, *flags: Any) -> Noted:
    sizes = None if shape is None else tuple(shape)
    if type(line) is not int or any(type(size) is not int for size in sizes or ()):
        raise ValueError("no whole number")
    return Noted(line, _text(name), sizes, *(flag is True for flag in flags))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not _TEXT.fullmatch(value):
        raise ValueError("no short text")
    return value


@dataclass(frozen=True)
class CodeQuestion:
    """One question. ``subject``: what of the code it is about, as :func:`values` names it."""

    kind: str
    subject: str
    text: str
    choices: tuple[str, ...]


def token_for(code: OwnCode, random: str) -> str:
    """The token that says, too, on which text of the code questions were asked."""
    return f"{random}-{hashlib.sha256(code.text.encode()).hexdigest()[:8]}"


def questions(code: OwnCode, facts: Facts, random: str) -> list[CodeQuestion]:
    """Up to three questions of different kinds. random: the token's first half, of which no choice can be told."""
    found: list[CodeQuestion] = []
    for kind in ("shape", "without", "becomes", "creates"):
        seed = f"{random}|{kind}|{code.text}"
        made = _without(code, facts, seed) if kind == "without" else _drawn(kind, code, facts, seed, found)
        found += [made] if made else []
    return found[:MAX_QUESTIONS]


def values(kind: str, code: OwnCode, facts: Facts) -> dict[str, str]:
    """What can be asked for -> its value, in the words of the choices."""
    if kind == "creates":
        return {f"`{name}`": f"line {line}" for name, line in last_uses(code).items()}
    arrays = [one for one in facts.noted if one.shape is not None and one.steady]
    if kind == "shape":
        return {f"`{one.name}` in line {one.line}": str(one.shape) for one in arrays if "return" not in one.name}
    first: dict[str, str] = {}
    given = {one.shape for one in facts.given}
    for one in arrays:
        if one.rows:
            first.setdefault("weights, numbers of 0 or more whose rows sum to 1", f"line {one.line}")
        if one.shape not in given:
            first.setdefault(f"a value of shape {one.shape}", f"line {one.line}")
    return first


_ASK = {
    "shape": "Which shape has {subject}?",
    "becomes": "In which line does {subject} come up for the first time?",
    "creates": "Which is the last line that reads {subject}?",
}


def _drawn(kind: str, code: OwnCode, facts: Facts, seed: str, before: Sequence[CodeQuestion]) -> CodeQuestion | None:
    """A question whose right choice is each of its choices with the same chance."""
    known = values(kind, code, facts)
    for other in before if kind == "becomes" else ():  # the first question must not be answered by the second
        known = {what: value for what, value in known.items() if not other.subject.endswith(value)}
    pool = set(known.values())
    if kind == "shape" and len(pool) == MIN_CHOICES - 1:
        swapped = pool | {_swapped(shape) for shape in pool}
        pool = swapped if len(swapped) == 2 * len(pool) else set()  # each has one that looks like it
    choices = sorted(pool, key=lambda value: _hash(seed, "choice", value))[:MAX_CHOICES]
    real = [choice for choice in choices if choice in known.values()]
    if len(choices) < MIN_CHOICES or len(real) < MIN_CHOICES - 1:
        return None
    right = min(real, key=lambda value: _hash(seed, "right", value))
    subject = min((what for what, value in known.items() if value == right), key=lambda what: _hash(seed, "what", what))
    order = (lambda value: _hash(seed, "order", value)) if kind == "shape" else line_of
    return CodeQuestion(kind, subject, _ASK[kind].format(subject=subject), tuple(sorted(choices, key=order)))


def _swapped(shape: str) -> str:
    sizes = [int(size) for size in re.findall(r"\d+", shape)]
    return str((*sizes[:-2], *reversed(sizes[-2:])))


def _without(code: OwnCode, facts: Facts, seed: str) -> CodeQuestion | None:
    """The choices are parts that follow each other, those of the line that makes the weights among them.

    The token says where among them that line stands. Which is right, only variants show, which nobody has run yet.
    """
    weights = facts.weights
    near = parts_near(code, weights.line) if weights is not None else []
    if weights is None or len(near) <= MIN_CHOICES:
        return None
    inside = [number for number, (_, own) in enumerate(near) if own]
    starts = range(max(0, inside[-1] - MAX_PARTS + 1), max(0, min(inside[0], len(near) - MAX_PARTS)) + 1)
    start = min(starts, key=lambda number: _hash(seed, "start", str(number)), default=0)
    choices = tuple(label for label, _ in near[start : start + MAX_PARTS])
    lost = "zeros" if weights.zeros else "rows"
    named = "return" not in weights.name
    what = f"`{weights.name}` in line {weights.line}" if named else f"what line {weights.line} gives"
    text = (
        f"Leave out one part at a time. Without which one {PROPERTIES[lost].format(what=what)}? If that is so without "
        "several of them, choose the last of these."
    )
    return CodeQuestion("without", lost, text, choices)


def right_choice(question: CodeQuestion, code: OwnCode, facts: Facts) -> str:
    """The one choice that is true of this code; empty where there is none, so that the question does not count."""
    if question.kind != "without":
        return values(question.kind, code, facts).get(question.subject, "")
    return next((part for part in reversed(question.choices) if question.subject in facts.lost.get(part, ())), "")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def same(answer: str, choice: str) -> bool:
    """Whether an answer is this choice, but for spaces and capitals."""
    return re.sub(r"[\s`]+", "", answer).lower() == re.sub(r"[\s`]+", "", choice).lower()


def share(right: int, asked: int) -> float:
    """Of the points: all for all, half for two of three, nothing else."""
    if right == asked:
        return 1.0
    return 0.5 if asked == MAX_QUESTIONS and right == asked - 1 else 0.0
