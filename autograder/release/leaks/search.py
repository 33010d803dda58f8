"""Does a folder give away what students must not see? Searched by content, not by marker.

What is searched for comes from the trusted side: solution regions, hidden tests, mark schemes, model answers, the
files that students hand in, and the expected tensors, as raw bytes and as numbers printed to four digits. What the
instructor shows in the same assignment's visible text is no leak, unless it is most of a solution. In a notebook every
line that looks like a marker is one, and so is whatever only hidden tests say.
"""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.model.assignment import Assignment
from autograder.release.leaks.embedded import embedded
from autograder.release.leaks.secrets import BARE_WIDTH, Secrets, bare, secrets_of, shown_whole, squeeze
from autograder.release.leaks.tensors import Tensors, number_groups
from autograder.release.markers import marker_lines

#: Of an archive inside the folder no more than this is unpacked.
MAX_UNPACKED_BYTES = 1 << 30
#: What only hidden tests say: students' notebooks never ask for a stored reference.
_GRADER = re.compile(r"\b(?:from|import)\s+autograder\b|\breference\s*\(\s*(?:slug\s*=\s*)?[\"']")


def release_leaks(folder: Path, assignment: Assignment) -> list[str]:
    """The leaks of one assignment's release: what must not be there, and what its own text shows of a secret."""
    return [*shown_whole(assignment), *leaks(folder, assignment)]


def leaks(folder: Path, assignments: Assignment | Sequence[Assignment]) -> list[str]:
    """Every place in ``folder`` that holds something secret of these assignments, each in one line; empty is good.

    Reads every file: notebooks cell by cell, HTML without its tags, zips and wheels member by member. Once per
    file and secret, however often it occurs.
    """
    opened = [assignments] if isinstance(assignments, Assignment) else list(assignments)
    handed_in = frozenset(name for one in opened for name in one.deliverables)
    search = _Search(Secrets.joined([secrets_of(one) for one in opened]), Tensors.of(opened), handed_in)
    found: list[str] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        found += search.file(str(path.relative_to(folder)), path.read_bytes())
    return found


@dataclass
class _Search:
    secrets: Secrets
    tensors: Tensors
    deliverables: frozenset[str] = frozenset()
    _unpacked: int = field(default=0, init=False)

    def file(self, name: str, data: bytes) -> Iterator[str]:
        if data[:4] == b"PK\x03\x04":
            yield from self._archive(name, data)
        yield from (f"{name}: the bytes of {tensor}" for tensor in self.tensors.in_bytes(data))
        if b"\0" in data[:8192]:
            return
        words = data.decode("utf-8", "replace")
        for inside, content in embedded(name, words):
            yield from self.file(inside, content)
        text = _text(name, words)
        if name.endswith(".ipynb") or name in self.deliverables:  # elsewhere such lines may be meant
            yield from (f"{name}: the marker {line!r}" for line in dict.fromkeys(marker_lines(text)))
        if name.endswith(".ipynb"):
            yield from (f"{name}: hidden tests say {said!r}" for said in dict.fromkeys(_GRADER.findall(text)))
        yield from (f"{name}: {what}" for what in self._words(text))
        groups = number_groups(text)
        yield from (f"{name}: numbers of {tensor}" for tensor in self.tensors.in_numbers(groups))

    def _words(self, text: str) -> Iterator[str]:
        reported: set[str] = set()
        for squeezed in {squeeze(text), squeeze("\n".join(map(bare, text.split("\n"))))}:
            for position in range(len(squeezed) - BARE_WIDTH + 1):
                for needle in self.secrets.by_head.get(squeezed[position : position + BARE_WIDTH], ()):
                    if needle.owner not in reported and squeezed.startswith(needle.squeezed, position):
                        reported.add(needle.owner)
                        yield f"{needle.owner}: {needle.shown!r}"

    def _archive(self, name: str, data: bytes) -> Iterator[str]:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for member in archive.infolist():
                    self._unpacked += member.file_size
                    if self._unpacked > MAX_UNPACKED_BYTES:
                        yield f"{name}: unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB; not searched any further"
                        return
                    yield from self.file(f"{name}!{member.filename}", archive.read(member))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            yield f"{name}: an archive that cannot be searched ({error})"


def _text(name: str, text: str) -> str:
    """The words of a file as a reader would copy them."""
    if name.endswith((".ipynb", ".json")):
        try:
            return "\n".join(_strings(json.loads(text)))
        except (ValueError, RecursionError):
            return text
    if name.endswith((".html", ".htm", ".svg", ".xml")):
        return html.unescape(re.sub(r"<[^>]*>", "", text))
    return text


def _strings(value: Any) -> Iterator[str]:
    """Every text and number in a JSON document; lists of lines (a cell's source, an output) as one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, float):
        yield repr(value)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield "".join(value) if any(item.endswith("\n") for item in value) else "\n".join(value)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
