"""Reading zips that somebody else made: what names may say, how much may come out, what is refused and why."""

import contextlib
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

from autograder.errors import GradingError

MAX_ENTRIES = 50_000
#: Text packs to about a tenth; whatever unpacks to more than this many times its size was made to.
MAX_TIMES = 200
_SMALL = 1 << 20
_MAX_NAME = 255
_LOCAL_HEADER = 30  # bytes, at least, before an entry's data
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


class Refused(Exception):
    """Why one entry is not taken."""


class TooMuch(Refused):
    """It unpacks to more than it may."""


@contextlib.contextmanager
def opened(source: Path | IO[bytes], name: str) -> Iterator[zipfile.ZipFile]:
    """Raises GradingError where it is no zip, or one with too many entries."""
    try:
        archive = zipfile.ZipFile(source)
    except _BROKEN as error:
        raise GradingError(f"{name} cannot be read as a zip: {error}") from error
    with archive:
        if len(archive.infolist()) > MAX_ENTRIES:
            raise GradingError(f"{name} has {len(archive.infolist())} entries; at most {MAX_ENTRIES} are read")
        yield archive


@dataclass(frozen=True)
class PackedFile:
    """One file of an archive. ``name``: its path with ``/``; ``reason``: why it is refused unread, mostly nothing."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    name: str
    reason: str = ""

    def read(self, limit: int) -> bytes:
        """The bytes, counted while they come: what the archive says of their number counts for nothing.

        Raises Refused where there are more than ``limit``, far more than were packed, or where it is broken.
        """
        bound = min(limit, max(_SMALL, self.info.compress_size * MAX_TIMES))
        try:
            with self.archive.open(self.info) as stream:
                data = stream.read(bound + 1)
        except _BROKEN as error:
            raise Refused(f"it cannot be unpacked ({error})") from error
        if len(data) > limit:
            raise TooMuch(f"it is larger than {limit >> 20} MB")
        if len(data) > bound:
            raise TooMuch(f"it unpacks to more than {MAX_TIMES} times its size")
        return data


def sound_entries(archive: zipfile.ZipFile) -> Iterator[PackedFile]:
    """Every file of the archive, no folder. Windows' own ``Compress-Archive`` wrote backslashes between the names."""
    infos = archive.infolist()
    names = {info: info.orig_filename.replace("\\", "/") for info in infos}
    doubled = {name for name, count in Counter(names.values()).items() if count > 1}
    overlapping = _overlapping(infos)
    for info, name in names.items():
        if name.endswith("/") and not info.file_size:
            continue
        reason = against_name(name) or _against_kind(info)
        if not reason and name in doubled:
            reason = "the archive has two entries of this name"
        if not reason and info.header_offset in overlapping:
            reason = "it shares bytes with another entry"
        yield PackedFile(archive, info, name, reason)


def against_name(name: str) -> str:
    """Why a path from outside cannot be trusted; empty where it can."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        return "its name has control characters"
    if "\\" in name or name.startswith("/") or name[1:2] == ":":
        return "its name leads out of the archive"
    parts = name.rstrip("/").split("/")
    if ".." in parts or "." in parts or "" in parts:
        return "its name leads out of the archive"
    if any(len(part.encode()) > _MAX_NAME for part in parts) or len(name) > 4 * _MAX_NAME:
        return "its name is too long"
    return ""


def _against_kind(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "it is a link"
    if kind not in (0, stat.S_IFREG):
        return "it is no plain file"
    return "it is encrypted" if info.flag_bits & 0x1 else ""


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    ordered = sorted(infos, key=lambda info: info.header_offset)
    found: set[int] = set()
    for one, following in pairwise(ordered):
        if one.header_offset + _LOCAL_HEADER + one.compress_size > following.header_offset:
            found |= {one.header_offset, following.header_offset}
    return found
