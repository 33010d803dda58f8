"""What is started before the course is opened comes from no folder that a student may have filled."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autograder.classroom import head_start
from autograder.classroom.head_start import HeadStart
from autograder.kernel.imports import KernelImports


class FakeServer:
    def __init__(self, imports: KernelImports, watch: bool = True) -> None:
        self.imports, self.closed = imports, False

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def _starts_nothing(monkeypatch):
    monkeypatch.setattr(head_start, "KernelForkServer", FakeServer)
    for name in ("start_importing", "begin_self_test", "import_nbgrader"):
        monkeypatch.setattr(head_start, name, lambda *_: None)


def course(folder: Path, warm: str = "json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nbgrader_config.py").write_text("")
    (folder / "course.toml").write_text(f"warm = ['{warm}']")
    return folder


def test_the_fork_server_of_the_folders_course_is_the_one_that_is_used(tmp_path):
    with closing(HeadStart(course(tmp_path))) as started:
        first = started._fork_server
        assert first is not None and started.fork_server(KernelImports(warm=("json",))) is first
    assert first.closed


def test_where_the_course_is_another_one_so_is_the_fork_server(tmp_path):
    with closing(HeadStart(course(tmp_path))) as started:
        first = started._fork_server
        second = started.fork_server(KernelImports(warm=("csv",)))
        assert second is not first and first.closed and second.imports.warm == ("csv",)


@pytest.mark.parametrize("above", ["nbgrader_config.py", "course.toml"])
def test_nothing_is_started_for_a_folder_in_a_course(tmp_path, above):
    (tmp_path / above).write_text("")
    assert HeadStart(course(tmp_path / "submitted" / "eve" / "ps1", "antigravity"))._fork_server is None


def test_nothing_is_started_for_a_folder_without_a_configuration_or_with_a_faulty_one(tmp_path):
    assert HeadStart(tmp_path)._fork_server is None
    (course(tmp_path) / "course.toml").write_text("warm = 3")
    assert HeadStart(tmp_path)._fork_server is None


LATER = """
import sys
from autograder.model.import_nbgrader import import_nbgrader
import_nbgrader()
import nbgrader.api, nbgrader.apps.baseapp, nbgrader.converters, nbgrader.exchange.default
print("jupyter_server" in sys.modules)
from nbgrader.server_extensions import formgrader
print(formgrader.__file__.endswith("__init__.py"))
"""


def test_nbgrader_is_imported_without_its_server_extensions_which_are_there_for_who_wants_them():
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["False", "True"], done.stderr


BEGINNING = """
import sys
from autograder import cli
from autograder.classroom import head_start
def begin(self, *_):
    print(*sorted(sys.modules.keys() & {"nbgrader", "nbformat", "numpy", "sqlalchemy", "rich"}), "begun")
    raise SystemExit
head_start.HeadStart.__init__ = begin
cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize("command", [("grade", "ps1", "--force"), ("ci", "ps1", "sub")])
def test_it_begins_before_anything_large_is_imported(tmp_path, command):
    (course(tmp_path) / "sub").mkdir()
    words = [sys.executable, "-c", BEGINNING, *command]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["begun"], done.stderr


def test_one_submission_is_graded_without_workers(tmp_path, monkeypatch):
    begun = []
    for name in ("start_importing", "begin_self_test"):
        monkeypatch.setattr(head_start, name, lambda *_, name=name: begun.append(name))
    (tmp_path / "sub").mkdir()
    with closing(HeadStart(course(tmp_path / "course"), tmp_path / "sub")) as started:
        assert started._fork_server is not None and begun == ["begin_self_test"]


def _itself(folder: Path) -> tuple[Path, Path]:
    return course(folder / "sub", "antigravity"), folder / "sub"


def _within(folder: Path) -> tuple[Path, Path]:
    return course(folder / "sub" / "course", "antigravity"), folder / "sub"


def _linked(folder: Path) -> tuple[Path, Path]:
    (folder / "link").symlink_to(course(folder / "sub", "antigravity"))
    return folder / "link", folder / "sub"


def _named_by_a_link(folder: Path) -> tuple[Path, Path]:
    (folder / "link").symlink_to(course(folder / "sub", "antigravity"))
    return folder / "sub", folder / "link"


def _settings_linked(folder: Path) -> tuple[Path, Path]:
    course(folder / "sub", "antigravity")
    (folder / "course").mkdir()
    (folder / "course" / "nbgrader_config.py").write_text("")
    (folder / "course" / "course.toml").symlink_to(folder / "sub" / "course.toml")
    return folder / "course", folder / "sub"


def _configuration_linked(folder: Path) -> tuple[Path, Path]:
    course(folder / "sub", "antigravity")
    (course(folder / "course") / "nbgrader_config.py").unlink()
    (folder / "course" / "nbgrader_config.py").symlink_to(folder / "sub" / "nbgrader_config.py")
    return folder / "course", folder / "sub"


@pytest.mark.parametrize(
    "laid_out", [_itself, _within, _linked, _named_by_a_link, _settings_linked, _configuration_linked]
)
def test_no_settings_that_came_with_a_submission_are_read(tmp_path, monkeypatch, laid_out):
    read, before = [], Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path, *words, **more: read.append(path) or before(path, *words, **more)
    )
    folder, submission = laid_out(tmp_path)
    assert HeadStart(folder, submission)._fork_server is None
    assert read == []
    assert HeadStart(folder)._fork_server is not None, "the same folder, were it not the student's"
