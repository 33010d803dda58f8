"""One assignment on the desk of those who mark it: its groups now, who they are shown to, and what each stores."""

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.errors import EncoderFailed, GradingError, NothingToGrade
from autograder.feedback.words import in_points
from autograder.feedback.words import points as in_words
from autograder.files.atomic import write_file, writing
from autograder.gradebook.graded_answers import settling
from autograder.gradebook.marks import MarkChange, paragraphs, store_marks, undo_marks
from autograder.gradebook.read import Key, Student, open_book, read_students
from autograder.gradebook.roster import read_salt, with_salt
from autograder.marking.answers import AnswerReader, ClassAnswer, ReadClass, change_of, read_graders
from autograder.marking.exercises import MarkedExercise
from autograder.marking.groups import (
    BY_WORDS,
    AnswerGroup,
    Likeness,
    TextEncoder,
    form,
    grouped,
    put_back,
    put_together,
    read_splits,
    write_splits,
)
from autograder.marking.log import GivenLine, LoggedMark, LoggedMarks, MarkLog, logged, waiting_for_second
from autograder.model.course import Course


@dataclass
class Marker:
    """A person who marks. ``said``: what their next page tells them. ``stored``: how many marks, as far as counted."""

    name: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    said: str = ""
    stored: int = 0


