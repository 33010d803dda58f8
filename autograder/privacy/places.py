"""The folders and files that are one student's alone: in the course, and in nbgrader's exchange."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import exchange
from autograder.model.course import Course
from autograder.model.nbgrader import feedback_page
from autograder.privacy.person import ErasedPerson

_SECRET = "submission_secret.txt"
_MARK = "anyxassignment"


def own_paths(course: Course, person: ErasedPerson) -> list[Path]:
    """What is removed as a whole, in order; each path exists, and none lies in another."""
    found = {*_steps(course, person), *_notes(course.root, person), *_clones(course, person)}
    found |= {*_exchange(course, person)}
    return sorted(path for path in found if os.path.lexists(path) and not any(above in found for above in path.parents))


def _steps(course: Course, person: ErasedPerson) -> Iterator[Path]:
    for step in (course.submitted, course.autograded, course.feedback):
        for one in person.ids:
            pattern = step(one, _MARK)
            for path in glob.glob(glob.escape(str(pattern)).replace(_MARK, "*")):
                yield Path(path)
            parent = pattern.parent
            if parent.name == one and _MARK not in str(parent):
                yield parent
            for leftover in glob.glob(glob.escape(str(parent)) + f"/.*{_MARK}*"):
                yield Path(leftover)


def _notes(root: Path, person: ErasedPerson) -> Iterator[Path]:
    """``.autograder/KIND/ASSIGNMENT/STUDENT...``; nearer to the top an id may be the name of something else."""
    numbered = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(person.ids)))})-\d+")
    for path in glob.glob(glob.escape(str(root / ".autograder")) + "/*/*/*"):
        kind, name = Path(path).parts[-3], Path(path).name
        own = numbered.fullmatch(name) if kind == "replaced" else {name, Path(path).stem} & person.ids
        if own:
            yield Path(path)


def _clones(course: Course, person: ErasedPerson) -> Iterator[Path]:
    """Students' repositories: ``clones/STUDENT`` and ``clones/ASSIGNMENT-STUDENT``."""
    starts = ("", *(f"{name}-" for name in course.assignments()))
    names = {f"{start}{one}" for one in person.ids | person.numbers for start in starts}
    for folder in ("clones", "inbound"):
        for path in (course.root / folder).glob("*"):
            if path.name in names or _is_theirs(path.name, person):
                yield path


def _is_theirs(name: str, person: ErasedPerson) -> bool:
    """Whether a folder of the exchange is theirs. ``ada+test+lab+2026-...`` is another user's than ada's."""
    ids = "|".join(map(re.escape, sorted(person.ids)))
    return re.match(rf"(?:{ids})\+[^+]+\+\d{{4}}-[^+]*(?:\+[^+]*)?\Z", name) is not None


def _exchange(course: Course, person: ErasedPerson) -> Iterator[Path]:
    if not course.settings.course_id:
        return
    folder = exchange.inbound_folder(course)
    for path in folder.glob("*") if os.access(folder, os.R_OK | os.X_OK) else ():
        if _is_theirs(path.name, person):
            yield path
            yield from _released(course, path / _SECRET)
    for step in (course.submitted, course.feedback, course.autograded):
        for one in person.ids:
            for assignment in course.assignments():
                yield from _released(course, step(one, assignment) / _SECRET)


def _released(course: Course, secret: Path) -> Iterator[Path]:
    """The pages that nbgrader released for a submission, under names made of its secret."""
    try:
        text = secret.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    folder = course.settings.exchange_root / course.settings.course_id / "feedback"
    for assignment in course.assignments():
        for notebook in course.source(assignment).glob("*.ipynb"):
            yield folder / feedback_page(text, notebook.stem)
