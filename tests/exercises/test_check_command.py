"""``autograder check`` and the same checks in ``autograder release``, on a tiny course."""

import json
import shutil
from pathlib import Path

import pytest

from autograder import cli
from autograder.assignment.assignment import Generated
from autograder.model.course import Course
from autograder.release.generate import draft
from tests.exercises.tiny import tiny_course
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.small_class import SHEET, small_class

pytestmark = pytest.mark.slow

RIGHT = 'RIGHT = [SampleAnswer("a sum", "def double(x):\\n    return x + x")]\n'
WRONG = 'WRONG = [SampleAnswer("squared", "def double(x):\\n    return x ** 2", points=0, mistake="squared")]\n'
MISNAMED = WRONG.replace('mistake="squared"', 'mistake="cubed"')


#: What nbgrader made of a source: it is the same in nearly all tests, and takes seconds.
made: dict[bytes, tuple[Path, Generated]] = {}


@pytest.fixture(autouse=True)
def drafts_are_kept(tmp_path_factory, monkeypatch):
    def kept(course: Course, assignment: str, step: str) -> tuple[Path, Generated]:
        source = b"".join(path.read_bytes() for path in sorted(course.source(assignment).iterdir()))
        if source not in made:
            folder, generated = draft(course, assignment, step)
            made[source] = Path(shutil.copytree(folder, tmp_path_factory.mktemp("draft") / "kept")), generated
            return folder, generated
        folder, generated = made[source]
        return Path(shutil.copytree(folder, course.folder(step, assignment))), generated

    monkeypatch.setattr("autograder.release.verify.draft", kept)


def run(root, *words: str) -> int:
    return cli.main(["--course-dir", str(root), *words])


def test_a_course_that_holds_passes_and_its_release_does_not_try_again_what_was_checked_just_before(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + WRONG)
    assert run(tmp_path, "check") == 0
    said = capsys.readouterr().out
    assert "✓ untouched notebooks run to the end and have no points" in said
    assert "Next: autograder release tiny" in said
    assert not (tmp_path / "release").exists()
    assert run(tmp_path, "release", "tiny") == 0
    said = capsys.readouterr().out
    assert "nothing has changed since" in said and "sample answers  " not in said
    assert (tmp_path / "release" / "tiny" / "1_tiny.ipynb").is_file()


def test_what_does_not_hold_is_listed_with_exit_code_1(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + MISNAMED)
    assert run(tmp_path, "check", "tiny") == 1
    said = capsys.readouterr().out
    assert "wrong answer 'squared': it is not called cubed, but squared" in said
    assert "Fix what is listed, then run 'autograder check tiny' again." in said


def test_one_exercise_is_checked_alone_and_as_json(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + MISNAMED)
    assert run(tmp_path, "check", "tiny", "--exercise", "doubled", "--json") == 1
    (found,) = json.loads(capsys.readouterr().out)["assignments"]
    assert (found["holds"], found["checks"]) == (False, [])
    (exercise,) = found["exercises"]
    assert [exercise[key] for key in ("exercise", "right", "wrong")] == ["doubled", 1, 3]
    assert (len(exercise["problems"]), len(exercise["doubts"])) == (0, 1)


def test_a_release_stays_as_it_was_where_a_sample_answer_gets_points_that_it_should_not(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + WRONG.replace("points=0", "points=1"))
    assert run(tmp_path, "release", "tiny") == 1
    assert "0.0 points are left, 1 should be" in capsys.readouterr().out
    assert not (tmp_path / "release" / "tiny").exists()


def test_a_release_stops_where_an_answer_is_not_called_by_its_name(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + MISNAMED)
    assert run(tmp_path, "release", "tiny") == 1
    assert "it is not called cubed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "tinny"), "did you mean 'tiny'"),
        (("check", "tiny", "--exercise", "tripled"), "tiny has no exercise 'tripled'; known are doubled"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(tmp_path, capsys, words, said):
    tiny_course(tmp_path, RIGHT + WRONG)
    assert run(tmp_path, *words) == 2
    assert said in capsys.readouterr().err


def test_a_folder_without_an_assignment_is_told_how_to_make_one(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    assert run(tmp_path, "check") == 2
    assert "autograder new ASSIGNMENT/NOTEBOOK/EXERCISE" in capsys.readouterr().err


def test_an_assignment_that_cannot_be_checked_does_not_stop_the_others(tmp_path, capsys):
    tiny_course(tmp_path, RIGHT + WRONG)
    other = tmp_path / "source" / "other"
    other.mkdir()
    notebook = (tmp_path / "source" / "tiny" / "1_tiny.ipynb").read_text()
    (other / "1_other.ipynb").write_text(notebook.replace("tiny/doubled", "other/doubled"))
    assert run(tmp_path, "check") == 1
    said = capsys.readouterr().out
    assert "✓ untouched notebooks run to the end and have no points" in said
    assert "run 'autograder check other' again" in said


def test_a_course_without_sample_answers_is_not_told_that_they_were_right(tmp_path, capsys):
    course = small_class(tmp_path / "course")
    for _ in range(2):
        assert run(course.root, "release", SHEET) == 0
        assert "sample answers" not in capsys.readouterr().out
