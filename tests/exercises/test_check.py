"""Trying an author's sample answers: each claim that does not hold is said, in the author's words."""

import pytest

from autograder.authoring import check, trial
from autograder.authoring.check import ExerciseCheck, check_exercises, messages_to_mistakes, remember, was_checked
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.references import loader
from autograder.release.findings import Accepted, accept, pinned
from tests.exercises.tiny import EXERCISE, tiny_course

pytestmark = pytest.mark.slow

RIGHT = 'SampleAnswer("a sum", "def double(x):\\n    return x + x")'
SQUARED = "def double(x):\\n    return x ** 2"


def checked(tmp_path, right: str = RIGHT, wrong: str = "", exercise: str = EXERCISE) -> ExerciseCheck:
    wrong = wrong or f'SampleAnswer("squared", "{SQUARED}", points=0, mistake="squared")'
    (found,) = check_exercises(tiny_course(tmp_path, f"RIGHT = [{right}]\nWRONG = [{wrong}]\n", exercise))
    return found


def test_answers_that_are_as_their_author_says_are_no_problem(tmp_path):
    found = checked(tmp_path)
    assert found == ExerciseCheck("doubled", 1, 3, (), message=found.message)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (f'SampleAnswer("w", "{SQUARED}", points=1, mistake="squared")', "0.0 points are left, 1 should be"),
        (f'SampleAnswer("w", "{SQUARED}", points=0, mistake="cubed")', "it is not called cubed, but squared"),
        (f'SampleAnswer("w", "{SQUARED}", points=0)', "it has a name: squared"),
        (f'SampleAnswer("w", "{SQUARED}", points=0, mistake="squared", passes_check=True)', "set passes_check=False"),
        ('SampleAnswer("w", changes=(("2 * x", "x + x"),), points=0)', "it is accepted"),
        ('SampleAnswer("w", changes=(("3 * x", "x"),), points=0)', "the solution of doubled_answer has no '3 * x'"),
        ('SampleAnswer("w", "x = 1", points=0, cell="elsewhere")', "there is no solution cell or file 'elsewhere'"),
        ('SampleAnswer("w", changes=(("2 * x", "x * 2 + (x != 1)"),), points=0)', "the visible check accepts it"),
    ],
)
def test_what_does_not_hold_of_a_wrong_answer_is_said(tmp_path, wrong, said):
    found = checked(tmp_path, wrong=wrong)
    every = [one.text for one in (*found.problems, *found.doubts)]
    assert any(said in problem for problem in every), every
    assert all(problem.startswith("wrong answer 'w': ") for problem in every)


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (f'SampleAnswer("r", "{SQUARED}")', "0 of 4 points: The numbers were squared."),
        (f'SampleAnswer("r", "{SQUARED}")', "the visible check refuses it: AssertionError: two times one is two"),
        ('SampleAnswer("r", "def double(x):\\n    raise SystemExit")', "0 of 4 points"),
        ('SampleAnswer("r", "import os\\nos._exit(0)")', "ended the Python process"),
        ('SampleAnswer("r", "def double(:")', "0 of 4 points"),
    ],
)
def test_a_right_answer_that_is_refused_is_said_with_the_reason(tmp_path, right, said):
    found = checked(tmp_path, right=right)
    every = [one.text for one in (*found.problems, *found.doubts)]
    assert any(said in problem for problem in every), every


def test_an_answer_that_never_ends_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "MAX_SECONDS", 2.0)
    found = checked(tmp_path, right='SampleAnswer("r", "while True: pass")')
    assert any("right answer 'r'" in problem.text for problem in found.problems)


def test_partial_credit_is_the_mistakes_share(tmp_path):
    half = 'SampleAnswer("half", "def double(x):\\n    return x / 2", points=2, mistake="halved")'
    assert checked(tmp_path, wrong=half).problems == ()


