"""What release, check and publish find in what students get, and what an instructor has accepted of it.

``course.toml`` has a table at its end for each finding that is meant so::

    [[accepted]]
    finding = "leak"
    where = "ps1/p1.ipynb, cell 'mean'"
    digest = "0123456789abcdef0123456789abcdef"
    reason = "the lecture shows these lines, too"

The digest is of the finding and the cell or file it was made in. When either changes, the table counts no longer.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model.course_file import NAME, read_course_file
from autograder.model.plain_text import toml_text

#: Where earlier versions kept the tables.
_EARLIER = "accepted.toml"
_KEYS = ("finding", "where", "digest", "reason")
_WIDTH = 32


@dataclass(frozen=True)
class Finding:
    """``blocks``: False for a note, which stops nothing. ``digest``: empty where it can only be mended."""

    kind: str
    where: str
    text: str
    digest: str = ""
    blocks: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def pinned(kind: str, where: str, text: str, *content: str | bytes, blocks: bool = True) -> Finding:
    """A finding that holds for this content alone."""
    digest = hashlib.sha256(kind.encode())
    for part in content:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return Finding(kind, where, text, digest.hexdigest()[:_WIDTH], blocks)


@dataclass(frozen=True)
class Accepted:
    """``reasons``: digest -> why it is meant so. ``places``: (kind, where) of every entry."""

    reasons: dict[str, str]
    places: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of_course(cls, root: Path) -> "Accepted":
        """Raises GradingError for a file that cannot be read, and for a table without a reason."""
        if (root / _EARLIER).is_file():
            raise GradingError(f"{_EARLIER} is no longer read: append its tables to {NAME}, then remove it")
        entries = [_checked(number, one) for number, one in enumerate(read_course_file(root).accepted, 1)]
        reasons = {one["digest"].lower(): one["reason"] for one in entries}
        return cls(reasons, frozenset((one["finding"], one["where"]) for one in entries))

    def reason(self, finding: Finding) -> str | None:
        return self.reasons.get(finding.digest)

    def left(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that stop something: neither a note nor accepted."""
        return [one for one in findings if one.blocks and self.reason(one) is None]

    def was_changed(self, finding: Finding) -> bool:
        """Whether a finding of this kind was accepted in this place, and is another one now."""
        return (finding.kind, finding.where) in self.places and self.reason(finding) is None


def entry(finding: Finding, reason: str = "") -> str:
    """The lines of ``course.toml`` that accept it."""
    values = (finding.kind, finding.where, finding.digest, reason)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in zip(_KEYS, values, strict=True)]
    return "\n".join(["[[accepted]]", *lines, ""])


def accept(root: Path, findings: Iterable[Finding], reason: str) -> None:
    """Write down at the end of ``course.toml`` that these are meant so; the rest of it stays as it is."""
    known, path = Accepted.of_course(root), root / NAME
    new = {one.digest: entry(one, reason) for one in findings if known.reason(one) is None}
    if new:
        before = toml_text(path.read_bytes()).rstrip() if path.is_file() else ""
        write_file(path, "\n".join([*([f"{before}\n"] if before else []), *new.values()]).encode())


def _checked(number: int, entry: Mapping[str, Any]) -> Mapping[str, str]:
    where = f"{NAME}, table {number} of [[accepted]]"
    for key in (*entry, *_KEYS):
        if key not in _KEYS or not isinstance(entry.get(key), str):
            raise GradingError(f"{where}: expected {', '.join(_KEYS)}, each a text; look at {key!r}")
    if not entry["reason"].strip():
        raise GradingError(f"{where} ({entry['where']}): say in 'reason' why this is meant so")
    return entry
