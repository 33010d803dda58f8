"""Which student of the course each person of an LMS is. One answer or none: nobody is matched by a guess.

From the surest sign to the weakest: the instructor's list; a number that the roster has; what the LMS's own table or
its API says of the person (login, address, and in Moodle's worksheet the full name). Whoever is on neither is new to
the course, but only where nobody on the roster could be meant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autograder.collect.archive import Refused
from autograder.collect.lists import Kind, ListedPerson, PeopleList, Person
from autograder.errors import GradingError
from autograder.exports.sheet import squeezed
from autograder.gradebook.roster import Roster
from autograder.model.plain_text import is_folder_name

LMS: Mapping[Kind, str] = {"canvas": "Canvas", "moodle": "Moodle", "github": "the forge", "exchange": "the exchange"}
_REMEDY: Mapping[Kind, str] = {
    "canvas": "--names with Canvas's export of the gradebook, or with a list id,student, says whose it is",
    "moodle": "Moodle gives everybody another number in each assignment: --names with this assignment's grading "
    "worksheet says whose it is",
    "github": "--names with a list id,student (the user's name, the student) says whose it is",
    "exchange": "",
}


@dataclass(frozen=True)
class Whose:
    """``students``: LMS number -> student; ``refused``: LMS number -> why nobody can tell. ``new``: not met before.

    ``listed``: student -> number and what else the list says, of everybody on it whom the course knows.
    """

    students: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    new: frozenset[str] = frozenset()
    listed: Mapping[str, ListedPerson] = field(default_factory=dict)
    expected: frozenset[str] = frozenset()


def identify(people: Iterable[Person], kind: Kind, roster: Roster, listed: PeopleList | None) -> Whose:
    """Of everybody at once: two who would be one student are none. Raises GradingError for another class's list."""
    there = {person.id: person for person in people}
    blind = len(there) > 1 and len({person.name for person in there.values()}) == 1
    search = _Search(kind, roster, listed, kind == "moodle" and not blind)
    students: dict[str, str] = {}
    refused = search.misnamed(there)
    if listed is not None and 2 * len(refused) > sum(number in listed.people for number in there):
        raise GradingError(f"{listed.file} fits hardly anybody: {next(iter(refused.values()))}")
    for person in (one for number, one in there.items() if number not in refused):
        try:
            students[person.id] = search.student(person)
        except Refused as reason:
            refused[person.id] = str(reason)
    for student in {one for one in students.values() if sum(other == one for other in students.values()) > 1}:
        those = sorted(number for number, one in students.items() if one == student)
        for number in those:
            del students[number]
            refused[number] = f"{' and '.join(those)} would both be {student}: put it right with --names"
    known = {**roster.number_of, **{one.student: one.id for one in search.lines.values() if one.student}}
    new = frozenset(one for number, one in students.items() if known.get(one) != number and one not in roster.students)
    on_list = search.everybody_listed(students)
    expected = frozenset(on_list) | {one.name for one in search.lines.values() if one.id not in
                                     {line.id for line in on_list.values()} | set(refused)}  # fmt: skip
    return Whose(students, refused, new, on_list, expected)


