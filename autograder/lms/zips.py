"""The zips of feedback pages that Moodle and Canvas take."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from autograder.errors import GradingError
from autograder.exports.matching import digits, squeezed
from autograder.exports.moodle import match_worksheet
from autograder.exports.sheet import Sheet, original
from autograder.gradebook.results import StudentResult
from autograder.gradebook.roster import Origin, Roster
from autograder.lms.pages import Packed, Pages

# The zip that Moodle takes under "Upload multiple feedback files in a zip".
# ``mod/assign/feedback/file/importziplib.php`` of moodle/moodle splits each part of a path at underscores, at most four
# times: full name, participant's number, kind and name of a plug-in, rest. The number must be that of a participant,
# the plug-in one that is enabled; what follows is the file's name. A part with fewer than five pieces is passed over
# before Moodle 4.1, so the folder ends in an underscore. Files that begin with a dot or a tilde are ignored. The full
# name is there for people: no underscore may be in it, or the number would be looked for at the wrong place.

_FOLDER = "{name}_{number}_assignsubmission_file_"
_UNKNOWN = "Moodle's number for them is not known"


def pack_moodle(pages: Pages, people: Mapping[str, Origin]) -> Packed:
    """One folder for each participant. people: student -> number and full name, as Moodle has them."""
    files: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for student, own in pages.items():
        person = people.get(student)
        if person is None or not re.fullmatch(r"[0-9]{1,18}", person.id):
            left_out[student] = _UNKNOWN
            continue
        folder = _FOLDER.format(name=_plain(person.name), number=person.id)
        files.update({f"{folder}/{name.lstrip('.~')}": data for name, data in own.items()})
    return Packed(files, left_out)


def participants(roster: Roster) -> dict[str, Origin]:
    """Student -> participant, of everybody whose number in this assignment the roster has."""
    return {
        student: Origin("moodle", number, next(iter(sorted(roster.names.get(student, ()))), student))
        for student, number in roster.number_of.items()
    }


def of_worksheet(rows: Sequence[StudentResult], sheet: Sheet) -> dict[str, Origin]:
    """Student -> participant, from the assignment's grading worksheet. Raises GradingError for another table."""
    identifier, name = sheet.column("Identifier"), sheet.column("Full name")
    if identifier is None:
        raise GradingError(
            f"{sheet.name}: expected Moodle's grading worksheet with the column Identifier, found "
            f"{', '.join(sheet.header[:5])}"
        )
    found = match_worksheet(rows, sheet)
    return {
        row.student.id: Origin(
            "moodle", digits(sheet.lines[number][identifier].strip()),
            original(sheet.lines[number][name]) if name is not None else row.student.id,
        )
        for number, row in found.items()
    }  # fmt: skip


def _plain(name: str) -> str:
    """A full name that is part of a path, and holds no underscore."""
    kept = "".join(" " if unicodedata.category(one)[0] == "C" or one in '_/\\:*?"<>|' else one for one in name)
    return " ".join(kept.split())[:80].lstrip(".~ ") or "Participant"


# The zip that Canvas takes under "Upload Submissions" on an assignment's page: a comment with files for each student.
# ``infer_comment_context_from_filename`` in ``app/models/abstract_assignment.rb`` of instructure/canvas-lms splits a
# file's name at underscores: the first piece of digits alone is the user, the second the attachment that the comment is
# about, which must be the student's own. A name whose last piece begins with ``link`` is passed over. The comment shows
# the file under the attachment's name, whatever it is called here; Canvas's API keeps the page's own.

_NEVER_COLLECTED = "it was not collected from Canvas, and Canvas takes files back under the numbers of its download"


def pack_canvas(pages: Pages, origins: Mapping[str, Origin]) -> Packed:
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
    word = squeezed(name)
    return f"student{word}" if not word or word.isdigit() else word
