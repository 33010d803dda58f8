"""What ``nbgrader_config.py`` says holds for ``autograder`` too: read by nbgrader's own loader, found from below."""

import os
import pickle
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.journal import Journal, only_run
from autograder.cli import main
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.settings import find_course, read_settings
from autograder.release.verify import drafted
from tests.grading import copy_exercises
from tests.pipeline.conftest import ROOT, nbgrader
from tests.small_class import table

SHEET, NOTEBOOK = "numpy_attention", "1_attention.ipynb"
EVERYTHING = """
c.CourseDirectory.db_url = "sqlite:///books/grades-of-2026.db"
c.CourseDirectory.source_directory = "instructor"
c.CourseDirectory.release_directory = "handed_out"
c.CourseDirectory.submitted_directory = "handed_in"
c.CourseDirectory.autograded_directory = "graded"
c.CourseDirectory.feedback_directory = "pages"
c.CourseDirectory.directory_structure = "term/{nbgrader_step}/{assignment_id}/{student_id}"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "draft*"]
c.CourseDirectory.student_id_exclude = "tutor,tester"
"""


def configured(root: Path, text: str, base: str | None = None) -> Path:
    """A folder with the kit's configuration, or another, and these lines more."""
    root.mkdir(parents=True, exist_ok=True)
    first = (ROOT / "nbgrader_config.py").read_text() if base is None else base
    (root / "nbgrader_config.py").write_text(first + text)
    shutil.copy(ROOT / "course.toml", root)
    return root


def plain(root: Path, text: str = "") -> Course:
    return Course(configured(root, text, "c = get_config()\n"))


def one_class(test):
    """A slow test of a class that one test worker makes."""
    return pytest.mark.slow(pytest.mark.xdist_group("renamed")(test))


@pytest.fixture(scope="module")
def renamed(tmp_path_factory) -> Course:
    """A course with every folder under another name: released by nbgrader, graded and the rest by ``autograder``."""
    root = configured(tmp_path_factory.mktemp("renamed") / "course", EVERYTHING)
    (root / "books").mkdir()
    source = root / "term" / "instructor" / SHEET
    source.mkdir(parents=True)
    copy_exercises(root, SHEET)
    shutil.copy(ROOT / "source" / SHEET / NOTEBOOK, source)
    (source / "draft.txt").write_text("not for students")
    (source / "words.txt").write_text("for students")
    done = nbgrader(root, "generate_assignment", SHEET)
    assert done.returncode == 0, done.said[-1000:]
    course = Course(root)
    for student in ("ada", "tutor"):
        folder = root / "term" / "handed_in" / SHEET / student
        shutil.copytree(root / "term" / "handed_out" / SHEET, folder)
        shutil.copy(folder / NOTEBOOK, folder / "draft.ipynb")
    assert main(["--course", str(root), "grade", SHEET, "--workers", "1", "--no-isolation"]) == 0
    assert main(["--course", str(root), "feedback", SHEET]) == 0
    assert main(["--course", str(root), "report", SHEET]) == 0
    assert main(["--course", str(root), "export", SHEET, "--to", "csv"]) == 0
    return course


@one_class
def test_every_command_reads_and_writes_the_renamed_folders(renamed):
    opened, term = Assignment.open(renamed.root, SHEET), renamed.root / "term"
    assert set(opened.source) == set(opened.release) == {"1_attention"}
    assert renamed.assignments() == [SHEET]
    assert not (renamed.root / "gradebook.db").exists()
    with Gradebook(f"sqlite:///{renamed.root}/books/grades-of-2026.db") as gradebook:
        assert [submission.student.id for submission in gradebook.assignment_submissions(SHEET)] == ["ada"]
    assert (term / "graded" / SHEET / "ada" / "verdicts.json").is_file()
    assert [path.name for path in (term / "pages" / SHEET / "ada").iterdir()] == ["1_attention.html"]
    unexpected = {"source", "release", "submitted", "autograded", "feedback"}
    assert not unexpected & {path.name for path in renamed.root.rglob("*")}
    assert set(table(renamed.root / "exports" / f"{SHEET}.csv")) == {"ada"}
    assert (renamed.root / "reports" / SHEET / "index.html").is_file()


@one_class
def test_stock_nbgrader_reads_and_writes_the_same_folders(renamed, tmp_path):
    course = Course(shutil.copytree(renamed.root, tmp_path / "course"))
    done = nbgrader(course.root, "generate_feedback", SHEET, "--force")
    assert done.returncode == 0, done.said[-1000:]
    assert [path.name for path in course.feedback("ada", SHEET).iterdir()] == ["1_attention.html"]


