"""The students' repository: what is in it, what is not, and what the command refuses."""

from __future__ import annotations

import json
import re
import shutil

import nbformat
import pytest

from autograder.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.publish import publish
from autograder.release import solved
from tests.pipeline.conftest import ROOT

SHEET = "numpy_attention"


@pytest.fixture
def course(tmp_path):
    """One real sheet, and a library of one line."""
    root = tmp_path / "course"
    for station in ("source", "release", "exercises"):
        shutil.copytree(ROOT / station / SHEET, root / station / SHEET)
    (root / "course" / "__pycache__").mkdir(parents=True)
    (root / "course" / "__init__.py").write_text('"""The library."""\n')
    (root / "course" / "__pycache__" / "course.pyc").write_bytes(b"\0")
    shutil.copytree(ROOT / "docs" / "images", root / "docs" / "images")
    for name in ("pyproject.toml", "LICENSE", "environment.yml", "docs/student.md"):
        shutil.copy(ROOT / name, root / name)
    return root


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_students_get_notebooks_library_and_guide_and_nothing_of_ours(course, tmp_path):
    out = tmp_path / "students"
    done = publish(course, out)
    notebooks = {f"release/{SHEET}/{path.name}" for path in (ROOT / "release" / SHEET).glob("*.ipynb")}
    beside = {"course/__init__.py", "docs/student.md", "LICENSE", "README.md", "environment.yml", "pyproject.toml"}
    shown = ("jupyterlab-check-failing", "jupyterlab-check-passing", "feedback", "feedback-telephone")
    pictures = {f"docs/images/{name}.png" for name in shown}
    assert files(out) == notebooks | beside | pictures | {".gitignore", ".published.json"}
    assert set(done.files) == files(out) - {".published.json"}
    assert "tool.mypy" not in (out / "pyproject.toml").read_text()
    assert "tool.setuptools" in (out / "pyproject.toml").read_text()


def test_every_link_of_the_readme_leads_somewhere_and_every_notebook_has_a_badge(course, tmp_path):
    out = tmp_path / "students"
    publish(course, out)
    text = (out / "README.md").read_text()
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    model_card = "course/checkpoints/mini/README.md"  # this test's library has none
    assert [link for link in links if not (out / link).exists() and link != model_card] == []
    for notebook in (out / "release" / SHEET).glob("*.ipynb"):
        assert f"blob/main/release/{SHEET}/{notebook.name})" in text


def test_publishing_again_changes_nothing_and_keeps_what_is_not_ours(course, tmp_path):
    out = tmp_path / "students"
    publish(course, out)
    first = {name: (out / name).read_bytes() for name in files(out)}
    (out / ".git").mkdir()
    (out / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (out / "NEWS.md").write_text("Week 3: no lecture.\n")
    assert publish(course, out).removed == ()
    kept = {".git/HEAD": b"ref: refs/heads/main\n", "NEWS.md": b"Week 3: no lecture.\n"}
    assert {name: (out / name).read_bytes() for name in files(out)} == {**first, **kept}


def test_what_is_no_longer_in_the_course_goes_away(course, tmp_path):
    out = tmp_path / "students"
    (course / "course" / "old").mkdir()
    (course / "course" / "old" / "part.py").write_text("")
    publish(course, out)
    shutil.rmtree(course / "course" / "old")
    assert publish(course, out).removed == ("course/old/part.py",)
    assert not (out / "course" / "old").exists()


def test_an_edited_list_removes_nothing_outside(course, tmp_path):
    out = tmp_path / "students"
    publish(course, out)
    (tmp_path / "precious").write_text("mine")
    (out / ".published.json").write_text(json.dumps(["../precious", str(tmp_path / "precious")]))
    publish(course, out)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_folder_with_something_else_in_it_is_left_alone(course, tmp_path, capsys):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    assert main(["--course", str(course), "publish", str(out)]) == 2
    said = capsys.readouterr().err
    assert "is not empty" in said and said.count("\n") == 1
    assert files(out) == {"thesis.tex"}


def solution_line(course):
    assignment = Assignment.open(course, SHEET)
    submission = nbformat.reads(solved(assignment).notebooks["1_attention"].decode(), as_version=4)
    return next(cell.source for cell in submission.cells if "einsum" in cell.source and "def " in cell.source)


@pytest.mark.parametrize("where", ["course/helpers.py", "docs/student.md", f"release/{SHEET}/notes.md"])
def test_a_leak_anywhere_stops_it_and_nothing_is_written(course, tmp_path, where):
    with (course / where).open("a") as file:
        file.write("\n" + solution_line(course))
    with pytest.raises(GradingError, match=rf"would leak {re.escape(where)}"):
        publish(course, tmp_path / "students")
    assert not (tmp_path / "students").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["course"]


def test_reference_values_stop_it(course, tmp_path):
    expected = next((ROOT / "exercises" / SHEET).rglob("expected.safetensors"))
    shutil.copy(expected, course / "course" / "numbers.bin")
    with pytest.raises(GradingError, match=r"would leak course/numbers\.bin"):
        publish(course, tmp_path / "students")


def test_a_course_that_is_not_released_or_not_complete_is_said_in_one_line(course, tmp_path):
    (course / "LICENSE").unlink()
    with pytest.raises(GradingError, match="LICENSE"):
        publish(course, tmp_path / "students")
    shutil.rmtree(course / "release")
    with pytest.raises(GradingError, match="not released yet"):
        publish(course, tmp_path / "students")
    shutil.rmtree(course / "source")
    with pytest.raises(GradingError, match="holds no assignment"):
        publish(course, tmp_path / "students")
    assert not (tmp_path / "students").exists()


def test_two_repositories_in_one_release_are_refused(course, tmp_path):
    path = course / "release" / SHEET / "1_attention.ipynb"
    path.write_text(path.read_text().replace("example/transformer-course", "somebody/else"))
    with pytest.raises(GradingError, match="name 2 repositories"):
        publish(course, tmp_path / "students")
