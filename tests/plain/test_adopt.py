"""``autograder adopt``: shows what it would add, asks, writes that and nothing else, once."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import cli
from autograder.authoring.course_folder import additions
from autograder.model.course import Course
from autograder.model.settings import read_config
from tests.plain.notebooks import code, notebook, write

BEFORE = 'c = get_config()\nc.CourseDirectory.course_id = "phys101"\nc.Execute.timeout = 90'


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A course of nbgrader's, whose last line has no end."""
    (tmp_path / "nbgrader_config.py").write_text(BEFORE)
    imports = code(
        "import numpy as np, json\nfrom matplotlib.pyplot import plot\n%matplotlib inline\nimport numpy.linalg"
    )
    write(notebook(imports), tmp_path / "source/ps1/1.ipynb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_change_is_shown_and_what_is_declined_is_not_written(root, monkeypatch, capsys):
    before = contents(root)
    monkeypatch.setattr("typer.confirm", lambda question: False)
    assert cli.main(["adopt"]) == 0
    said = capsys.readouterr().out
    assert "+plug_in(get_config(), __file__)" in said and "+++ course.toml" in said and "Nothing was changed." in said
    assert contents(root) == before


def test_only_the_two_files_are_written_and_every_line_of_before_stays(root):
    before = contents(root)
    assert cli.main(["adopt", "--yes"]) == 0
    after = contents(root)
    assert {name for name in after if after[name] != before.get(name)} == {"nbgrader_config.py", "course.toml"}
    assert after["nbgrader_config.py"].startswith(before["nbgrader_config.py"] + b"\n")
    assert Course(root).settings.course_id == "phys101"


def test_a_second_time_adds_nothing(root, capsys):
    cli.main(["adopt", "--yes"])
    before = contents(root)
    capsys.readouterr()
    assert cli.main(["adopt"]) == 0  # and asks nothing
    assert "nothing to add" in capsys.readouterr().out
    assert contents(root) == before


def test_nbgrader_loads_what_was_written_and_the_courses_own_settings_stay(root):
    cli.main(["adopt", "--yes"])
    config = read_config(root)
    assert config.Autograde.autograde_preprocessors[0].__name__ == "RunConfined"
    assert config.GenerateFeedback.exporter_class.__name__ == "FeedbackExporter"
    assert config.Execute.timeout == 90
    assert config.CourseDirectory.root == str(root)


def test_steps_of_a_release_that_the_course_has_changed_stay(root):
    own = "from nbgrader.preprocessors import ClearSolutions\nc.GenerateAssignment.preprocessors = [ClearSolutions]\n"
    (root / "nbgrader_config.py").write_text(f"{BEFORE}\n{own}")
    cli.main(["adopt", "--yes"])
    steps = [step.__name__ for step in read_config(root).GenerateAssignment.preprocessors]
    assert steps == ["SetRepository", "FreeVersions", "StubDeliverables", "ClearSolutions", "ClearFields"]


def test_course_toml_names_the_course_and_what_its_notebooks_import(root):
    cli.main(["adopt", "--yes"])
    file = Course(root).file
    assert file.title == "phys101"
    assert file.warm == ("matplotlib.pyplot", "numpy", "numpy.linalg")


def test_a_course_toml_that_is_there_stays(root):
    (root / "course.toml").write_text('title = "Mine"\n')
    cli.main(["adopt", "--yes"])
    assert (root / "course.toml").read_text() == 'title = "Mine"\n'


def test_a_course_without_a_configuration_gets_one(tmp_path, monkeypatch):
    write(notebook(code("1")), tmp_path / "source/ps1/1.ipynb")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["adopt", "--yes"]) == 0
    assert (tmp_path / "nbgrader_config.py").read_text().startswith("c = get_config()\n")
    assert additions(Course(tmp_path)) == []


def test_line_ends_of_windows_stay(root):
    (root / "nbgrader_config.py").write_bytes(BEFORE.replace("\n", "\r\n").encode())
    cli.main(["adopt", "--yes"])
    written = (root / "nbgrader_config.py").read_bytes()
    assert b"\n" not in written.replace(b"\r\n", b"")


@pytest.mark.slow
def test_the_end_of_the_input_at_the_question_changes_nothing(root):
    before = contents(root)
    done = subprocess.run([sys.executable, "-m", "autograder.cli", "adopt"], cwd=root, stdin=subprocess.DEVNULL)
    assert done.returncode == 130
    assert contents(root) == before


def test_adopting_a_copy_leaves_the_live_course_alone(root, tmp_path_factory, capsys):
    copy = tmp_path_factory.mktemp("copy") / "course"
    (root / "nbgrader_config.py").write_text(f"{BEFORE}\nc.CourseDirectory.root = {str(root)!r}\n")
    shutil.copytree(root, copy)
    before = contents(root), contents(copy)
    assert cli.main(["--course-dir", str(copy), "adopt", "--yes"]) == 2
    said = capsys.readouterr().err
    assert f"which is not {copy}" in said and str(root) in said and "nothing was changed" in said
    assert (contents(root), contents(copy)) == before
    assert cli.main(["--course-dir", str(root), "adopt", "--yes"]) == 0, "in its own folder all is well"


@pytest.mark.parametrize("command", [["status"], ["check", "ps2"], ["grade", "ps2"]])
def test_other_commands_name_the_course_that_they_work_on(root, tmp_path_factory, capsys, command):
    copy = tmp_path_factory.mktemp("copy") / "course"
    (root / "nbgrader_config.py").write_text(f"{BEFORE}\nc.CourseDirectory.root = {str(root)!r}\n")
    shutil.copytree(root, copy)
    cli.main(["--course-dir", str(copy), *command])
    assert f"working on {root}, which {copy} names as c.CourseDirectory.root" in capsys.readouterr().err
    (root / "within").mkdir()
    cli.main(["--course-dir", str(root / "within"), *command])
    assert "working on" not in capsys.readouterr().err


def test_a_course_that_is_reached_by_a_link_is_its_own(root, tmp_path_factory, capsys):
    (root / "nbgrader_config.py").write_text(f"{BEFORE}\nc.CourseDirectory.root = {str(root)!r}\n")
    link = tmp_path_factory.mktemp("links") / "course"
    link.symlink_to(root)
    assert cli.main(["--course-dir", str(link), "adopt", "--yes"]) == 0
    assert "working on" not in capsys.readouterr().err