@one_class
def test_the_release_is_proven_in_its_renamed_folder(renamed):
    with drafted(renamed, SHEET) as draft:
        assert list(draft._differences()) == []
        draft.put_in_place()
    assert Assignment.open(renamed, SHEET).release.keys() == {NOTEBOOK.removesuffix(".ipynb")}
    assert not list(renamed.root.rglob("release-*"))


@one_class
def test_ignored_files_are_no_part_of_an_assignment_nor_of_a_submission(renamed):
    opened = Assignment.open(renamed.root, SHEET)
    assert set(opened.files) == {"words.txt"}
    folder = renamed.submitted("ada", SHEET)
    (folder / NOTEBOOK).rename(folder.parent / "kept")
    try:
        with pytest.raises(GradingError, match="holds no notebook"):  # the copy has an ignored name
            read_submission(folder, "ada", opened)
    finally:
        (folder.parent / "kept").rename(folder / NOTEBOOK)


def test_the_root_may_lie_elsewhere(tmp_path):
    data = tmp_path / "data"
    configured(tmp_path / "course", f"c.CourseDirectory.root = {str(data)!r}\n", "c = get_config()\n")
    (data / "source" / "one").mkdir(parents=True)
    root = find_course(tmp_path / "course")
    assert root == data and Course(root).db_url == f"sqlite:///{data}/gradebook.db"


def test_the_environment_names_the_gradebook_through_the_kits_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("NBGRADER_DB_URL", "postgresql+psycopg://instructor:secret@host/grades")
    assert Course(configured(tmp_path / "ours", "")).db_url == "postgresql+psycopg://instructor:secret@host/grades"
    assert plain(tmp_path / "theirs").db_url == f"sqlite:///{tmp_path}/theirs/gradebook.db"  # as for nbgrader


#: Lines of a configuration; and what they give, with the course's folder in place of ``{}``.
GIVES = {
    "a relative gradebook": (
        'c.CourseDirectory.db_url = "sqlite:///grades.db"', lambda course: course.db_url, "sqlite:///{}/grades.db",
    ),
    "an outdated name": (
        'c.NbGrader.submitted_directory = "in"', lambda course: course.submitted("ada", "one"), "{}/in/ada/one",
    ),
    "a module beside the configuration": (
        "import settings_of_this_term as term\nc.CourseDirectory.submitted_directory = term.SUBMITTED",
        lambda course: course.submitted("ada", "one"), "{}/there/ada/one",
    ),
    "a course's id": (
        'c.CourseDirectory.course_id = "logic"', lambda course: read_settings(course.root).course_id, "logic",
    ),
    "excluded students": (
        'c.CourseDirectory.student_id_exclude = "tutor"\nc.CourseDirectory.student_id = "[a-t]*"',
        lambda course: course.students("one"), "['ada']",
    ),
}  # fmt: skip


@pytest.mark.parametrize("setting", GIVES)
def test_a_setting_holds_as_it_does_for_nbgrader_wherever_we_stand(tmp_path, monkeypatch, setting):
    text, read, gives = GIVES[setting]
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "settings_of_this_term.py").write_text('SUBMITTED = "there"\n')
    course = plain(tmp_path / "course", f"{text}\n")
    for student in ("ada", "tutor", "zoe"):
        (course.root / "submitted" / student / "one").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert str(read(Course(course.root))) == gives.format(course.root)


OLDER = """
from nbgrader.preprocessors import CheckCellMetadata
from autograder.nbgrader.{module} import {name}
c = get_config()
c.Autograde.autograde_preprocessors = [{name}, CheckCellMetadata]
"""


@pytest.mark.parametrize(("module", "name"), [("save", "SaveGrades"), ("afresh", "ReadAfresh"), ("preprocessors", "X")])
def test_a_configuration_of_an_older_grader_is_told_which_two_lines_replace_it(tmp_path, module, name):
    (tmp_path / "nbgrader_config.py").write_text(OLDER.format(module=module, name=name))
    with pytest.raises(GradingError, match=r"line 3: .*older autograder wrote it.*'plug_in\(c, __file__\)'"):
        Course(tmp_path).settings  # noqa: B018


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("c.CourseDirectory.source_directory = (\n", "line 2: SyntaxError: '(' was never closed"),
        ("x = 1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("c.CourseDirectory.source_directory = 5\n", "TraitError: The 'source_directory' trait"),
        ("raise SystemExit('no')\n", "line 2: SystemExit: no"),
        ("c.CourseDirectory.db_url = 'grades.db'\n", "db_url is no address of a database: 'grades.db'"),
    ],
)
def test_a_wrong_configuration_is_said_in_one_line(text, said, tmp_path, capfd):
    configured(tmp_path, text, "c = get_config()\n")
    assert main(["--course", str(tmp_path), "grade", "one"]) == 2
    error = capfd.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize("below", ["docs", "source/one", "submitted/ada/one"])
