"""What is kept about students stays out of git, in whatever repository the course lies."""

from __future__ import annotations

import contextlib
from pathlib import Path

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
