"""One file without one person: what is left of its bytes. Each kind of file has its own rule; other kinds stay."""

import csv
import html
import io
import json
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from autograder.collect.archive import PackedFile, Refused, TooMuch
from autograder.exports.sheet import squeezed
from autograder.gradebook.late.file import EXTENSIONS
from autograder.gradebook.read import Student
from autograder.model.plain_text import forms, one_form, toml_text

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


_MAX_ENTRIES = 50_000
_MAX_UNPACKED, _SMALL = 1 << 30, 32 << 20  # bytes
_MAX_TIMES = 50  # the archive's own size, where that is more than _SMALL: texts pack to a tenth
_DEPTH = 3  # of an archive in an archive


class TooLarge(ValueError):
    """An archive that unpacks to more than anybody handed in: it stays as it is, and is named."""


@dataclass
class Unpacking:
    """What may still be unpacked of one file, of all archives in it together. Counted while it comes."""

    size: int  # bytes
    entries: int = _MAX_ENTRIES

    @classmethod
    def of(cls, data: bytes) -> "Unpacking":
        return cls(min(_MAX_UNPACKED, max(_SMALL, _MAX_TIMES * len(data))))

    def members(self, archive: zipfile.ZipFile, depth: int) -> Iterator[zipfile.ZipInfo]:
        """Raises TooLarge where there are too many, or archives lie too deep in each other."""
        if depth >= _DEPTH:
            raise TooLarge(f"more than {_DEPTH} archives lie in each other")
        for member in archive.infolist():
            self.entries -= 1
            if self.entries < 0:
                raise TooLarge(f"it holds more than {_MAX_ENTRIES:,} files")
            yield member

    def read(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
        """A member's bytes. Raises TooLarge, and ValueError for what cannot be unpacked."""
        if member.is_dir():
            return b""
        try:
            data = PackedFile(archive, member, member.filename).read(self.size)
        except TooMuch as refused:
            raise TooLarge(f"{member.filename}: {refused}") from refused
        except Refused as refused:
            raise ValueError(f"{member.filename}: {refused}") from refused
        self.size -= len(data)
        return data


def clean(name: str, data: bytes, person: ErasedPerson, depth: int = 0, allowance: Unpacking | None = None) -> bytes:
    """The file's bytes without the person; unchanged where nothing in it is theirs, or nobody knows how.

    Raises TooLarge for an archive that would unpack to more than ``allowance``.
    """
    if zipfile.is_zipfile(io.BytesIO(data)) and not name.lower().endswith((".xlsx", ".docx", ".ods", ".npz", ".whl")):
        return _zip(data, person, depth, allowance or Unpacking.of(data))
    path = PurePosixPath(name)
    rule = _RULES.get(path.suffix.lower())
    if rule is _json and path.parts[-3:-2] == (".autograder",):
        rule = _by_student
    if rule is _toml and path.name == EXTENSIONS:
        rule = _extensions
    if rule is None or (not person.is_in(data) and not (person.numbers and rule is _table)):
        return data
    try:
        return rule(data, person)
    except (ValueError, csv.Error, RecursionError):  # damaged: what stays is found by the search afterwards
        return data


def _json(data: bytes, person: ErasedPerson) -> bytes:
    read = json.loads(data.decode("utf-8"))
    kept = _pruned(read, person)
    return data if kept == read else _dumped(kept)


def _by_student(data: bytes, person: ErasedPerson) -> bytes:
    """Of ``.autograder/KIND/ASSIGNMENT.json``, whose keys are students."""
    read = json.loads(data.decode("utf-8"))
    kept = {key: value for key, value in read.items() if key not in person.ids} if isinstance(read, dict) else read
    kept = _pruned(kept, person)
    return data if kept == read else _dumped(kept)


def _dumped(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _pruned(value: Any, person: ErasedPerson) -> Any:
    """Without the entries of lists that are the person's id, or an object about the person."""
    if isinstance(value, list):
        return [_pruned(entry, person) for entry in value if not _about(entry, person)]
    if isinstance(value, dict):
        return {key: _pruned(entry, person) for key, entry in value.items()}
    return value


def _about(entry: Any, person: ErasedPerson) -> bool:
    if isinstance(entry, dict):
        return any(isinstance(entry.get(key), str) and entry[key] in person.ids for key in ("student", "id", "name"))
    return isinstance(entry, str) and entry in person.ids


def _json_lines(data: bytes, person: ErasedPerson) -> bytes:
    kept = []
    for line in data.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        try:
            read = json.loads(line)
        except ValueError:  # torn by a crash
            kept += [] if person.is_in(line.encode("utf-8", "surrogateescape")) else [line]
            continue
        if not _about(read, person):
            fewer = _pruned(read, person)
            kept.append(line if fewer == read else json.dumps(fewer) + "\n")
    return "".join(kept).encode("utf-8", "surrogateescape")


def _lines(data: bytes, person: ErasedPerson) -> bytes:
    return b"".join(line for line in data.splitlines(keepends=True) if not person.is_in(line))


def _table(data: bytes, person: ErasedPerson) -> bytes:
    """Rows of other people keep their bytes."""
    codec = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = data.decode(codec, "strict" if codec == "utf-16" else "surrogateescape")
    lines = text.splitlines(keepends=True)
    first = lines[0] if lines else ""
    reader = csv.reader(lines, delimiter=max(",;\t", key=first.count))
    kept, before, header = [], 0, None
    for row in reader:
        if header is None:
            header = row
        if not person.is_row(row, header):
            kept += lines[before : reader.line_num]
        before = reader.line_num
    return "".join(kept).encode(codec, "strict" if codec == "utf-16" else "surrogateescape")


def _toml(data: bytes, person: ErasedPerson) -> bytes:
    """Without the person's extensions and places in lists. Everything else stays, in its order.

    A key counts only where keys are students: a student may be called ``title``.
    """
    return _without_extensions(data, person, r"extensions['\"]?\s*\]", "extensions")


def _extensions(data: bytes, person: ErasedPerson) -> bytes:
    """Of ``extensions.toml``, where keys in every table are students."""
    return _without_extensions(data, person, "", r"[\w\"'-]+")


def _without_extensions(data: bytes, person: ErasedPerson, table: str, inline: str) -> bytes:
    """table, inline: regular expressions for the heading of a table, or the name of an inline one, about students."""
    before = text = toml_text(data)
    tomllib.loads(text)
    names = "|".join(map(re.escape, sorted(person.ids)))
    key, quoted = rf"(?:(?:{names})|\"(?:{names})\"|'(?:{names})')", rf"(?:\"(?:{names})\"|'(?:{names})')"
    own_line = re.compile(rf"[ \t]*{key}[ \t]*=")
    kept, of_students = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            of_students = bool(re.search(table, line))
        if (of_students and own_line.match(line)) or _comment_on(line, person):
            continue
        if re.match(rf"\s*{inline}\s*=\s*\{{", line):
            line = re.sub(rf"(?<=[{{,])\s*{key}\s*=\s*[^,}}\n]+?\s*(?:,|(?=\}}))", "", line)
            line = re.sub(r",(\s*\})", r"\1", line)
        kept.append(line)
    text = re.sub(rf"(?<=[\[,])\s*{quoted}\s*(?:,|(?=\]))", "", "".join(kept))
    tomllib.loads(text)
    return text.encode() if text != before else data


def _comment_on(line: str, person: ErasedPerson) -> bool:
    return line.lstrip().startswith("#") and person.is_in(line.encode())


def _zip(data: bytes, person: ErasedPerson, depth: int, allowance: Unpacking) -> bytes:
    """Without the members named after the person, and without the person in the others."""
    made, changed = io.BytesIO(), False
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for member in allowance.members(old, depth):
            if any(map(person.is_filename, PurePosixPath(member.filename).parts)):
                changed = True
                continue
            before = allowance.read(old, member)
            after = clean(member.filename, before, person, depth + 1, allowance)
            changed = changed or after != before
            new.writestr(member, after)
    return made.getvalue() if changed else data


def names_person(
    name: str, data: bytes, person: ErasedPerson, depth: int = 0, allowance: Unpacking | None = None
) -> bool:
    """Whether a file still names the person, archives unpacked. Raises TooLarge where nobody can tell."""
    if person.is_in(data):
        return True
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return False
    allowance = allowance or Unpacking.of(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in allowance.members(archive, depth):
                if any(map(person.is_filename, PurePosixPath(member.filename).parts)):
                    return True
                if member.flag_bits & 1:
                    return True  # nobody can tell
                if names_person(member.filename, allowance.read(archive, member), person, depth + 1, allowance):
                    return True
    except TooLarge:
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError):
        return False
    return False


_RULES: dict[str, Callable[[bytes, ErasedPerson], bytes]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".csv": _table,
    ".tsv": _table,
    ".toml": _toml,
    ".log": _lines,
}
