"""One assignment on the desk of those who mark it: its groups now, who they are shown to, and what each has stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from autograder.errors import GradingError, NothingToGrade
from autograder.feedback.words import points as in_words
from autograder.gradebook.pseudonyms import read_salt, with_salt
from autograder.gradebook.read import Key, Student, open_book, read_students
from autograder.marking.answers import AnswerReader, ClassAnswer, ReadClass
from autograder.marking.claims import Claims
from autograder.marking.groups import AnswerGroup, form, grouped, read_splits, write_splits
from autograder.marking.likeness import BY_WORDS, Likeness, TextEncoder
from autograder.marking.marks import MarkChange, change_of, store, undo
from autograder.model.course import Course


@dataclass
class Marker:
    """A person who marks. ``said``: what their next page tells them. ``stored``: their marks, for undoing."""

    name: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    said: str = ""
    stored: list[tuple[Key, list[MarkChange]]] = field(default_factory=list)


class Desk:
    """``anonymous``: pseudonyms in the place of names, everywhere."""

    def __init__(self, course: Course, assignment: str, anonymous: bool = False, by_words: bool = False) -> None:
        """Raises GradingError where there is no such assignment, or nothing of it is for a person to mark."""
        self.course, self.assignment = course, assignment
        self.reader = AnswerReader(course, assignment)
        self.claims = Claims(course.root, assignment)
        module = "" if by_words else course.file.encoder
        self.likeness: Likeness = TextEncoder(course.root, module).likeness if module else BY_WORDS
        self.problem = ""
        self._salt = read_salt(course.root) if anonymous else b""
        self._students: dict[str, Student] = {}
        self._groups: dict[Key, tuple[object, list[AnswerGroup]]] = {}
        if not self.reader.read().answers:
            raise NothingToGrade(
                f"nothing of {assignment!r} is for a person to mark: run 'autograder grade {assignment}' first, "
                "where the assignment has written answers"
            )

    def read(self) -> ReadClass:
        return self.reader.read()

    def groups(self, key: Key, answers: Sequence[ClassAnswer]) -> list[AnswerGroup]:
        """The exercise's groups; computed again where answers or splits are others than before."""
        split = read_splits(self.course.root, self.assignment).get("/".join(key), {})
        stamp = tuple(sorted((one.row, one.digest) for one in answers)), tuple(sorted(split.items()))
        known = self._groups.get(key)
        if known is None or known[0] != stamp:
            known = self._groups[key] = stamp, self._grouped(answers, split)
        now = {one.row: one for one in answers}
        return [AnswerGroup(one.name, tuple(now[old.row] for old in one.answers), one.split) for one in known[1]]

    def _grouped(self, answers: Sequence[ClassAnswer], split: dict[str, str]) -> list[AnswerGroup]:
        try:
            return grouped(answers, self.likeness, split)
        except GradingError as error:
            if self.likeness is BY_WORDS:
                raise
            self.problem, self.likeness = f"{error}; answers are compared by their words", BY_WORDS
            return grouped(answers, self.likeness, split)

    def split(self, key: Key, group: AnswerGroup, forms: Collection[str], back: bool) -> str:
        """Make a group of its own of some of a group's texts, or put a split one back; returns a text of it."""
        splits = read_splits(self.course.root, self.assignment)
        own = splits.setdefault("/".join(key), {})
        there = {form(answer) for answer in group.answers}
        if back:
            chosen = there
            splits["/".join(key)] = {name: label for name, label in own.items() if name not in there}
        else:
            chosen = there & set(forms)
            if not chosen or chosen == there:
                raise GradingError("choose some of the texts, not none and not all")
            own |= dict.fromkeys(chosen, secrets.token_hex(4))
        write_splits(self.course.root, self.assignment, splits)
        return min(chosen)

    def name(self, student: str) -> str:
        """What a page calls a student: a pseudonym, or last and first name with the id."""
        if self._salt:
            return with_salt(self._salt, student)
        if student not in self._students:
            book = open_book(self.course.db_url)
            if book is not None:
                with book:
                    self._students = read_students(book)
        known = self._students.get(student, Student(student))
        named = ", ".join(filter(None, (known.last_name, known.first_name)))
        return f"{named} ({student})" if named else student

    def mark(
        self, marker: Marker, key: Key, members: Collection[str], points: float, comment: str, alone: bool
    ) -> None:
        """Give the same mark to answers that a page has shown; ``members`` as :func:`member` names them.

        alone: the page was about one answer, and has shown its comment.

        Raises GradingError where the points are none, or nothing could be stored.
        """
        most = self.reader.exercises[key].max_points
        if not 0 <= points <= most:
            raise GradingError(f"expected points from 0 to {in_words(most)}, got {points}")
        others = self.claims.others(marker.name)
        now = {member(one): one for one in self.read().answers.get(key, ())}
        known = [now[name] for name in members if name in now]
        free = [one for one in known if one.row not in others]
        stored = store(self.course, self.assignment, [change_of(one, points, comment, alone) for one in free])
        if stored:
            marker.stored.append((key, stored))
        said = [f"{_answers(len(stored))} marked with {in_words(points)} points."]
        if len(known) > len(free):
            said.append(f"{_answers(len(known) - len(free))} left to somebody else, who is reading.")
        if len(members) - len(known) + len(free) - len(stored):
            changed = len(members) - len(known) + len(free) - len(stored)
            said.append(f"{_answers(changed)} not marked: the answer or its mark has changed, look again.")
        marker.said = " ".join(said)

    def undo(self, marker: Marker) -> tuple[Key, str] | None:
        """Take the marker's last mark back. Returns its exercise and one of its rows; None where there is nothing."""
        if not marker.stored:
            marker.said = "There is nothing to undo."
            return None
        key, changes = marker.stored[-1]
        back = undo(self.course, self.assignment, changes)
        marker.stored.pop()
        marker.said = f"{_answers(len(back))} put back as before."
        if len(back) < len(changes):
            marker.said += f" {_answers(len(changes) - len(back))} not: changed since."
        return key, changes[0].row

    def next_group(
        self, key: Key, groups: Sequence[AnswerGroup], marker: Marker, after: str = ""
    ) -> AnswerGroup | None:
        """The first group after ``after`` with an answer that waits and that nobody else is reading."""
        others = self.claims.others(marker.name)
        names = [one.name for one in groups]
        start = names.index(after) + 1 if after in names else 0
        for one in [*groups[start:], *groups[:start]]:
            if one.name != after and any(answer.row not in others for answer in one.waiting):
                return one
        return None


def member(answer: ClassAnswer) -> str:
    """Names an answer as a page shows it: another text, or another mark, has another name."""
    state = answer.state
    stamp = repr((answer.row, answer.digest, state.score, state.waits, state.comment))
    return hashlib.sha256(stamp.encode("utf-8", "replace")).hexdigest()[:32]


def _answers(count: int) -> str:
    return f"{count} answer{'' if count == 1 else 's'}"
