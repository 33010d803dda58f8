"""Pairs of submissions that have unusual code in common, after names and comments are made equal.

Nothing here proves anything: short exercises have few good answers. What two answers share counts by how rare it is
in the class, so the way everybody solves an exercise makes nobody suspicious.

Answers of earlier terms come from an archive of ``autograder term archive``, or from a term's folder, as ``autograder
term new`` leaves it in ``terms/``.

What students wrote themselves is the code of their answer cells and files, without the released text.
"""

import builtins
import io
import json
import keyword
import tokenize
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from rapidfuzz.distance import Indel

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.errors import GradingError, UnreadableSubmission
from autograder.gradebook.roster import read_salt, with_salt
from autograder.model import cells, course_file
from autograder.model.course import Course
from autograder.model.nbgrader import CONFIG

#: Of an answer (or of all cells of a student's own together) so much is compared; longer lines are data.
MAX_CHARACTERS, MAX_LINE = 50_000, 2000


@dataclass(frozen=True)
class Answer:
    """One student's code for one place: an answer cell, cells of their own, or a file."""

    student: str
    place: str
    source: str
    stub: str


def read_answers(course: Course, assignment: Assignment, students: list[str]) -> list[Answer]:
    """Every answer of the students named, from the autograded notebooks and the files that were handed in."""
    found: list[Answer] = []
    for student in students:
        for name, release in assignment.release.items():
            path = course.autograded(student, assignment.name) / f"{name}.ipynb"
            try:
                notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
            except (OSError, ValueError, nbformat.reader.NotJSONError):
                continue
            found.extend(_of_notebook(student, notebook, release))
        found.extend(_of_files(course, assignment, student))
    return found


def _of_notebook(student: str, notebook: nbformat.NotebookNode, release: nbformat.NotebookNode) -> Iterator[Answer]:
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells if cells.is_solution(cell)}
    handed_out = {cell.source.strip() for cell in release.cells}
    for cell in notebook.cells:
        if cell.cell_type != "code" or cells.is_locked(cell) or cell.source.strip() in handed_out:
            continue
        name = cells.grade_id(cell)
        if name is not None and name in stubs:
            yield Answer(student, name, cell.source, stubs[name])
        else:
            yield Answer(student, "cells of their own", cell.source, "")


def _of_files(course: Course, assignment: Assignment, student: str) -> Iterator[Answer]:
    if not assignment.deliverables:
        return
    try:
        sent = read_submission(course.submitted(student, assignment.name), student, assignment)
    except (UnreadableSubmission, OSError):
        return
    for name, data in sent.files.items():
        yield Answer(
            student, name, data.decode("utf-8", "replace"), assignment.files.get(name, b"").decode("utf-8", "replace")
        )


@dataclass(frozen=True)
class Token:
    """``kind`` as in :mod:`tokenize`. Comments and blank lines are none."""

    kind: int
    text: str

    @property
    def is_name(self) -> bool:
        return self.kind == tokenize.NAME and not keyword.iskeyword(self.text)


def tokens(source: str, handed_out: str = "") -> list[Token]:
    """The source's tokens, as far as it can be read; lines that were handed out are left out, comments or not.

    Of a very long source the beginning is read: no exercise needs as much, and long lines take long to take apart.
    """
    source, handed_out = _beginning(source), _beginning(handed_out)
    known = {_line(line) for line in _lines(handed_out)} if handed_out else set()
    return [token for line in _lines(source) if _line(line) not in known for token in line]


def _beginning(source: str) -> str:
    lines = source[:MAX_CHARACTERS].split("\n")
    return "\n".join(line for line in lines if len(line) <= MAX_LINE)


def _lines(source: str) -> list[list[Token]]:
    """The tokens, line by line as they stand in the file."""
    lines: dict[int, list[Token]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(cells.without_magics(source)).readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
                lines.setdefault(token.start[0], []).append(Token(token.type, token.string))
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read so far is enough to compare
    return list(lines.values())


def _line(line: list[Token]) -> str:
    return " ".join(token.text for token in line if token.text.strip())


#: Fewer tokens than this, and equal answers are chance.
ENOUGH_TOKENS = 40
#: More than this are not compared: no exercise needs so many.
MAX_TOKENS = 5000
#: So many tokens in a row are compared at a time: about two lines.
RUN = 10
#: Share of rare code in common from which on a pair is named. Among 200 simulated answers, put together from three or
#: four ways for each step, no honest pair reaches it.
ALIKE = 0.7
#: Whoever is alike with more than this many others (and this share of the class) solved it the usual way.
USUAL, USUAL_SHARE = 3, 0.03
_LAYOUT = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True)
class Pair:
    """Two students' answers to one exercise.

    in_common: share of their rare runs of tokens that both have, 0 to 1. similarity: share of all tokens.
    """

    place: str
    first: str
    second: str
    in_common: float
    similarity: float
    tokens: int
    sources: tuple[str, str]


