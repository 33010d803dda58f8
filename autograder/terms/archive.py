"""What is kept of a term for later: results and answers, in one ZIP; with pseudonyms, if wanted.

``archive.json`` says what it is; ``results/ASSIGNMENT.json``, ``answers/ASSIGNMENT.json`` and, without pseudonyms,
``marks/ASSIGNMENT.json`` (who marked) are lists of objects with a ``student``. ``autograder report --against`` reads
the answers.

A new term: everything about the students of the old one moves into ``terms/OLD/``, and the course begins empty. That
folder is a course of its own, with the notebooks, references and settings of then: ``autograder --course-dir
terms/OLD`` works there. Nothing moves in the course's folder otherwise, so nbgrader's own settings go on to hold.
"""

import io
import json
import os
import re
import shutil
import tokenize
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.classroom.journal import only_run
from autograder.errors import GradingError, NothingToGrade
from autograder.files.atomic import undisturbed, write_file, writing
from autograder.gradebook.gather import gather_from
from autograder.gradebook.late.file import NAME as POLICY
from autograder.gradebook.read import Student, open_book
from autograder.gradebook.results import ResultsTable
from autograder.gradebook.roster import read_salt, salt_path, with_salt
from autograder.marking.log import LoggedMark, MarkLog
from autograder.model import course_file
from autograder.model.course import Course
from autograder.model.plain_text import toml_text
from autograder.report.similarity import read_answers

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


NAME = re.compile(r"\w[\w.-]{0,60}")
#: About a term and its students, beside nbgrader's own folders.
_PERSONAL = (
    ".autograder", "reports", "exports", "ci-results", "clones", "inbound", "outbound", "gradebook.db*", POLICY,
    "extensions.toml", "groups.toml", "waivers.toml", "*.csv", "*.tsv", "*.xlsx", "*.zip", ".nbgrader.log",
)  # fmt: skip
_KEPT = ("release", "exercises", "course.toml", "nbgrader_config.py")
#: Tables of course.toml that are about one term -> what to do about them.
_OF_A_TERM = {
    "dates": "set this term's dates: publish takes those of the old term as past",
    "canvas": "set this term's course and assignments: grades would go into the old course",
}


@dataclass(frozen=True)
class NewTerm:
    """``folder``: of the old term, None where there was nothing to move; ``moved``: the names of what is there now.

    ``to_do``: what of the old term still counts, each with what to do about it.
    """

    folder: Path | None
    moved: tuple[str, ...]
    to_do: tuple[str, ...]


def begin_term(course: Course, name: str) -> NewTerm:
    """Move the present term into ``terms/``, and write the new one's name into ``course.toml``.

    The rules of a late policy stay, its deadlines do not. Raises GradingError, and has moved nothing.
    """
    check_name(name)
    old, root = course.file.term, course.root
    personal = _personal(course)
    if personal and not old:
        raise GradingError(f'the present term has no name: write term = "..." at the top of {course_file.NAME} first')
    if name == old or (root / "terms" / name).exists():
        raise GradingError(f"there is a term {name!r} already: choose another name")
    folder = root / "terms" / old
    if personal and folder.exists():
        raise GradingError(f"{folder} is there already: move it away, or rename the present term in {course_file.NAME}")
    text = _with_term(root, name)
    policy = root / POLICY
    rules = _without_deadlines(policy.read_text(encoding="utf-8")) if policy.is_file() else ""
    if personal:
        with ExitStack() as held:
            for assignment in course.assignments():
                held.enter_context(only_run(root, assignment))
            _move(course, personal, folder)
            _keep_salt(root, folder)
    write_file(root / course_file.NAME, text.encode())
    if rules:
        write_file(policy, rules.encode())
    moved = tuple(path.name for path in personal)
    return NewTerm(folder if personal else None, moved, tuple(_to_do(course, POLICY in moved, bool(rules))))


def _without_deadlines(text: str) -> str:
    """A late policy's rules for every assignment, which are before its first table; empty where there are none."""
    top = re.split(r"(?m)^\s*\[", text, maxsplit=1)[0].rstrip()
    return f"{top}\n" if any(line.strip() and not line.strip().startswith("#") for line in top.splitlines()) else ""


def _to_do(course: Course, had_policy: bool, has_rules: bool) -> Iterator[str]:
    if had_policy:
        kept = "its rules stay, its deadlines do not" if has_rules else "the new term has none"
        yield f"{POLICY}: {kept}; write this term's deadlines, or nobody is late"
    text = (course.root / course_file.NAME).read_text(encoding="utf-8")
    for table, advice in _OF_A_TERM.items():
        if re.search(rf"(?m)^\s*\[{table}\b", text):
            yield f"{course_file.NAME}: [{table}] is the old term's; {advice}"
    if (course.root / "exercises").is_dir():
        yield "exercises/: students of the old term may know the hidden inputs; 'autograder references --seed new'"
    yield "gradebook: it is new; 'autograder release' enters the assignments"


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise GradingError(f"a term is called by letters, digits, '.', '-' and '_', such as 2026w; got {name!r}")


def _personal(course: Course) -> list[Path]:
    database = re.fullmatch(r"sqlite:///(.+)", course.db_url)
    inside = database is not None and Path(os.path.abspath(course.root / database[1])).parent == course.root
    if not inside:
        raise GradingError(
            "the gradebook is no file in the course's folder: give the "
            "new term a database of its own (c.CourseDirectory.db_url), and its name in course.toml"
        )
    folders = course.private_folders()[2:]  # submitted, autograded, feedback
    if any(folder.parent != course.root for folder in folders):
        raise GradingError("directory_structure must begin with {nbgrader_step}: else move the term's folders by hand")
    found = [*folders, *(path for pattern in _PERSONAL for path in sorted(course.root.glob(pattern)))]
    database_file = Path(os.path.abspath(course.root / database[1])) if database else course.root
    return [path for path in dict.fromkeys([*found, database_file]) if os.path.lexists(path)]


@undisturbed()
def _move(course: Course, personal: list[Path], folder: Path) -> None:
    """All of it or nothing: what has moved moves back where the system refuses one of them."""
    moved: list[tuple[Path, Path]] = []
    with writing(folder):
        folder.mkdir(parents=True)
        try:
            source = course.folder(course.settings.source_directory, "x").parent
            for path in (source, *(course.root / name for name in _KEPT)):
                if path.is_dir():
                    shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
                elif path.is_file():
                    shutil.copy2(path, folder)
            for path in personal:
                target = folder / path.relative_to(course.root)
                os.replace(path, target)
                moved.append((path, target))
        except OSError:
            for path, target in reversed(moved):
                os.replace(target, path)
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _keep_salt(root: Path, folder: Path) -> None:
    """Who comes again has the same pseudonym again."""
    salt = salt_path(folder)
    if salt.is_file():
        with writing(salt_path(root)):
            salt_path(root).parent.mkdir(exist_ok=True)
            shutil.copy2(salt, salt_path(root))


def _with_term(root: Path, name: str) -> str:
    """``course.toml`` with the term's name; the rest of it as it is."""
    path = root / course_file.NAME
    text = toml_text(path.read_bytes()) if path.is_file() else ""
    line = f'term = "{name}"'
    first = re.search(r"(?m)^\s*\[", text)
    top, tables = (text[: first.start()], text[first.start() :]) if first else (text, "")
    replaced, count = re.subn(r"(?m)^term\s*=.*$", line, top)
    return (replaced if count else f"{line}\n{top}") + tables
