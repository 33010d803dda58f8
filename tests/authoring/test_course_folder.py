"""``autograder init``: what a new course holds."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring import packs
from autograder.authoring.course_folder import EXAMPLE, make_course
from autograder.authoring.notebook_cells import heading
from autograder.errors import GradingError
from autograder.exercise.pack import pack_names
from autograder.model.course import Course
from autograder.model.settings import read_config
from autograder.references.draw import PUBLIC_SEED
from autograder.references.store import References
from autograder.release.judgeable import unjudgeable
from autograder.release.verify import stubs
from tests.grading import ROOT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("init") / "signal_processing"
    make_course(root)
    return Course(root)


def test_every_cell_of_the_new_course_can_be_judged_and_nothing_is_a_stub(made: Course) -> None:
    assert made.assignments() == [EXAMPLE]
    assignment = Assignment.unreleased(made, EXAMPLE)
    assert list(unjudgeable(assignment)) == []
    assert list(stubs(made, assignment)) == []


def test_the_seed_is_another_one_for_every_course(made: Course, tmp_path: Path) -> None:
    make_course(tmp_path / "other")
    seeds = [References.of_course(root).seed(EXAMPLE) for root in (made.root, tmp_path / "other")]
    assert len({*seeds, PUBLIC_SEED, None}) == 4


def test_the_notebook_is_valid_and_as_jupyter_writes_it(made: Course) -> None:
    path = made.source(EXAMPLE) / "1_smoothing.ipynb"
    text = path.read_text(encoding="utf-8")
    assert text == nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_the_title_is_made_from_the_folders_name(made: Course) -> None:
    assert tomllib.loads((made.root / "course.toml").read_text(encoding="utf-8"))["title"] == "Signal processing"
    assert (made.root / "README.md").read_text(encoding="utf-8").startswith("# Signal processing\n")
    assert made.settings.course_id == "signal_processing"


def test_the_library_alone_refuses_a_wrong_answer_with_the_sentence_of_feedback(made: Course, tmp_path: Path) -> None:
    code = (
        "import sys\nsys.modules['autograder'] = None\nimport numpy as np\n"
        "from signal_processing_checks import signals as check\n"
        "check.moving_average(lambda values, window: np.convolve(values, np.ones(window) / window, 'valid'))\n"
        "try:\n    check.moving_average(lambda values, window: np.convolve(values, np.ones(window), 'valid'))\n"
        "except AssertionError as error:\n    print('refused:', error)\n"
    )
    shutil.copytree(made.root / "signal_processing_checks", tmp_path / "signal_processing_checks")
    packs.copy_rules(tmp_path / "signal_processing_checks")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    accepted, _, refused = done.stdout.partition("refused: ")
    assert accepted == "✓ moving_average: one mean for each window, a window of all values\n", done.stderr
    known = References.of_course(made.root).exercise(f"{EXAMPLE}/moving_average").mistake("sum")
    assert refused.startswith(f"moving_average: {known.message}\n") and refused.rstrip().endswith(known.hint)


def test_it_has_a_pack_and_fewer_than_200_lines_of_python(made: Course) -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in made.root.rglob("*.py")) < 200
    assert pack_names(made.root / "signal_processing_checks" / "_packs" / f"{EXAMPLE}.zip") == ["moving_average"]


@pytest.mark.parametrize("name", ['a "quoted" name', "Физика 101", "it's\\odd", "{{ x }}", "..."])
def test_a_folder_of_any_name_becomes_a_course(name: str, tmp_path: Path) -> None:
    make_course(tmp_path / name)
    settings = tomllib.loads((tmp_path / name / "course.toml").read_text(encoding="utf-8"))
    assert settings["title"] and settings["library"].isidentifier()
    assert re.fullmatch(r"[\w-]+", Course(tmp_path / name).settings.course_id)


def test_nbgrader_has_the_same_plug_ins_as_in_this_repository(made: Course) -> None:
    def plugged(root: Path) -> dict[str, Any]:
        config = dict(read_config(root))
        config["CourseDirectory"] = {**config["CourseDirectory"], "course_id": "", "root": ""}
        config["SetRepository"] = {}
        config["GenerateFeedback"] = {**config["GenerateFeedback"], "post_convert_hook": "a function"}
        return config

    assert plugged(made.root) == plugged(ROOT)


def test_git_takes_nothing_about_students_from_the_new_course(made: Course) -> None:
    git = ["git", "-C", str(made.root)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    personal = ["gradebook.db", "gradebook.db.bak", "submitted/ada/signals/1_smoothing.ipynb", "autograded/ada/x",
                "feedback/ada/x.html", "reports/signals/index.html", "exports/grades.csv", "grades.csv", "ada.zip",
                "extensions.toml", "groups.toml", ".autograder/signals/journal.jsonl", "clones/ada/x"]  # fmt: skip
    ignored = subprocess.run([*git, "check-ignore", *personal], capture_output=True, text=True).stdout.split("\n")
    assert [path for path in personal if path not in ignored] == []
    kept = ["course.toml", "late_policy.toml", "source/signals/1_smoothing.ipynb", "release/signals/1_smoothing.ipynb",
            "exercises/signals/expected.zip", ".github/workflows/ci.yml"]  # fmt: skip
    assert subprocess.run([*git, "check-ignore", *kept], capture_output=True, text=True).stdout == ""


def test_an_empty_repository_may_become_a_course(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    make_course(tmp_path)
    assert Course(tmp_path).assignments() == [EXAMPLE]


def test_a_folder_that_is_not_empty_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(GradingError, match=r"is not empty \(it holds thesis.tex\): give a new or an empty folder"):
        make_course(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "course").write_text("mine")
    for folder in (tmp_path / "course", tmp_path / "course" / "below"):
        with pytest.raises(GradingError):
            make_course(folder)


def test_a_course_that_could_not_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(References, "build", full)
    with pytest.raises(GradingError, match="No space left on device"):
        make_course(tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "title"), [("1_low_pass", "1 · Low pass"), ("median", "Median"), ("2024", "2024"), ("ps-1", "Ps 1")]
)
def test_a_name_becomes_a_title(name: str, title: str) -> None:
    assert heading(name) == title
