"""What would be written where: everything is read, and put aside on disk, before anybody is asked."""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from autograder.collect import clones
from autograder.collect.archive import Refused, opened, read_entry, sound_entries
from autograder.collect.people import Kind, Person, UploadedFile, canvas, moodle, own_name
from autograder.errors import GradingError
from autograder.gradebook.late.times import Record
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.model.submission import EXCHANGE_FILES, MAX_FILE_BYTES
from autograder.model.submitted_cells import MAX_NOTEBOOK_BYTES
from autograder.nbgrader import exchange

MAX_PER_STUDENT = 512 << 20  # bytes
_READERS: Mapping[str, Callable[[str, frozenset[str]], Iterator[UploadedFile]]] = {"canvas": canvas, "moodle": moodle}


@dataclass
class Collected:
    """One student's upload. ``folder`` holds the files for now; ``taken``: file -> where it came from."""

    student: str
    person: Person
    folder: Path
    taken: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, tuple[int, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    bytes: int = 0
    came_in: Record | None = None
    late: bool = False  # marked so by the LMS, which does not say when it came in


@dataclass
class Plan:
    """``ignored``: what belongs to nobody, and why; ``missing``: who is on the instructor's list and sent nothing."""

    kind: Kind
    students: list[Collected]
    ignored: list[tuple[str, str]]
    missing: list[str]


@dataclass(frozen=True)
class _Wanted:
    """Which files an assignment takes, by their last name: its notebooks, what is handed in beside, other notebooks."""

    assignment: Assignment

    @property
    def names(self) -> frozenset[str]:
        return frozenset({f"{stem}.ipynb" for stem in self.assignment.source} | self.assignment.deliverables)

    def limit(self, name: str) -> int:
        return MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES

    exchange: bool = False

    def __contains__(self, name: str) -> bool:
        if self.exchange and name in EXCHANGE_FILES:
            return True
        return not name.startswith(".") and (name in self.names or name.endswith(".ipynb"))


def make_plan(
    assignment: Assignment, source: Path | Course, aside: Path, kind: Kind | None, names: Mapping[str, str]
) -> Plan:
    """Read ``source`` and put every upload into a folder of its own below ``aside``.

    source: a zip, a folder of clones, or the course whose exchange is meant. names: LMS id -> student.
    Raises GradingError where the whole cannot be read.
    """
    gathering = _Gathering(_Wanted(assignment, isinstance(source, Course)), aside, names)
    if isinstance(source, Course):
        kind = "exchange"
        _from_exchange(gathering, source, assignment.name)
        source = exchange.inbound_folder(source)
    elif source.is_dir():
        if kind not in (None, "github"):
            raise GradingError(f"{source} is a folder: {kind} gives a zip")
        kind = "github"
        _from_clones(gathering, source, assignment.name)
    elif kind == "github":
        raise GradingError(f"{source} is no folder: expected one that holds the clones of students' repositories")
    elif source.is_file():
        kind = _from_zip(gathering, source, kind)
    else:
        raise GradingError(f"{source} is not there: expected a zip from Canvas or Moodle, or a folder of clones")
    students = sorted(gathering.people.values(), key=lambda one: one.student)
    if not students and not gathering.ignored:
        raise GradingError(f"{source} holds no submission")
    if not students:
        raise GradingError(f"{source} holds no submission that can be told: {': '.join(gathering.ignored[0])}")
    missing = sorted(set(names.values()) - {one.student for one in students if one.taken})
    return Plan(kind, students, gathering.ignored, missing)


class _Gathering:
    def __init__(self, wanted: _Wanted, aside: Path, names: Mapping[str, str]) -> None:
        self.wanted, self.aside, self.names = wanted, aside, names
        self.people: dict[str, Collected] = {}
        self.ignored: list[tuple[str, str]] = []

    def of(self, person: Person, student: str = "") -> Collected:
        """student: as the course calls them, where no list of names is needed to tell."""
        student = student or person.student(self.names)
        known = self.people.get(person.id)
        if known is None:
            if any(other.student == student for other in self.people.values()):
                student = f"{student}-{person.id}"
            folder = self.aside / str(len(self.people))
            folder.mkdir(parents=True)
            known = self.people[person.id] = Collected(student, person, folder)
        return known

    def add(
        self, one: Collected, filename: str, rank: tuple[int, int], origin: str, read: Callable[[int], bytes]
    ) -> None:
        """Take one file, if it is wanted, sound, and no older than what is there. A refusal costs this file alone."""
        name = filename.rsplit("/", 1)[-1]
        if name not in self.wanted:
            one.notes.append(f"{origin} is not asked for")
            return
        if name in one.ranks and one.ranks[name] >= rank:
            one.notes.append(f"{origin} was left out: there is a later {name}" if one.ranks[name] > rank
                             else f"{origin} was left out: there is another {name}")  # fmt: skip
            return
        try:
            data = read(self.wanted.limit(name))
        except Refused as reason:
            one.notes.append(f"{origin} was refused: {reason}")
            return
        if one.bytes + len(data) > MAX_PER_STUDENT:
            one.notes.append(f"{origin} was refused: more than {MAX_PER_STUDENT >> 20} MB in one submission")
            return
        if "/" in filename:
            one.notes.append(f"{name} was found in {filename.rpartition('/')[0]}/")
        one.bytes += len(data)
        if name in one.taken:
            one.notes.append(f"{one.taken[name]} was left out: there is a later {name}")
        (one.folder / name).write_bytes(data)
        one.taken[name], one.ranks[name] = origin, rank

    def add_zip(self, one: Collected, data: bytes, rank: tuple[int, int], origin: str) -> None:
        """A zip that a student zipped: opened once, its own zips are not."""
        try:
            with opened(io.BytesIO(data), origin) as inner:
                for info, reason in sound_entries(inner):
                    inside = f"{origin} / {info.filename}"
                    if "__MACOSX" in info.filename:
                        continue
                    if reason:
                        one.notes.append(f"{inside!a} was refused: {reason}")
                        continue
                    depth = -info.filename.count("/")
                    self.add(
                        one, own_name(info.filename, self.wanted.names), (rank[0], depth), inside, _reader(inner, info)
                    )
        except GradingError as error:
            one.notes.append(f"{origin} was refused: {error}")


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
    return lambda limit: read_entry(archive, info, limit)


def _from_zip(gathering: _Gathering, source: Path, kind: Kind | None) -> Kind:
    with opened(source, str(source)) as archive:
        entries = list(sound_entries(archive))
        kind = kind or _recognised([info.filename for info, _ in entries], gathering.wanted.names, source)
        for info, reason in entries:
            if reason:
                gathering.ignored.append((ascii(info.orig_filename)[1:-1][:200], reason))
                continue
            ways = list(_READERS[kind](info.filename, gathering.wanted.names))
            ways = [way for way in ways if way.filename in gathering.wanted.names] or ways
            if len(ways) != 1:  # a person's name may be made to look like another's number: never guess
                why = "can be read in more than one way" if ways else "does not say whose it is"
                gathering.ignored.append((info.filename, f"its name {why}"))
                continue
            _take(gathering, archive, info, ways[0])
    return kind


def _take(gathering: _Gathering, archive: zipfile.ZipFile, info: zipfile.ZipInfo, sent: UploadedFile) -> None:
    one = gathering.of(sent.person)
    one.late = one.late or sent.late
    rank = (sent.attempt, 1)
    if not sent.filename.lower().endswith(".zip"):
        gathering.add(one, sent.filename, rank, info.filename, _reader(archive, info))
        return
    try:
        data = read_entry(archive, info, MAX_NOTEBOOK_BYTES)
    except Refused as reason:
        one.notes.append(f"{info.filename} was refused: {reason}")
        return
    gathering.add_zip(one, data, rank, info.filename)


def _recognised(names: list[str], expected: frozenset[str], source: Path) -> Kind:
    counts: dict[str, int] = defaultdict(int)
    for name in names:
        for kind, read in _READERS.items():
            counts[kind] += any(True for _ in read(name, expected))
    best = max(get_args(Kind), key=lambda kind: counts[kind])
    if not counts[best]:
        raise GradingError(f"{source} looks like neither Canvas's nor Moodle's zip: say which with --from")
    return best


def _from_clones(gathering: _Gathering, folder: Path, assignment: str) -> None:
    for repository, user in clones.repositories(folder, assignment):
        if not user:
            gathering.ignored.append((repository.name, f"its name does not begin with {assignment}-"))
            continue
        one = gathering.of(Person(user, user))
        try:
            found = clones.blobs(repository)
        except Refused as reason:
            one.notes.append(f"{repository.name} was refused: {reason}")
            continue
        for blob in found:
            if blob.path.rsplit("/", 1)[-1] not in gathering.wanted:
                continue  # a repository is full of other things
            if blob.reason:
                one.notes.append(f"{blob.path!a} was refused: {blob.reason}")
                continue
            rank = (int(f"/{assignment}/" in f"/{blob.path}"), -blob.path.count("/"))
            gathering.add(one, blob.path.rsplit("/", 1)[-1], rank, blob.path, _blob_reader(repository, blob))


def _from_exchange(gathering: _Gathering, course: Course, assignment: str) -> None:
    """Of every student the submission that came in last."""
    latest: dict[str, exchange.Inbound] = {}
    for found in exchange.inbound(course, assignment):
        owner = exchange.owner_differs(found) if course.settings.check_owner else ""
        if owner:
            advice = "c.ExchangeCollect.check_owner = False takes it, where everybody is one user"
            gathering.ignored.append((found.folder.name, f"belongs to {owner}, not to {found.student}: {advice}"))
        elif course.takes(found.student) and (
            found.student not in latest or found.came_in >= latest[found.student].came_in
        ):
            latest[found.student] = found
    for found in latest.values():
        try:
            names = exchange.files_in(found.folder)
        except OSError as error:
            gathering.ignored.append((found.folder.name, f"cannot be read: {error.strerror}"))
            continue
        one = gathering.of(Person(found.student, found.student), found.student)
        for name in names:
            gathering.add(one, name, (0, 0), name, _exchange_reader(found.folder, name))
        found = replace(found, changed=exchange.last_change(found.folder))  # of what was read, not of what was listed
        if found.remark:
            one.notes.append(found.remark)
        one.came_in = Record(found.came_in, exchange.submission_id(one.folder))


def _exchange_reader(folder: Path, name: str) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        data = exchange.read_file(folder, name, limit)
        if data is None:
            raise Refused(f"it is no plain file, or above {limit >> 20} MB")
        return data

    return read


def _blob_reader(repository: Path, blob: clones.Blob) -> Callable[[int], bytes]:
    return lambda limit: clones.content(repository, blob, limit)
