"""The feedback pages of a class: files, the zips that Moodle and Canvas take, a commit in each student's clone.

A commit is made of git's plumbing: nothing is checked out, the student's branches and working tree stay as they
are, and no hook or filter of the repository runs. Nothing is pushed.
"""

import io
import os
import re
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.collect.archive import Refused
from autograder.collect.clones import git, repositories
from autograder.errors import GradingError
from autograder.exports.moodle import match_worksheet
from autograder.exports.sheet import Sheet, digits, original, squeezed
from autograder.files.atomic import write_file, writing
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.results import StudentResult
from autograder.gradebook.roster import Origin, Roster

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip can hold

#: Student -> the names of their pages, and what is in them.
Pages = Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True)
class Packed:
    """``files``: path in the zip -> content; ``left_out``: student -> why they are not in it."""

    files: Mapping[str, bytes]
    left_out: Mapping[str, str]


def pages_of(written: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, bytes]]:
    """Read the pages that ``write_feedback`` wrote."""
    return {student: {path.name: path.read_bytes() for path in paths} for student, paths in written.items()}


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """The same bytes for the same files; the whole zip or none. Raises GradingError."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(files):
            about = zipfile.ZipInfo(name, _EPOCH)
            about.external_attr = 0o100644 << 16
            archive.writestr(about, files[name], zipfile.ZIP_DEFLATED)
    write_file(path, made.getvalue())


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, all of them side by side, into ``folder``; files of an earlier time go."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.name not in files and old.is_file():
                old.unlink()
    for name, data in files.items():
        write_file(folder / name, data)


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
