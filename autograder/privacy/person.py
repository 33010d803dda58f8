"""Who is to be removed, and whether a text, a table's row or a file's name is about them."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote

from autograder.exports.matching import squeezed
from autograder.gradebook.read import Student
from autograder.model.plain_text import forms, one_form

_CODECS = ("utf-8", "utf-16-le", "latin-1")
_LMS_COLUMN = re.compile(r"\b(id|identifier|sis|lms|participant|user)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ErasedPerson:
    """``names``: full names that nobody else in the class has. ``aliases``: ids by which archives know the person.

    ``numbers``: by which LMSs know them for the whole term.
    """

    id: str
    names: tuple[str, ...] = ()
    email: str = ""
    numbers: frozenset[str] = frozenset()
    parts: tuple[str, str] = ("", "")
    aliases: frozenset[str] = field(default_factory=frozenset)

    @property
    def ids(self) -> frozenset[str]:
        return self.aliases | {self.id}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What stands for the person, wherever it is written."""
        return tuple(word for word in (*sorted(self.ids), self.email, *self.names) if word)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        written = {text for word in self.words for form in forms(word) for text in _written(form)}
        codes = {form.encode(codec, "ignore") for form in written for codec in _CODECS}
        longest = sorted((code for code in codes if code), key=lambda code: (-len(code), code))
        # "ada" is not in "Canada", and not in the ids "ada-b" and "ada.b"
        return re.compile(rb"(?i)(?<![a-z0-9])(?<![a-z0-9][._+-])(?:" + b"|".join(map(re.escape, longest))
                          + rb")(?![a-z0-9]|[.+-][a-z])")  # fmt: skip

    def is_in(self, data: bytes) -> bool:
        """Whether the bytes name the person, in a usual encoding, as JSON, HTML or in a link."""
        return self._pattern.search(data) is not None

    def is_cell(self, cell: str) -> bool:
        return one_form(cell.strip().lstrip("'")).casefold() in {word.casefold() for word in self.words}

    def is_row(self, cells: Sequence[str], header: Sequence[str] = ()) -> bool:
        """Whether a table's row is theirs: it holds the id, the address, the name, or the LMS's number as an id."""
        texts = {one_form(cell.strip()).casefold() for cell in cells}
        whole = all(part.casefold() in texts for part in self.parts) if all(self.parts) and self.names else False
        number = any(
            cell.strip() in self.numbers and _LMS_COLUMN.search(title)
            for cell, title in zip(cells, header, strict=False)
        )
        return whole or number or any(map(self.is_cell, cells))

    def is_filename(self, name: str) -> bool:
        """Whether a file or folder is named after the person, by us, nbgrader's exchange, Moodle or Canvas."""
        if name in self.ids or name.partition(".")[0] in self.ids or name.partition("+")[0] in self.ids:
            return True
        uploaded = re.match(r"(.+?)_(?:LATE_)?(\d+)_", name)
        names = {squeezed(word) for word in (*self.names, self.id)}
        canvas = "_assignsubmission_" not in name  # Moodle's numbers are each assignment's own
        return uploaded is not None and (squeezed(uploaded[1]) in names or (canvas and uploaded[2] in self.numbers))


def person(
    student: Student, others: Sequence[Student], aliases: Iterable[str] = (), numbers: Iterable[str] = ()
) -> ErasedPerson:
    """The person behind a row of the gradebook's table of students. What another student has too is left out.

    numbers: by which LMSs know them.
    """

    taken = {_full(one.first_name.strip(), one.last_name.strip()) for one in others}
    first, last, email = student.first_name.strip(), student.last_name.strip(), student.email.strip()
    names: tuple[str, ...] = ()
    if first and last and _full(first, last) not in taken:
        names = (f"{first} {last}", f"{last}, {first}", f"{last},{first}", f"{last} {first}")
    if email.casefold() in {one.email.strip().casefold() for one in others}:
        email = ""
    known = frozenset({student.lms_user_id.strip(), *numbers}) - {""}
    return ErasedPerson(student.id.strip(), names, email, known, (first, last), frozenset(aliases))


def _full(first: str, last: str) -> tuple[str, str]:
    return first.casefold(), last.casefold()


def _written(word: str) -> set[str]:
    return {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1], html.escape(word), quote(word)}
