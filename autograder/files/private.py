"""What is kept about students stays out of git, and other users of the machine do not read it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_ORDINARY = range(1000, 60_000)  # numbers of people's accounts

#: The folders that this program makes of its own: times, logs, replaced work, grades.
FOLDERS = (".autograder", "exports", "reports", "terms", "archives")
_EVERYTHING = "# about students: git takes nothing from here\n*\n"


def keep_out_of_git(root: Path) -> None:
    """Give each of our folders that is there a ``.gitignore`` of its own. One that is there already stays."""
    for name in FOLDERS:
        path = root / name / ".gitignore"
        if path.parent.is_dir() and not path.exists():
            with contextlib.suppress(OSError):  # a folder that cannot be written holds nothing new
                path.write_text(_EVERYTHING, encoding="utf-8")


def open_to_others(folder: Path) -> bool:
    """Whether every user of this machine can read what lies in ``folder``: no folder on the way there is closed."""
    if os.name != "posix":
        return False
    on_the_way = (folder.resolve(), *folder.resolve().parents)
    return all(path.stat().st_mode & stat.S_IXOTH for path in on_the_way)


def has_other_users() -> bool:
    """Whether people beside this user have an account here, as far as this machine tells."""
    if os.name != "posix":
        return False
    import pwd

    people = {entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid in _ORDINARY}
    with contextlib.suppress(OSError):
        people |= {entry.stat().st_uid for entry in os.scandir("/home")}
    return bool(people - {0, os.geteuid()})