def test_a_message_that_shows_an_expected_value_is_found(tmp_path):
    leaking = EXERCISE.replace("generator.normal(size=5)", "np.array([1.23456, 2.5])").replace(
        "The numbers were squared.", "2.46912 should be the first."
    )
    found = checked(tmp_path, exercise=leaking)
    assert any("the message shows an expected value" in doubt.text for doubt in found.doubts), found.doubts


def test_an_exercise_without_answers_and_one_that_no_cell_grades_are_problems(tmp_path):
    assignment = tiny_course(tmp_path)
    (found,) = check_exercises(assignment)
    assert "at least one right and one wrong answer" in found.problems[0].text
    forgotten = 'EXERCISE = Exercise(make, wrong=[SampleAnswer("w", "", points=0)])'
    (tmp_path / "exercises" / "tiny" / "forgotten.py").write_text(EXERCISE + forgotten)
    (unknown,) = check_exercises(assignment, "forgotten")
    assert "no notebook of tiny has a graded cell 'forgotten'" in unknown.problems[-1].text


@pytest.mark.parametrize("lines", ["RIGHT = WRONG = [1 / 0]", "Exercise = dict"])
def test_an_exercise_that_cannot_be_read_stops_the_check_in_one_line(tmp_path, lines):
    with pytest.raises(GradingError, match=r"exercises/tiny/doubled.py (must define|cannot be imported)"):
        check_exercises(tiny_course(tmp_path, lines))


def test_a_folder_of_two_modules_is_said_to_become_one_file(tmp_path):
    assignment = tiny_course(tmp_path)
    (tmp_path / "exercises/tiny/halves").mkdir()
    (tmp_path / "exercises/tiny/halves/oracle.py").touch()
    loader.forget()
    with pytest.raises(GradingError, match=r"tiny/halves: oracle.py and answers.py become one file halves.py"):
        check_exercises(assignment)


def test_an_unknown_exercise_is_said_with_those_that_exist(tmp_path):
    with pytest.raises(GradingError, match="tiny has no exercise 'tripled'; known are doubled"):
        check_exercises(tiny_course(tmp_path), "tripled")


def test_what_was_checked_need_not_be_checked_again_until_something_changes(tmp_path):
    assignment, course = tiny_course(tmp_path), Course(tmp_path)
    assert not was_checked(course, assignment)
    remember(course, assignment)
    assert was_checked(course, assignment) and messages_to_mistakes(course, assignment) == {}
    remember(course, assignment, [ExerciseCheck("doubled", 1, 1, message="twice"), ExerciseCheck("other", 1, 1)])
    assert messages_to_mistakes(course, assignment) == {"doubled": "twice"}
    with (tmp_path / "exercises" / "tiny" / "doubled.py").open("a") as file:
        file.write("# a line\n")
    assert not was_checked(course, assignment) and messages_to_mistakes(course, assignment) == {}
    assert check.state(course, assignment)


def test_what_is_accepted_of_an_answer_stops_nothing_until_the_answer_changes(tmp_path):
    wrong = f'SampleAnswer("w", "{SQUARED}", points=0, mistake="cubed")'
    found = checked(tmp_path / "before", wrong=wrong)
    (doubt,) = found.doubts
    accept(tmp_path, [doubt], "both names are told in class")
    accepting = found.accepting(Accepted.of_course(tmp_path))
    assert (accepting.doubts, accepting.problems) == ((), ())
    assert accepting.accepted == ((doubt, "both names are told in class"),)
    changed = checked(tmp_path / "after", wrong=wrong.replace("x ** 2", "x * x"))
    assert len(changed.accepting(Accepted.of_course(tmp_path)).doubts) == 1


def test_what_was_accepted_is_asked_for_again_when_it_is_taken_back(tmp_path):
    assignment, course = tiny_course(tmp_path), Course(tmp_path)
    accept(tmp_path, [pinned("answer", "tiny/doubled", "text", "x")], "meant so")
    remember(course, assignment)
    assert was_checked(course, assignment)
    (tmp_path / "course.toml").unlink()
    assert not was_checked(course, assignment)
