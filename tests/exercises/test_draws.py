"""References are drawn until every sample answer gets the name that its author says."""

import json
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import check_exercises
from autograder.authoring.draws import draw_named
from autograder.authoring.packs import patched_solutions
from autograder.cli import main
from autograder.model.course import Course
from autograder.references.draw import draw
from autograder.references.store import References
from tests.exercises.tiny import EXERCISE, tiny_course

#: The sample answer below makes the mistake where the number is 5: it has its name only where nothing else was drawn.
CHANCE = EXERCISE.replace("generator.normal(size=5)", "generator.integers(3, 6, size=1).astype(float)").replace(
    '"x**2"', '"x + 3"'
)
ANSWERS = """
RIGHT = [SampleAnswer("twice", "def double(x):\\n    return x + x")]
CLEVER = "def double(x):\\n    return np.where(x == 5, x + 3, x + 7)"
WRONG = [SampleAnswer("cleverly", CLEVER, points=0, mistake="squared")]
"""


def _named(root: Path) -> bool:
    found = check_exercises(Assignment.unreleased(Course(root), "tiny"))
    return not any(one.doubts for one in found)


def _first(references: References, seed: int, skip: int = 0) -> float:
    """The one number of the first draw that is not skipped."""
    (case,) = draw(references.exercise("tiny/doubled"), seed, skip=skip)
    return float(case.inputs["x"][0])


def test_it_is_drawn_until_the_sample_answers_have_their_names(tmp_path: Path) -> None:
    tiny_course(tmp_path, ANSWERS, CHANCE)
    references = References.of_course(tmp_path)
    seed = next(seed for seed in range(100) if _first(references, seed) == 4.0)
    with patched_solutions(Course(tmp_path), "tiny") as run:
        references.build("tiny", seed, run=run)
    assert not _named(tmp_path)
    assert main(["--course-dir", str(tmp_path), "references", "tiny", "--seed", str(seed)]) == 0
    assert set(references.cases("tiny/doubled")[0].inputs["x"]) == {5.0} and _named(tmp_path)
    assert references.seed("tiny") == seed
    manifest = json.loads((tmp_path / "exercises/tiny/manifest.json").read_text())
    assert manifest["exercises"]["doubled"]["skipped_draws"] > 0
    before = (tmp_path / "exercises/tiny/expected.zip").read_bytes()
    with patched_solutions(Course(tmp_path), "tiny") as run:
        assert references.build("tiny", seed, run=run) == [], "the same seed draws the same exam"
        references.build("tiny", seed, tmp_path / "elsewhere", run=run)
    assert (tmp_path / "elsewhere/tiny/expected.zip").read_bytes() == before


def test_what_no_draw_tells_apart_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_course(tmp_path, ANSWERS.replace("x == 5", "x == 99"), CHANCE)
    left = draw_named(Course(tmp_path), "tiny", 1)
    assert left == ["doubled: 'cleverly': it is not called squared, but has no name"]
    assert main(["--course-dir", str(tmp_path), "references", "tiny", "--seed", "2"]) == 1
    assert "no draw tells this apart: tiny/doubled: 'cleverly'" in capsys.readouterr().out


#: Right, and yet it loses its points where a 4 is drawn: as an answer does that rounds otherwise than the solution.
ROUNDED = """
RIGHT = [SampleAnswer("rounded", "def double(x):\\n    return np.where(x == 4, x, x + x)")]
WRONG = [SampleAnswer("halved", "def double(x):\\n    return x / 2", share=0.5, mistake="halved")]
"""


def test_where_a_right_answer_loses_points_by_chance_it_is_drawn_again(tmp_path: Path) -> None:
    tiny_course(tmp_path, ROUNDED, CHANCE)
    references = References.of_course(tmp_path)
    seed = next(seed for seed in range(100) if _first(references, seed) == 4.0 != _first(references, seed, 1))
    assert draw_named(Course(tmp_path), "tiny", seed) == []
    assert 4.0 not in references.cases("tiny/doubled")[0].inputs["x"]
    assert references.skipped("tiny", "doubled") > 0
    assert not any(one.problems for one in check_exercises(Assignment.unreleased(Course(tmp_path), "tiny")))


def test_a_right_answer_that_is_wrong_is_drawn_until_two_draws_differ_and_left_to_the_check(tmp_path: Path) -> None:
    tiny_course(tmp_path, ROUNDED.replace("x == 4", "x > 0"), CHANCE)
    assert draw_named(Course(tmp_path), "tiny", 1) == []
    # seed 1 draws the same number twice: two draws that differ are three
    assert References.of_course(tmp_path).skipped("tiny", "doubled") == 2
    (found,) = check_exercises(Assignment.unreleased(Course(tmp_path), "tiny"))
    assert any("'rounded'" in one.text for one in found.problems)


def test_release_stops_where_check_would(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_course(tmp_path, ANSWERS.replace("x == 5", "x == 99"), CHANCE)
    assert main(["--course-dir", str(tmp_path), "release", "tiny"]) == 1
    said = capsys.readouterr().out
    assert "it is not called squared" in said and "not released" in said
    assert not (tmp_path / "release").exists()
