"""The gradebook in PostgreSQL: the same grades as in SQLite, and two graders at once, against a real server."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, text

from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.browser.jupyter import Server, jupyter_server
from tests.feedback import toy
from tests.pipeline.conftest import SMALL, SMALL_NOTEBOOK, nbgrader, small_course

pytestmark = pytest.mark.slow

OPINIONS = ((1.0, "too short"), (2.0, "well said"))


def _tool(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _user() -> dict[str, int]:
    """PostgreSQL refuses to run as root: then it runs as the user that its package made."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server with an empty database."""
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is an optional extra")
    initdb, postgres = _tool("initdb"), _tool("postgres")
    if not initdb or not postgres:
        pytest.skip("no PostgreSQL server is installed")
    # of its own under /tmp: the server's user may not enter pytest's folders
    folder = Path("/tmp") / f"pg-{os.getpid()}"
    folder.mkdir(mode=0o755)
    if user := _user():
        os.chown(folder, user["user"], user["group"])
    try:
        setup = [initdb, "-D", folder / "data", "-U", "course", "-A", "trust"]
        subprocess.run(setup, check=True, capture_output=True, **user)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [postgres, "-D", folder / "data", "-p", str(port), "-h", "127.0.0.1", "-k", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user)
        try:
            yield _wait_for(f"postgresql+psycopg://course@127.0.0.1:{port}/postgres")
        finally:
            process.send_signal(signal.SIGINT)  # at SIGTERM it would wait for connections that are still open
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(url: str) -> str:
    from sqlalchemy.exc import OperationalError

    for _ in range(100):
        try:
            with create_engine(url).connect():
                return url
        except OperationalError:
            time.sleep(0.1)
    raise TimeoutError("PostgreSQL did not start")


def test_a_class_graded_into_postgresql_has_the_grades_of_sqlite(server, tmp_path, monkeypatch):
    course = small_course(tmp_path / "course", "ada")
    shutil.copytree(course.root / "release" / SMALL, course.submitted("noether", SMALL))
    in_sqlite = {row.student: row.total for row in grade_class(course, GradingOptions(SMALL))}
    assert in_sqlite == {"ada": 12.0, "noether": 0.0}
    for file in (*course.root.glob("gradebook.db*"), *(course.root / ".autograder").glob("*.jsonl")):
        file.unlink()

    monkeypatch.setenv("NBGRADER_DB_URL", server)
    course = Course(course.root)
    assert course.db_url == server
    generate(course, SMALL)
    assert {row.student: row.total for row in grade_class(course, GradingOptions(SMALL))} == in_sqlite
    assert not (course.root / "gradebook.db").exists()

    with Gradebook(server) as gradebook:
        gradebook.find_grade("softmax", SMALL_NOTEBOOK, SMALL, "noether").manual_score = 2.0
        gradebook.db.commit()
    (row,) = grade_class(course, GradingOptions(SMALL, students=("noether",), force=True))
    assert row.kept_manual == 1
    with Gradebook(server) as gradebook:
        saved = {student: gradebook.find_submission(SMALL, student).score for student in in_sqlite}
    assert saved == {"ada": 12.0, "noether": 2.0}
    exported = nbgrader(course.root, "export")
    assert exported.returncode == 0, exported.said


@dataclass(frozen=True)
class Grader:
    """Somebody at a formgrader of their own, by its API."""

    server: Server

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"token {self.server.token}"}
        data = None if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "PUT"
        request = urllib.request.Request(f"{self.server.url}/formgrader/api/{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def rows(self, kind: str, submission: str) -> dict[str, Any]:
        """``grades`` or ``comments`` of one notebook of a student, by the name of the cell."""
        return {row["name"]: row for row in self._ask(f"{kind}?submission_id={submission}")}

    def give(self, submission: str, points: float, comment: str) -> None:
        """For the written answer, as the page sends it."""
        grade = self.rows("grades", submission)["why"]
        self._ask(f"grade/{grade['id']}", grade | {"manual_score": points})
        about = self.rows("comments", submission)["why"]
        self._ask(f"comment/{about['id']}", about | {"manual_comment": comment})

    def sees(self, submission: str) -> tuple[float | None, str | None]:
        comment = self.rows("comments", submission)["why"]["manual_comment"]
        return self.rows("grades", submission)["why"]["manual_score"], comment


@pytest.fixture(scope="module")
def graders(server, tmp_path_factory) -> Iterator[tuple[Grader, Grader, dict[str, str]]]:
    """Two servers beside one course, and its submissions: student to what the formgrader calls them."""
    with create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("CREATE DATABASE two_graders"))
    url = f"{server.rpartition('/')[0]}/two_graders"
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("NBGRADER_DB_URL", url)
        course = toy.build_course(tmp_path_factory.mktemp("course"))
        generate(course, toy.ASSIGNMENT)
        for number in range(12):
            toy.hand_in(course, f"student{number}")
        homes = [tmp_path_factory.mktemp(name) for name in ("lin", "sam")]
        lin, sam = (Grader(stack.enter_context(jupyter_server(course.root, home))) for home in homes)
        with Gradebook(url) as gradebook:
            rows = gradebook.notebook_submissions(toy.NOTEBOOK, toy.ASSIGNMENT)
            submissions = {row.student.id: row.id for row in rows}
        yield lin, sam, submissions


def test_two_graders_who_mark_different_students_at_once_lose_nothing(graders):
    lin, sam, submissions = graders
    shares = {lin: dict(list(submissions.items())[::2]), sam: dict(list(submissions.items())[1::2])}
    given = {
        key: (number % 3 / 1.0, f"for {student}") for number, (student, key) in enumerate(sorted(submissions.items()))
    }

    def mark(grader: Grader) -> None:
        for key in shares[grader].values():
            grader.give(key, *given[key])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(mark, shares))
    for grader in shares:
        assert {key: grader.sees(key) for key in submissions.values()} == given


def test_two_graders_who_mark_the_same_answer_at_once_both_see_what_counts(graders):
    lin, sam, submissions = graders
    for key in submissions.values():
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda grader: grader.give(key, *OPINIONS[grader is lin]), (lin, sam)))  # noqa: B023
        (points, comment), seen = lin.sees(key), sam.sees(key)
        assert seen == (points, comment), "the two pages disagree"
        assert points in (1.0, 2.0) and comment in ("too short", "well said")


def test_a_formgrader_shows_and_stores_what_another_one_has_changed(graders):
    lin, sam, submissions = graders
    key = submissions["student0"]
    lin.give(key, *OPINIONS[0])
    assert lin.sees(key) == sam.sees(key) == OPINIONS[0]
    sam.give(key, *OPINIONS[1])
    assert lin.sees(key) == OPINIONS[1], "as the page is loaded again"
    lin.give(key, *OPINIONS[0])  # what this server has stored once already
    assert lin.sees(key) == sam.sees(key) == OPINIONS[0]
