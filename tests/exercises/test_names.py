"""A mistake is named where it explains every case that can show it, and nowhere else."""

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, merged, named, right
from autograder.exercise.compare import judge_cases

MISTAKES = [
    Mistake("square", "The numbers were squared.", "", ("2 * x", "x**2")),
    Mistake("plus", "Two was added.", "", ("2 * x", "x + 2"), share=0.5),
    Mistake("zero", "All are zero.", "", ("2 * x", "0 * x")),
]
#: Mistake -> what the solution with its patches makes of ``x``.
MADE = {
    "square": lambda x: x**2,
    "plus": lambda x: x + 2,
    "zero": lambda x: 0 * x,
    "high": lambda x: np.where(x > 4, 0, 2 * x),
    "low": lambda x: np.where(x > 4, 2 * x, 1),
    "near": lambda x: 0 * x + (x > 4),
}
DOUBLED = Exercise(lambda generator: [], mistakes=MISTAKES, slug="toy/doubled")


def judged(answer, *xs: list[float], exercise: Exercise = DOUBLED) -> list[Judgement]:
    """answer: number -> what the student's code makes of it. xs: the numbers of each case"""
    arrays = [np.array(x) for x in xs]
    cases = [
        Case(inputs={"x": x}, expected={"y": 2 * x}, mistakes={id: {"y": made(x)} for id, made in MADE.items()})
        for x in arrays
    ]
    return judge_cases(exercise, [(case, Answers({"y": answer(case.inputs["x"])})) for case in cases])


def names(judgements: list[Judgement]) -> set[str]:
    return {check.mistake for check in merged(judgements) if check.mistake}


def test_a_name_that_another_case_refutes_is_not_told() -> None:
    assert names(judged(lambda x: x**2, [3.0, 4], [5.0, 6])) == {"square"}
    odd = judged(lambda x: np.where(x > 4, 3 * x, x**2), [3.0, 4], [5.0, 6])
    assert names(odd) == set() and [judgement.earned for judgement in odd] == [0, 0]


def test_a_case_that_cannot_show_a_mistake_refutes_nothing() -> None:
    assert names(judged(lambda x: x**2, [3.0, 4], [2.0, 0])) == {"square"}
    assert names(judged(lambda x: np.where(x == 2, 7, x**2), [3.0, 4], [2.0, 2])) == {"square"}


def test_a_right_case_that_can_show_a_mistake_refutes_it() -> None:
    assert names(judged(lambda x: np.where(x > 4, 2 * x, x**2), [3.0, 4], [5.0, 6])) == set()


def test_a_case_that_overflowed_refutes_nothing() -> None:
    """The catalogue's numbers may come from double precision."""
    overflowed = judged(lambda x: np.where(x > 4, np.inf, x**2), [3.0, 4], [5.0, 6])
    assert names(overflowed) == {"square"}


def test_two_mistakes_of_which_each_shows_in_cases_of_its_own_keep_both_names() -> None:
    high_and_low = [Mistake(id, "", "", ("2 * x", id)) for id in ("high", "low")]
    exercise = Exercise(lambda generator: [], mistakes=high_and_low)
    both = judged(lambda x: np.where(x > 4, 0, 1), [3.0, 4], [5.0, 6], exercise=exercise)
    assert names(both) == {"high", "low"}


def test_without_its_name_a_mistake_keeps_the_points_it_leaves() -> None:
    told = judged(lambda x: np.where(x > 4, 9 * x, x + 2), [3.0, 4], [5.0, 6])
    assert names(told) == set() and [judgement.earned for judgement in told] == [0.5, 0]


def test_the_next_nearest_name_is_asked_too() -> None:
    """Of zeros, both ``square`` and ``zero`` are true of the first case; the second one knows."""
    assert names(judged(lambda x: 0 * x, [1e-6, -1.0], [5.0, 6])) == {"zero"}
    near = Mistake("near", "Nearly zero.", "", ("2 * x", "near"))
    exercise = Exercise(lambda generator: [], mistakes=[near, *MISTAKES])
    assert names(judged(lambda x: 0 * x, [3.0, 4], [5.0, 6], exercise=exercise)) == {"zero"}


def test_a_rule_that_needs_no_numbers_keeps_its_word() -> None:
    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        return named(exercise, "square") if case.inputs["x"][0] == 3 else compare_case(exercise, case, answers)

    exercise = Exercise(lambda generator: [], rule, MISTAKES)
    assert names(judged(lambda x: 7 * x, [3.0, 4], [5.0, 6], exercise=exercise)) == {"square"}
    assert names(judged(lambda x: 2 * x, [4.0, 4], exercise=exercise)) == set()
    assert right("y").earned == 1
