"""What would be written where: everything is read, and put aside on disk file by file, before anybody is asked."""

import io
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from autograder.assignment import exchange
from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import EXCHANGE_FILES, MAX_FILE_BYTES
from autograder.collect import clones
from autograder.collect.archive import PackedFile, Refused, against_name, opened, sound_entries
from autograder.collect.lists import Kind, ListedPerson, PeopleList, Person, UploadedFile, own_name, owners
from autograder.collect.whose import LMS, Whose, identify
from autograder.errors import GradingError
from autograder.files.atomic import undisturbed
from autograder.gradebook.groups import Mates, mates
from autograder.gradebook.late.times import Record
from autograder.gradebook.roster import Roster, read_roster
from autograder.model.course import Course
from autograder.model.plain_text import is_folder_name
from autograder.model.submitted_cells import MAX_NOTEBOOK_BYTES

MAX_PER_STUDENT = 512 << 20  # bytes
#: What systems leave in archives and repositories; nobody handed these in.
_LITTER = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints", ".DS_Store"})


def is_litter(path: str) -> bool:
    return any(part in _LITTER or part.startswith("._") for part in path.split("/"))


@dataclass
class Collected:
    """One student's upload. ``folder`` holds the files for now; ``taken``: file -> where it came from.

    ``notes``: what is good to know; ``left_out``: what might be missed, and why.
    """

    student: str
    person: Person
    folder: Path
    taken: dict[str, str] = field(default_factory=dict)
    ranks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    bytes: int = 0
    came_in: Record | None = None
    late: bool = False  # marked so by the LMS, which does not say when it came in


@dataclass(frozen=True)
class Wanted:
    """Which files an assignment takes, by their last name: its notebooks, what is handed in beside, other notebooks."""

    assignment: Assignment
    exchange: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset({f"{stem}.ipynb" for stem in self.assignment.source} | self.assignment.deliverables)

    def limit(self, name: str) -> int:
        return MAX_NOTEBOOK_BYTES if name.endswith(".ipynb") else MAX_FILE_BYTES

    def __contains__(self, name: str) -> bool:
        if self.exchange and name in EXCHANGE_FILES:
            return True
        return not name.startswith(".") and (name in self.names or name.endswith(".ipynb"))


class Gathering:
    """``people``: by the LMS's number. ``ignored``: what is nobody's, and why."""

    def __init__(self, wanted: Wanted, aside: Path) -> None:
        self.wanted, self.aside = wanted, aside
        self.people: dict[str, Collected] = {}
        self.ignored: list[tuple[str, str]] = []

    def of(self, person: Person, known: Whose, origin: str) -> Collected | None:
        """Whose upload it is; None where nobody can tell, and then ``origin`` is ignored."""
        if person.id in known.refused:
            self.ignored.append((origin, known.refused[person.id]))
            return None
        if person.id not in self.people:
            folder = self.aside / str(len(self.people))
            folder.mkdir(parents=True)
            self.people[person.id] = Collected(known.students[person.id], person, folder)
        return self.people[person.id]

    def add(
        self, one: Collected, filename: str, rank: tuple[int, ...], origin: str, read: Callable[[int], bytes]
    ) -> None:
        """Take one file, if it is wanted, sound, and no older than what is there. A refusal costs this file alone."""
        name = filename.rsplit("/", 1)[-1]
        if name not in self.wanted:
            one.notes.append(f"{origin} is not asked for")
            return
        rank = (*rank, int(origin.rsplit("/", 1)[-1].endswith(name)))  # a name as it should be comes first
        try:
            if reason := against_name(name):
                raise Refused(reason)
            data = read(self.wanted.limit(name))
            if one.bytes + len(data) > MAX_PER_STUDENT:
                raise Refused(f"more than {MAX_PER_STUDENT >> 20} MB in one submission")
        except Refused as reason:
            one.left_out.append(f"{origin} was refused: {reason}")
            return
        if name in one.taken:
            if (one.folder / name).read_bytes() == data:
                return
            self._say_which(one, name, rank, origin)
            if one.ranks[name] >= rank:
                return
        if "/" in filename:
            one.notes.append(f"{name} was found in {filename.rpartition('/')[0]}/")
        one.bytes += len(data)
        (one.folder / name).write_bytes(data)
        one.taken[name], one.ranks[name] = origin, rank

    def _say_which(self, one: Collected, name: str, rank: tuple[int, ...], origin: str) -> None:
        """Of two files for one place. That an earlier attempt is left out is as it should be."""
        taken = one.taken[name]
        loser, winner = (origin, taken) if one.ranks[name] >= rank else (taken, origin)
        if one.ranks[name][0] != rank[0]:
            one.notes.append(f"{loser} was left out: {winner} counts")
        else:
            one.left_out.append(f"{loser} was left out: {winner} was taken for {name}, and differs")

    def add_zip(self, one: Collected, data: bytes, rank: tuple[int, int], origin: str) -> None:
        """A zip that a student zipped: opened once, its own zips are not."""
        try:
            with opened(io.BytesIO(data), origin) as inner:
                for entry in sound_entries(inner):
                    if is_litter(entry.name):
                        continue
                    inside = f"{origin} / {entry.name}"
                    if entry.reason:
                        one.left_out.append(f"{inside!a} was refused: {entry.reason}")
                        continue
                    name = own_name(entry.name, self.wanted.names)
                    if name.lower().endswith(".zip"):
                        one.left_out.append(f"{inside} was refused: it is a zip in a zip")
                        continue
                    depth = -entry.name.count("/")
                    self.add(one, name, (rank[0], depth), inside, entry.read)
        except GradingError as error:
            one.left_out.append(f"{origin} was refused: {error}")