def similar_pairs(answers: Sequence[Answer]) -> list[Pair]:
    """Unusually similar pairs over all places, the most telling first."""
    places: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        places[answer.place][answer.student].append(answer)
    pairs: list[Pair] = []
    for place, by_student in places.items():
        pairs.extend(_pairs_of(place, {student: _joined(own) for student, own in by_student.items()}))
    return sorted(pairs, key=lambda pair: (-pair.in_common * min(pair.tokens, 400), pair.first, pair.second))


def by_students(pairs: Sequence[Pair]) -> list[tuple[str, str, list[Pair]]]:
    """(first, second, their pairs): who is alike in several exercises comes first."""
    together: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        together[min(pair.first, pair.second), max(pair.first, pair.second)].append(pair)
    found = [(first, second, own) for (first, second), own in together.items()]
    return sorted(found, key=lambda one: (-sum(pair.in_common * min(pair.tokens, 400) for pair in one[2]), one[:2]))


def _joined(answers: Sequence[Answer]) -> Answer:
    source, stub = ("\n".join(getattr(one, field) for one in answers) for field in ("source", "stub"))
    return Answer(answers[0].student, answers[0].place, source, stub)


def _pairs_of(place: str, answers: dict[str, Answer]) -> list[Pair]:
    streams = {student: normalised(answer)[:MAX_TOKENS] for student, answer in answers.items()}
    long_enough = [student for student, stream in streams.items() if len(stream) >= ENOUGH_TOKENS]
    if len(long_enough) < 2:
        return []
    common = rare_in_common([streams[student] for student in long_enough])
    alike = (common >= ALIKE) & ~np.eye(len(common), dtype=bool)
    usual = alike.sum(1) > max(USUAL, USUAL_SHARE * len(common))
    found = []
    for row, column in np.argwhere(np.triu(alike)):
        if usual[row] and usual[column]:
            continue
        first, second = long_enough[row], long_enough[column]
        mine, theirs = streams[first], streams[second]
        similarity = Indel.normalized_similarity(mine, theirs)
        sources = (answers[first].source, answers[second].source)
        length = min(len(mine), len(theirs))
        found.append(Pair(place, first, second, float(common[row, column]), similarity, length, sources))
    return found


def rare_in_common(streams: Sequence[Sequence[str]]) -> np.ndarray:
    """(answers, answers): the share of two answers' runs of tokens that both have, each weighted by how rare it is."""
    runs = [{tuple(stream[at : at + RUN]) for at in range(len(stream) - RUN + 1)} for stream in streams]
    spread = Counter(run for own in runs for run in own)
    place = {run: index for index, run in enumerate(spread)}
    has = np.zeros((len(streams), len(place)), dtype=np.float32)  # (answers, runs)
    for line, own in enumerate(runs):
        has[line, [place[run] for run in own]] = 1
    weights = np.log((len(streams) + 1) / np.fromiter(spread.values(), dtype=np.float32))
    both = (has * weights) @ has.T
    either = both.diagonal()[:, None] + both.diagonal()[None] - both
    return np.asarray(both / np.maximum(either, 1e-9))


def normalised(answer: Answer) -> list[str]:
    """The student's own tokens. Names that the student chose are all equal; comments, docstrings, layout are gone."""
    given = _given(answer.stub)
    symbols: list[str] = []
    before, previous = "", Token(tokenize.NEWLINE, "\n")
    for token in tokens(answer.source, answer.stub):
        if token.kind == tokenize.STRING:
            if previous.kind not in _LAYOUT:  # else a docstring
                symbols.append("a string")
        elif token.is_name:
            # an attribute of a library keeps its name; one of the student's own object does not
            of_library = previous.text == "." and before != "self"
            symbols.append(token.text if of_library or token.text in given else "a name")
        elif token.kind not in _LAYOUT:
            symbols.append(token.text)
        before, previous = previous.text, token
    return symbols


@lru_cache(maxsize=256)
def _given(stub: str) -> frozenset[str]:
    return frozenset(token.text for token in tokens(stub) if token.is_name) | frozenset(dir(builtins))


