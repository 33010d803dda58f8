"""Questions on a student's own code, made of its syntax tree, of what a run of it showed, and of the student's id.

The same text, facts and id make the same questions, on a student's machine and when grading. A question does not
know its right choice. Where choices are values of a kind, the right one is drawn first, each with the same chance, and
then what is asked for: so no form of a choice says anything. Parts to leave out stand at a drawn place in a row.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .own_code import MAX_PARTS, OwnCode, line_of, parts_near

MAX_QUESTIONS = 3
MAX_CHOICES, MIN_CHOICES = 5, 3
_TEXT = re.compile(r"[^\x00-\x1f\x7f]{0,100}")


@dataclass(frozen=True)
class Noted:
    """A value that was noted. ``shape``: None where it is no array. ``steady``: its shape was the same each time.

    rows: each row is 0 or more and sums to 1; zeros: and some of its numbers are 0. times: how often it was noted.
    """

    line: int
    name: str
    shape: tuple[int, ...] | None
    steady: bool = True
    rows: bool = False
    zeros: bool = False
    times: int = 1


@dataclass(frozen=True)
class Facts:
    """What runs of a student's code showed.

    asked: the exercise by whose first public case it was called. given: the arguments of its main function.
    lost: the parts without which hidden positions get weight; none where no variants were run. watching: a word.
    unfinished: the runs did not come to an end, and nothing is known.
    """

    asked: str
    name: str
    given: Sequence[Noted] = ()
    noted: Sequence[Noted] = ()
    lost: Sequence[str] = ()
    watching: str = ""
    unfinished: bool = False

    def to_json(self) -> dict[str, Any]:
        rows = [[list(vars(one).values()) for one in some] for some in (self.given, self.noted)]
        names = {"asked": self.asked, "name": self.name, "watching": self.watching}
        return {**names, "rows": rows, "lost": list(self.lost), "unfinished": self.unfinished}

    @classmethod
    def from_json(cls, data: Any) -> "Facts | None":
        """None where it is not what :meth:`to_json` makes: it comes out of a process with student code."""
        try:
            given, noted = ([_noted(*row) for row in some] for some in data["rows"])
            lost = [_text(part) for part in data["lost"]]
            asked, name, watching = (_text(data[key]) for key in ("asked", "name", "watching"))
            return cls(asked, name, given, noted, lost, watching, data["unfinished"] is True)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    @property
    def weights(self) -> Noted | None:
        """The first value that is weights, and hides positions."""
        return next((one for one in self.noted if one.rows and one.zeros and one.steady), None)


def _noted(line: Any, name: Any, shape: Any, steady: Any, rows: Any, zeros: Any, times: Any) -> Noted:
    sizes = None if shape is None else tuple(shape)
    if any(type(number) is not int for number in (line, times, *(sizes or ()))):
        raise ValueError("no whole number")
    return Noted(line, _text(name), sizes, steady is True, rows is True, zeros is True, times)


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


def id_key(student: object) -> str:
    """A student's id in the one form in which ids are compared and questions drawn; empty where it can be none."""
    text = unicodedata.normalize("NFC", str(student or "").strip()).casefold()
    return text if text.isprintable() and len(text) <= 200 else ""


def digest_of(code: OwnCode, student: str) -> str:
    """Tells the questions to this student on this text of the code from all others."""
    return _hash(id_key(student), code.text)[:8]


def questions(code: OwnCode, facts: Facts, student: str) -> list[CodeQuestion]:
    """Up to three questions of different kinds. student: whose id draws them; no choice can be told from it."""
    found: list[CodeQuestion] = []
    for kind in ("shape", "without", "becomes", "passes", "shape_2"):
        seed = f"{id_key(student)}|{kind}|{code.text}"
        made = _MADE.get(kind, _drawn)(kind, code, facts, seed, found)
        found += [made] if made else []
    return found[:MAX_QUESTIONS]


