"""Clones of students' repositories: the files of the commit that HEAD names, read without checking anything out.

Nothing of a repository is run: no hook, no filter, no submodule; links are no plain files. Commit dates are the
student's to choose and count for nothing.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.archive import Refused, against_name
from autograder.errors import GradingError

_SECONDS = 60
_QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_LAZY_FETCH": "1",
          "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}  # fmt: skip
_PLAIN_MODES = ("100644", "100755")


@dataclass(frozen=True)
class Blob:
    """A file in a commit. ``size`` in bytes, as git counted it."""

    path: str
    object: str
    size: int
    reason: str = ""


def repositories(folder: Path, assignment: str) -> Iterator[tuple[Path, str]]:
    """(clone, user at the forge); the user is empty where the name does not begin with the assignment's."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and (path / ".git").exists():
            yield path, user(path, assignment)


def user(repository: Path, assignment: str) -> str:
    beginnings = {f"{assignment}-", f"{assignment.replace('_', '-')}-"}
    return next((repository.name[len(start) :] for start in beginnings if repository.name.startswith(start)), "")


def blobs(repository: Path) -> list[Blob]:
    """Every file of HEAD. Raises Refused where there is no commit."""
    listed = git(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD")
    found = []
    for line in listed.split(b"\0"):
        if not line:
            continue
        about, _, raw = line.partition(b"\t")
        mode, kind, name, size = about.decode("ascii").split()
        path = raw.decode("utf-8", "replace")
        plain = mode in _PLAIN_MODES and kind == "blob"
        reason = against_name(path) or ("" if plain else "it is a link or a submodule")
        found.append(Blob(path, name, int(size) if size.isdigit() else 0, reason))
    return found


def content(repository: Path, blob: Blob, limit: int) -> bytes:
    if blob.size > limit:
        raise Refused(f"it is larger than {limit >> 20} MB")
    return git(repository, "cat-file", "blob", blob.object)


def git(repository: Path, *words: str, variables: Mapping[str, str] | None = None, given: bytes = b"") -> bytes:
    """What git prints in a repository that nobody trusts. Raises Refused where git fails.

    variables: further ones of git's environment; ``given``: its input.
    """
    program = shutil.which("git")
    if program is None:
        raise GradingError("reading clones takes git: install it, or hand over a zip")
    settings = ["-c", "core.hooksPath=" + os.devnull, "-c", "core.fsmonitor=false", "-c", "safe.directory=*"]
    try:
        done = subprocess.run(
            [program, *settings, "-C", str(repository), *words],
            input=given, capture_output=True, timeout=_SECONDS, check=False,
            env={**os.environ, **_QUIET, **(variables or {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Refused(f"git took longer than {_SECONDS} s") from error
    if done.returncode:
        raise Refused(f"git says: {done.stderr.decode('utf-8', 'replace').strip()[:200]}")
    return done.stdout
