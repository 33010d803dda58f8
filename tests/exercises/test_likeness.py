"""What feedback says about numbers of the right shape that no mistake of the catalogue explains."""

import numpy as np
import pytest

from autograder.exercise import PROPERTY, Case, Exercise, Mistake, compare_case, with_properties
from autograder.exercise.compare import judge_cases, merged
from autograder.exercise.likeness import likeness, likeness_of_texts
from autograder.exercise.model import Answers

WANT = np.random.default_rng(0).normal(0, 1, (3, 4, 4))
WEIGHTS = np.random.default_rng(1).dirichlet(np.ones(4), (3, 4))
AMOUNTS = np.array([1.5, -2.0, 0.5, 3.0])


def first_entries(array: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([array[:count], array[count:] ** 2 + 0.3])


SAID = {
    "every number is 0": 0 * WANT,
    "all numbers are the same one": 0 * WANT + 0.25,
    "all entries along axis 1 (of 4) are alike": np.broadcast_to(WANT[:, :1], WANT.shape),
    "every number has the wrong sign": -WANT,
    "every number is 2 times what it should be": 2 * WANT,
    "some numbers have the wrong sign": WANT * np.where(np.arange(4) > 1, 1, -1),
    "axis 1 (of 4) and axis 2 (of 4) are swapped": WANT.swapaxes(1, 2),
    "along axis 0 (of 3) stand in reverse order": WANT[::-1],
    "along axis 2 (of 4) are shifted by one position": np.roll(WANT, 1, 2),
    "but they stand at other positions": np.random.default_rng(2).permutation(WANT.flatten()).reshape(WANT.shape),
    "only the first entry along axis 0 (of 3) is right": first_entries(WANT, 1),
    "the last entry along axis 0 (of 3) is wrong, the others are right": first_entries(WANT, 2),
    "off by the same amount": WANT + 0.7,
    "is a bias missing, or in excess": WANT + AMOUNTS,
    "too large or too small by the same factor": WANT * AMOUNTS[:, None] ** 2,
    "negative numbers were cut to 0": WANT.clip(0),
    "every number lost its sign": np.abs(WANT) + 0.0,
    "is something masked or dropped": np.where(np.arange(48).reshape(3, 4, 4) % 7, WANT, 0),
    "something rounds them": np.round(WANT * 3),
    "too few digits": WANT.astype(np.float16),
}


@pytest.mark.parametrize(("words", "got"), SAID.items(), ids=SAID)
def test_feedback_says_in_which_way_the_numbers_are_wrong(words: str, got: np.ndarray) -> None:
    assert words in likeness(got, WANT, 1e-5, 1e-4)


POSITIVE = np.abs(WANT) + 0.1
CHOSEN = np.where(WANT > 0, WANT, 0)
COUNTS = np.array([[3, 1, 4], [1, 5, 9]])
MARKS = np.tril(np.ones((4, 4), dtype=bool))
OTHERS = [
    ("every number is the square root of what it should be", np.sqrt(POSITIVE), POSITIVE),
    ("every number is the square of what it should be", POSITIVE**2, POSITIVE),
    ("every number is the exponential of what it should be", np.exp(WANT), WANT),
    ("every number is the logarithm of what it should be", np.log(POSITIVE), POSITIVE),
    ("every number is the reciprocal of what it should be", 1 / POSITIVE, POSITIVE),
    ("their order by size is right, the numbers are not", np.tanh(2 * WANT), WANT),
    ("their order by size is the reverse of the right one", 2 - np.tanh(WANT), WANT),
    ("places, a number should be 0 and is not", np.where(WANT > -0.5, WANT + 3, 0), CHOSEN),
    ("places, a number is 0 and should not be", np.where(WANT > 0.5, WANT + 3, 0), CHOSEN),
    ("0 and other numbers are the wrong way round", np.where(WANT < 0, WANT, 0), CHOSEN),
    ("off by the same amount", COUNTS + 1, COUNTS),
    ("but they stand at other positions", COUNTS[::-1, ::-1] + 0, COUNTS),
    ("2 times what it should be", 2 * COUNTS, COUNTS),
    ("are the wrong way round", ~MARKS, MARKS),
    ("in 4 of 16 places, there is 0 (or False) in place of 1", np.tril(MARKS, -1), MARKS),
    ("in 3 of 16 places, there is 1 (or True) in place of 0", np.tril(np.ones((4, 4)), 1) > 0, MARKS),
]


@pytest.mark.parametrize(("words", "got", "want"), OTHERS, ids=[words for words, *_ in OTHERS])
def test_feedback_says_it_of_whole_numbers_marks_and_functions(words: str, got: np.ndarray, want: np.ndarray) -> None:
    exact = want.dtype.kind != "f"
    assert words in likeness(got, want, 0 if exact else 1e-5, 0 if exact else 1e-4)


def test_whole_numbers_are_never_called_nearly_right() -> None:
    assert "nearly" not in likeness(1000 * COUNTS + np.eye(2, 3, dtype=int), 1000 * COUNTS, 0, 0)
    assert "nearly" not in likeness(COUNTS + 2**60, COUNTS + 2**60 + 1, 0, 0)


def test_nothing_is_said_that_would_be_the_answer_or_is_true_of_any_answer() -> None:
    assert likeness(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1]), 0, 0) == ""
    other = np.random.default_rng(4).normal(0, 1, (1, 6))
    assert likeness(other, WANT[0, :3, :2].reshape(1, 6), 1e-5, 1e-4) == "", "an axis of one entry has no mean"
    nearly_none = np.where(CHOSEN == 0, 1e-9, CHOSEN + 1 + WANT**2)
    assert "should be 0" not in likeness(nearly_none, CHOSEN, 1e-5, 1e-4)
    few = np.zeros(12)
    few[np.argsort(WANT.flat[:12])[-2:]] = 1.5, 2.5
    assert "order" not in likeness(few, WANT.flat[:12], 1e-5, 1e-4)


