"""``autograder new``: stubs that say what goes where, and that nobody can release."""

import ast
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.authoring.course_folder import make_course, write_stubs
from autograder.authoring.notebook_cells import read_name
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.references.store import References
from autograder.release.verify import drafted, require_filled_in, stubs

SMOOTHING = "source/signals/1_smoothing.ipynb"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "course"
    make_course(root)
    return root


@pytest.fixture
def own(made: Path, tmp_path: Path) -> Course:
    """As ``autograder init`` makes it."""
    return Course(shutil.copytree(made, tmp_path / "course"))


@pytest.fixture
def course(own: Course) -> Course:
    """The same without a library."""
    path = own.root / "course.toml"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(one for one in lines if not one.startswith(("library", "checks", "warm"))))
    return Course(own.root)


def new(course: Course, name: str) -> list[str]:
    return [str(path.relative_to(course.root)) for path in write_stubs(course, read_name(name, course))]


def with_library(course: Course, *modules: str) -> Course:
    (course.root / "lib" / "check" / "_rules").mkdir(parents=True)
    for name in ("lib/__init__.py", "lib/check/__init__.py", *(f"lib/check/{module}.py" for module in modules)):
        (course.root / name).write_text("")
    with (course.root / "course.toml").open("a") as file:
        file.write('library = "lib"\nchecks = "lib.check"\n')
    return Course(course.root)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("signals/median", ("signals/1_smoothing", "signals/median")),
        ("signals/2_medians", ("signals/2_medians", "signals/medians")),
        ("signals/1_smoothing/median/", ("signals/1_smoothing", "signals/median")),
        ("filters", ("filters/1_filters", "filters/filters")),
        ("filters/low_pass", ("filters/1_filters", "filters/low_pass")),
        ("filters/cut-off/low_pass", ("filters/cut-off", "filters/low_pass")),
    ],
)
def test_what_is_left_out_of_a_name_is_named_after_what_is_there(
    name: str, written: tuple[str, str], course: Course
) -> None:
    notebook, slug = written
    assert new(course, name) == [f"source/{notebook}.ipynb", f"exercises/{slug}.py"]


def test_cells_are_appended_with_ids_of_their_own_and_those_before_stay(course: Course) -> None:
    before = json.loads((course.root / SMOOTHING).read_bytes())
    new(course, "signals/median")
    after = json.loads((course.root / SMOOTHING).read_bytes())
    count = len(before["cells"])
    assert {**after, "cells": after["cells"][:count]} == before
    added = nbformat.read(course.root / SMOOTHING, as_version=4).cells[count:]
    assert [cell.id for cell in added] == ["median_text", "median_answer", "median"]
    assert [cells.grade_id(cell) for cell in added] == [None, "median_answer", "median"]
    assert cells.is_solution(added[1])
    assert cells.is_autograded(added[2])
    assert cells.references_of(added[2].source) == ("signals/median",)
    nbformat.validate(nbformat.read(course.root / SMOOTHING, as_version=4))


def test_the_new_exercise_stands_before_the_notebooks_closing_text(course: Course) -> None:
    path = course.root / SMOOTHING
    notebook = nbformat.read(path, as_version=4)
    count = len(notebook.cells)
    closing = [nbformat.v4.new_markdown_cell("That is all.", id="end"), nbformat.v4.new_code_cell("1", id="more")]
    notebook.cells += closing
    nbformat.write(notebook, path)
    new(course, "signals/median")
    after = nbformat.read(path, as_version=4).cells
    assert [cell.id for cell in after[count:]] == ["median_text", "median_answer", "median", "end", "more"]
    new(course, "signals/mean")
    assert nbformat.read(path, as_version=4).cells[count + 3].id == "mean_text"


def test_nothing_that_exists_is_changed_but_the_notebook(course: Course) -> None:
    before = contents(course.root)
    new(course, "signals/median")
    after = contents(course.root)
    assert {name for name in before if before[name] != after[name]} == {SMOOTHING}


