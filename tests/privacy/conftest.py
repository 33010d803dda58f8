"""A course in the middle of a term, with everything that a term leaves behind, made once for all tests."""

import json
import shutil
import sqlite3
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.journal import Entry, Journal
from autograder.cli import main
from autograder.gradebook.late.times import record_times
from autograder.model.course import Course
from autograder.pipeline import stored_runs
from autograder.pipeline.fingerprint import digest
from autograder.pipeline.stored_runs import StoredRuns
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in

GONE, STAYS = "qx71zu", "wb52ka"
NAMES = {GONE: ("Zélie", "O'Kønig"), STAYS: ("Bob", "Bolzano")}
DEADLINE = "[assignments.toy]\ndeadline = 2026-11-20T09:00:00Z\n"
LMS = {GONE: "770011", STAYS: "880022"}


def address(student: str) -> str:
    return f"{student}.post@uni.example"


@pytest.fixture(scope="session")
def whole_term(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("term") / "course"
    course = build_course(root)
    (root / "nbgrader_config.py").write_text(
        (root / "nbgrader_config.py").read_text() + f"\nc.Exchange.root = {str(root / 'exchange')!r}\n"
    )
    course = Course(root)
    with Gradebook(course.db_url) as book:
        for student, (first, last) in NAMES.items():
            book.add_student(
                student, first_name=first, last_name=last, email=address(student), lms_user_id=LMS[student]
            )
    for student in NAMES:
        hand_in(course, student, cells=cells(3.0, 2.0))
        _traces(course, student)
    _shared(root)
    for words in (["feedback"], ["report"], *(["export", "--to", to] for to in ("csv", "json", "canvas", "moodle"))):
        assert main(["--course", str(root), words[0], ASSIGNMENT, *words[1:]]) == 0
    shutil.copy(root / "gradebook.db", root / "gradebook.db.2026-11-01")
    return root


def _traces(course: Course, student: str) -> None:
    """What grading, collecting and nbgrader's exchange keep of one student."""
    root = course.root
    record_times(root, ASSIGNMENT, {student: datetime(2026, 11, 20, tzinfo=UTC)})
    parts, sent = {"cell x": digest({})}, f"# {' '.join(NAMES[student])}"
    Journal(root, ASSIGNMENT).force([student])
    Journal(root, ASSIGNMENT).saved(student, Entry(parts, {NOTEBOOK: digest(sent.encode())}))
    stored_runs.write(stored_runs.path_of(root, ASSIGNMENT, student), StoredRuns(student, ASSIGNMENT, "", {}))
    for path in (f"logs/{ASSIGNMENT}/{student}.log", f"replaced/{ASSIGNMENT}/{student}-1/{NOTEBOOK}.ipynb"):
        (root / ".autograder" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / ".autograder" / path).write_text(f"about {student}")
    submitted = course.submitted(student, ASSIGNMENT)
    submitted.mkdir(parents=True, exist_ok=True)
    (submitted / f"{NOTEBOOK}.ipynb").write_text(sent)
    inbound = root / "exchange" / course.settings.course_id / "inbound" / f"{student}+{ASSIGNMENT}+2026-11-20 UTC"
    inbound.mkdir(parents=True)
    (inbound / f"{NOTEBOOK}.ipynb").write_text(sent)
    clone = root / "clones" / f"{ASSIGNMENT}-{student}"
    clone.mkdir(parents=True)
    (clone / "README.md").write_text(address(student))


def _shared(root: Path) -> None:
    """Files that name several people."""
    people = "".join(f'{LMS[one]},{one},"{last}, {first}",{address(one)}\n' for one, (first, last) in NAMES.items())
    (root / "students.csv").write_text("id,student,name,address\n" + people)
    (root / "times.csv").write_text("id,time\n" + "".join(f"{LMS[one]},2026-11-20T09:00:00Z\n" for one in NAMES))
    (root / "roster.tsv").write_text("".join(f"{first}\t{last}\n" for first, last in NAMES.values()))
    days = "".join(f"{one} = 2  # illness\n" for one in NAMES)
    (root / "late_policy.toml").write_text(f"free_days = 1\n{DEADLINE}")
    (root / "extensions.toml").write_text(f"[toy]\n{days}")
    (root / "groups.toml").write_text(f'[toy]\nred = ["{GONE}"]\nblue = ["{STAYS}"]\n')
    (root / ".nbgrader.log").write_text("".join(f"[INFO] autograding {one}\n" for one in NAMES))
    with zipfile.ZipFile(root / "submissions.zip", "w") as made:
        for one, (first, last) in NAMES.items():
            made.writestr(f"{last}{first}_{LMS[one]}_1_{NOTEBOOK}.ipynb", json.dumps({"who": one[::-1]}))
            made.writestr(f"{first} {last}_{LMS[one]}_assignsubmission_file_/{NOTEBOOK}.ipynb", one[::-1])
        made.writestr("inner/list.csv", people)


@pytest.fixture
def term(whole_term: Path, tmp_path: Path) -> Path:
    """A copy to change. nbgrader's configuration says where the exchange of the copy is."""
    root = tmp_path / "course"
    shutil.copytree(whole_term, root)
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(whole_term), str(root)))
    return root


def tables(path: Path) -> str:
    """Every cell of every table, as text; made independently of the grader."""
    with sqlite3.connect(path) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        return "\n".join(str(row) for name in names for row in database.execute(f'select * from "{name}"'))
