"""The zip that Canvas takes under "Upload Submissions" on an assignment's page: a comment with files for each student.

``infer_comment_context_from_filename`` in ``app/models/abstract_assignment.rb`` of instructure/canvas-lms splits a
file's name at underscores: the first piece of digits alone is the user, the second the attachment that the comment is
about, which must be the student's own. A name whose last piece begins with ``link`` is passed over. The comment shows
the file under the attachment's name, whatever it is called here; Canvas's API keeps the page's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from autograder.gradebook.roster import Origin
from autograder.lms.pages import Packed, Pages

_NEVER_COLLECTED = "it was not collected from Canvas, and Canvas takes files back under the numbers of its download"


def pack(pages: Pages, origins: Mapping[str, Origin]) -> Packed:
    """One file for each page, side by side."""
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for student, own in pages.items():
        origin = origins.get(student)
        attachments = _attachments(origin) if origin and origin.kind == "canvas" else {}
        if origin is None or not attachments:
            left_out[student] = _NEVER_COLLECTED
            continue
        first = next(iter(attachments.values()))
        for page, data in own.items():
            stem = PurePosixPath(page).stem
            number = attachments.get(f"{stem}.ipynb", first)
            files[f"{_word(origin.name)}_{origin.id}_{number}_{stem}_feedback.html"] = data
    return Packed(files, left_out)


def _attachments(origin: Origin) -> dict[str, str]:
    """File of the submission -> the number of the attachment it came in: by the API, or in Canvas's zip."""
    pattern = re.compile(rf"\A#([0-9]+) |_{re.escape(origin.id)}_([0-9]+)_")
    found = ((name, pattern.search(came.partition(" / ")[0])) for name, came in sorted(origin.files.items()))
    return {name: match[1] or match[2] for name, match in found if match}


def _word(name: str) -> str:
    """One piece, and not of digits alone: Canvas reads the numbers that follow it."""
    word = re.sub(r"[\W_]", "", name).casefold()
    return f"student{word}" if not word or word.isdigit() else word
