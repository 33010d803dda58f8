"""A course with the sample class, and one template of kernels for all of it."""

from pathlib import Path

import pytest

from autograder.ci import outcome
from autograder.model.course import Course
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.grading import copy_course, leave_out_shown
from tools.demo import build_sample_class


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Source, release and the sample class's submissions; no gradebook. Not to be written to."""
    course = copy_course(tmp_path_factory.mktemp("ci") / "course", "distilbert")
    leave_out_shown(course.root, "distilbert")
    build_sample_class(course.root)
    return course


@pytest.fixture
def one_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same confinement, without its proof each time; its template is kept by the fixture of the folder."""
    for name in ("available", "verify"):
        monkeypatch.setattr(outcome, name, lambda: None)


def everything_in(folder: Path) -> dict[str, bytes]:
    """Path to content of every file beneath."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
