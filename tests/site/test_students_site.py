"""The site of a published folder gives nothing away, needs no network, and runs no solution a second time."""

import base64
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from safetensors.numpy import load

from autograder import cli
from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.pipeline.execute import Kernels
from autograder.publish.publish import TEMPLATES, dead_links, publish
from autograder.publish.texts import students_readme
from autograder.references.write import read_files
from autograder.release.main_line import Lesson
from autograder.site.build import Page, Site, build
from autograder.site.shown import MISTAKE, WORKFLOW
from tests.publish.test_solution_fields import NOTEBOOK, _marked, _words

pytestmark = pytest.mark.slow
PAGE = f"site/release/{EXAMPLE}/1_smoothing.html"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The example, with a quiz whose answer later cells show, and with words planted where students must not look."""
    root = tmp_path_factory.mktemp("site") / "course"
    make_course(root)
    course = Course(root)
    path = course.source(EXAMPLE) / NOTEBOOK
    notebook = nbformat.read(path, as_version=4)
    stop = (
        "def stops():\n    planted_line_of_a_solution = 1 / 0\n    return planted_line_of_a_solution\nprint('planted')"
    )
    notebook.cells += [
        _marked(new_code_cell("quiz = 'planted-choice'"), "quiz_answer", solution=True),
        new_code_cell("print(f'you chose {quiz}')"),
        new_code_cell("again = quiz.upper()"),
        new_code_cell("print(again.lower())"),
        _marked(new_code_cell(stop), "stops_answer", solution=True),
        new_code_cell("stops()", metadata={"tags": ["raises-exception"]}),
        new_code_cell("print('shown to everybody')"),
    ]
    graded = next(cell for cell in notebook.cells if "END HIDDEN TESTS" in cell.source)
    graded.source = graded.source.replace("### END", f"{HIDDEN}\n### END")
    path.write_text(nbformat.writes(notebook))
    for command in ("references", "release"):  # mistakes' numbers are those of the cells as they are
        assert cli.main(["--course", str(root), command, EXAMPLE]) == 0
    return course


@pytest.fixture(scope="module")
def students(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Published with a site. No kernel is to be had: the release ran the solution."""
    folder = tmp_path_factory.mktemp("published") / "students"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernels, "open", None)
        assert cli.main(["--course", str(course.root), "publish", str(folder), "--site"]) == 1
    yield folder


def test_no_byte_of_a_site_tells_an_answer(students: Path) -> None:
    assert (students / PAGE).is_file()
    assert _words(students) == []


def test_a_page_shows_stubs_and_what_other_cells_print(students: Path) -> None:
    text = (students / PAGE).read_text(encoding="utf-8")
    assert "Your code goes here." in text and "NotImplementedError" in text
    assert "shown to everybody" in text and "ZeroDivisionError" in text
    assert text.count("it would tell an answer") == 2, "the third cell prints nothing"


def test_a_page_shows_what_the_check_says_when_it_passes_and_to_one_mistake(students: Path) -> None:
    text = " ".join((students / PAGE).read_text(encoding="utf-8").split())
    passes, fails = "✓ moving_average: one mean for each window", "CheckFailed: moving_average:"
    assert passes in text.partition(MISTAKE.strip("*"))[0] and fails in text.partition(MISTAKE.strip("*"))[2]


def test_pictures_beside_a_notebook_are_on_its_page_also_when_it_was_published_before(tmp_path: Path) -> None:
    """By Markdown, by a name that is explained below, and by a tag."""
    text = "# A title\n\n![A square](a%20b.png) ![Another][c] <img src='d.png' alt='A third one'>\n\n[c]: c.png\n"
    folder, before = tmp_path / "fresh", tmp_path / "before"
    for name, place in (("a b.png", folder), ("c.png", before), ("d.png", before)):
        (place / "release/x").mkdir(parents=True, exist_ok=True)
        (place / "release/x" / name).write_bytes(base64.b64decode(_png("plain", name)))
    (folder / "README.md").write_text("# A course\n")
    notebook = new_notebook(cells=[new_markdown_cell(text)])
    page = Page(Lesson("x", "1", "A title", "1", 9), notebook, notebook)
    build(Site("A course", "o/n", folder, "README.md", [page], {}, before), tmp_path / "site")
    made = (tmp_path / "site/release/x/1.html").read_text(encoding="utf-8")
    shown = re.findall(r"""<img[^>]*? src=["']([^"']+)""", made.replace("\n", " "))
    assert len(shown) == 3
    assert all(Image.open(tmp_path / "site/release/x" / unquote(link)).size == (40, 40) for link in shown)