def test_feedback_says_how_far_texts_are_right() -> None:
    want = ["a", "bird", "sings", "."]
    assert likeness_of_texts(want[:3], want) == "3 entries came in place of 4."
    assert "the first 2 of 4 entries are right" in likeness_of_texts(["a", "bird", "sang", "."], want)
    assert "at other positions" in likeness_of_texts(want[::-1], want)
    assert likeness_of_texts(["2", "1"], ["1", "2"]) == "", "it would be the answer"
    assert likeness_of_texts(["1", "2", "3", "4"], [1, 2, 3, 4]) == ""
    assert likeness_of_texts("a bird", want) == likeness_of_texts(["the", *want[1:]], want) == ""


def test_feedback_says_over_which_axis_the_numbers_should_sum_to_one() -> None:
    other = np.random.default_rng(3).dirichlet(np.ones(4), (3, 4)).swapaxes(1, 2)
    assert "must sum to 1 over axis 2 (of 4); yours do over axis 1" in likeness(other, WEIGHTS, 1e-5, 1e-4)
    assert "as after a softmax; they should not" in likeness(WEIGHTS, WANT, 1e-5, 1e-4)


def test_nothing_is_said_about_other_numbers_or_too_few_of_them() -> None:
    other = np.random.default_rng(4).normal(0, 1, WANT.shape)
    assert likeness(other, WANT, 1e-5, 1e-4) == ""
    assert likeness(np.array([2.0, 4.0]), np.array([1.0, 2.0]), 1e-5, 1e-4) == ""


def test_an_exercise_that_compares_says_it_in_its_message() -> None:
    case = Case(expected={"sums": WANT})
    judged = compare_case(Exercise(lambda generator: [case]), case, Answers({"sums": -WANT}))
    assert [check.message for check in judged.checks] == ["sums: every number has the wrong sign."]


