"""Groups of like answers: an order in which to read, and a click for many. Nothing is decided by a group."""

import hashlib
import io
import json
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from autograder.errors import EncoderFailed
from autograder.files.atomic import write_file
from autograder.marking.answers import ClassAnswer

#: Answers that differ in one of these say different things, however alike their words are.
_TELLING = re.compile(
    r"\b(?:no|not|never|none|without|cannot|nicht|kein\w*|nie|ohne|\w+n['’]t)\b|\d+(?:[.,]\d+)?", re.I
)

#: Exercise to the texts (by ``form``) that a person has put elsewhere, each with the names of the groups that it was
#: put into, the last of which counts: ``/`` between them, ``+`` before one that joins groups.
Splits = Mapping[str, Mapping[str, str]]
_BETWEEN, _JOINS = "/", "+"


@dataclass(frozen=True)
class AnswerGroup:
    """``answers``: those with the same text one after the other. ``own``: names a group that a person has made."""

    name: str
    answers: tuple[ClassAnswer, ...]
    own: str = ""

    @property
    def joined(self) -> bool:
        return self.own.startswith(_JOINS)

    @property
    def waiting(self) -> tuple[ClassAnswer, ...]:
        return tuple(answer for answer in self.answers if answer.waits)

    @property
    def texts(self) -> list[list[ClassAnswer]]:
        """The answers by what they show, the most frequent first."""
        found: dict[str, list[ClassAnswer]] = {}
        for answer in self.answers:
            found.setdefault(answer.digest, []).append(answer)
        return sorted(found.values(), key=lambda same: -len(same))


def form(answer: ClassAnswer) -> str:
    """What equal answers have in common, as a digest: the words, and not case, spaces or punctuation. Of a plain test,
    how what came differs from the solution.
    """
    plain = "" if answer.blank else answer.read.differs or plain_words(answer.text)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]


def grouped(answers: Iterable[ClassAnswer], likeness: "Likeness", split: Mapping[str, str] = {}) -> list[AnswerGroup]:
    """The largest group first, then what is most like it, and so on; answers without a word come last.

    split: form to the groups that a person has put it into. What is alike with texts of a joined group is in it, too,
    where these were never split off.
    """
    by_form: dict[str, list[ClassAnswer]] = {}
    for answer in sorted(answers, key=lambda one: (one.digest, one.row)):
        by_form.setdefault(form(answer), []).append(answer)
    blank = [name for name, same in by_form.items() if same[0].blank]
    forms = sorted(by_form.keys() - set(blank))
    texts = [by_form[name][0].read.differs or by_form[name][0].text for name in forms]
    similar = likeness.similarities(texts) if texts else np.zeros((0, 0))
    made: dict[str, list[int]] = {}
    for number, members in enumerate(clusters(apart(similar, texts), likeness.threshold)):
        paths = {index: split.get(forms[index], "").split(_BETWEEN) for index in members}
        own = {index: path[-1] for index, path in paths.items()}
        joined = {path[-1] for path in paths.values() if all(name.startswith(_JOINS) for name in path)}
        others = min(joined) if len(joined) == 1 else f" {number}"
        for index in members:
            made.setdefault(own[index] or others, []).append(index)
    groups = [(indices, "" if name.startswith(" ") else name) for name, indices in made.items()]
    sizes = [sum(len(by_form[forms[index]]) for index in indices) for indices, _ in groups]
    found = [
        _group(groups[number][0], forms, by_form, groups[number][1])
        for number in _chain([indices for indices, _ in groups], sizes, similar)
    ]
    return found + ([AnswerGroup("blank", tuple(by_form[blank[0]]))] if blank else [])


def _group(
    indices: Sequence[int], forms: Sequence[str], by_form: Mapping[str, list[ClassAnswer]], own: str
) -> AnswerGroup:
    members = sorted(indices, key=lambda index: -len(by_form[forms[index]]))
    name = min(forms[index] for index in indices)
    return AnswerGroup(name, tuple(answer for index in members for answer in by_form[forms[index]]), own)


def apart(similar: "Similarities", texts: Sequence[str]) -> "Similarities":
    """The similarities, without those between texts that differ in a negation or a number."""
    telling = [tuple(sorted(found.casefold() for found in _TELLING.findall(text))) for text in texts]
    numbers = {words: number for number, words in enumerate(dict.fromkeys(telling))}
    kinds = np.array([numbers[words] for words in telling], dtype=int)
    return np.where(kinds[:, None] == kinds[None, :], similar, -1.0) if texts else similar


def clusters(similar: "Similarities", threshold: float) -> list[list[int]]:
    """Complete linkage: the most similar two are joined as long as *every* pair in what comes of it is alike."""
    members = [[index] for index in range(len(similar))]
    lowest = np.minimum(similar, similar.T)
    np.fill_diagonal(lowest, -np.inf)
    while len(members) > 1:
        first, second = sorted(divmod(int(lowest.argmax()), len(lowest)))
        if lowest[first, second] < threshold:
            break
        members[first] += members.pop(second)
        joined = np.minimum(lowest[first], lowest[second])
        lowest[first], lowest[:, first] = joined, joined
        lowest[first, first] = -np.inf
        lowest = np.delete(np.delete(lowest, second, 0), second, 1)
    return members


