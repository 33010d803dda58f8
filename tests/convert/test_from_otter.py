"""``docs/from-otter.md``, followed to the letter: its notebook is converted, and is what the page shows."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder import cli
from autograder.model import cells
from autograder.release.as_submitted import without_markers
from tests.convert.notebook import code, notebook, question, raw, text

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
    assert "note: files: ../b.csv" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../x", "a b", ""])
def test_a_name_that_is_no_folder_is_refused(course, capsys, name):
    assert cli.main(["convert", "otter", "hw01.ipynb", f"--assignment={name or '.'}"]) == 2
    assert "no name of an assignment" in capsys.readouterr().err


def richer() -> NotebookNode:
    """The page's notebook, with a test of printed text, a test function's asserts and a shown array behind it."""
    made = example()
    greet = code('def greet(name):\n    print("Hello", name) # SOLUTION')
    tests = (
        code("greet('Ada')", printed="Hello Ada\n"),
        code("# HIDDEN\n[greet(x) for x in 'ab'][0] is None", "True", "Hello a\nHello b\n"),
    )
    made.cells[1:1] = [code("import numpy as np\nimport otter\ngrader = otter.Notebook()")]
    made.cells += question("greet", *tests, solution=greet, config="points: 2")
    double = code("def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION")
    shown = code("double(np.arange(2.5))", "array([0., 2., 4.])")
    made.cells += question("double", shown, solution=double)
    return made


@pytest.mark.slow
def test_a_converted_notebook_is_released_and_graded(course, capsys):
    nbformat.write(richer(), course / "hw01.ipynb")
    assert cli.main(["convert", "otter", "hw01.ipynb"]) == 0
    assert cli.main(["release", "hw01"]) == 0, capsys.readouterr()
    released = (course / "release" / "hw01" / "hw01.ipynb").read_bytes()
    assert b"-5" not in released and b"minus" not in released and b"# nine = ..." in released
    source = nbformat.read(course / "source" / "hw01" / "hw01.ipynb", as_version=4)
    solved = nbformat.reads(released.decode(), as_version=4)
    for cell, answer in zip(solved.cells, source.cells, strict=True):
        if cells.is_solution(cell):
            cell.source = without_markers(answer.source)
    for student, data in {"untouched": released, "solved": nbformat.writes(solved).encode()}.items():
        folder = course / "submitted" / student / "hw01"
        folder.mkdir(parents=True)
        (folder / "hw01.ipynb").write_bytes(data)
    capsys.readouterr()
    assert cli.main(["grade", "hw01", "--workers", "1", "--json"]) == 0
    rows = {row["student"]: row for row in json.loads(capsys.readouterr().out)["students"]}
    assert {name: row["points_so_far"] for name, row in rows.items()} == {"solved": 5, "untouched": 0}
    assert rows["solved"]["waiting"] and rows["solved"]["max_points"] == 8
