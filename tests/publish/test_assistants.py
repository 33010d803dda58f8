"""Rules for assistants: what course.toml says, README, notebooks and AGENTS.md say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import SENTENCES, CourseFile, read_course_file
from autograder.publish.publish import publish
from autograder.publish.texts import students_readme, write_rules
from autograder.release.leaks.search import leaks
from tests.feedback.toy import build_course
from tests.grading import ROOT
from tests.publish.test_weeks import judged

FOLDERS = sorted(path for path in (ROOT / "release").iterdir() if path.is_dir())


@pytest.fixture
def course(tmp_path):
    root = build_course(tmp_path / "course").root
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return root


def rules(tmp_path, policy):
    """AGENTS.md of the whole course, under a policy."""
    root, out = tmp_path / policy, tmp_path / f"{policy}-published"
    root.mkdir()
    out.mkdir()
    (root / "course.toml").write_text(f'assistants = "{policy}"\n')
    write_rules(Course(root), out, FOLDERS, tmp_path / "nowhere", set())
    return out


def graded_names():
    """What students write, by the source: the classes and functions around a solution."""
    for folder in FOLDERS:
        for name, notebook in Assignment.open(ROOT, folder.name).source.items():
            for cell in notebook.cells:
                if cells.is_solution(cell) and cell.cell_type == "code":
                    for found in re.findall(r"(?m)^(?:class|def) (\w+)", cell.source):
                        yield f"{folder.name}/{name}", found


@pytest.mark.parametrize("policy", SENTENCES)
def test_every_policy_names_every_graded_function_and_no_solution(tmp_path, policy):
    out = rules(tmp_path, policy)
    page = (out / "AGENTS.md").read_text()
    assert SENTENCES[policy] in page
    assert (out / "CLAUDE.md").read_text().count("\n") == 1 and "AGENTS.md" in (out / "CLAUDE.md").read_text()
    names = {found for _, found in graded_names()}
    assert len(names) > 50 and {name for name in names if f"`{name}`" not in page} == set()
    assert "`models.py`: `" in page
    assert leaks(out, [Assignment.open(ROOT, folder.name) for folder in FOLDERS]) == []


def test_every_command_of_the_rules_runs(tmp_path):
    page = (rules(tmp_path, "tutor") / "AGENTS.md").read_text()
    found = re.findall(r"in `release/(\w+)` also `python -m (pytest tests)`", page)
    assert found
    for assignment, words in found:
        work = shutil.copytree(ROOT / "release" / assignment, tmp_path / "work" / assignment)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", *words.split(), "-q", "--collect-only", "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_readme_notebooks_and_rules_say_the_same(course, tmp_path, monkeypatch):
    judged(monkeypatch)
    (course / "course.toml").write_text('assistants = "open"\n')
    from autograder.release.generate import generate

    shutil.rmtree(course / "release" / "toy")
    generate(Course(course), "toy")
    out = tmp_path / "students"
    publish(course, out)
    for path in (out / "README.md", out / "AGENTS.md", out / "release" / "toy" / "1_sums.ipynb"):
        text = path.read_text()
        if path.suffix == ".ipynb":
            first = next(cell for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "markdown")
            text = first.source
        assert text.count(SENTENCES["open"]) == 1, path
    (course / "course.toml").write_text('title = "Sums"\n')
    shutil.rmtree(course / "release" / "toy")
    generate(Course(course), "toy")
    publish(course, out)  # no rule any more
    assert not (out / "AGENTS.md").exists() and not (out / "CLAUDE.md").exists()
    assert SENTENCES["open"] not in (out / "README.md").read_text()


def test_a_notebook_that_says_it_is_left_as_it_is():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])
    file = CourseFile(assistants="none")
    once = file.fill_in(notebook).cells[0].source
    assert once == f"# Title\n\n{SENTENCES['none']}" and file.fill_in(notebook).cells[0].source == once
    assert (
        CourseFile().fill_in(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("a ")])).cells[0].source
        == "a "
    )


def test_a_page_of_a_course_says_it_wherever_its_template_ends(tmp_path):
    (tmp_path / "course.toml").write_text('assistants = "none"\n')
    assert students_readme(Course(tmp_path), "words", [], "o/n") == f"words\n\n{SENTENCES['none']}\n"


@pytest.mark.parametrize("value", ['"tutors"', "true", '""', '["tutor"]', "{tutor = true}"])
def test_a_policy_that_there_is_not_is_one_line(tmp_path, value):
    (tmp_path / "course.toml").write_text(f"assistants = {value}\n")
    with pytest.raises(GradingError, match='assistants: expected "none" or "tutor" or "open", got'):
        read_course_file(tmp_path)


def test_rules_that_somebody_else_wrote_are_not_overwritten(course, tmp_path, monkeypatch):
    judged(monkeypatch)
    (course / "course.toml").write_text('title = "Sums"\n')
    out = tmp_path / "students"
    publish(course, out)
    (out / "AGENTS.md").write_text("My own rules.\n")
    (course / "course.toml").write_text('title = "Sums"\nassistants = "tutor"\n')
    from autograder.release.generate import generate

    shutil.rmtree(course / "release" / "toy")
    generate(Course(course), "toy")
    with pytest.raises(GradingError, match=r"AGENTS\.md was not written by 'publish'"):
        publish(course, out)
    assert (out / "AGENTS.md").read_text() == "My own rules.\n"
