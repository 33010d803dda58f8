"""What kernels may read of a course is its library, wherever that is installed, and nothing else of the course."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.errors import GradingError
from autograder.kernel.imports import KernelImports, imports_of, library_places
from autograder.model.course import Course
from autograder.model.course_file import CourseFile
from autograder.pipeline.execute import Kernels, run
from tests.isolation.conftest import Go, cell, text

READ = "print(open({path!r}).read())"
DRAWING = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
print("drawn")
"""


def make_course(folder: Path, library: str) -> Course:
    (folder / "source").mkdir(parents=True)
    (folder / "secret.txt").write_text("42")
    (folder / "course.toml").write_text(f"library = {library!r}\n" if library else "title = 'No library'\n")
    return Course(folder)


def package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("ANSWER = 6 * 7\n")
    return folder / name


def shown(imports: KernelImports, answers: Path, *sources: str) -> list[str]:
    """What cells print in a confined kernel; the name of its error where there is one."""
    answers.mkdir(exist_ok=True)
    with Kernels.open("auto", imports=imports) as kernels:
        notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
        ran = run(notebook, files={}, inputs={}, answers=answers, kernels=kernels)
    told = [text(new_notebook(cells=[one])).strip() for one in ran.notebook.cells]
    return [outcome.visible.ename or said for outcome, said in zip(ran.outcomes, told, strict=True)]


@pytest.mark.parametrize("folder", ["src", "."], ids=["editable, in another folder", "in the course's folder"])
def test_a_library_is_imported_and_the_course_beside_it_is_not_read(tmp_path, monkeypatch, folder):
    """As pip's editable installs do it, a folder is named by a ``.pth`` file; the course's own need not be."""
    place = package(tmp_path / folder, "statistics_course")
    if folder == "src":
        monkeypatch.syspath_prepend(str(place.parent))
    imports = imports_of(make_course(tmp_path, "statistics_course"))
    assert imports.readable == (str(place),) and imports.paths == (str(place.parent),)
    imports = replace(imports, warm=() if folder == "src" else ("statistics_course",))
    secret = READ.format(path=str(tmp_path / "secret.txt"))
    use = "import statistics_course; print(statistics_course.ANSWER)"
    assert shown(imports, tmp_path / "answers", use, secret) == ["42", "PermissionError"]


def test_a_plainly_installed_library_needs_no_path_of_its_own(tmp_path):
    imports = imports_of(make_course(tmp_path, "nh3"))
    assert imports.paths == () and len(imports.readable) == 1
    assert shown(imports, tmp_path / "answers", "import nh3; print(nh3.__name__)") == ["nh3"]


def test_a_course_without_a_library_shows_nothing_of_it_and_draws(tmp_path):
    imports = imports_of(make_course(tmp_path, ""))
    assert not (imports.readable or imports.paths or imports.warm)
    assert not imports.pictures  # no notebook seems to draw
    secret = READ.format(path=str(tmp_path / "secret.txt"))
    denied, drawn = shown(imports, tmp_path / "answers", secret, DRAWING)
    assert denied == "PermissionError" and "drawn" in drawn


def test_a_namespace_package_is_found_in_all_its_folders(tmp_path, monkeypatch):
    for part in ("one", "two"):
        (tmp_path / part / "spread" / part).mkdir(parents=True)
        monkeypatch.syspath_prepend(str(tmp_path / part))
    assert sorted(library_places(tmp_path, CourseFile(library="spread"))) == [
        tmp_path / "one" / "spread",
        tmp_path / "two" / "spread",
    ]


def test_a_module_is_its_file_and_a_subpackage_its_folder(tmp_path, monkeypatch):
    (tmp_path / "helpers_of_course.py").write_text("")
    package(package(tmp_path, "faculty"), "statistics")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert library_places(tmp_path, CourseFile(library="helpers_of_course")) == [tmp_path / "helpers_of_course.py"]
    imports = imports_of(make_course(tmp_path / "course", "faculty.statistics"))
    assert imports.readable == (str(tmp_path / "faculty" / "statistics"),) and imports.paths == (str(tmp_path),)


@pytest.mark.parametrize("name", ["no_such_library", "no_such.library", "json.no_such"])
def test_a_library_that_is_not_installed_is_one_line(tmp_path, name):
    with pytest.raises(GradingError, match=f"course.toml: the library '{name}' is not installed") as raised:
        imports_of(make_course(tmp_path, name))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["source", "exercises", "autograder", "autograder.pipeline"])
def test_what_holds_answers_is_no_library(tmp_path, monkeypatch, name):
    course = make_course(tmp_path, name)
    (tmp_path / "exercises").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GradingError, match="which it must not read"):
        imports_of(course)


def test_the_course_s_folder_is_no_library(tmp_path, monkeypatch):
    course = make_course(tmp_path / "whole_course", "whole_course")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GradingError, match="which it must not read"):
        imports_of(course)


def test_grading_says_it_before_it_begins(tmp_path):
    make_course(tmp_path, "no_such_library")
    for folder in ("source/toy", "submitted/ada/toy"):
        (tmp_path / folder).mkdir(parents=True)
        nbformat.write(new_notebook(cells=[new_code_cell("1")]), tmp_path / folder / "toy.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "autograder.cli", "--course", str(tmp_path), "grade", "toy"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "'no_such_library' is not installed" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("place", ["source", "submitted/eve"])
def test_pictures_are_imported_beforehand_where_a_notebook_draws(tmp_path, place):
    course = make_course(tmp_path, "")
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / place / "1.ipynb").write_text("'plt.show()'")
    assert imports_of(course).pictures


def test_a_large_class_has_them_without_a_look(tmp_path):
    course = make_course(tmp_path, "")
    for number in range(201):
        (tmp_path / "source" / f"{number}.txt").write_text("")
    assert imports_of(course).pictures


def test_a_kernel_holds_nothing_of_the_grader_that_knows_an_answer(go: Go) -> None:
    listed = "import sys\nprint(*(name for name in sys.modules if name.partition('.')[0] == 'autograder'))"
    held = {name.split(".")[1] for name in text(go(cell(listed)).notebook).split() if "." in name}
    assert "testing" in held
    assert held <= {"errors", "exercise", "files", "isolation", "kernel", "remote", "tester", "testing"}