class Desk:
    """``anonymous``: pseudonyms in the place of names, everywhere. ``double``: percent that two people mark."""

    def __init__(
        self, course: Course, assignment: str, anonymous: bool = False, by_words: bool = False, double: int = 0
    ) -> None:
        """Raises GradingError where there is no such assignment, or nothing of it is for a person to mark."""
        self.course, self.assignment, self.double = course, assignment, double
        self.reader = AnswerReader(course, assignment)
        self.claims, self._log = Claims(course.root, assignment), MarkLog(course.root, assignment)
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

    def read_for(self, marker: Marker) -> ReadClass:
        """The class as it is for this person: an answer that waits for their second mark waits."""
        read, log = self.reader.read(), self.log
        if self.double:
            for key, answers in read.answers.items():
                seconds = waiting_for_second(answers, key, marker.name, log, self.double)
                read.answers[key] = [replace(one, second=one.row in seconds) for one in answers]
        return read

    @property
    def log(self) -> LoggedMarks:
        return self._log.read()

    def groups(self, key: Key, answers: Sequence[ClassAnswer], marker: Marker) -> list[AnswerGroup]:
        """The exercise's groups; computed again where answers or splits are others than before.

        Where an answer of a group waits for this person's second mark, those are left out that others have marked.
        """
        split = read_splits(self.course.root, self.assignment).get("/".join(key), {})
        stamp = tuple(sorted((one.row, one.digest) for one in answers)), tuple(sorted(split.items()))
        known = self._groups.get(key)
        if known is None or known[0] != stamp:
            known = self._groups[key] = stamp, self._grouped(answers, split)
        now = {one.row: one for one in answers}
        groups = [replace(one, answers=tuple(now[old.row] for old in one.answers)) for one in known[1]]
        return [self._for_second(one, marker) for one in groups]

    def formed(self, key: Key) -> int:
        """How many groups the exercise has; 0 as long as nobody has opened it."""
        return len(self._groups[key][1]) if key in self._groups else 0

    def _for_second(self, group: AnswerGroup, marker: Marker) -> AnswerGroup:
        if not any(one.second for one in group.answers):
            return group
        log = self.log
        own = (one for one in group.answers if one.waits or ((by := log.of(one)) and by.grader == marker.name))
        return replace(group, answers=tuple(own))

    def _grouped(self, answers: Sequence[ClassAnswer], split: Mapping[str, str]) -> list[AnswerGroup]:
        try:
            return grouped(answers, self.likeness, split)
        except EncoderFailed as error:
            if self.likeness is BY_WORDS:
                raise
            self.problem, self.likeness = f"{error}; answers are compared by their words", BY_WORDS
            return grouped(answers, self.likeness, split)

    def split(self, key: Key, group: AnswerGroup, forms: Collection[str]) -> str:
        """Make a group of its own of some of a group's texts; returns one of them."""
        there = _forms(group)
        chosen = there & set(forms)
        if not chosen or chosen == there:
            raise GradingError("choose some of the texts, not none and not all")
        with self._splits(key) as own:
            own |= put_together(own, chosen, joins=False)
        return min(chosen)

    def merge(self, key: Key, group: AnswerGroup, other: AnswerGroup) -> str:
        """Make one group of two; returns a text of it."""
        if group.name == other.name or "blank" in (group.name, other.name):
            raise GradingError("choose another group, whose answers say the same")
        with self._splits(key) as own:
            own |= put_together(own, _forms(group) | _forms(other), joins=True)
        return min(_forms(group))

    def put_back(self, key: Key, group: AnswerGroup) -> str:
        """The texts of a group that a person has made where they were before; returns one of them."""
        with self._splits(key) as own:
            back = put_back(own, _forms(group))
            own.clear()
            own |= back
        return min(_forms(group))

    @contextmanager
    def _splits(self, key: Key) -> Iterator[dict[str, str]]:
        with settling(self.course.root, self.assignment):
            splits = read_splits(self.course.root, self.assignment)
            yield splits.setdefault("/".join(key), {})
            write_splits(self.course.root, self.assignment, splits)

    def grader_of(self, key: Key) -> str:
        """To whom the exercise was assigned; "" for everybody's."""
        return read_graders(self.course.root, self.assignment).get("/".join(key), "")

    def own_first(self, keys: Iterable[Key], marker: Marker) -> list[Key]:
        return sorted(keys, key=lambda key: self.grader_of(key) not in ("", marker.name))

    @property
    def pseudonyms(self) -> bool:
        return bool(self._salt)

    def show_names(self) -> None:
        """Names in the place of pseudonyms, for everybody at this desk. Raises GradingError before the last mark."""
        if any(one.waits for answers in self.read().answers.values() for one in answers):
            raise GradingError("names are shown after the last mark")
        self._salt = b""

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
        now = {member(one): one for one in self.read_for(marker).answers.get(key, ())}
        known = [now[name] for name in members if name in now]
        free = [one for one in known if one.row not in others]
        click = secrets.token_hex(8)
        firsts = [one for one in free if not one.second]
        stored = self._store(marker, key, firsts, [change_of(one, points, comment, alone) for one in firsts], click)
        seconds = [one for one in free if one.second]
        stored += self._store_second(
            marker, key, seconds, [change_of(one, points, comment, True) for one in seconds], click
        )
        said = [f"{_answers(stored)} marked with {in_points(points)}."]
        if len(known) > len(free):
            said.append(f"{_answers(len(known) - len(free))} left to somebody else, who is reading.")
        if changed := len(members) - len(known) + len(free) - stored:
            said.append(f"{_answers(changed)} not marked: the answer or its mark has changed, look again.")
        marker.said = " ".join(said)

    def _store(
        self, marker: Marker, key: Key, answers: list[ClassAnswer], changes: list[MarkChange], click: str
    ) -> int:
        if not changes:
            return 0
        lines = partial(given_lines, self.reader.exercises[key])
        stored = store_marks(
            self.course, self.assignment, changes,
            lambda stored: self._log.noting(logged(key, answers, stored, marker.name, click, lines)),
        )  # fmt: skip
        marker.stored += len(stored)
        return len(stored)

    def _store_second(
        self, marker: Marker, key: Key, answers: list[ClassAnswer], changes: list[MarkChange], click: str
    ) -> int:
        """In the log alone: the gradebook keeps the first mark, until somebody decides."""
        if not changes:
            return 0
        lines = partial(given_lines, self.reader.exercises[key])
        with settling(self.course.root, self.assignment):
            now = {one.row: one for one in self.read_for(marker).answers.get(key, ()) if one.second}
            current = {one.row for one in answers if one.row in now and member(now[one.row]) == member(one)}
            kept = [one for one in changes if one.row in current]
            with self._log.noting(logged(key, answers, kept, marker.name, click, lines, second=True)):
                marker.stored += len(kept)
        return len(kept)

    def new_points(self, key: Key, answers: Sequence[ClassAnswer]) -> "list[NewPoints]":
        """The marks that would be others by the mark scheme as it is now."""
        return new_points(self.reader.exercises[key], answers, self.log)

    def give_new_points(self, marker: Marker, key: Key, members: Collection[str]) -> None:
        """Change the marks that a page has shown as they would be."""
        found = self.new_points(key, self.read_for(marker).answers.get(key, ()))
        chosen = [one for one in found if member(one.answer) in members]
        changes = [change_of(one.answer, one.points, one.comment, True) for one in chosen]
        stored = self._store(marker, key, [one.answer for one in chosen], changes, secrets.token_hex(8))
        marker.said = f"{_answers(stored)} changed to the mark scheme's points."
        if stored < len(members):
            marker.said += f" {_answers(len(members) - stored)} not: the mark has changed, look again."

    def undo(self, marker: Marker, row: str = "") -> tuple[Key, str] | None:
        """Take the marker's last click back, or the mark of one answer, whoever gave it.

        Returns its exercise and one of its rows; None where there is nothing.
        """
        marks = self._of(row, marker) if row else self.log.last_click(marker.name)
        if not marks:
            marker.said = "There is nothing to undo."
            return None
        back = self._take_back(marks, marker)
        marker.said = f"{_answers(back)} put back as before."
        if back < len(marks):
            marker.said += f" {_answers(len(marks) - back)} not: changed since."
        notebook, _, cell = marks[0].exercise.partition("/")
        return (notebook, cell), marks[0].change.row

    def _of(self, row: str, marker: Marker) -> list[LoggedMark]:
        shown = [one for found in self.read_for(marker).answers.values() for one in found if one.row == row]
        mark = self.log.of(shown[0]) if shown and not shown[0].second else None
        return [mark] if mark else []

    def _take_back(self, marks: Sequence[LoggedMark], marker: Marker) -> int:
        firsts: list[MarkChange] = [one.change for one in marks if not one.second]
        back = undo_marks(self.course, self.assignment, firsts) if firsts else []
        self._log.take_back(marks, marker.name)
        return len(back) + len(marks) - len(firsts)

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


