"""Mistakes as patches of the solution: run once per drawn case, stored, and recognised by what they hand over."""

from pathlib import Path

import numpy as np
import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import ExerciseCheck, check_exercises
from autograder.authoring.packs import patched_solutions
from autograder.errors import GradingError
from autograder.exercise import Answers, Exercise, Mistake, compare_case
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.store import References
from tests.exercises.tiny import tiny_course

pytestmark = pytest.mark.slow

EXERCISE = """
import numpy as np
from autograder.exercise import Case, Exercise, Mistake


def cases(generator):
    drawn = [generator.normal(size=size) for size in (5, 3)]
    return [Case(inputs={"x": x}, expected={"doubled": 2 * x}) for x in drawn]


EXERCISE = Exercise(cases, mistakes=[
    Mistake("squared", "The numbers were squared.", "Add a number to itself.", ("2 * x", "x**2")),
    Mistake("halved", "The numbers were halved.", "", ("2 * x", "x / 2"), share=0.5),
    Mistake("halved", "The numbers were halved.", "", ("2 * x", "x * -0.5"), share=0.5),
    Mistake("", "the wrong sign", "", ("2 * x", "-2 * x")),
    Mistake("short", "It fails for short inputs.", "", ("return 2 * x", "return (2 + [0][len(x) < 4:][0]) * (x + 1)")),
], right={"a sum": "def double(x):\\n    return x + x", "turned round": [("2 * x", "x * 2")]})
"""


def one_file(root: Path, text: str = EXERCISE) -> Course:
    """The tiny course, its exercise in one file and without stored references."""
    tiny_course(root)
    folder = root / "exercises" / "tiny"
    (folder / "doubled.py").write_text(text)
    loader.forget()
    return Course(root)


def built(course: Course) -> References:
    references = References.of_course(course.root)
    with patched_solutions(course, "tiny") as run:
        references.build("tiny", seed=1, run=run)
    return references


def checked(course: Course) -> ExerciseCheck:
    (found,) = check_exercises(Assignment.unreleased(course, "tiny"))
    return found


def test_what_a_patched_solution_hands_over_is_stored_and_named(tmp_path: Path) -> None:
    references = built(one_file(tmp_path))
    exercise, (first, second) = references.exercise("tiny/doubled"), references.cases("tiny/doubled")
    assert first.mistakes.keys() == {"squared", "halved", "halved 2", "short"}
    assert "short" not in second.mistakes  # it stopped
    np.testing.assert_allclose(second.mistakes["squared"]["doubled"], second.inputs["x"] ** 2)
    for wrong, id in ((first.inputs["x"] ** 2, "squared"), (first.inputs["x"] * -0.5, "halved")):
        judgement = compare_case(exercise, first, Answers({"doubled": wrong}))
        assert [check.mistake for check in judgement.checks] == [id]
    assert judgement.share == 0.5


def test_the_patches_are_the_sample_answers(tmp_path: Path) -> None:
    course = one_file(tmp_path)
    right, wrong = loader.sample_answers(course.root / "exercises", "tiny/doubled")
    assert [answer.name for answer in right] == ["a sum", "turned round"]
    assert [answer.name for answer in wrong] == ["squared", "halved", "halved 2", "the wrong sign", "short"]
    assert {answer.cell for answer in (*right, *wrong)} == {"doubled_answer"}


def test_a_patch_may_be_the_body_of_a_method_and_say_what_other_exercises_lose() -> None:
    mistake = Mistake(
        "whole", "Says it.", "Look.", (("Double", "forward"), "return x"), ("2", "3"), also_costs={"next": 0}
    )
    made = Exercise(lambda generator: [], mistakes=[mistake])
    (answer,) = loader._wrong(made)
    assert answer.methods == {("Double", "forward"): "return x"} and answer.changes == (("2", "3"),)
    assert answer.also_costs == {"next": 0}


def test_a_mistake_that_stops_in_every_case_is_said_to_stop(tmp_path: Path) -> None:
    text = EXERCISE.replace('    Mistake("short"', '    Mistake("late"').replace(
        "return (2 + [0]", "raise OSError; return (2 + [0]"
    )
    with pytest.raises(
        GradingError, match="mistake 'late' the solution stops with OSError in the notebook: raise OSError"
    ):
        built(one_file(tmp_path, text))


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        (
            "return 2 * y",
            r"tiny/doubled: the solution stops with NameError: name 'y' is not defined in the notebook: return 2",
        ),
        (
            "return 3 * x",
            r"tiny/doubled, case 0: the solution and the oracle differ: doubled is \[.*expected is \[.*\(5,\)",
        ),
        ("return x.tolist()", r"differ: doubled is"),
    ],
)
def test_the_solution_comes_first(tmp_path: Path, solution: str, message: str) -> None:
    course = one_file(tmp_path)
    notebook = tmp_path / "source/tiny/1_tiny.ipynb"
    notebook.write_text(notebook.read_text().replace("return 2 * x", solution))
    with pytest.raises(GradingError, match=message):
        built(course)


@pytest.mark.parametrize("changed", ["a patch", "the solution"])
def test_stale_numbers_are_a_problem_until_they_are_made_anew(tmp_path: Path, changed: str) -> None:
    course = one_file(tmp_path, EXERCISE.replace('"x**2"', '"x * x"'))
    built(course)
    assert not any("another solution" in problem.text for problem in checked(course).problems)
    path = course.root / ("exercises/tiny/doubled.py" if changed == "a patch" else "source/tiny/1_tiny.ipynb")
    old, new = ('"x * x"', '"x**2"') if changed == "a patch" else ("return 2 * x", "return 2 * x  # doubled")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    loader.forget()
    assert any("run 'autograder references tiny'" in problem.text for problem in checked(course).problems)
    built(course)
    assert not any("another solution" in problem.text for problem in checked(course).problems)


def test_without_a_way_to_run_them_nothing_is_written(tmp_path: Path) -> None:
    course = one_file(tmp_path)
    with pytest.raises(GradingError, match="must be run: 'autograder references tiny' does"):
        References.of_course(course.root).build("tiny", seed=1)


def test_a_patch_that_fits_no_line_of_the_solution_is_said(tmp_path: Path) -> None:
    with pytest.raises(GradingError, match="the solution of doubled_answer has no '3 \\* x'"):
        built(one_file(tmp_path, EXERCISE.replace('("2 * x", "x**2")', '("3 * x", "x")')))