def test_a_mistake_that_the_case_cannot_show_is_not_named() -> None:
    case = Case(expected={"sums": WANT}, mistakes={"eps": {"sums": WANT + 1e-9}})
    mistakes = [Mistake("eps", "Another eps.", "", ("1e-5", "1e-6"))]
    rounded = Answers({"sums": WANT.astype(np.float16).astype(np.float32)})
    judged = compare_case(Exercise(lambda generator: [case], mistakes=mistakes), case, rounded)
    assert [check.mistake for check in judged.checks] == [""]
    assert "too few digits" in judged.checks[0].message


def test_of_several_cases_the_one_is_told_that_says_what_is_wrong() -> None:
    other = np.random.default_rng(4).normal(0, 1, WANT.shape)
    cases = [Case(expected={"sums": WANT}), Case(expected={"sums": WANT + 1})]
    given = [(cases[0], Answers({"sums": other})), (cases[1], Answers({"sums": -WANT - 1}))]
    (told,) = merged(judge_cases(Exercise(lambda generator: cases), given))
    assert told.message == "sums: every number has the wrong sign."


SHAPES = {
    "(2, 3, 4) = (batch, tokens, dim)": (2, 3, 5),
    "Axis 2, dim, should have the size 4; yours has 5.": (2, 3, 5),
    "An axis is missing. There should be 3": (2, 4),
    "An axis too many. There should be 3": (2, 1, 3, 4),
    "in another order: batch, tokens, dim": (3, 2, 4),
    "Several axes are wrong": (3, 3, 5),
    "but yours is a single number": (),
}


@pytest.mark.parametrize(("words", "shape"), SHAPES.items(), ids=SHAPES)
def test_a_wrong_shape_is_told_by_the_names_of_its_axes(words: str, shape: tuple[int, ...]) -> None:
    case = Case(expected={"output": WANT[:2, :3]})
    exercise = Exercise(lambda generator: [case], axes={"output": "batch, tokens, dim"})
    (check,) = compare_case(exercise, case, Answers({"output": np.ones(shape)})).checks
    assert words in f"{check.message} {check.hint}"


def test_where_one_number_is_expected_the_message_says_so() -> None:
    case = Case(expected={"loss": np.array(1.5)})
    (check,) = compare_case(Exercise(lambda generator: [case]), case, Answers({"loss": np.ones((2, 3))})).checks
    assert check.message == "loss: expected one number, but yours has the shape (2, 3)."


def test_what_is_right_beside_wrong_numbers_is_told() -> None:
    case = Case(expected={"m": WANT, "v": 2 * WANT, "weights": WANT + 1})
    other = np.random.default_rng(4).normal(0, 1, WANT.shape)
    judged = compare_case(Exercise(lambda generator: [case]), case, Answers({**case.expected, "weights": other}))
    assert [check.message for check in judged.checks if not check.passed] == [
        "weights: the values are wrong; m and v are right."
    ]


def judged_by_property(**answers: object) -> list[str]:
    rule = with_properties(compare_case, {"times": ("With twice the {what} it is twice as much, yours {yours}.", "")})
    case = Case({"what": "layers"}, expected={"memory": np.array(8.0), PROPERTY + "times": np.array(2.0)})
    given = {name.replace("_", "/"): np.asarray(value, float) for name, value in answers.items()}
    return [one.message for one in rule(Exercise(lambda generator: [case]), case, Answers(given)).checks if one.message]


def test_where_nobody_knows_what_is_wrong_a_property_tells_and_takes_no_points() -> None:
    assert judged_by_property(memory=7, property_times=3) == ["With twice the layers it is twice as much, yours 3."]
    assert judged_by_property(memory=8, property_times=3) == [], "points depend on the exercise's own answers"
    assert "values are not" in judged_by_property(memory=7, property_times=2)[0]
    assert "values are not" in judged_by_property(memory=7)[0], "a property that could not be asked says nothing"