@dataclass(frozen=True)
class SentFile:
    """A file at an LMS. ``size``: in bytes, as the LMS has it; None where it says nothing. ``read``: limit -> bytes.

    ``origin``: under which name feedback goes back.
    """

    name: str
    size: int | None
    read: Callable[[int], bytes]
    origin: str


@dataclass(frozen=True)
class Sent:
    """What an LMS's API has of one person."""

    person: Person
    files: tuple[SentFile, ...]
    came_in: Record | None = None
    late: bool = False


@dataclass
class Plan:
    """``ignored``: what belongs to nobody, and why; ``missing``: who is on the instructor's list and sent nothing.

    ``listed``: student -> number and name, as the instructor's list has them. ``new``: students new to the course.
    ``unlisted``: those of them whom the list, where one was given, does not have.
    """

    kind: Kind
    students: list[Collected]
    ignored: list[tuple[str, str]]
    missing: list[str] = field(default_factory=list)
    listed: Mapping[str, ListedPerson] = field(default_factory=dict)
    new: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()


#: A zip, a folder of clones, the course whose exchange is meant, or what an LMS's API has.
Source = Path | Course | Sequence[Sent]


def make_plan(
    course: Course, assignment: Assignment, source: Source, aside: Path, kind: Kind | None, listed: PeopleList | None
) -> Plan:
    """Read ``source`` and put every upload into a folder of its own below ``aside``.

    listed: whose number is whose. Raises GradingError where the whole cannot be read, or the list fits nobody.
    """
    gathering = Gathering(Wanted(assignment, isinstance(source, Course)), aside)

    def whose(people: Iterable[Person], found: Kind) -> Whose:
        return _whose(list(people), found, read_roster(course, found, assignment.name), listed)

    if isinstance(source, Course):
        kind, known = "exchange", _from_exchange(gathering, source, assignment.name)
        shown = str(exchange.inbound_folder(source))
        if listed is not None:
            known = replace(known, expected=frozenset(one.student or one.id for one in listed.people.values()))
    elif not isinstance(source, Path):
        kind, shown = kind or "canvas", LMS[kind or "canvas"]
        known = whose((one.person for one in source if one.files), kind)
        _from_api(gathering, source, known)
    elif source.is_dir():
        if kind not in (None, "github"):
            raise GradingError(f"{source} is a folder: {kind} gives a zip")
        kind, shown = "github", str(source)
        found = _clones(gathering, source, assignment.name, course)
        known = whose((Person(user, user) for _, user in found), kind)
        _from_clones(gathering, found, assignment.name, known)
    elif kind == "github":
        raise GradingError(f"{source} is no folder: expected one that holds the clones of students' repositories")
    elif source.is_file():
        shown = str(source)
        with opened(source, str(source)) as archive:
            entries = list(sound_entries(archive))
            kind = kind or _recognised([entry.name for entry in entries], gathering.wanted.names, source)
            sent = _owned(gathering, kind, entries)
            known = whose((one.person for _, one in sent), kind)
            for entry, one in sent:
                _take(gathering, entry, one, known)
    else:
        raise GradingError(f"{source} is not there: expected a zip from Canvas or Moodle, or a folder of clones")
    return _plan(kind, gathering, known, shown, listed, mates(course, assignment.name))