def _forms(group: AnswerGroup) -> set[str]:
    return {form(answer) for answer in group.answers}


def member(answer: ClassAnswer) -> str:
    """Names an answer as a page shows it: another text, or another mark, has another name."""
    state = answer.state
    stamp = repr((answer.row, answer.digest, state.score, state.waits, state.comment))
    return hashlib.sha256(stamp.encode("utf-8", "replace")).hexdigest()[:32]


def _answers(count: int) -> str:
    return f"{count} answer{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class NewPoints:
    """What an answer's mark is by the mark scheme as it is now."""

    answer: ClassAnswer
    points: float
    comment: str


def given_lines(exercise: MarkedExercise, comment: str) -> tuple[GivenLine, ...]:
    """The lines of the mark scheme that a comment has."""
    given = paragraphs(comment)
    return tuple((line.name, line.points, line.comment) for line in exercise.lines if line.comment in given)


def new_points(exercise: MarkedExercise, answers: Iterable[ClassAnswer], log: LoggedMarks) -> list[NewPoints]:
    """The answers whose mark would change. A line is known again by its text, whatever its points are."""
    now = {line.name: line for line in exercise.lines}
    found = []
    for answer in answers:
        mark = None if answer.second else log.of(answer)
        score = answer.state.score
        changed = [one for one in mark.lines if one[0] in now and now[one[0]].points != one[1]] if mark else []
        if not changed or score is None:
            continue
        score = min(max(score + sum(now[name].points - before for name, before, _ in changed), 0), exercise.max_points)
        texts = {text: now[name].comment for name, _, text in changed}
        comment = _with(answer.state.comment or "", texts)
        if (score, comment) != (answer.state.score, answer.state.comment):
            found.append(NewPoints(answer, score, comment))
    return found


def _with(comment: str, texts: dict[str, str]) -> str:
    parts: Sequence[str] = paragraphs(comment)
    return "\n\n".join(texts.get(part, part) for part in parts) if any(part in texts for part in parts) else comment


#: So long an answer that somebody has opened is theirs; every look at it and every mark begins anew.
MINUTES = 5
_LOCK_SECONDS = 10

Claimed = dict[str, tuple[str, float]]  # row of the gradebook -> grader, end


class Claims:
    """Kept in a file beside the gradebook: people who mark may each have a server of their own."""

    def __init__(self, root: Path, assignment: str) -> None:
        self._path = root / ".autograder" / "marks" / assignment / "claims.json"

    def take(self, grader: str, rows: Iterable[str]) -> dict[str, str]:
        """Claim what is free, and let go of what the grader had before.

        Returns the rows that are somebody else's, each with the other grader.
        """
        wanted = set(rows)
        with self._changing() as claimed:
            others = {row: one[0] for row, one in claimed.items() if row in wanted and one[0] != grader}
            for row in [row for row, one in claimed.items() if one[0] == grader]:
                del claimed[row]
            claimed |= dict.fromkeys(wanted - others.keys(), (grader, time.time() + 60 * MINUTES))
        return others

    def others(self, grader: str) -> Mapping[str, str]:
        """The rows that other people have claimed, each with its grader."""
        return {row: one[0] for row, one in _current(self._path).items() if one[0] != grader}

    @contextmanager
    def _changing(self) -> Iterator[Claimed]:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o660)
        try:
            with lock:
                claimed = _current(self._path)
                yield claimed
                write_file(self._path, json.dumps(claimed).encode())
        except Timeout as error:
            raise GradingError(f"{self._path} is locked by another process for {_LOCK_SECONDS} s") from error


def _current(path: Path) -> Claimed:
    """Without those that have expired; nothing where nothing can be read: the gradebook refuses a second mark."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return {str(row): (str(one), float(end)) for row, (one, end) in read.items() if end > time.time()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
