"""Text that a submission had a hand in, made fit for people: one place for terminals, notes, logs, verdicts and files.

Control characters move a terminal's cursor or colour its text, direction marks reorder a line, a lone surrogate cannot
be saved at all. All of them are shown as escapes, and nothing is longer than a reader needs.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

#: Longest name (of a file, a cell, a student) that is shown in full.
MAX_NAME = 100
#: nbgrader's database holds no longer id.
MAX_STUDENT = 128
MAX_LINE = 500
MAX_TEXT = 4000
#: So many notes on one submission are kept; the others are counted.
MAX_NOTES = 50

#: A sign by which a terminal changes its colours.
COLOUR = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


def writable(text: str) -> str:
    """The text as UTF-8 can hold it: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_folder_name(text: str) -> bool:
    """Whether a student's folder may be called so: one level, visible, no option of a command, and in the database.

    Quotes, spaces, ``&`` and backslashes are in real user names. They are quoted where they are used, never refused.
    """
    plain = text.isprintable() and is_writable(text) and text == text.strip() and "/" not in text
    return bool(text) and plain and text[0] not in ".-" and len(text) <= MAX_STUDENT and len(text.encode()) <= 240


def one_form(name: str) -> str:
    """A person's name or id as it is compared, in NFC: a Mac's folders write it in NFD, most lists do not."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def forms(name: str) -> list[str]:
    """NFC, and NFD where that is another text: how a name may stand in a folder, a database or a file."""
    return list(dict.fromkeys(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))


def one_line(text: str, longest: int = MAX_LINE) -> str:
    """The text on one line, at most ``longest`` characters of it; what cannot be seen is shown as an escape."""
    shown = "".join(map(_visible, text[:longest]))[:longest]
    return shown if len(text) <= longest else f"{shown} …"


def name(text: str) -> str:
    return one_line(text, MAX_NAME)


def paragraph(text: str, longest: int = MAX_TEXT) -> str:
    """The text with its lines, without colours; everything else as in :func:`one_line`."""
    cut = text[:longest]
    plain = COLOUR.sub("", cut).replace("\r\n", "\n").replace("\r", "\n")
    shown = "\n".join("".join(map(_visible, line)) for line in plain.split("\n"))[:longest]
    return shown if len(text) <= longest else f"{shown} …"


def on_console(text: str, longest: int = MAX_LINE) -> str:
    """One line for a rich console, whose markup it does not take part in."""
    from rich.markup import escape  # most commands' help needs nothing of rich

    return escape(one_line(text, longest))


def meant(name: str, known: Iterable[str]) -> str:
    """A question after the known name that may be meant; empty where none is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def few(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes as a verdict keeps them: on one line each, and not more of them than somebody reads."""
    kept = tuple(one_line(note) for note in notes[:MAX_NOTES])
    return kept if len(notes) <= MAX_NOTES else (*kept, f"and {len(notes) - MAX_NOTES} more notes of this sort")


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character == "\t" else character.encode("unicode_escape").decode()


def toml_text(data: bytes) -> str:
    """Raises TOMLDecodeError, a ValueError, for another encoding: what it was meant to be cannot be told."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise tomllib.TOMLDecodeError(f"line {line} is not in UTF-8: save the file as UTF-8") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Raises OSError, and TOMLDecodeError where it is none: it names the line and shows it."""
    text = toml_text(path.read_bytes())
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        line = text.split("\n")[int(at[1]) - 1].strip() if at else ""
        raise tomllib.TOMLDecodeError(f"{error}: {one_line(line, 100)}" if line else str(error)) from None