class _Search:
    """``compare``: whether the names in Moodle's zip must be those of the list, which may be another assignment's."""

    def __init__(self, kind: Kind, roster: Roster, listed: PeopleList | None, compare: bool) -> None:
        self.kind, self.roster, self.compare = kind, roster, compare
        self.lines: Mapping[str, ListedPerson] = listed.people if listed else {}
        self.has_list = listed is not None
        self.numbered = roster.numbered | {one.student for one in self.lines.values() if one.student}

    def student(self, person: Person) -> str:
        """Raises Refused where nobody can tell."""
        line = self.lines.get(person.id)
        found = self._known(person.id, line)
        about = line or ListedPerson(person.id, "", person.logins, person.email)
        found = found or self._by_signs(about) or self._by_name(line)
        if found and not is_folder_name(found):
            raise Refused(f"{found!r} of the roster cannot name a folder")
        return found or self._new(person, line)

    def misnamed(self, people: Mapping[str, Person]) -> dict[str, str]:
        """Number -> why, of those whom Moodle's zip calls otherwise than the list, a group's name before it apart."""
        found: dict[str, str] = {}
        called = self._all_names()
        for number, person in people.items() if self.compare else ():
            line = self.lines.get(number, ListedPerson(number))
            names = {squeezed(line.name)} if line.name else called.get(line.student, set())
            if names and not squeezed(person.name).endswith(tuple(names)):
                shown = line.name or f"{line.student}, who is called otherwise on the roster"
                found[number] = (
                    f"the list has {shown} under the number {number}, and Moodle's zip {person.name}: is it another "
                    "assignment's list?"
                )
        return found

    def everybody_listed(self, students: Mapping[str, str]) -> dict[str, ListedPerson]:
        """Student -> line, of those who sent something or are known to the course."""
        found: dict[str, ListedPerson] = {}
        for line in self.lines.values():
            try:
                student = students.get(line.id) or self._known(line.id, line)
                student = student or self._by_signs(line) or self._by_name(line)
            except Refused:
                continue
            if student:
                found[student] = line
        return found

    def _known(self, number: str, line: ListedPerson | None) -> str:
        if line is not None and line.student:
            return line.student
        those = self.roster.numbers.get(number, frozenset())
        if len(those) > 1:
            raise Refused(f"{' and '.join(sorted(those))} both have the number {number}: say with --names whose it is")
        return next(iter(those), "")

    def _by_signs(self, about: ListedPerson) -> str:
        """By what an administrator gave: login, id number, address."""
        signs = {text.casefold() for text in (*about.logins, about.email) if text}
        found = [
            one.id
            for one in self.roster.students.values()
            if one.id.casefold() in signs or (one.email and one.email.casefold() in signs)
        ]
        return self._only(found, about, "say the same of")

    def _by_name(self, line: ListedPerson | None) -> str:
        """In the LMS's own table, which has the whole class, a full name that nobody else there has."""
        if line is None or not line.name:
            return ""
        wanted = squeezed(line.name)
        found = [student for student, names in self._names().items() if wanted in names]
        if found and sum(squeezed(one.name) == wanted for one in self.lines.values()) > 1:
            raise Refused(f"two in the LMS's table are called {line.name}; {self._put_right(found[0])}")
        student = self._only(found, line, "are called like")
        email = self.roster.students[student].email if student in self.roster.students else ""
        if student and email and line.email and email.casefold() != line.email.casefold():
            raise Refused(
                f"{line.name} has the address {line.email} in the LMS's table, and {student} of the same name has "
                f"{email}; {self._put_right(student)}"
            )
        return student

    def _put_right(self, student: str) -> str:
        return f"correct the roster ('nbgrader db student add {student!r} --email ...'), or give a list id,student"

    def _names(self) -> dict[str, set[str]]:
        """Of those who have no number here."""
        return {student: names for student, names in self._all_names().items() if student not in self.numbered}

    def _all_names(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for one in self.roster.students.values():
            if one.first_name and one.last_name:
                both = one.first_name + one.last_name, one.last_name + one.first_name
                found.setdefault(one.id, set()).update(map(squeezed, both))
        for student, names in self.roster.names.items():
            found.setdefault(student, set()).update(map(squeezed, names))
        return found

    def _only(self, found: list[str], about: ListedPerson, why: str) -> str:
        free = [one for one in found if self.roster.number_of.get(one, about.id) == about.id]
        if len(found) > 1 or len(free) < len(found):
            raise Refused(f"{' and '.join(sorted(found))} {why} {about.name or about.id}: give a list id,student")
        return found[0] if found else ""

    def _new(self, person: Person, line: ListedPerson | None) -> str:
        """An id for somebody whom the course does not know."""
        named_so = person.id in self.roster.students and person.id not in self.numbered | self.roster.elsewhere
        if self.kind == "github" and not self.has_list and named_so:
            return person.id  # the instructor calls students by the users' names
        if meant := self._could_be(line):
            shown = ", ".join(meant[:3]) + (", ..." if len(meant) > 3 else "")
            raise Refused(
                f"nobody on the roster has {LMS[self.kind]}'s number {person.id}, and it could be one of {len(meant)} "
                f"students ({shown}): {_REMEDY[self.kind]}"
            )
        ids = (*(line.logins if line and self.kind == "moodle" else ()), person.fallback)
        student = next((one for one in ids if self._is_free(one, person.id)), "")
        if not student:
            raise Refused(f"{person.fallback} cannot name a folder, or is somebody else's: give a list id,student")
        return student

    def _is_free(self, student: str, number: str) -> bool:
        elsewhere = student in self.roster.elsewhere or self.roster.number_of.get(student, number) != number
        return is_folder_name(student) and not elsewhere and student not in {one.student for one in self.lines.values()}

    def _could_be(self, line: ListedPerson | None) -> list[str]:
        """The students of whom something is known but not their number here: anybody new could be one of them."""
        names = self._names()
        known = {*names, *(one.id for one in self.roster.students.values() if one.email)} - self.numbered
        return sorted(one for one in known if line is None or not self._differ(names.get(one), one, line))

    def _differ(self, names: set[str] | None, student: str, line: ListedPerson) -> bool:
        """Whether the LMS's table speaks of somebody else: with another name, or where none is known, address."""
        if names and line.name:
            return squeezed(line.name) not in names
        about = self.roster.students.get(student)
        return bool(line.email and about is not None and about.email)