def test_the_course_is_found_from_below(below, tmp_path):
    plain(tmp_path)
    (tmp_path / below).mkdir(parents=True)
    assert find_course(tmp_path / below) == tmp_path


def test_a_configuration_among_submissions_is_never_executed(tmp_path):
    plain(tmp_path, 'c.CourseDirectory.submitted_directory = "in"\n')
    folder = configured(tmp_path / "in" / "mallory" / "one", f"open({str(tmp_path / 'owned')!r}, 'w')\n", "")
    assert find_course(folder) == tmp_path
    assert not (tmp_path / "owned").exists()


def test_a_configuration_in_the_submission_that_ci_grades_is_never_executed(tmp_path, capsys, monkeypatch):
    configured(tmp_path, f"open({str(tmp_path / 'owned')!r}, 'w')\n", "")
    monkeypatch.chdir(tmp_path)
    assert main(["ci", "one", "."]) == 2
    assert "came with the submission and is not read: say --course-dir FOLDER" in capsys.readouterr().err
    assert not (tmp_path / "owned").exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_somebody_elses_configuration_further_up_is_never_executed(tmp_path):
    configured(tmp_path, f"open({str(tmp_path / 'owned')!r}, 'w')\n", "")
    os.chown(tmp_path / "nbgrader_config.py", 12345, 12345)
    (tmp_path / "mine" / "source").mkdir(parents=True)
    assert find_course(tmp_path / "mine") == tmp_path / "mine"
    assert not (tmp_path / "owned").exists()


def test_a_course_inside_another_folder_with_a_configuration_is_itself(tmp_path):
    plain(tmp_path)
    plain(tmp_path / "courses" / "logic")
    assert find_course(tmp_path / "courses" / "logic") == tmp_path / "courses" / "logic"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--course", "/nope", "grade", "one"], "there is no folder /nope: --course-dir takes the course's folder"),
        (["--course", "{}", "grade", "one"], "is no course, nor is a folder above it: expected nbgrader_config.py"),
        (["--course", "{}/docs", "report", "one"], "is no course, nor is a folder above it"),
    ],
)
def test_a_wrong_folder_is_said_in_one_right_line(words, said, tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    assert main([word.format(tmp_path) for word in words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and "unknown assignment" not in error


@pytest.mark.parametrize("command", [["grade"], ["feedback"], ["report"], ["export", "--to", "csv"]])
def test_advice_never_carries_a_completed_slash(command, tmp_path, capsys):
    course = plain(tmp_path)
    (course.source("one")).mkdir(parents=True)
    assert main(["--course", str(tmp_path), command[0], "one/", *command[1:]]) == 2
    assert "one/'" not in capsys.readouterr().err


def test_a_misspelt_assignment_is_said_with_the_nearest(tmp_path, capsys):
    course = plain(tmp_path)
    course.source("numpy_attention").mkdir(parents=True)
    (course.source("numpy_attention") / "1.ipynb").touch()
    assert main(["--course", str(tmp_path), "grade", "numpy_atention/"]) == 2
    assert "unknown assignment 'numpy_atention'; did you mean 'numpy_attention'?" in capsys.readouterr().err


def test_settings_travel_to_workers_without_the_configuration_being_run_again(tmp_path):
    course = plain(tmp_path, 'c.CourseDirectory.submitted_directory = "in"\n')
    packed = pickle.dumps(course)
    (tmp_path / "nbgrader_config.py").write_text("raise SystemExit('executed again')\n")
    assert pickle.loads(packed).submitted("ada", "one") == tmp_path / "in/ada/one"


@pytest.mark.parametrize(("shared", "mode"), [(True, 0o660), (False, 0o640)])
def test_other_instructors_may_go_on_in_a_course_that_is_shared(tmp_path, shared, mode):
    course = plain(tmp_path, f"c.CourseDirectory.groupshared = {shared}\n")
    course.source("one").mkdir(parents=True)
    before = os.umask(0o027)
    try:
        main(["--course", str(course.root), "grade", "one"])
        with only_run(course.root, "one"):
            Journal(course.root, "one").failed("ada", "why")
    finally:
        os.umask(before)
    assert (course.root / ".autograder" / "one.jsonl").stat().st_mode & 0o777 == mode
    assert (course.root / ".autograder" / "one.lock").stat().st_mode & 0o660 == 0o660


def test_what_a_configuration_prints_does_not_stand_in_a_json_document(tmp_path, capsys):
    read_settings(configured(tmp_path, "print('grades are in', __file__)\n", "c = get_config()\n"))
    said = capsys.readouterr()
    assert (said.out, "grades are in" in said.err) == ("", True)
