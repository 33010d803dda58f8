"""Pseudonyms: the same person has the same one everywhere in a course, and nobody finds the person without the salt."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import writing

_BYTES = 32
_DIGITS = 10  # hexadecimal: two of 10,000 people meet by a chance of 1 in 20,000


def salt_path(root: Path) -> Path:
    return root / ".autograder" / "salt"


def pseudonym(root: Path, person: str) -> str:
    """``p-`` and ten digits, made of the id and the course's secret salt, which is made when first needed.

    Raises GradingError where the salt cannot be read or written, or was cut.
    """
    return with_salt(read_salt(root), person)


def with_salt(salt: bytes, person: str) -> str:
    """As :func:`pseudonym`, for many people with one salt. An id that is none in Unicode has a pseudonym too."""
    made = hmac.new(salt, person.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"p-{made[:_DIGITS]}"


def read_salt(root: Path) -> bytes:
    """The course's salt; a new one where there is none. Two processes that make it at once get the same."""
    path = salt_path(root)
    if not path.exists():
        with writing(path):
            _make(path)
    try:
        salt = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise GradingError(f"{path} cannot be read: {error}; expected {2 * _BYTES} hexadecimal digits") from error
    if len(salt) < _BYTES:
        raise GradingError(f"{path}: expected {2 * _BYTES} hexadecimal digits, got {2 * len(salt)}; restore it")
    return salt


def _make(path: Path) -> None:
    """Written whole under a name of its own; the first process that links it to ``path`` wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".salt.{secrets.token_hex(4)}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o660)  # the group grades with the same salt
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
        os.link(fresh, path)
    except FileExistsError:
        return
    finally:
        fresh.unlink(missing_ok=True)
