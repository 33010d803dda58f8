"""The gallery has every figure that the solved notebooks draw, each with the words that come with it."""

from __future__ import annotations

import ast
import base64
import importlib.util
import io
import re
from collections.abc import Iterator
from functools import cache

import nbformat
import pytest
from nbformat import NotebookNode
from PIL import Image

from autograder.model import cells
from course import figures
from course.figures.described import MIN_CHARACTERS, alt_text
from tests.grading import ROOT
from tools import gallery

PAGE, FOLDER = ROOT / "docs" / "gallery.md", ROOT / "docs" / "gallery"
NOTEBOOKS = {f"{path.parent.name}/{path.stem}": path for path in sorted(ROOT.glob("source/*/*.ipynb"))}
#: Figures of the course that are a page with scripts, no picture.
PAGES = {"head_view", "model_view"}
Shown = tuple[str, str]  # notebook, cell


@cache
def listed() -> dict[Shown, str]:
    """What the page has: notebook and cell -> the words."""
    found = {}
    for name, text in re.findall(r"(?ms)^### \[([^\]]+)\]\(.*?\)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8")):
        for cell, link, words in re.findall(r"(?m)^`([^`]+)`\n\n!\[[^\]]+\]\(([^)]+)\)\n\n(.+)$", text):
            assert link == f"gallery/{name.replace('/', '-')}-{cell}.png"
            found[name, cell] = re.sub(r"\\([\\`*_\[\]<>])", r"\1", words)
    return found


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
def test_every_cell_that_draws_is_in_the_gallery_and_no_other(name: str) -> None:
    shown = {(one, cell) for one, cell in listed() if one == name}
    assert shown == draws(name), f"run python -m tools.gallery {name}"


def test_every_picture_has_a_file_that_is_small_and_a_notebook() -> None:
    files = {FOLDER / f"{name.replace('/', '-')}-{cell}.png" for name, cell in listed()}
    assert {name for name, _ in listed()} <= set(NOTEBOOKS)
    assert set(FOLDER.iterdir()) == files
    sizes = [path.stat().st_size for path in files]
    assert max(sizes) <= 60_000 and sum(sizes) < 2_000_000


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_cell_that_draws_for_itself_says_what_it_shows(name: str) -> None:
    for cell in code(name):
        calls = Calls(cells.split_hidden(cell.source).visible).found
        if {"plt.show", "plot_attention"} & set(calls) and (name, cell.id) in listed():
            assert len(cell.metadata.get("alt", "")) >= MIN_CHARACTERS, cell.id
            assert listed()[name, cell.id] == cell.metadata.alt, f"run python -m tools.gallery {name}"
            released = nbformat.read(ROOT / "release" / f"{name}.ipynb", as_version=4)
            assert {one.id: one.metadata.get("alt") for one in released.cells}[cell.id] == cell.metadata.alt


def test_the_words_of_the_drawings_are_those_that_they_carry_now() -> None:
    compared = 0
    for name in NOTEBOOKS:
        for cell in code(name):
            drawn = re.fullmatch(r"figures\.(\w+)\(\)", cell.source)
            if drawn and hasattr(figures, drawn[1]):
                assert listed()[name, cell.id] == alt_text(getattr(figures, drawn[1])())
                compared += 1
    assert compared >= 8


@pytest.mark.slow
def test_an_executed_notebook_has_the_figures_and_the_words_of_the_gallery() -> None:
    """One with a drawing and a measurement; pixels may differ on another machine."""
    name = "numpy_attention/1_attention"
    made = gallery.pictures(name, gallery.executed(NOTEBOOKS[name]))
    found = {(one.notebook, one.cell): one.alt for one in made}
    assert found == {shown: words for shown, words in listed().items() if shown[0] == name}


def test_the_command_refuses_a_name_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        gallery.main(["nothing"])
    assert ended.value.code == 2
    assert "There is no notebook nothing. There are: " in capsys.readouterr().err


def test_a_picture_without_words_is_refused_and_one_with_words_keeps_them() -> None:
    written = io.BytesIO()
    Image.new("RGB", (4, 4)).save(written, "PNG")
    png = base64.b64encode(written.getvalue()).decode()
    output = nbformat.v4.new_output("display_data", {"image/png": png})
    cell = nbformat.v4.new_code_cell("", id="a", outputs=[output, output])
    with pytest.raises(ValueError, match="cell a in x/y has no alt text"):
        list(gallery.pictures("x/y", nbformat.v4.new_notebook(cells=[cell])))
    cell.metadata["alt"] = "A point with [brackets] and under_scores."
    made = list(gallery.pictures("x/y", nbformat.v4.new_notebook(cells=[cell])))
    assert [one.file for one in made] == ["x-y-a.png", "x-y-a-2.png"]
    assert r"A point with \[brackets\] and under\_scores." in gallery.section("x/y", made)


def test_sections_of_other_notebooks_are_kept() -> None:
    page = gallery.page({"b/1": "### [b/1](x)\n\none\n", "a/2": "### [a/2](y)\n\ntwo\n"})
    assert gallery.page(gallery.sections(page)) == page and page.index("## a") < page.index("## b")