def _chain(groups: Sequence[Sequence[int]], sizes: Sequence[int], similar: "Similarities") -> list[int]:
    """An order that stays: the largest, then always the group most like the one before."""
    left = sorted(range(len(groups)), key=lambda number: (-sizes[number], min(groups[number])))
    order: list[int] = []
    while left:
        following = left[0]
        if order and sizes[left[0]] == 1:  # larger groups come first, however unlike each other
            before = groups[order[-1]]
            following = max(left, key=lambda number: float(similar[np.ix_(before, groups[number])].mean()))
        order.append(following)
        left.remove(following)
    return order


def differing_words(text: str, other: str) -> tuple[list[str], list[str]]:
    """The words that only the one text has, and those that only the other has, in their order."""
    mine, theirs = plain_words(text).split(), plain_words(other).split()
    return _only(mine, set(theirs)), _only(theirs, set(mine))


def _only(words: Sequence[str], known: Collection[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word not in known]


def put_together(own: Mapping[str, str], forms: Iterable[str], joins: bool) -> dict[str, str]:
    """Some of an exercise's texts as a group of their own. joins: they were groups before."""
    name = (_JOINS if joins else "") + secrets.token_hex(4)
    return {**own, **{one: _BETWEEN.join(filter(None, (own.get(one), name))) for one in forms}}


def put_back(own: Mapping[str, str], forms: Collection[str]) -> dict[str, str]:
    """These texts where they were before a person put them together."""
    back = {name: labels.rpartition(_BETWEEN)[0] if name in forms else labels for name, labels in own.items()}
    return {name: labels for name, labels in back.items() if labels}


def read_splits(root: Path, assignment: str) -> dict[str, dict[str, str]]:
    """Exercise to what people have split off; nothing where nothing can be read, since a group decides nothing."""
    try:
        read = json.loads(_path(root, assignment).read_text(encoding="utf-8"))
        return {str(key): {str(name): str(label) for name, label in one.items()} for key, one in read.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def write_splits(root: Path, assignment: str, splits: Splits) -> None:
    """Raises GradingError."""
    write_file(_path(root, assignment), (json.dumps(splits, indent=1) + "\n").encode())


def _path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "marks" / assignment / "splits.json"


# How alike texts are: by their words, or by vectors that the course's library makes of them.
# An encoder is one function, ``encode(texts)``, which returns an array (texts, dim); ``course.toml`` names its module.
# It runs in a process of its own, so that the grader needs nothing that it imports.

Similarities = NDArray[np.float64]

#: An encoder that has not answered by then is given up.
PATIENCE = 300  # seconds
#: Signs that change what code or a formula says count as words.
_WORD = re.compile(r"\w+|[+/=<>^%]|(?<=\s)-(?=\s)")


@dataclass(frozen=True)
class Likeness:
    """``similarities``: texts to an array (texts, texts), at most 1. From ``threshold`` on two texts are alike."""

    name: str
    similarities: Callable[[Sequence[str]], Similarities]
    threshold: float


def plain_words(text: str) -> str:
    """Two texts that differ in case, spaces and punctuation alone have the same."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def _by_words(texts: Sequence[str]) -> Similarities:
    plain = [plain_words(text) for text in texts]
    return process.cdist(plain, plain, scorer=fuzz.token_ratio).astype(np.float64) / 100


BY_WORDS = Likeness("words", _by_words, 0.7)


class TextEncoder:
    """A module of the course's library that makes vectors. Each text is encoded once."""

    def __init__(self, root: Path, module: str) -> None:
        self._root, self._module = root, module
        self._vectors: dict[str, NDArray[np.float64]] = {}

    @property
    def likeness(self) -> Likeness:
        return Likeness("encoder", self.similarities, 0.3)

    def similarities(self, texts: Sequence[str]) -> Similarities:
        """Cosines, after what all texts have in common is taken off. Raises EncoderFailed where the encoder fails."""
        missing = sorted(set(texts) - self._vectors.keys())
        if missing:
            self._vectors |= zip(missing, self._encode(missing), strict=True)
        vectors = np.array([self._vectors[text] for text in texts])
        vectors -= vectors.mean(axis=0)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        found: Similarities = vectors @ vectors.T
        return found

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        command = [sys.executable, "-m", "autograder.marking.encode", self._module]
        try:
            done = subprocess.run(
                command, cwd=self._root, input=json.dumps(texts).encode(), capture_output=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired as error:
            raise EncoderFailed(f"the encoder {self._module} has not answered within {PATIENCE} s") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1][:300]
            raise EncoderFailed(f"the encoder {self._module} failed: {said or f'exit code {done.returncode}'}")
        try:
            vectors = np.load(io.BytesIO(done.stdout), allow_pickle=False).astype(np.float64)
        except ValueError as error:
            raise EncoderFailed(f"the encoder {self._module} returned no array: {error}") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise EncoderFailed(
                f"the encoder {self._module}: expected {len(texts)} finite vectors, got an array {vectors.shape}"
            )
        return vectors
