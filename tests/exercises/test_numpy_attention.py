"""numpy_attention: several mistakes at once, and the catalogue of mistakes."""

from itertools import combinations

import pytest

from autograder.authoring.trial import Trials
from autograder.exercise import matches
from tests.exercises import test_answers
from tests.exercises.answers import text_of
from tests.exercises.numpy_attention_judged import ASSIGNMENT
from tests.grading import REFERENCES, exercise_module

heads = exercise_module(f"{ASSIGNMENT}/_heads")
LAYERS = ("self_attention", "multihead_attention")
pytestmark = test_answers.one_worker(ASSIGNMENT)
POINTS = {"softmax": 2, "self_attention": 5, "multihead_attention": 5, "no_loops": 0}


# --- one mistake costs its own points only ----------------------------------------------------------------------------


@pytest.fixture
def trials() -> Trials:
    return test_answers.trials(ASSIGNMENT)


def tried(trials: Trials, **texts: str) -> tuple[dict[str, float | None], set[str]]:
    """(points of each exercise, mistakes that are named) where these exercises are answered so."""
    verdicts = trials.run({f"{exercise}_answer": text for exercise, text in texts.items()}).verdicts
    named = {one.mistake for verdict in verdicts.values() for one in verdict.checks if one.mistake}
    return {name: verdict.points for name, verdict in verdicts.items()}, named - {"LOOP"}


@pytest.mark.slow
def test_a_missing_softmax_costs_nothing_where_the_layers_have_their_own(trials: Trials) -> None:
    found, _ = tried(
        trials,
        softmax="def softmax(x):\n    raise NotImplementedError()",
        self_attention=text_of(f"{ASSIGNMENT}/self_attention", "own softmax inside"),
        multihead_attention=text_of(f"{ASSIGNMENT}/multihead_attention", "pure einsum"),
    )
    assert found == {**POINTS, "softmax": 0}


@pytest.mark.slow
def test_nothing_computed_consistently_is_nothing(trials: Trials) -> None:
    zeros = "(x, W_q, W_k, W_v, W_o):\n    return np.zeros_like(x)"
    found, _ = tried(
        trials,
        softmax="def softmax(x):\n    return np.zeros_like(x)",
        self_attention=f"def apply_self_attention{zeros}",
        multihead_attention=f"def apply_multihead_attention{zeros}",
    )
    assert sum(points or 0 for points in found.values()) == 0


# --- the catalogue of attention's mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", LAYERS)
def test_every_mistake_is_far_from_the_right_answer_and_from_every_other_mistake(exercise: str) -> None:
    known = REFERENCES.exercise(f"{ASSIGNMENT}/{exercise}")
    square, *others, _ = REFERENCES.cases(known.slug)  # the last one is saturated: scales cannot show there
    for case in (square, *others):
        answers = {"right": case.expected["y"]}
        for mistake in known.mistakes:
            if made := known.made_by(mistake, case):
                answers[f"{mistake.id} {mistake.message}"] = made["y"]
        if case is square:
            # n = d_qkv: the reason why there are other cases
            answers = {name: y for name, y in answers.items() if not name.startswith("M3-tokens")}
        for (one, first), (other, second) in combinations(answers.items(), 2):
            assert not matches({"y": first}, {"y": second}, known), (one, other)


@pytest.mark.slow
def test_a_layer_with_two_mistakes_has_no_name_and_no_points(trials: Trials) -> None:
    text = text_of(f"{ASSIGNMENT}/self_attention", "M2").replace("weights @", "weights.T @")
    found, named = tried(trials, self_attention=text)
    assert (found["self_attention"], named) == (0, set())


def test_lengths_and_widths_of_the_hidden_cases_differ() -> None:
    for exercise in LAYERS:
        shapes = [case.inputs["x"].shape for case in REFERENCES.cases(f"{ASSIGNMENT}/{exercise}")]
        assert sum(len({n, d_model, heads.D_QKV}) == 3 for n, d_model in shapes) == len(shapes) - 1


def test_the_hidden_scores_are_moderate_but_for_the_huge_case() -> None:
    for exercise in LAYERS:
        spreads = []
        for case in REFERENCES.cases(f"{ASSIGNMENT}/{exercise}"):
            q, k = (case.inputs["x"] @ case.inputs[name] for name in ("W_q", "W_k"))
            spreads.append((q @ k.swapaxes(-1, -2)).std() / heads.D_QKV**0.5)
        assert all(0.5 < spread < 3 for spread in spreads[:-1])
        assert spreads[-1] > 700


def test_no_message_names_the_right_letter_or_repairs_the_code() -> None:
    for exercise in ("softmax", *LAYERS):
        for mistake in filter(lambda one: one.id, REFERENCES.exercise(f"{ASSIGNMENT}/{exercise}").mistakes):
            assert "softmax(q" not in mistake.hint and "keepdims=True" not in mistake.hint
            assert len(mistake.message) > 20 and mistake.hint
    (question,) = REFERENCES.exercise(f"{ASSIGNMENT}/classifier_on_top").questions
    assert "c" not in question.wrong
