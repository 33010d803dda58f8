"""Whatever lies in any field of a solution, a test or a task stays with the instructor: attachment, output, tag, id."""

from __future__ import annotations

import base64
import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.model import cells
from autograder.model.course import Course
from autograder.publish.publish import publish
from autograder.release.bundle import BundleSettings, write_bundle
from autograder.release.clear import cleared
from autograder.release.generate import draft, put_in_place, workspace

NOTEBOOK = "1_smoothing.ipynb"


def _png(text: str) -> str:
    """A picture with a text in it, as attachments and outputs hold one."""
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + text.encode() + zlib.compress(bytes(99))).decode()


def _svg(text: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{text}</text></svg>'


def _plant(cell: NotebookNode, name: str) -> None:
    """A word of its own in every field that Jupyter, nbgrader or an extension can fill."""
    cell["attachments"] = {
        f"{name}-attachment-name.png": {"image/png": _png(f"{name}-attachment")},
        "key.svg": {"image/svg+xml": _svg(f"{name}-drawing")},
    }
    cell.id = f"{name}-id"
    cell.metadata.update(
        tags=["raises-exception", f"{name}-tag"],
        jupyter={"source_hidden": True, f"{name}-jupyter": True},
        slideshow={"slide_type": f"{name}-slide"},
        extended_cell={"type": "multiplechoice", "choice": [f"{name}-choice"]},
    )
    cell.metadata[f"{name}-key"] = {"deep": [f"{name}-value"]}
    if cell.cell_type == "code":
        cell.outputs = [
            new_output("stream", text=f"{name}-stream"),
            new_output("display_data", {"image/png": _png(f"{name}-picture"), "text/html": f"<p>{name}-html</p>"}),
            new_output("execute_result", {"text/plain": "1"}, metadata={"note": f"{name}-output-metadata"}),
            new_output("error", ename="E", evalue=f"{name}-error", traceback=[f"{name}-traceback"]),
        ]
        cell.pop("attachments")  # the format has none here


def _marked(cell: NotebookNode, grade_id: str, **marks: object) -> NotebookNode:
    about = {"grade": False, "locked": False, "solution": False, "task": False, "schema_version": 3, **marks}
    cell.metadata["nbgrader"] = {**about, "grade_id": grade_id}
    return cell


def _notebook(path: Path) -> NotebookNode:
    """The example with a cell of each kind more, and a word planted in every field of each."""
    notebook = nbformat.read(path, as_version=4)
    scheme = "Draw it.\n=== BEGIN MARK SCHEME ===\nscheme-text ![](attachment:key.svg)\n=== END MARK SCHEME ==="
    notebook.cells += [
        _marked(
            new_markdown_cell("planted text ![](attachment:key.svg)"), "written", grade=True, solution=True, points=1
        ),
        _marked(new_code_cell("whole_text = 'of a cell without markers'"), "whole", solution=True),
        _marked(new_code_cell("coded_text = 'read by a person'"), "coded", grade=True, solution=True, points=1),
        _marked(new_markdown_cell(scheme), "drawn", locked=True, task=True, points=1),
        _marked(
            new_code_cell("x = 1\n### BEGIN HIDDEN TESTS\nhidden_text = 1\n### END HIDDEN TESTS\nassert x"),
            "tested", grade=True, locked=True, points=1,
        ),
        _marked(new_markdown_cell("Read this."), "read", locked=True),
        new_markdown_cell("A text of nobody's."),
    ]  # fmt: skip
    for number, cell in enumerate(notebook.cells):
        if cells.is_solution(cell) or cells.is_graded(cell):
            _plant(cell, f"planted{number}")
        elif cell.cell_type == "markdown":  # its link was deleted, the picture stayed
            cell["attachments"] = {"old.png": {"image/png": _png(f"planted{number}-forgotten")}}
    notebook.cells[0].source = notebook.cells[0].source.replace("2 points", "6 points")
    notebook.cells[2].source = notebook.cells[2].source.replace("| 2 |", "| 6 |")
    notebook.metadata["widgets"] = {"state": "planted-widget"}
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("planted") / "course"
    make_course(root)
    course = Course(root)
    path = course.source(EXAMPLE) / NOTEBOOK
    path.write_text(nbformat.writes(_notebook(path)))
    with workspace(course) as step:
        folder, _ = draft(course, EXAMPLE, f"{step}/first")
        put_in_place(course, EXAMPLE, folder, f"{step}/last")
    return course


def _bytes(name: str, data: bytes) -> Iterator[bytes]:
    """A file as it is, unpacked, and what base64 in it says."""
    yield data
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _bytes(member, archive.read(member))
    for word in data.replace(b"\\n", b"").split(b'"'):
        if len(word) > 40 and len(word) % 4 == 0:
            try:
                yield base64.b64decode(word, validate=True)
            except ValueError:
                continue


def _words(folder: Path) -> list[str]:
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        for data in _bytes(path.name, path.read_bytes()):
            found += [f"{path.name}: {data[at : at + 40]!r}" for at in [data.find(b"planted")] if at >= 0]
            found += [f"{path.name}: {word}" for word in (b"whole_text", b"coded_text") if word in data]
            found += [f"{path.name}: scheme"] * (b"scheme-text" in data)
    return found


def test_e2_no_field_of_a_solution_a_test_or_a_task_is_released(course: Course) -> None:
    assert list(course.release(EXAMPLE).glob("*.ipynb"))
    assert not _words(course.release(EXAMPLE))
    assert "hidden_text" not in (course.release(EXAMPLE) / NOTEBOOK).read_text()
    released = nbformat.read(course.release(EXAMPLE) / NOTEBOOK, as_version=4)
    nbformat.validate(released)
    assert released.cells[-4].metadata.tags == ["raises-exception"], "what Jupyter's own tags say stays"


def test_e2_no_field_of_a_solution_is_published(course: Course, tmp_path: Path) -> None:
    publish(course.root, tmp_path / "students")
    assert not _words(tmp_path / "students")


def test_e2_no_field_of_a_solution_is_bundled(course: Course, tmp_path: Path) -> None:
    write_bundle(course, EXAMPLE, BundleSettings(), tmp_path / "out" / "bundle.zip")
    assert not _words(tmp_path / "out")


def test_e2_nbgraders_own_command_drops_them_too(course: Course, tmp_path: Path) -> None:
    from autograder.model.nbgrader import run_nbgrader

    elsewhere = f"--CourseDirectory.release_directory={tmp_path / 'own'}"
    options = [elsewhere, f"--CourseDirectory.db_url=sqlite:///{tmp_path}/g.db"]
    options.append("--ClearMarkScheme.check_attachment_leakage=False")
    assert run_nbgrader(["generate_assignment", EXAMPLE, "--force", *options], course.root).returncode == 0
    assert not _words(tmp_path / "own")


def test_e2_a_release_of_before_is_told_from_one_that_says_something_else(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    from autograder.assignment.assignment import Assignment
    from autograder.release.agreement import check_before_grading

    path = course.release(EXAMPLE) / NOTEBOOK
    kept = path.read_text()
    old = nbformat.reads(kept, as_version=4)
    old.cells[-5]["attachments"] = {"key.svg": {"image/svg+xml": _svg("of the model answer")}}
    try:
        path.write_text(nbformat.writes(old))
        check_before_grading(course.root, Assignment.open(course, EXAMPLE))
        assert "attachments, tags or metadata of solutions" in capsys.readouterr().err
    finally:
        path.write_text(kept)


def test_what_students_see_of_a_cell_stays() -> None:
    shown = new_markdown_cell("![](attachment:my%20plan.png)", metadata={"note": "mine", "tags": ["mine"]})
    shown["attachments"] = {"my plan.png": {"image/png": _png("plan")}}
    graded = _marked(new_code_cell("assert 1"), "graded", grade=True, locked=True, points=1)
    graded.metadata.update(deletable=False, editable=False, collapsed=True, jupyter={"source_hidden": True})
    notebook = nbformat.v4.new_notebook(cells=[shown, graded])
    left = cleared(notebook)
    assert left.cells[0] == shown
    assert left.cells[1] == graded
    assert cleared(left) == left, "a second time changes nothing"


def test_an_id_that_is_another_cells_is_not_given_twice() -> None:
    taken = new_markdown_cell("a", id="graded")
    graded = _marked(new_code_cell("assert 1", id="it-is-42"), "graded", grade=True, locked=True, points=1)
    left = cleared(nbformat.v4.new_notebook(cells=[taken, graded]))
    assert "42" not in left.cells[1].id
    assert left.cells[0].id == "graded" != left.cells[1].id


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1f0c2d3e", "1f0c2d3e"), ("cell-12", "cell-12"), ("largest-answer", "largest-answer"),
        ("take-the-maximum", "largest_answer"), ("largest-is-42", "largest_answer"),
    ],
)  # fmt: skip
def test_e2_an_id_stays_where_it_says_nothing_that_is_not_shown(old: str, new: str) -> None:
    solution = _marked(new_code_cell("# YOUR CODE HERE", id=old), "largest_answer", solution=True)
    text = new_markdown_cell("Write the largest number; the answer is a number.")
    assert cleared(nbformat.v4.new_notebook(cells=[text, solution])).cells[1].id == new