def test_a_notebook_of_an_older_format_stays_one(course: Course) -> None:
    path = course.root / SMOOTHING
    old = json.loads(path.read_bytes()) | {"nbformat_minor": 4}
    for cell in old["cells"]:
        del cell["id"]
    path.write_text(json.dumps(old))
    new(course, "signals/median")
    now = json.loads(path.read_bytes())
    assert now["nbformat_minor"] == 4
    assert not any("id" in cell for cell in now["cells"])
    nbformat.validate(nbformat.read(path, as_version=4))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "expected ASSIGNMENT"),
        ("a/b/c/d", "expected ASSIGNMENT"),
        ("a//b", "expected ASSIGNMENT"),
        ("../etc/passwd", "cannot be the name of an assignment"),
        ("ps-1", "cannot be the name of an assignment"),
        ("signals/class", "cannot be the name of an exercise"),
        ("signals/_helper", "cannot be the name of an exercise"),
        ("signals/größe", "cannot be the name of an exercise"),
        ("signals/check", "notebooks use it themselves"),
        (f"signals/{'x' * 60}", "at most 50 characters"),
        ("signals/2 smoothing/median", "cannot be a notebook's name"),
        ("signals", "say signals/EXERCISE"),
        ("signals/1_smoothing", "say signals/1_smoothing/EXERCISE"),
        ("signals/moving_average", "exists already"),
        ("signals/2_more/moving_average", "exists already"),
        ("signals/moving_average_answer", "has a cell of an exercise"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_in_one_line_and_nothing_is_written(
    name: str, said: str, course: Course
) -> None:
    before = contents(course.root)
    with pytest.raises(GradingError, match=said) as refused:
        new(course, name)
    assert "\n" not in str(refused.value)
    assert contents(course.root) == before


def test_of_several_notebooks_one_must_be_named(course: Course) -> None:
    new(course, "signals/2_more/trend")
    with pytest.raises(GradingError, match=r"2 notebooks \(1_smoothing, 2_more\): say signals/NOTEBOOK/EXERCISE"):
        new(course, "signals/median")


def test_a_write_that_fails_leaves_nothing_behind(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(course.root)
    monkeypatch.setattr("autograder.authoring.course_folder.write_file", failing_at(".ipynb"))
    with pytest.raises(GradingError, match="no room"):
        new(course, "filters/low_pass")
    assert contents(course.root) == before
    assert not (course.root / "exercises" / "filters").exists()


def failing_at(suffix: str) -> Callable[[Path, bytes], None]:
    def write(path: Path, data: bytes) -> None:
        if path.suffix == suffix:
            raise GradingError("no room")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return write


@pytest.mark.parametrize("discover", [True, False])
def test_a_course_with_checks_of_its_own_gets_a_module_for_the_visible_check(discover: bool, course: Course) -> None:
    course = with_library(course, *(["discover"] if discover else []))
    written = new(course, "filters/low_pass")
    assert written[2:] == ["lib/check/filters/low_pass.py", "lib/check/filters/__init__.py"]
    for name in written[1:]:
        ast.parse((course.root / name).read_text(encoding="utf-8"))
    notebook = nbformat.read(course.root / written[0], as_version=4)
    sources = [cell.source for cell in notebook.cells]
    assert "from lib.check import filters as check" in sources[1]
    assert sources[-1].startswith("check.low_pass(low_pass)\n")
    assert ("lib.check.discover" in (course.root / written[3]).read_text(encoding="utf-8")) is discover


def test_in_a_new_course_checks_are_made_of_packs(own: Course) -> None:
    written = new(own, "signals/median")
    assert written[1:] == ["exercises/signals/median.py"]
    package = new(own, "filters/low_pass")[-1]
    assert package == "course_checks/filters/__init__.py"
    assert "from course_checks._rules.visible import checks\n" in (own.root / package).read_text(encoding="utf-8")
    assert "shows=(" in (own.root / written[1]).read_text(encoding="utf-8")


def test_a_course_whose_checks_are_made_of_packs_gets_one_file(course: Course) -> None:
    course = with_library(course, "discover", "_rules/__init__")
    written = new(course, "filters/low_pass")
    assert written[1:] == [
        "exercises/filters/low_pass.py",
        "lib/check/filters/__init__.py",
    ]
    assert new(course, "filters/high_pass")[1:] == ["exercises/filters/high_pass.py"]
    last = nbformat.read(course.root / written[0], as_version=4).cells[-1].source
    assert last.startswith("check.high_pass(high_pass)\n")
    assert "    case.call(high_pass)\n" in last
    found = list(stubs(course, Assignment.unreleased(course, "filters")))
    assert any(line.startswith(f"{written[1]} is a stub: ") for line in found), found


def test_where_the_notebook_cannot_be_written_all_stays_as_it_was(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = with_library(course, "discover", "_rules/__init__")
    new(course, "filters/low_pass")
    before = contents(course.root)
    monkeypatch.setattr("autograder.authoring.course_folder.write_file", failing_at(".ipynb"))
    with pytest.raises(GradingError, match="no room"):
        new(course, "filters/high_pass")
    assert contents(course.root) == before


def test_a_new_exercise_is_one_file_of_twenty_five_lines_at_most(course: Course) -> None:
    (_, file) = new(course, "filters/low_pass")
    assert len((course.root / file).read_text(encoding="utf-8").splitlines()) <= 25
    assert "EXERCISE" in (course.root / file).read_text(encoding="utf-8")


def test_a_package_of_checks_finds_its_modules_by_itself(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    course = with_library(course)
    new(course, "filters/low_pass")
    new(course, "filters/high_pass")
    monkeypatch.syspath_prepend(course.root)
    from lib.check import filters  # type: ignore[import-not-found]

    for check in (filters.low_pass, filters.high_pass):
        with pytest.raises(NotImplementedError, match="STUB: the visible check"):
            check(None)


def test_the_second_exercise_of_an_assignment_uses_its_notebooks_import(course: Course) -> None:
    course = with_library(course)
    new(course, "filters/low_pass")
    (written, *_, last) = new(course, "filters/high_pass")
    assert last == "lib/check/filters/high_pass.py"
    sources = [cell.source for cell in nbformat.read(course.root / written, as_version=4).cells]
    assert sum("from lib.check" in source for source in sources) == 1
    assert sources[-1].startswith("check.high_pass(high_pass)\n")


def test_a_notebook_that_imports_no_checks_gets_the_import_in_the_graded_cell(course: Course) -> None:
    course = with_library(course)
    new(course, "signals/median")
    sources = [cell.source for cell in nbformat.read(course.root / SMOOTHING, as_version=4).cells]
    assert sources[-1].startswith("from lib.check import signals as check\n\ncheck.median(median)\n")


def test_a_new_notebook_begins_with_the_courses_setup_cell(course: Course) -> None:
    (course.root / "source" / "setup_cell.py").write_text("REPOSITORY = 'a/b'\n")
    new(course, "filters/low_pass")
    made = nbformat.read(course.root / "source/filters/1_filters.ipynb", as_version=4).cells
    assert [(cell.id, cells.is_locked(cell)) for cell in made[:3]] == [
        ("title", False),
        ("setup", True),
        ("imports", True),
    ]
    assert made[1].source == "REPOSITORY = 'a/b'"


def test_every_file_of_a_new_exercise_is_named_as_a_stub(course: Course) -> None:
    course = with_library(course)
    written = new(course, "filters/low_pass")
    found = list(stubs(course, Assignment.unreleased(course, "filters")))
    for cell in ("low_pass_text", "low_pass_answer"):
        assert any(f"1_filters.ipynb, cell '{cell}' is a stub: " in line for line in found), found
    assert any(line.startswith(f"{written[1]} is a stub: ") for line in found), found


def test_an_assignment_with_a_stub_is_not_released(course: Course) -> None:
    new(course, "signals/median")
    said = r"signals: 1_smoothing.ipynb, cell 'median_text' is a stub: .*; fill it in"
    with pytest.raises(GradingError, match=said), drafted(course, "signals"):
        raise AssertionError("a draft with a stub")


def test_any_one_stub_stops_the_release(course: Course) -> None:
    require_filled_in(course, Assignment.unreleased(course, "signals"))
    path = course.root / "exercises" / "signals" / "moving_average.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n# STUB: one more\n", encoding="utf-8")
    with pytest.raises(GradingError, match=r"moving_average\.py is a stub: one more; fill it in"):
        require_filled_in(course, Assignment.unreleased(course, "signals"))


def test_a_stub_draws_no_references_and_gives_no_answers(course: Course) -> None:
    new(course, "signals/median")
    references = References.of_course(course.root)
    before = contents(course.root / "exercises")
    with pytest.raises(GradingError, match=r"signals/median: its oracle cannot draw cases: .*STUB: draw the cases"):
        references.build("signals", 1)
    with pytest.raises(GradingError, match=r"its oracle cannot draw cases: .*STUB: draw the cases"):
        references.build("signals", references.seed("signals"), only=["median"])
    assert contents(course.root / "exercises") == before


def test_the_stub_of_one_exercise_leaves_the_others_to_be_used(course: Course) -> None:
    new(course, "signals/median")
    references = References.of_course(course.root)
    assert list(references.exercises("signals")) == ["signals/median", "signals/moving_average"]
    assert len(references.cases("signals/moving_average")) == 4


def test_a_course_is_made_and_extended_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "physics"]) == 0
    assert "exercises/signals/moving_average.py" in capsys.readouterr().out
    assert cli.main(["--course-dir", "physics", "new", "signals/median"]) == 0
    assert "exercises/signals/median.py" in capsys.readouterr().out
    assert (tmp_path / "physics" / "exercises" / "signals" / "median.py").is_file()


@pytest.mark.parametrize("command", [["init", "."], ["new", "signals"], ["new", "no/such/course/here"]])
def test_what_cannot_be_made_is_said_in_one_line(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    assert cli.main(command) == 2
    said = capsys.readouterr().err
    assert (said.startswith("autograder: "), said.count("\n")) == (True, 1), said
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