def same_answers(answers: Sequence[Answer]) -> list[tuple[str, int, int]]:
    """(place, students, tokens) where four or more answers are the same, token for token; usual for short ones."""
    streams: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for answer in answers:
        streams[answer.place, tuple(normalised(answer))].add(answer.student)
    found = [(place, len(who), len(stream)) for (place, stream), who in streams.items() if len(who) > 3 and stream]
    return sorted(found, key=lambda one: (-one[1], one[0]))


SCHEMA_VERSION = 1
#: An archive is the instructor's own; this keeps a damaged one from filling the memory.
MAX_BYTES = 500_000_000


@dataclass(frozen=True)
class EarlierTerm:
    """``pseudonymised``: its students are known by pseudonyms alone."""

    name: str
    answers: tuple[Answer, ...]
    pseudonymised: bool = False


def read_earlier(course: Course, assignment: str, path: Path) -> EarlierTerm:
    """Raises GradingError where ``path`` is neither, is the present term, or has no answers of the assignment."""
    found = _of_folder(course, assignment, path) if path.is_dir() else _of_archive(assignment, path)
    if found.name == course.file.term:
        raise GradingError(f"{path} is the present term, {found.name}: its students are compared anyway")
    return found


def _of_folder(course: Course, assignment: str, path: Path) -> EarlierTerm:
    if path.resolve() == course.root.resolve():
        raise GradingError(f"{path} is this course: expected an earlier term's folder, such as terms/2026w")
    if not (path / course_file.NAME).is_file() and not (path / CONFIG).is_file():
        raise GradingError(f"{path}: expected an earlier term's folder, such as terms/2026w, or an archive of it")
    old = Course(path)
    if assignment not in old.assignments() or not (students := old.everybody_autograded(assignment)):
        raise GradingError(f"{path} has nothing graded of {assignment!r}; it has {_listed(old.assignments())}")
    answers = read_answers(old, Assignment.open(old, assignment), students)
    return EarlierTerm(old.file.term or path.resolve().name, tuple(answers))


def _of_archive(assignment: str, path: Path) -> EarlierTerm:
    expected = f"{path}: expected an archive of 'autograder term archive', or an earlier term's folder"
    try:
        with zipfile.ZipFile(path) as archive:
            about = _member(archive, "archive.json")
            if about["schema"] != SCHEMA_VERSION:
                raise GradingError(f"{path}: expected an archive of version {SCHEMA_VERSION}, got {about['schema']!r}")
            names = [Path(name).stem for name in archive.namelist() if name.startswith("answers/")]
            if assignment not in names:
                raise GradingError(f"{path} has no answers of {assignment!r}; it has {_listed(names)}")
            found = _member(archive, f"answers/{assignment}.json")
        answers = tuple(Answer(*(_text(one[key]) for key in ("student", "place", "source", "stub"))) for one in found)
        return EarlierTerm(_text(about["term"]), answers, about["pseudonymised"] is True)
    except OSError as error:
        raise GradingError(f"{expected}; {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise GradingError(f"{expected}; it cannot be read ({type(error).__name__})") from error


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > MAX_BYTES:
        raise ValueError(f"{name} is larger than {MAX_BYTES} bytes")
    return json.loads(archive.read(name).decode("utf-8"))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {value!r}")
    return value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def pairs_with_earlier(
    root: Path, answers: Sequence[Answer], terms: Sequence[EarlierTerm], *, anonymous: bool = False
) -> list[Pair]:
    """Pairs of a present answer and an earlier one, the earlier student called ``TERM: STUDENT``.

    anonymous: with pseudonyms for earlier students; those of the present ones are in ``answers`` already.
    Who takes the course again and hands in their own old answer is in no pair.
    """
    pseudonym = _pseudonyms(root) if anonymous or any(term.pseudonymised for term in terms) else None
    present = {answer.student for answer in answers}
    earlier: list[Answer] = []
    own: set[frozenset[str]] = set()
    for term in terms:
        hidden = anonymous or term.pseudonymised
        for one in term.answers:
            known = pseudonym(one.student) if pseudonym and hidden and not term.pseudonymised else one.student
            earlier.append(Answer(f"{term.name}: {known}", one.place, one.source, one.stub))
        for student in present:
            again = pseudonym(student) if pseudonym and hidden and not anonymous else student
            own.add(frozenset((student, f"{term.name}: {again}")))
    old = {answer.student for answer in earlier}
    return [
        pair
        for pair in similar_pairs([*answers, *earlier])
        if (pair.first in old) != (pair.second in old) and frozenset((pair.first, pair.second)) not in own
    ]


def _pseudonyms(root: Path) -> Callable[[str], str]:
    salt = read_salt(root)
    return lambda student: with_salt(salt, student)