def _whose(people: list[Person], kind: Kind, roster: Roster, listed: PeopleList | None) -> Whose:
    if listed is not None:
        if listed.kind not in (None, kind):
            raise GradingError(f"{listed.file} is {LMS[listed.kind]}'s own table, and these files are {LMS[kind]}'s")
        there = [one.id for one in people]
        if there and not any(number in listed.people for number in there):
            raise GradingError(
                f"{listed.file} fits nobody: it has the numbers {_some(listed.people)}, and here come {_some(there)}"
                + ("; Moodle's numbers are each assignment's own" if kind == "moodle" else "")
            )
    return identify(people, kind, roster, listed)


def _some(numbers: Iterable[str]) -> str:
    first = list(numbers)[:4]
    return ", ".join(first[:3]) + (", ..." if len(first) > 3 else "")


def _plan(
    kind: Kind, gathering: Gathering, known: Whose, shown: str, listed: PeopleList | None, together: Mates
) -> Plan:
    students = sorted(gathering.people.values(), key=lambda one: one.student)
    if not students and not gathering.ignored:
        raise GradingError(f"{shown} holds no submission")
    if not students:
        raise GradingError(f"{shown} holds no submission that can be told: {': '.join(gathering.ignored[0])}")
    sent = {one.student for one in students if one.taken}
    missing = sorted(known.expected - sent.union(*(together.get(one, ()) for one in sent)))
    outside = {one.student for one in students if listed is not None and one.person.id not in listed.people}
    return Plan(kind, students, gathering.ignored, missing, known.listed, known.new, known.new & outside)


def _owned(gathering: Gathering, kind: Kind, entries: list[PackedFile]) -> list[tuple[PackedFile, UploadedFile]]:
    """The entries that are somebody's; the others are ignored, each with its reason."""
    sound = [entry for entry in entries if not entry.reason]
    found = owners(kind, [entry.name for entry in sound], gathering.wanted.names)
    for entry in entries:
        reason = entry.reason or found[entry.name]
        if isinstance(reason, str):
            gathering.ignored.append((ascii(entry.name)[1:-1][:200] if entry.reason else entry.name, reason))
    return [(entry, one) for entry in sound if isinstance(one := found[entry.name], UploadedFile)]


def _take(gathering: Gathering, entry: PackedFile, sent: UploadedFile, known: Whose) -> None:
    one = gathering.of(sent.person, known, entry.name)
    if one is None:
        return
    one.late = one.late or sent.late
    _add(gathering, one, sent.filename, (sent.attempt, 1), entry.name, entry.read)


def _add(
    gathering: Gathering,
    one: Collected,
    filename: str,
    rank: tuple[int, int],
    origin: str,
    read: Callable[[int], bytes],
) -> None:
    if not filename.lower().endswith(".zip"):
        gathering.add(one, filename, rank, origin, read)
        return
    try:
        data = read(MAX_NOTEBOOK_BYTES)
    except Refused as reason:
        one.left_out.append(f"{origin} was refused: {reason}")
        return
    gathering.add_zip(one, data, rank, origin)


def _recognised(names: list[str], expected: frozenset[str], source: Path) -> Kind:
    counts: dict[str, int] = defaultdict(int)
    for kind in ("canvas", "moodle"):
        counts[kind] = sum(isinstance(one, UploadedFile) for one in owners(kind, names, expected).values())
    best = max(get_args(Kind), key=lambda kind: counts[kind])
    if not counts[best]:
        raise GradingError(f"{source} looks like neither Canvas's nor Moodle's zip: say which with --from")
    return best


def _from_api(gathering: Gathering, sents: Sequence[Sent], known: Whose) -> None:
    for sent in sents:
        one = gathering.of(sent.person, known, f"the submission of {sent.person.name}") if sent.files else None
        if one is None:
            continue
        one.late, one.came_in = sent.late, sent.came_in
        for file in sent.files:
            name = own_name(file.name, gathering.wanted.names)
            _add(gathering, one, name, (0, 1), file.origin, _bounded(file))


def _bounded(file: SentFile) -> Callable[[int], bytes]:
    """Nothing is loaded of a file that the LMS itself says is too large."""

    def read(limit: int) -> bytes:
        if file.size is not None and file.size > limit:
            raise Refused(f"it is larger than {limit >> 20} MB")
        return file.read(limit)

    return read


def _clones(gathering: Gathering, folder: Path, assignment: str, course: Course) -> list[tuple[Path, str]]:
    """The clones of this assignment, with their users. A name that may be another assignment's is nobody's."""
    others = [name for name in course.assignments() if name != assignment]
    found = []
    for repository, user in clones.repositories(folder, assignment):
        other = next((name for name in others if len(name) > len(assignment) and clones.user(repository, name)), "")
        if not user:
            gathering.ignored.append((repository.name, f"its name does not begin with {assignment}-"))
        elif other:
            gathering.ignored.append((repository.name, f"its name begins with {other}-, too: collect {other} from it"))
        elif not is_folder_name(user):
            gathering.ignored.append((repository.name, "its end cannot name a student's folder"))
        else:
            found.append((repository, user))
    return found


