"""Feedback as a commit on a branch of its own in each student's clone.

Made of git's plumbing: nothing is checked out, the student's branches and working tree stay as they are, and no hook or
filter of the repository runs. Nothing is pushed.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.archive import Refused
from autograder.collect.clones import git, repositories
from autograder.errors import GradingError
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.roster import Origin
from autograder.lms.pages import Pages

BRANCH = "autograder-feedback"
_NAME, _ADDRESS = "autograder", "autograder@localhost"
_AUTHOR = {
    "GIT_AUTHOR_NAME": _NAME,
    "GIT_AUTHOR_EMAIL": _ADDRESS,
    "GIT_COMMITTER_NAME": _NAME,
    "GIT_COMMITTER_EMAIL": _ADDRESS,
}


@dataclass(frozen=True)
class Committed:
    """``clones``: student -> clone with a new commit; ``unchanged``: who has these pages already."""

    clones: Mapping[str, Path]
    unchanged: tuple[str, ...]
    left_out: Mapping[str, str]


def commit(pages: Pages, origins: Mapping[str, Origin], clones: Path, assignment: str) -> Committed:
    """Commit each student's pages to ``feedback/ASSIGNMENT/`` on the branch ``autograder-feedback`` of their clone.

    clones: the folder with the clones, ``<assignment>-<user>``. Raises GradingError where there is none.
    """
    if not clones.is_dir():
        raise GradingError(f"{clones} is no folder: expected the one with the clones that were collected")
    users = {origin.id: student for student, origin in origins.items() if origin.kind == "github"}
    made: dict[str, Path] = {}
    unchanged: list[str] = []
    left_out = dict.fromkeys(pages, f"no clone {assignment}-<user> of theirs is in {clones}")
    for clone, user in repositories(clones, assignment):
        student = users.get(user, user)
        if user and student in pages:
            left_out.pop(student, None)
            try:
                if _commit(clone, pages[student], assignment):
                    made[student] = clone
                else:
                    unchanged.append(student)
            except Refused as reason:
                left_out[student] = f"{clone.name}: {reason}"
    return Committed(made, tuple(unchanged), left_out)


def _commit(clone: Path, own: Mapping[str, bytes], assignment: str) -> bool:
    """Whether there was anything to commit."""
    reference = f"refs/heads/{BRANCH}"
    before = git(clone, "for-each-ref", "--format=%(objectname)", reference).decode().strip()
    with TemporaryFolder("index-") as temporary:
        index = {"GIT_INDEX_FILE": os.path.join(temporary, "index")}
        folder = f"feedback/{assignment}"
        lines = []
        if before:  # pages of other assignments stay, earlier ones of this assignment go
            git(clone, "read-tree", before, variables=index)
            listed = git(clone, "ls-tree", "-r", "-z", "--name-only", before, f"{folder}/").split(b"\0")
            lines = [f"0 {'0' * len(before)}\t{name.decode()}\0" for name in listed if name]
        for name, data in sorted(own.items()):
            number = git(clone, "hash-object", "-w", "--stdin", given=data).decode().strip()
            lines.append(f"100644 {number}\t{folder}/{name}\0")
        git(clone, "update-index", "-z", "--index-info", variables=index, given="".join(lines).encode())
        tree = git(clone, "write-tree", variables=index).decode().strip()
    if before and git(clone, "rev-parse", f"{before}^{{tree}}").decode().strip() == tree:
        return False
    parents = ["-p", before] if before else []
    message = f"Feedback on {assignment}"
    made = git(clone, "commit-tree", tree, *parents, "-m", message, variables=_AUTHOR).decode().strip()
    git(clone, "update-ref", reference, made, before or "0" * len(made))
    return True
