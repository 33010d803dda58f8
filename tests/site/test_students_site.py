"""The site of a published folder gives nothing away, needs no network, and runs no solution a second time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder import cli
from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.pipeline.execute import Kernels
from autograder.release.publish import publish
from autograder.site.shown import MISTAKE
from autograder.site.students import WORKFLOW
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
    path.write_text(nbformat.writes(notebook))
    assert cli.main(["--course", str(root), "release", EXAMPLE]) == 0
    return course


@pytest.fixture(scope="module")
def students(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Published with a site. No kernel is to be had: the release ran the solution."""
    folder = tmp_path_factory.mktemp("published") / "students"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernels, "open", None)
        assert cli.main(["--course", str(course.root), "publish", str(folder), "--site"]) == 0
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
    passes, fails = "moving_average: the shape and a small example are right.", "AssertionError: 1, 2, 4, 8 with"
    assert passes in text.partition(MISTAKE.strip("*"))[0] and fails in text.partition(MISTAKE.strip("*"))[2]


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


def test_a_cell_that_prints_a_line_of_a_solution_keeps_the_folder_as_it_was(course: Course, students: Path) -> None:
    before = (students / PAGE).read_bytes()
    shown = course.root / ".autograder" / "solved" / f"{EXAMPLE}.json"
    kept = shown.read_text(encoding="utf-8")
    line = "planted_line_of_a_solution = 1 / 0"
    try:
        shown.write_text(kept.replace("shown to everybody", line), encoding="utf-8")
        with pytest.raises(GradingError, match=r"the site would leak .*1_smoothing.ipynb, cell .*remove-output"):
            publish(course.root, students)
    finally:
        shown.write_text(kept, encoding="utf-8")
    assert (students / PAGE).read_bytes() == before


def test_a_course_without_sphinx_is_told_what_to_install(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.site.build.find_spec", lambda name: None)
    assert cli.main(["--course", str(course.root), "publish", str(tmp_path / "students"), "--site"]) == 2
    assert "pip install 'transformer-course-autograder[site]'" in capsys.readouterr().err
    assert not (tmp_path / "students").exists()