def test_a_notebook_may_have_any_name_that_a_file_can_have(tmp_path: Path) -> None:
    """Signs that mean something in an address, in Markdown or to the search; the published README leads there, too."""
    name, folder = "2 Ünï #kod & 100% (x)", tmp_path / "published"
    lesson = Lesson("x", name, "A title", "1", 9)
    notebook = new_notebook(cells=[new_markdown_cell("# A title\n\n[other](1.ipynb)")])
    other = new_notebook(cells=[new_markdown_cell(f"# Other\n\n[back]({quote(name)}.ipynb)")])
    (folder / "release" / "x").mkdir(parents=True)
    for path, content in ((f"{name}.ipynb", notebook), ("1.ipynb", other)):
        nbformat.write(content, folder / "release" / "x" / path)
    template = (TEMPLATES / "README.md.j2").read_text(encoding="utf-8")
    (folder / "README.md").write_text(students_readme(Course(tmp_path), template, [lesson], "o/n"), encoding="utf-8")
    assert list(dead_links(folder, "o/n", (), ())) == []
    pages = [Page(lesson, notebook, notebook), Page(Lesson("x", "1", "Other", "1", 9), other, other)]
    guide = "docs/Für #1 & alle (100 %).md"
    (folder / "docs").mkdir()
    (folder / guide).write_text("# A guide\n\n[home](../README.md)\n")
    build(Site("A course", "o/n", folder, "README.md", pages, {"A guide": [guide]}), tmp_path / "site")
    made = sorted(path for path in (tmp_path / "site").rglob("*.html") if "_static" not in path.parts)
    for page in made:
        for link in re.findall(r'href="((?!https?:|#)[^"#?]+)', page.read_text(encoding="utf-8")):
            assert (page.parent / unquote(html.unescape(link))).is_file(), (page, link)
    assert (tmp_path / "site" / "release" / "x" / f"{name}.ipynb").is_file()
    searched = (tmp_path / "site" / "searchindex.js").read_text(encoding="utf-8")
    names = json.loads(re.search(r'"docnames":(\[.*?\])', searched)[1])
    assert len(names) == 5 and not [one for one in names if re.search(r"[^\w./-]", one)], "the search leads there as is"
    course = (tmp_path / "site" / "course.html").read_text(encoding="utf-8")
    assert f"colab.research.google.com/github/o/n/blob/main/release/x/{quote(name)}.ipynb" in html.unescape(course)


def test_a_page_has_one_title_however_many_its_notebook_has(tmp_path: Path) -> None:
    texts = ["A title\n=======\n\nText", "# Part 1\n\n## Of it\n\n```\n# a comment\n```", "Part 2\n===\n\nText"]
    code = new_code_cell("# no title\n1 + 1")
    notebooks = {"1": [*map(new_markdown_cell, texts)], "2": [code, new_markdown_cell("# A\n\n# B")]}
    (tmp_path / "README.md").write_text("# A course\n")
    pages = []
    for name, cells in notebooks.items():
        notebook = new_notebook(cells=cells)
        pages.append(Page(Lesson("x", name, f"Lesson {name}", "1", 9), notebook, notebook))
    build(Site("A course", "o/n", tmp_path, "README.md", pages, {}), tmp_path / "site")
    assert _headings(tmp_path / "site/release/x/1.html") == ["1 A title", "2 Part 1", "3 Of it", "2 Part 2"]
    assert _headings(tmp_path / "site/release/x/2.html") == ["1 Lesson 2", "2 A", "2 B"]
    assert "Lesson 1" in (tmp_path / "site/course.html").read_text(encoding="utf-8")


def _headings(page: Path) -> list[str]:
    found = re.findall(r"<h([1-6])>(.*?)<a ", page.read_text(encoding="utf-8"))
    return [f"{level} {text}" for level, text in found]


def test_nothing_but_the_site_is_added_to_the_published_folder(students: Path) -> None:
    assert not list(students.rglob("jupyter_execute"))