def _from_clones(gathering: Gathering, found: list[tuple[Path, str]], assignment: str, known: Whose) -> None:
    for repository, user in found:
        one = gathering.of(Person(user, user), known, repository.name)
        if one is None:
            continue
        try:
            blobs = clones.blobs(repository)
        except Refused as reason:
            one.left_out.append(f"{repository.name} was refused: {reason}")
            continue
        for blob in blobs:
            name = own_name(blob.path.rsplit("/", 1)[-1], gathering.wanted.names)
            if name not in gathering.wanted or is_litter(blob.path):
                continue  # a repository is full of other things
            if blob.reason:
                one.left_out.append(f"{blob.path!a} was refused: {blob.reason}")
                continue
            rank = (int(f"/{assignment}/" in f"/{blob.path}"), -blob.path.count("/"))
            gathering.add(one, name, rank, blob.path, partial(clones.content, repository, blob))


def _from_exchange(gathering: Gathering, course: Course, assignment: str) -> Whose:
    """Of every student the submission that came in last. Who they are, their account says."""
    latest: dict[str, exchange.Inbound] = {}
    for found in _accepted(gathering, course, assignment):
        if found.student not in latest or found.came_in >= latest[found.student].came_in:
            latest[found.student] = found
    known = Whose({student: student for student in latest})
    for found in latest.values():
        try:
            names = exchange.files_in(found.folder)
        except OSError as error:
            gathering.ignored.append((found.folder.name, f"cannot be read: {error.strerror}"))
            continue
        one = gathering.of(Person(found.student, found.student), known, found.folder.name)
        assert one is not None
        for name in names:
            own = own_name(name, gathering.wanted.names)
            gathering.add(one, own, (0, 0), name, _exchange_reader(found.folder, name))
        found = replace(found, changed=exchange.last_change(found.folder))  # of what was read, not of what was listed
        if found.remark:
            one.notes.append(found.remark)
        one.came_in = Record(found.came_in, exchange.submission_id(one.folder))
    return known


def _accepted(gathering: Gathering, course: Course, assignment: str) -> Iterator[exchange.Inbound]:
    for found in exchange.inbound(course, assignment):
        reason = found.reason
        if not reason and course.settings.check_owner and (owner := exchange.owner_differs(found)):
            advice = "c.ExchangeCollect.check_owner = False takes it, where everybody is one user"
            reason = f"belongs to {owner}, not to {found.student}: {advice}"
        if reason:
            gathering.ignored.append((found.folder.name, reason))
        elif course.takes(found.student):
            yield found


def _exchange_reader(folder: Path, name: str) -> Callable[[int], bytes]:
    def read(limit: int) -> bytes:
        data = exchange.read_file(folder, name, limit)
        if data is None:
            raise Refused(f"it is no plain file, or above {limit >> 20} MB")
        return data

    return read


@dataclass(frozen=True)
class WrittenSubmission:
    """What became of one student's upload; ``kept_at``: where the replaced one lies."""

    student: str
    what: Literal["new", "unchanged", "replaced", "differs", "empty", "refused"]
    kept_at: Path | None = None


def write_plan(course: Course, assignment: str, plan: Plan, force: bool) -> list[WrittenSubmission]:
    """Write every upload that holds something. One that differs from what is there replaces it only with ``force``."""
    return [_write(course, assignment, one, force) for one in plan.students]


@undisturbed()
def _write(course: Course, assignment: str, one: Collected, force: bool) -> WrittenSubmission:
    if not one.taken:
        return WrittenSubmission(one.student, "empty")
    target = course.submitted(one.student, assignment)
    if target.is_symlink() or target.parent.is_symlink():
        return WrittenSubmission(one.student, "refused")
    kept_at = None
    if target.exists():
        if _same(one.folder, target):
            return WrittenSubmission(one.student, "unchanged")
        if not force:
            return WrittenSubmission(one.student, "differs")
        kept_at = _free(course.root / ".autograder" / "replaced" / assignment, one.student)
        shutil.move(target, kept_at)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(one.folder, target)
    return WrittenSubmission(one.student, "replaced" if kept_at else "new", kept_at)


def _same(new: Path, old: Path) -> bool:
    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return contents(new) == contents(old)


def _free(folder: Path, student: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (folder / f"{student}-{number}").exists():
        number += 1
    return folder / f"{student}-{number}"
