"""The zip that Moodle takes under "Upload multiple feedback files in a zip".

``mod/assign/feedback/file/importziplib.php`` of moodle/moodle splits each part of a path at underscores, at most four
times: full name, participant's number, kind and name of a plug-in, rest. The number must be that of a participant, the
plug-in one that is enabled; what follows is the file's name. A part with fewer than five pieces is passed over before
Moodle 4.1, so the folder ends in an underscore. Files that begin with a dot or a tilde are ignored. The full name is
there for people: no underscore may be in it, or the number would be looked for at the wrong place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from autograder.errors import GradingError
from autograder.exports.matching import digits
from autograder.exports.moodle import match_worksheet
from autograder.exports.sheet import Sheet, original
from autograder.gradebook.results import StudentResult
from autograder.gradebook.roster import Origin, Roster
from autograder.lms.pages import Packed, Pages

_FOLDER = "{name}_{number}_assignsubmission_file_"
_UNKNOWN = "Moodle's number for them is not known"


def pack(pages: Pages, people: Mapping[str, Origin]) -> Packed:
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
