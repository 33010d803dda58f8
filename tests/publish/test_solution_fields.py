"""Whatever is in a field of a notebook or a cell stays with the instructor; no fold shows part of a graded answer."""

import base64
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.assignment.assignment import Assignment
from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.free import add_folds, stretch_answers
from autograder.publish.publish import publish
from autograder.release.agreement import cleared
from autograder.release.bundle import BundleSettings, write_bundle
from autograder.release.generate import draft, put_in_place, workspace
from autograder.release.leaks.search import expressions, graded_parts_in_folds
from autograder.release.leaks.secrets import secrets_of
from tests.feedback.toy import marks
from tests.grading import ROOT

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
        alt=f"{name}-alt",
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


def _marked(cell: NotebookNode, grade_id: str, **about: Any) -> NotebookNode:
    cell.metadata.update(marks(grade_id, **about))
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
            continue
        if cell.cell_type == "markdown":  # its link was deleted, the picture stayed
            cell["attachments"] = {"old.png": {"image/png": _png(f"planted{number}-forgotten")}}
        cell.metadata.update(tags=["raises-exception", "planted-tag"], answer="planted", slideshow={"x": "planted"})
    notebook.cells[0].source = notebook.cells[0].source.replace("2 points", "6 points")
    notebook.cells[2].source = notebook.cells[2].source.replace("| 2 |", "| 6 |")
    for name in ("widgets", "colab", "papermill", "planted"):
        notebook.metadata[name] = {"name": "planted-about"}
    for name in ("kernelspec", "language_info"):
        notebook.metadata[name]["answer"] = "planted-in-it"
    notebook.metadata["accelerator"] = "GPU"
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


def test_no_field_of_the_instructors_is_released(course: Course) -> None:
    assert list(course.release(EXAMPLE).glob("*.ipynb"))
    assert not _words(course.release(EXAMPLE))
    assert "hidden_text" not in (course.release(EXAMPLE) / NOTEBOOK).read_text()
    released = nbformat.read(course.release(EXAMPLE) / NOTEBOOK, as_version=4)
    nbformat.validate(released)
    assert all(released.cells[place].metadata.tags == ["raises-exception"] for place in (-4, -1)), "Jupyter's own"
    assert released.metadata.keys() == {"accelerator", "kernelspec", "language_info"}


def test_no_field_of_a_solution_is_published(course: Course, tmp_path: Path) -> None:
    publish(course.root, tmp_path / "students")
    assert not _words(tmp_path / "students")


def test_no_field_of_a_solution_is_bundled(course: Course, tmp_path: Path) -> None:
    write_bundle(course, EXAMPLE, BundleSettings(), tmp_path / "out" / "bundle.zip")
    assert not _words(tmp_path / "out")


def test_nbgraders_own_command_drops_them_too(course: Course, tmp_path: Path) -> None:
    from autograder.model.nbgrader import run_nbgrader

    elsewhere = f"--CourseDirectory.release_directory={tmp_path / 'own'}"
    options = [elsewhere, f"--CourseDirectory.db_url=sqlite:///{tmp_path}/g.db"]
    options.append("--ClearMarkScheme.check_attachment_leakage=False")
    assert run_nbgrader(["generate_assignment", EXAMPLE, "--force", *options], course.root).returncode == 0
    assert not _words(tmp_path / "own")


