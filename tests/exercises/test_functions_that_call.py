"""Exercises that call earlier ones: a mistake in a part costs that part alone, one that no part owns the whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from autograder.authoring.trial import texts_of
from autograder.exercise import TEXT, Answers, Case, Exercise, SampleAnswer, compare_case, text_array, whole
from autograder.model.verdict import CellVerdict
from autograder.references import loader
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES

# --- the rule ---------------------------------------------------------------------------------------------------------

RIGHT, WRONG = np.ones(3), np.zeros(3)
STOPPED = text_array("ValueError: no")
ONE_OF_TWO, NONE_OF_TWO, BOTH = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("given", "parts", "earned", "says"),
    [
        ({"y": RIGHT}, BOTH, 1, ""),
        ({"y": RIGHT, "ready_y": WRONG}, NONE_OF_TWO, 1, ""),
        ({"y": WRONG, "ready_y": RIGHT}, ONE_OF_TWO, 1, ""),
        ({"y": WRONG, "ready_y": WRONG}, ONE_OF_TWO, 0, "values"),
        ({"y": WRONG, "ready_y": RIGHT}, BOTH, 0, "values"),
        ({"y": WRONG, "ready_y": RIGHT}, {}, 0, "values"),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, ONE_OF_TWO, 1, ""),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, BOTH, 0, "they stop with ValueError: no"),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, NONE_OF_TWO, 0, "nothing to put together"),
    ],
)
def test_a_whole_loses_only_what_no_part_has_lost(
    given: dict[str, np.ndarray], parts: dict[str, float], earned: float, says: str
) -> None:
    earlier = {f"sheet/{name}": CellVerdict(name, "failed", points, 1.0) for name, points in parts.items()}
    exercise = Exercise(lambda _: [], whole(compare_case), slug="sheet/whole", parts=("a", "b"))
    judgement = exercise.rule(exercise, Case(expected={"y": RIGHT}), Answers(given, earlier=earlier))
    assert judgement.earned == earned
    assert says in judgement.checks[0].message


def test_a_function_that_calls_another_one_is_there_to_be_judged_without_it() -> None:
    earlier = {"sheet/a": CellVerdict("a", "failed", 0.0, 1.0)}
    exercise = Exercise(lambda _: [], whole(compare_case), slug="sheet/whole", parts={"a": "a"})
    answers = Answers({"y": WRONG, "ready_y": RIGHT}, earlier=earlier)
    assert exercise.rule(exercise, Case(expected={"y": RIGHT}), answers).earned == 1


# --- in the notebooks -------------------------------------------------------------------------------------------------

#: Attention in one function, with a mask and without, by the earlier steps.
BY_STEPS = {
    "scaled_dot_product_attention_answer": """def scaled_dot_product_attention(query, key, value):
    return attention_weights(attention_scores(query, key)) @ value""",
    "masked_attention_answer": """def scaled_dot_product_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return attention_weights(scores) @ value""",
}
BY_SINGLE_HEADS = {
    "multihead_attention_answer": """def apply_multihead_attention(x, W_q, W_k, W_v, W_o):
    eye = np.eye(W_o.shape[0] // len(W_q))
    return np.concatenate([apply_self_attention(x, *W, eye) for W in zip(W_q, W_k, W_v)], axis=1) @ W_o"""
}
#: Part -> the wholes that call it, and their cells where the solution does not.
PARTS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "numpy_attention/softmax": (("self_attention", "multihead_attention"), {}),
    "numpy_attention/self_attention": (("multihead_attention",), BY_SINGLE_HEADS),
    "encoder_lab/attention_scores": (("scaled_dot_product_attention", "masked_attention"), BY_STEPS),
    "encoder_lab/attention_weights": (("scaled_dot_product_attention", "masked_attention"), BY_STEPS),
    "decoder/causal_attention": (("pre_norm_block",), {}),
}
#: Part -> more wrong answers, by their names.
MORE = {
    "encoder_lab/attention_scores": {
        "not transposed": "def attention_scores(query, key):\n    return query @ key / math.sqrt(key.size(-1))",
        "empty": "def attention_scores(query, key):\n    raise NotImplementedError()",
    },
    "numpy_attention/softmax": {
        "printed, not returned": "def softmax(x):\n    print(np.exp(x) / np.exp(x).sum(-1, keepdims=True))",
        "the axis not kept": "def softmax(x):\n    return np.exp(x) / np.exp(x).sum(-1)",
        "not valid Python": "def softmax(x):\n    return np.exp(x",
    },
    "numpy_attention/self_attention": {
        "it stops": "def apply_self_attention(x, W_q, W_k, W_v, W_o):\n    return softmax(x @ W_q @ W_k) @ x",
    },
}


def lost(assignment: str, texts: Mapping[str, str], exercises: Collection[str]) -> set[str]:
    """Which of these exercises lose points where these cells are filled so; no check refuses one that loses none."""
    tried = trials(assignment).run(dict(texts), only=exercises)
    assert tried.verdicts.keys() == set(exercises)
    found = {name for name, one in tried.verdicts.items() if one.points is not None and one.points < one.max_points}
    assert {name for name, said in tried.visible.items() if said} <= found
    return found


def wrong_parts() -> Iterator[ParameterSet]:
    for slug in PARTS:
        known = loader.sample_answers(REFERENCES.folder, slug)[1]
        more = [SampleAnswer(name, text, cell=known[0].cell) for name, text in MORE.get(slug, {}).items()]
        for answer in [*known, *more]:
            group = one_worker(slug.partition("/")[0])
            yield pytest.param(slug, answer, id=f"{slug}: {answer.name}", marks=group)


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "answer"), wrong_parts())
def test_a_mistake_in_a_part_costs_that_part_alone(slug: str, answer: SampleAnswer) -> None:
    assignment, _, exercise = slug.partition("/")
    wholes, cells = PARTS[slug]
    texts = {**cells, **texts_of(answer, trials(assignment).solutions)}
    assert lost(assignment, texts, (exercise, *wholes)) == {exercise}


#: Whole -> cells of which each part is right by itself, and the whole is not.
SEAMS = {
    "numpy_attention/multihead_attention": {
        "softmax_answer": """def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)"""
    },
    "encoder_lab/scaled_dot_product_attention": {
        "attention_scores_answer": """def attention_scores(query, key):
    return query @ key.mT / math.sqrt(key.size(-1)), "the scores" """,
        "scaled_dot_product_attention_answer": BY_STEPS["scaled_dot_product_attention_answer"],
    },
    "decoder/pre_norm_block": {
        "causal_attention_answer": """def causal_attention(query, key, value):
    if query.shape[2] == 6:
        return value
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)"""
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("slug", [pytest.param(one, id=one, marks=one_worker(one.partition("/")[0])) for one in SEAMS])
def test_a_mistake_that_no_part_owns_costs_the_whole_alone(slug: str) -> None:
    assignment, _, exercise = slug.partition("/")
    parts = [cell.removesuffix("_answer") for cell in SEAMS[slug]]
    assert lost(assignment, SEAMS[slug], {*parts, exercise}) == {exercise}
