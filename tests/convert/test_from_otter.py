"""``docs/from-otter.md``, followed to the letter: its notebook is converted, and is what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder import cli
from autograder.model import cells
from tests.convert.notebook import code, notebook, raw, text

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "from-otter.md").read_text(encoding="utf-8")
WRITTEN, _, RESULT = GUIDE.partition("In the folder of the course")
BLOCK = re.compile(r"```(\w+)\n(.*?)\n```", re.S)
MADE = re.compile(r"cell `(\w+)`[^`]*:\n\n```python\n(.*?)\n```", re.S)
#: What the page says that the notebook holds below its two tests.
SHOWN = {"nine": "9", "square(-5)": "25"}


def example() -> NotebookNode:
    """The notebook whose cells the page lists."""
    made = []
    for language, source in BLOCK.findall(WRITTEN):
        kind = {"yaml": raw, "markdown": text, "python": code}[language]
        made.append(kind(source))
        if shown := SHOWN.get(source.split("\n")[-1]):
            made[-1] = code(source, shown)
            assert f"`{shown}`" in WRITTEN
    return notebook(*made)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    nbformat.write(example(), tmp_path / "hw01.ipynb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def converted(course: Path) -> dict[str, NotebookNode]:
    written = nbformat.read(course / "source" / "hw01" / "hw01.ipynb", as_version=4)
    return {str(cells.grade_id(cell)): cell for cell in written.cells}


def test_the_page_types_one_command_and_shows_what_it_prints(course, capsys):
    (command,) = re.findall(r"```sh\n(.*?)\n```", RESULT, re.S)
    assert cli.main(command.split()[1:]) == 0
    (shown,) = re.findall(r"```text\n(.*?)\n```", RESULT, re.S)
    assert capsys.readouterr().out.replace(f"{course}/", "").strip() == shown


def test_every_cell_that_the_page_shows_is_made(course):
    assert cli.main(["convert", "otter", "hw01.ipynb"]) == 0
    made = converted(course)
    assert {name: made[name].source for name, _ in MADE.findall(RESULT)} == dict(MADE.findall(RESULT))
    assert len(MADE.findall(RESULT)) == 3
    points = {name: cells.max_points(cell) for name, cell in made.items() if cells.is_graded(cell)}
    assert points == {"square_1": 0.5, "square_2": 1.5, "why_answer": 3}


def test_a_notebook_that_is_there_is_never_replaced(course, capsys):
    assert cli.main(["convert", "otter", "hw01.ipynb"]) == 0
    path = course / "source" / "hw01" / "hw01.ipynb"
    path.write_text("mine")
    capsys.readouterr()
    assert cli.main(["convert", "otter", "hw01.ipynb"]) == 2
    assert path.read_text() == "mine"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [("none.ipynb", None, "No such file"), ("a.ipynb", "x", "no notebook"), ("b.ipynb", "{}", "no notebook")],
)
def test_what_is_no_notebook_is_refused_in_one_line(course, capsys, name, content, word):
    if content is not None:
        (course / name).write_text(content)
    assert cli.main(["convert", "otter", name]) == 2
    said = capsys.readouterr().err.strip()
    assert word in said and "\n" not in said
    assert not (course / "source").exists()


def test_files_of_the_assignment_come_along_and_those_that_cannot_are_named(course, capsys):
    made = example()
    made.cells[0].source += "\nfiles: [data/a.csv, ../b.csv]"
    nbformat.write(made, course / "hw01.ipynb")
    (course / "data").mkdir()
    (course / "data" / "a.csv").write_text("1")
    assert cli.main(["convert", "otter", "hw01.ipynb", "--assignment", "first"]) == 0
    assert (course / "source" / "first" / "data" / "a.csv").read_text() == "1"
    assert "not carried over: files: ../b.csv" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../x", "a b", ""])
def test_a_name_that_is_no_folder_is_refused(course, capsys, name):
    assert cli.main(["convert", "otter", "hw01.ipynb", f"--assignment={name or '.'}"]) == 2
    assert "no name of an assignment" in capsys.readouterr().err
