"""The gallery has every figure that the solved notebooks draw, each with the words that come with it."""

import ast
import base64
import importlib.util
import io
from collections.abc import Iterator

import nbformat
import pytest
from nbformat import NotebookNode
from PIL import Image

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.course import Course
from autograder.release.solved_run import kernels_when_needed, shown_by_solution
from course import figures
from course.figures.described import MIN_CHARACTERS, alt_text
from tests.grading import ROOT
from tools import gallery

NOTEBOOKS = {f"{path.parent.name}/{path.stem}": path for path in sorted(ROOT.glob("source/*/*.ipynb"))}
#: Figures of the course that are a page with scripts, no picture.
PAGES = {"head_view", "model_view"}
Shown = tuple[str, str]  # notebook, cell


def code(name: str) -> Iterator[NotebookNode]:
    for cell in nbformat.read(NOTEBOOKS[name], as_version=4).cells:
        if cell.cell_type == "code":
            yield cell


class Calls(ast.NodeVisitor):
    """The names of the functions that a cell calls itself, not those in functions that it defines."""

    def __init__(self, source: str) -> None:
        self.found: list[str] = []
        self.visit(ast.parse(source))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        pass

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        pass

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_Call(self, node: ast.Call) -> None:
        self.found.append(ast.unparse(node.func))
        self.generic_visit(node)


def drawing_names(name: str) -> set[str]:
    """What gives or shows a figure, as the notebook writes it: ``figures.``, ``plt.show``, ``stacked_heads``."""
    names = {"plt.show", "playground.look", "plot_attention"}
    for cell in code(name):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "playground.panel":
                names.add(ast.unparse(node.args[0]))  # what a panel shows is a figure, and so is its plain call
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                module, own = str(node.module), alias.asname or alias.name  # type: ignore[union-attr]
                if f"{module}.{alias.name}".startswith("course.figures"):
                    if importlib.util.find_spec(f"course.figures.{alias.name}") or alias.name == "figures":
                        names.add(f"{own}.")
                    else:
                        names.add(own)
    return names


def draws(name: str) -> set[Shown]:
    """The cells of a notebook that call a function of course/figures, or show what they drew themselves."""
    names = drawing_names(name)
    modules = tuple(one for one in names if one.endswith("."))
    return {
        (name, cell.id)
        for cell in code(name)
        for call in Calls(cells.split_hidden(cell.source).visible).found
        if (call in names or call.startswith(modules)) and call.rpartition(".")[2] not in PAGES
    }


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_cell_that_draws_for_itself_says_what_it_shows(name: str) -> None:
    for cell in code(name):
        calls = Calls(cells.split_hidden(cell.source).visible).found
        if {"plt.show", "plot_attention"} & set(calls):
            assert len(cell.metadata.get("alt", "")) >= MIN_CHARACTERS, cell.id
            released = nbformat.read(ROOT / "release" / f"{name}.ipynb", as_version=4)
            assert {one.id: one.metadata.get("alt") for one in released.cells}[cell.id] == cell.metadata.alt


@pytest.mark.slow
def test_every_cell_that_draws_is_in_the_gallery_with_its_words_and_no_other() -> None:
    course, assignment = Course(ROOT), Assignment.open(ROOT, "numpy_attention")
    with kernels_when_needed(course) as kernels:
        shown = shown_by_solution(course, assignment, kernels)
    found = [
        one
        for notebook, source in assignment.source.items()
        for one in gallery.pictures(f"numpy_attention/{notebook}", source, shown.get(notebook, {}))
    ]
    drawing = {one for name in NOTEBOOKS if name.startswith("numpy_attention/") for one in draws(name)}
    assert {(one.notebook, one.cell) for one in found} == drawing and len(drawing) >= 7
    assert all(len(one.alt) >= MIN_CHARACTERS and len(one.png) <= gallery.MAX_BYTES for one in found)
    (drawn,) = [one for one in found if one.cell == "figure-attention"]
    assert drawn.alt == alt_text(figures.attention_in_numpy())


def test_a_picture_without_words_is_refused_and_one_with_words_keeps_them() -> None:
    written = io.BytesIO()
    Image.new("RGB", (4, 4)).save(written, "PNG")
    png = base64.b64encode(written.getvalue()).decode()
    output = nbformat.v4.new_output("display_data", {"image/png": png})
    source = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id="a")])
    with pytest.raises(ValueError, match="cell a in x/y has no alt text"):
        list(gallery.pictures("x/y", source, {"a": [output, output]}))
    source.cells[0].metadata["alt"] = "A point with [brackets] and under_scores."
    found = list(gallery.pictures("x/y", source, {"a": [output, output]}))
    assert [one.file for one in found] == ["x-y-a.png", "x-y-a-2.png"]
    text = gallery.page(found)
    assert r"A point with \[brackets\] and under\_scores." in text
    assert text.count("## x\n") == text.count("### [x/y](../source/x/y.ipynb)") == 1
    assert "](gallery/x-y-a-2.png)" in text
