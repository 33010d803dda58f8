"""However an nbgrader course writes its notebooks, the grader reads what nbgrader reads."""

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import check_exercises
from autograder.errors import GradingError
from autograder.model.cells import grade_id, split_hidden
from autograder.model.course import Course
from autograder.model.settings import read_settings
from autograder.model.source import instructors_notebook
from autograder.pipeline.rebuild import SubmittedCell, rebuild
from autograder.release.agreement import differences
from autograder.release.as_submitted import solved
from autograder.release.generate import generate
from tests.pipeline.conftest import nbgrader
from tests.plain.notebooks import PYTHON, answer, code, graded, locked, notebook, task, words, write
from tests.plain.styles import AUTOTESTS

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "forms"
c.IncludeHeaderFooter.header = "source/header.ipynb"
c.IncludeHeaderFooter.footer = "source/footer.ipynb"
c.ClearSolutions.begin_solution_delimeter = "VVV mine"
c.ClearSolutions.end_solution_delimeter = "^^^ mine"
c.ClearHiddenTests.begin_test_delimeter = "# secret >"
c.ClearHiddenTests.end_test_delimeter = "# < secret"
c.ClearMarkScheme.begin_mark_scheme_delimeter = "RUBRIC:"
c.ClearMarkScheme.end_mark_scheme_delimeter = ":RUBRIC"
c.Autograde.exclude_overwriting = {"ps1": ["helper.py", "gone.py"]}
c.Execute.timeout = 123
"""
DOUBLE = "def double(x):\n    # VVV mine\n    return 2 * x\n    # ^^^ mine"
DOUBLED = "assert double(1) == 2\n# secret >\nassert double(4) == 8\n# < secret\nassert double(0) == 0"
GENERATED = "x = double(3)\n### HASHED AUTOTEST double(7); x\n# secret >\n### AUTOTEST double(5)\n# < secret"
TASK = "Draw it.\n\nRUBRIC:\nTwo points for the axes.\n:RUBRIC"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """Released by nbgrader, whose settings know nothing of us."""
    root = tmp_path_factory.mktemp("forms") / "course"
    old = notebook(
        words("# Doubles"), answer("double", DOUBLE), code("double(10)"), graded("doubled", DOUBLED, 2),
        graded("generated", GENERATED), task("draw", TASK, 3), words("The end."),
    )  # fmt: skip
    for cell in old.cells:
        del cell["id"]
    old.nbformat_minor = 2
    write(old, root / "source/ps1/doubles.ipynb")
    write(notebook(words("# Header"), code("NAME = ''"), code("import math"), kernel={}), root / "source/header.ipynb")
    write(notebook(locked("bye", "print('bye')"), kernel={}), root / "source/footer.ipynb")
    (root / "nbgrader_config.py").write_text(CONFIG)
    (root / "autotests.yml").write_text(AUTOTESTS)
    (root / "source/ps1/data").mkdir()
    (root / "source/ps1/data/numbers.csv").write_text("1,2,3\n")
    (root / "source/ps1/helper.py").write_text("FACTOR = 2\n")
    done = nbgrader(root, "generate_assignment", "ps1")
    assert done.returncode == 0, done.said[-2000:]
    return Course(root)


@pytest.fixture(scope="module")
def assignment(course: Course) -> Assignment:
    return Assignment.open(course, "ps1")


def source(assignment: Assignment, name: str) -> str:
    return next(cell.source for cell in assignment.source["doubles"].cells if grade_id(cell) == name)


@pytest.mark.slow
def test_source_and_release_agree_with_header_markers_and_generated_tests(course, assignment):
    assert [str(one) for one in differences(course.root, assignment)] == []


@pytest.mark.slow
def test_a_header_without_ids_changes_no_release(course, tmp_path):
    new = Course(shutil.copytree(course.root, tmp_path / "course"))
    path = new.root / "source/header.ipynb"
    header = nbformat.read(path, as_version=4)
    for cell in header.cells:
        del cell["id"]
    header.nbformat_minor = 0
    write(header, path)
    write(notebook(answer("double", DOUBLE), graded("doubled", DOUBLED)), new.root / "source/ps2/1.ipynb")
    found = [generate(new, "ps2", f"release{number}") / "1.ipynb" for number in range(2)]
    assert found[0].read_bytes() == found[1].read_bytes()
    shutil.copytree(new.root / "release0", new.root / "release", dirs_exist_ok=True)
    assert [str(one) for one in differences(new.root, Assignment.open(new, "ps2"))] == []


@pytest.mark.slow
def test_header_and_footer_stand_around_the_cells(assignment):
    texts = [cell.source for cell in assignment.source["doubles"].cells]
    assert texts[:4] == ["# Header", "NAME = ''", "import math", "# Doubles"]
    assert texts[-1] == "print('bye')"


@pytest.mark.slow
def test_markers_of_the_courses_own_part_visible_from_hidden_tests(assignment):
    parts = split_hidden(source(assignment, "doubled"))
    assert parts.visible == "assert double(1) == 2\nassert double(0) == 0"
    assert parts.hidden == "assert double(4) == 8"


@pytest.mark.slow
def test_generated_tests_are_those_that_nbgrader_keeps(assignment):
    parts = split_hidden(source(assignment, "generated"))
    assert "sha1" in parts.visible and "double(7)" in parts.visible
    assert 'assert str(double(5)) == """10"""' in parts.hidden
    assert "AUTOTEST" not in parts.visible + parts.hidden


def test_before_a_release_what_is_to_be_tested_stands_there_as_code(tmp_path):
    source = reading(tmp_path, graded("generated", GENERATED.replace("# secret >", "").replace("# < secret", "")))
    assert source.cells[0].source.split() == ["x", "=", "double(3)", "double(7);", "x", "double(5)"]


@pytest.mark.slow
def test_a_mark_scheme_between_markers_of_the_courses_own_is_known_as_one(assignment):
    assert "### BEGIN MARK SCHEME\nTwo points" in source(assignment, "draw")


@pytest.mark.slow
def test_the_solution_has_no_markers_of_the_courses_own(assignment):
    handed_in = nbformat.reads(solved(assignment).notebooks["doubles"].decode(), as_version=4)
    text = next(cell.source for cell in handed_in.cells if grade_id(cell) == "double")
    assert text == "def double(x):\n    return 2 * x"


@pytest.mark.slow
def test_every_cell_of_an_old_notebook_has_an_id(assignment):
    ids = [cell.id for cell in assignment.source["doubles"].cells]
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_data_files_and_files_to_hand_in_are_those_of_nbgraders_settings(assignment):
    assert assignment.files["data/numbers.csv"] == b"1,2,3\n"
    assert assignment.deliverables == {"helper.py"}


@pytest.mark.slow
def test_a_course_without_exercises_has_no_sample_answers_to_try(assignment):
    assert check_exercises(assignment) == []


@pytest.mark.slow
def test_nbgraders_time_limit_holds_where_course_toml_sets_none(course):
    assert (course.file.limits.cell_seconds, course.file.limits.submission_seconds) == (123, 1230)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [("x = double(3)", "x = double(4)"), ("AUTOTEST double(5)", "AUTOTEST double(6)")],
    ids=["another line", "another snippet"],
)
def test_lines_that_were_changed_since_the_tests_were_made_are_an_error(course, tmp_path, before, after):
    changed = shutil.copytree(course.root, tmp_path / "course")
    path = changed / "source/ps1/doubles.ipynb"
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(GradingError, match="cell 'generated': its AUTOTEST lines were changed since"):
        Assignment.open(Course(changed), "ps1")


def reading(root: Path, *cells, kernel=PYTHON, config: str = "c = get_config()\n"):
    (root / "nbgrader_config.py").write_text(config)
    write(notebook(*cells, kernel=kernel), root / "source/ps1/1.ipynb")
    return instructors_notebook(root / "source/ps1/1.ipynb", read_settings(root).form)


def test_nbgraders_own_marker_is_an_error_where_the_course_has_another(tmp_path):
    wrong = graded("one", "### BEGIN HIDDEN TESTS\nassert True\n### END HIDDEN TESTS")
    with pytest.raises(GradingError, match=r"'one'.*no marker in this course.*'# secret >'"):
        reading(tmp_path, wrong, config=CONFIG.replace("c.IncludeHeaderFooter", "c.Unused"))


@pytest.mark.parametrize(
    "kernel",
    [{}, {"name": "python"}, {"name": "conda-env-ml-py", "language": "python"}, {"name": "x", "language": "python3"}],
    ids=["none", "python", "conda", "python3"],
)
def test_a_python_kernel_may_have_any_name(tmp_path, kernel):
    assert len(reading(tmp_path, code("1"), kernel={"display_name": "Mine", **kernel} if kernel else {}).cells) == 1


@pytest.mark.parametrize(
    ("kernel", "language"),
    [({"name": "ir", "language": "R"}, "R"), ({"name": "ir"}, "R"), ({"name": "julia-1.9"}, "Julia")],
    ids=["said", "R", "julia"],
)
def test_a_notebook_in_another_language_gives_one_clear_line(tmp_path, kernel, language):
    with pytest.raises(GradingError) as caught:
        reading(tmp_path, code("1"), kernel={"display_name": "Other", **kernel})
    assert str(caught.value).startswith(f"1.ipynb is written in {language} (kernel ")
    assert "\n" not in str(caught.value)


def test_an_assignment_whose_notebooks_all_lie_deeper_says_so(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    write(notebook(code("1")), tmp_path / "source/ps1/part/1.ipynb")
    with pytest.raises(GradingError, match=r"holds no notebook.*part/1\.ipynb.*move it up"):
        Assignment.unreleased(Course(tmp_path), "ps1")


def test_marks_of_an_older_nbgrader_are_an_error_that_names_its_remedy(tmp_path):
    old = graded("one", "assert True")
    old.metadata["nbgrader"]["schema_version"] = 2
    reading(tmp_path, old)
    write(notebook(old), tmp_path / "release/ps1/1.ipynb")
    with pytest.raises(GradingError, match=r"Outdated schema version: 2.*nbgrader update"):
        list(differences(tmp_path, Assignment.open(Course(tmp_path), "ps1")))


def rebuilt(texts: list[str]) -> list[str]:
    """The code of a rebuilt notebook of which the submission holds these cells."""
    made = notebook(code("import math"), answer("f", "f = 1"), code("n = 3"), code("f + n"), graded("t", "assert f"))
    marks = {"f = 1": "f", "assert f": "t"}
    sent = [SubmittedCell(text, "code", marks.get(text)) for text in texts]
    return [cell.source for cell in rebuild(made, made, sent).notebook.cells]


def test_an_added_cell_stands_behind_the_cell_that_the_student_had_it_behind():
    own = rebuilt(["import math", "h = math.pi", "f = 1", "n = 3", "g = n", "f + n", "assert f", "last"])
    assert own == ["import math", "h = math.pi", "f = 1", "n = 3", "g = n", "f + n", "assert f", "last"]


def test_a_cell_without_a_mark_that_was_changed_runs_behind_the_instructors_own():
    own = rebuilt(["import math", "f = 1", "n = 4", "f + n", "assert f"])
    assert own == ["import math", "f = 1", "n = 3", "n = 4", "f + n", "assert f"]


def test_what_a_test_uses_has_the_instructors_value_in_both_kernels():
    """A changed cell runs before the instructor's then: the answer is made of the value that the test compares with."""
    made = notebook(code("n = 10"), answer("f", "f = n"), graded("t", "assert f == n"))
    sent = [SubmittedCell("n = 20", "code", None), SubmittedCell("f = n", "code", "f")]
    assert [cell.source for cell in rebuild(made, made, sent).notebook.cells][:3] == ["n = 20", "n = 10", "f = n"]


def test_an_added_cell_never_moves_past_a_test_that_was_deleted():
    assert rebuilt(["import math", "f = 1", "n = 3", "f + n", "h = 2"])[-2:] == ["h = 2", "assert f"]
