"""What is kept of a term for later: results and answers, in one ZIP; with pseudonyms, if wanted.

``archive.json`` says what it is; ``results/ASSIGNMENT.json``, ``answers/ASSIGNMENT.json`` and, without pseudonyms,
``marks/ASSIGNMENT.json`` (who marked) are lists of objects with a ``student``. ``autograder report --against`` reads
the answers.
"""

import io
import json
import re
import tokenize
import zipfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError, NothingToGrade
from autograder.files.atomic import write_file
from autograder.gradebook.gather import gather_from
from autograder.gradebook.read import Student, open_book
from autograder.gradebook.results import ResultsTable
from autograder.gradebook.roster import read_salt, with_salt
from autograder.marking.log import LoggedMark, MarkLog
from autograder.model.course import Course
from autograder.report.code import read_answers

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Archive:
    """``assignments``: how many students each of them has results for."""

    path: Path
    assignments: dict[str, int]


def write_archive(course: Course, term: str, pseudonymise: bool) -> Archive:
    """``archives/TERM.zip``. Raises NothingToGrade where nothing is graded, GradingError where it is there already."""
    path = course.root / "archives" / f"{term}.zip"
    if path.exists():
        raise GradingError(f"{path} is there already: move it away, or give the term another name")
    tables = []
    with open_book(course.db_url) or nullcontext() as gradebook:
        for name in course.assignments():
            tables.append(gather_from(course, name, gradebook))
    tables = [table for table in tables if any(row.exercises for row in table.rows)]
    if not tables:
        raise NothingToGrade("nothing is graded in this term: there is nothing to archive")
    people = {row.student.id: row.student for table in tables for row in table.rows}
    named = _pseudonyms(course.root, people.values()) if pseudonymise else str
    about = {"schema": SCHEMA_VERSION, "term": term, "title": course.file.title, "pseudonymised": pseudonymise}
    files: dict[str, Any] = {"archive.json": about}
    for table in tables:
        files[f"results/{table.assignment}.json"] = [_result(row, named, pseudonymise) for row in table.rows]
        files[f"answers/{table.assignment}.json"] = _answers(course, table, named, pseudonymise)
        if not pseudonymise and (marks := MarkLog(course.root, table.assignment).read().marks):
            files[f"marks/{table.assignment}.json"] = [_mark(one) for one in marks]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            data = json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "replace")
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # no time: the same bytes again
    write_file(path, made.getvalue())
    return Archive(path, {table.assignment: sum(bool(row.exercises) for row in table.rows) for table in tables})


def _pseudonyms(root: Path, people: Iterable[Student]) -> Callable[[str], str]:
    """A function that puts pseudonyms in the place of ids, addresses and full names, wherever they stand."""
    salt = read_salt(root)
    places: dict[str, str] = {}
    for one in people:
        full = (f"{one.first_name} {one.last_name}", f"{one.last_name}, {one.first_name}")
        names = full if one.first_name and one.last_name else ()
        for word in (one.id, one.email, one.lms_user_id, *names):
            if word:
                places.setdefault(word.casefold(), with_salt(salt, one.id))
    longest = sorted(places, key=lambda word: (-len(word), word))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest)) + r")(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(lambda found: places.get(found[0].casefold(), "p-"), text)


def _result(row: Any, named: Callable[[str], str], pseudonymise: bool) -> dict[str, Any]:
    exercises = {f"{notebook}/{cell}": one.points for (notebook, cell), one in row.exercises.items()}
    made = {"student": named(row.student.id), "state": row.state, "points": row.points, "score": row.score,
            "max_points": row.max_points, "exercises": exercises}  # fmt: skip
    if not pseudonymise:
        one = row.student
        made |= {"last_name": one.last_name, "first_name": one.first_name, "email": one.email,
                 "comments": [text for _, text in sorted(row.comments.items())]}  # fmt: skip
    return made


def _mark(one: LoggedMark) -> dict[str, Any]:
    return {"student": one.student, "exercise": one.exercise, "points": one.change.after.score, "grader": one.grader,
            "at": one.at, "second": one.second}  # fmt: skip


def _answers(
    course: Course, table: ResultsTable, named: Callable[[str], str], pseudonymise: bool
) -> list[dict[str, str]]:
    students = [row.student.id for row in table.rows if row.verdict is not None]
    found = read_answers(course, Assignment.open(course, table.assignment), students)
    return [
        {
            "student": named(one.student),
            "place": one.place,
            "source": named(without_comments(one.source)) if pseudonymise else one.source,
            "stub": one.stub,
        }
        for one in found
    ]


def without_comments(source: str) -> str:
    """Python code without its comments, in which people sign their work; line by line where it cannot be read."""
    lines = source.splitlines(keepends=True)
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return "".join(re.sub(r"#[^\n]*", "", line) for line in lines)
    for one in (token for token in found if token.type == tokenize.COMMENT):
        row, column = one.start
        rest = lines[row - 1][column + len(one.string) :]
        lines[row - 1] = lines[row - 1][:column].rstrip(" \t") + rest
    return "".join(lines)