def test_a_site_is_whole_without_a_network(students: Path) -> None:
    for path in (students / "site").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|img|link|source|iframe)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//", text), path
    for path in (students / "site").rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path
    assert "upload-pages-artifact" in (students / WORKFLOW).read_text(encoding="utf-8")


def test_a_site_stays_up_to_date_without_being_asked_for(course: Course, students: Path) -> None:
    (students / "site/index.html").write_text("old")
    removed = publish(course.root, students).removed
    assert (students / "site/index.html").read_text(encoding="utf-8") != "old" and not removed


LINE = "planted_line_of_a_solution = 1 / 0"
HIDDEN = "planted = 'a line of a hidden test -- or two... that nobody sees'"


def _png(kind: str, text: str) -> str:
    """A picture whose metadata say something."""
    about, data = PngInfo(), io.BytesIO()
    about.add_text("Comment", text, zip=kind == "packed")
    Image.new("RGB", (40, 40), "white").save(data, "png", pnginfo=about)
    return base64.b64encode(data.getvalue()).decode()


def _expected(course: Course) -> str:
    stored = read_files(course.root / "exercises" / EXAMPLE, "moving_average")
    arrays = load(stored["expected.safetensors"])
    return str(max(arrays.values(), key=lambda one: one.size).tolist())


#: What quotes, dashes and dots become in a text, and signs in a formula.
WRITTEN = {0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'", 0x2032: "'", 0x2026: "...", 0x2013: "--", 0x2212: "-"}
#: How an output can tell a text.
SHOWN: dict[str, Callable[[str], dict[str, object]]] = {
    "printed": lambda text: {"text/plain": f"a line before\n{text}\n"},
    "html": lambda text: {"text/plain": "x", "text/html": f"<b>{html.escape(text)}</b>"},
    "text that a page writes in another way": lambda text: {"text/markdown": text},
    "formula": lambda text: {"text/latex": f"${text}$"},
    "json": lambda text: {"application/json": {"a": [text]}, "text/plain": repr(text)},
    "picture": lambda text: {"image/png": _png("plain", text)},
    "packed in a picture": lambda text: {"image/png": _png("packed", text)},
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("secret", ["line", "hidden test", "expected values"])
def test_what_tells_an_answer_is_refused_and_the_folder_stays_as_it_was_or_it_is_not_in_it(
    course: Course, students: Path, shown: str, secret: str
) -> None:
    text = {"line": LINE, "hidden test": HIDDEN, "expected values": _expected(course)}[secret]
    output = new_output("display_data", SHOWN[shown](text), metadata={"image/png": {"alt": f"A picture of {text}"}})
    before = (students / PAGE).read_bytes()
    kept = course.root / ".autograder" / "solved" / f"{EXAMPLE}.json"
    original = kept.read_text(encoding="utf-8")
    run = json.loads(original)
    (cell,) = [name for name, found in run["notebooks"]["1_smoothing"].items() if "shown to everybody" in str(found)]
    run["notebooks"]["1_smoothing"][cell] = [output]
    try:
        kept.write_text(json.dumps(run), encoding="utf-8")
        publish(course.root, students)
    except GradingError as error:
        assert re.search(r"the site would leak .*1_smoothing.ipynb(, cell |!cells!).*remove-output", str(error))
        assert (students / PAGE).read_bytes() == before
    finally:
        kept.write_text(original, encoding="utf-8")
    texts = {text, "".join(text.split())}
    files = (students / "site").rglob("*")
    told = [path for path in files if any(one in read for read in _read(path) for one in texts)]
    assert not told


def _read(path: Path) -> Iterator[str]:
    """A file as it is, and as people and programs read it."""
    if path.is_file():
        yield path.read_bytes().decode(errors="replace")
        if path.suffix == ".png":
            yield str(Image.open(path).info)
        elif path.suffix in (".html", ".js", ".ipynb"):
            words = html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8")))
            yield words
            yield "".join(words.split()).translate(WRITTEN)


def test_a_course_without_sphinx_is_told_what_to_install(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.site.build.find_spec", lambda name: None)
    assert cli.main(["--course", str(course.root), "publish", str(tmp_path / "students"), "--site"]) == 2
    assert "pip install 'transformer-course-autograder[site]'" in capsys.readouterr().err
    assert not (tmp_path / "students").exists()
