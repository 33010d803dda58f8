"""The gradebook in PostgreSQL: the same grades as in SQLite, against a real server."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.pipeline.conftest import SMALL, SMALL_NOTEBOOK, nbgrader, small_course

pytestmark = pytest.mark.slow


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
    from sqlalchemy import create_engine
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
    assert exported.returncode == 0, exported.stderr