def values(kind: str, code: OwnCode, facts: Facts) -> dict[str, str]:
    """What can be asked for -> its value, in the words of the choices."""
    if kind == "passes":
        return _times_of_lines(code, facts)
    arrays = [one for one in facts.noted if one.shape is not None and one.steady]
    if kind.startswith("shape"):
        return {f"`{one.name}` in line {one.line}": str(one.shape) for one in arrays if "return" not in one.name}
    first: dict[str, str] = {}
    given = {one.shape for one in facts.given}
    for one in arrays:
        if one.rows:
            first.setdefault("weights whose rows sum to 1", f"line {one.line}")
        if one.shape not in given:
            first.setdefault(f"an array of shape {one.shape}", f"line {one.line}")
    return first


def _times_of_lines(code: OwnCode, facts: Facts) -> dict[str, str]:
    """Of lines in loops that set a variable and do nothing else, how often one call runs them."""
    found: dict[int, set[int]] = {}
    for one in facts.noted:
        if one.name.isidentifier() and code.line(one.line).startswith(one.name):
            found.setdefault(one.line, set()).add(one.times)
    calls = max((one.times for one in facts.given), default=0)
    runs = {line: some.pop() // calls for line, some in found.items() if calls and len(some) == 1}
    return {f"line {line}": str(times) for line, times in runs.items() if times > 2}


_ASK = {
    "shape": "What is the shape of {subject}?",
    "without": "Without which part would {subject} give weight to a position that has none now "
    "(the last one listed, if there are several)?",
    "becomes": "Which line first computes {subject}?",
    "shape_2": "What is the shape of {subject}?",
    "passes": "How many times is {subject} run?",
}


def _drawn(kind: str, code: OwnCode, facts: Facts, seed: str, before: Sequence[CodeQuestion]) -> CodeQuestion | None:
    """A question whose right choice is each of its choices with the same chance."""
    known = values(kind, code, facts)
    for line in (other.subject.rpartition(" ")[2] for other in before):  # none answers another
        known = {what: value for what, value in known.items() if f"line {line}" not in (what[-len(line) - 5 :], value)}
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
    order = (lambda value: _hash(seed, "order", value)) if kind != "becomes" else line_of
    return CodeQuestion(kind, subject, _ASK[kind].format(subject=subject), tuple(sorted(choices, key=order)))


def _swapped(shape: str) -> str:
    sizes = [int(size) for size in re.findall(r"\d+", shape)]
    return str((*sizes[:-2], *reversed(sizes[-2:])))


def _without(kind: str, code: OwnCode, facts: Facts, seed: str, before: object) -> CodeQuestion | None:
    """The choices are parts that follow each other, those of the line that makes the weights among them.

    The id says where among them that line stands. Which is right, only variants show, which nobody has run yet.
    """
    weights = facts.weights
    near = parts_near(code, weights.line) if weights is not None else []
    if weights is None or len(near) <= MIN_CHOICES:
        return None
    named = "return" not in weights.name
    subject = f"`{weights.name}` in line {weights.line}" if named else f"what line {weights.line} gives"
    inside = [number for number, (_, own) in enumerate(near) if own]
    starts = range(max(0, inside[-1] - MAX_PARTS + 1), max(0, min(inside[0], len(near) - MAX_PARTS)) + 1)
    start = min(starts, key=lambda number: _hash(seed, "start", str(number)), default=0)
    choices = tuple(label for label, _ in near[start : start + MAX_PARTS])
    return CodeQuestion(kind, subject, _ASK[kind].format(subject=subject), choices)


def _passes(kind: str, code: OwnCode, facts: Facts, seed: str, before: object) -> CodeQuestion | None:
    """The choices are four numbers that follow each other; the right one is each of them with the same chance."""
    known = values(kind, code, facts)
    if not known:
        return None
    subject = min(known, key=lambda what: _hash(seed, what))
    first = int(known[subject]) - int(_hash(seed, "first"), 16) % 4
    return CodeQuestion(kind, subject, _ASK[kind].format(subject=subject), tuple(map(str, range(first, first + 4))))


#: kind -> what makes a question of it; all others are drawn.
_MADE = {"without": _without, "passes": _passes}


def right_choice(question: CodeQuestion, code: OwnCode, facts: Facts) -> str:
    """The one choice that is true of this code; empty where there is none, so that the question does not count."""
    if question.kind != "without":
        return values(question.kind, code, facts).get(question.subject, "")
    return next((part for part in reversed(question.choices) if part in facts.lost), "")


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