def test_a_release_of_before_is_told_from_one_that_says_something_else(
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
        assert "attachments, tags or metadata of the instructor's" in capsys.readouterr().err
    finally:
        path.write_text(kept)


def test_what_students_see_of_a_cell_stays() -> None:
    harmless = {
        "alt": "A plan.",
        "tags": ["hide-input"],
        "cellView": "form",
        "collapsed": True,
        "slideshow": {"slide_type": "slide"},
    }
    shown = new_markdown_cell("![](attachment:my%20plan.png)", metadata=harmless)
    shown["attachments"] = {"my plan.png": {"image/png": _png("plan")}}
    graded = _marked(new_code_cell("assert 1"), "graded", grade=True, locked=True, points=1)
    graded.metadata.update(deletable=False, editable=False, collapsed=True, jupyter={"source_hidden": True})
    about = {"kernelspec": {"display_name": "R", "language": "R", "name": "ir"}, "language_info": {"name": "R"}}
    notebook = nbformat.v4.new_notebook(cells=[shown, graded], metadata=about)
    left = cleared(notebook)
    assert left.cells[0] == shown
    assert (left.cells[1], left.metadata) == (graded, about)
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
def test_an_id_stays_where_it_says_nothing_that_is_not_shown(old: str, new: str) -> None:
    solution = _marked(new_code_cell("# YOUR CODE HERE", id=old), "largest_answer", solution=True)
    text = new_markdown_cell("Write the largest number; the answer is a number.")
    assert cleared(nbformat.v4.new_notebook(cells=[text, solution])).cells[1].id == new


SOLVED = "def twice(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def marked(grade_id: str, source: str, **about: Any) -> NotebookNode:
    return new_code_cell(source, id=grade_id, metadata=marks(grade_id, **about))


def notebook(*cells: NotebookNode) -> NotebookNode:
    return new_notebook(cells=list(cells))


def answer(grade_id: str = "more_answer", source: str = SOLVED) -> NotebookNode:
    return marked(grade_id, source, solution=True)


def test_an_answer_is_a_stretch_goal_where_no_cell_of_its_section_is_graded() -> None:
    graded = marked("one", "check.one(one)", grade=True, locked=True, points=2)
    book = notebook(
        new_markdown_cell("## Exercise"), answer("one_answer"), new_markdown_cell("### Part"), graded,
        new_markdown_cell("### For those who want more"), answer("inner_answer"), new_code_cell("check.inner(inner)"),
        new_markdown_cell("## More"), answer(),
    )  # fmt: skip
    assert [cells.grade_id(book.cells[number]) for number in stretch_answers(book)] == ["inner_answer", "more_answer"]


def test_the_fold_stands_below_the_check_and_is_made_once() -> None:
    book = notebook(
        new_markdown_cell("## More"), answer(), new_markdown_cell("a hint"), new_code_cell("check.more(more)")
    )
    add_folds(add_folds(book))
    assert [cell.id for cell in book.cells[2:]][-1] == "more_answer-solution"
    assert len(book.cells) == 5
    fold = book.cells[-1].source
    assert fold.startswith("<details><summary>A solution</summary>") and "return 2 * x" in fold and "###" not in fold


@pytest.mark.parametrize(
    "source", ["def twice(x):\n    return x + x", "def twice(x):\n    raise NotImplementedError()"]
)
def test_what_a_student_wrote_gets_no_fold(source: str) -> None:
    assert len(add_folds(notebook(new_markdown_cell("## More"), answer(source=source))).cells) == 2


def test_an_author_can_leave_the_fold_out() -> None:
    more = answer()
    more.metadata["course"] = {"fold": False}
    assert len(add_folds(notebook(new_markdown_cell("## More"), more)).cells) == 2


def test_names_and_positions_do_not_hide_that_two_expressions_are_one() -> None:
    one = expressions("scores = queries @ keys[part].T / np.sqrt(d)")
    other = expressions("s = q @ k.T / np.sqrt(W_q.shape[1])")
    assert set(one) & set(other)
    assert not set(one) & set(expressions("s = q @ k / np.sqrt(W_q.shape[1])"))


def with_every_fold(name: str) -> Assignment:
    """The course's assignment as it would be if no author had left a fold out."""
    opened = Assignment.unreleased(Course(ROOT), name)
    books = {}
    for stem, book in opened.source.items():
        for cell in book.cells:
            cell.metadata.get("course", {}).pop("fold", None)
        books[stem] = add_folds(book)
    return replace(opened, source=books)


@pytest.mark.parametrize(
    ("assignment", "answers"),
    [
        ("numpy_attention", {"attention_in_blocks_answer", "slips_through_answer"}),
        ("distilbert", {"attention_gradient_answer", "padding_answer"}),
        ("decoder", {"mean_knock_out_answer"}),
    ],
)
def test_a_fold_that_would_show_part_of_a_graded_answer_is_reported(assignment: str, answers: set[str]) -> None:
    found = [str(finding) for finding in graded_parts_in_folds(with_every_fold(assignment))]
    assert {answer for answer in answers if any(f"'{answer}'" in one for one in found)} == answers


@pytest.mark.parametrize("assignment", sorted(path.name for path in (ROOT / "source").iterdir() if path.is_dir()))
def test_no_fold_of_the_course_shows_part_of_a_graded_answer(assignment: str) -> None:
    assert list(graded_parts_in_folds(Assignment.unreleased(Course(ROOT), assignment))) == []


def test_a_solution_in_a_fold_is_no_secret_and_a_graded_one_is() -> None:
    owners = {needle.owner for needle in secrets_of(Assignment.unreleased(Course(ROOT), "transformer_tutorial"))}
    assert not any("scores_gradient_answer" in owner for owner in owners)
    assert any("dot_product_attention_answer" in owner for owner in owners)


def test_released_notebooks_have_the_folds_and_no_other_solution() -> None:
    for path in (ROOT / "release").glob("*/*.ipynb"):
        book = nbformat.read(path, as_version=4)
        folds = [cell for cell in book.cells if "<summary>A solution</summary>" in cell.source]
        assert all(cell.cell_type == "markdown" for cell in folds)
        assert len(folds) <= len(stretch_answers(book)), path
