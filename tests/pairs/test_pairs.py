"""A wrong answer costs its own exercise alone, and so does a wrong line between right ones: a few of all tries."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from autograder.references import loader
from tests.exercises.test_answers import ASSIGNMENTS, SLUGS, one_worker, trials
from tests.grading import REFERENCES
from tests.pairs.made import Try, problem, wrong_beside_right, wrong_seams

pytestmark = pytest.mark.slow
#: So many tries of each kind for an assignment; ``python -m tests.pairs`` makes all.
FEW = 4
SEED = 33

#: Wrong answers that, by their author's word, cost another exercise too, and why.
COST_MORE = {
    ("numpy_attention/no_loops", "not scaled, without a loop"): "a bonus on the code of another exercise",
    ("transformer_tutorial/attention_output", "values set to 0 before their use"): "no output shows what is dropped",
    ("transformer_tutorial/classifier_forward", "M15-all"): "of padding, too, the largest number is taken",
    ("transformer_tutorial/classifier_forward", "M15-last"): "the last token may be padding",
    ("transformer_tutorial/classifier_forward", "averaged over the numbers"): "nothing runs behind it",
}


def few(assignment: str, kind: str) -> Iterator[Try]:
    chosen = random.Random(SEED)
    made = wrong_beside_right(trials(assignment), chosen, 1) if kind == "pairs" else wrong_seams(trials(assignment))
    every = list(made)
    yield from chosen.sample(every, min(FEW, len(every)))


@pytest.mark.parametrize("kind", ["pairs", "seams"])
@pytest.mark.parametrize("assignment", [pytest.param(name, marks=one_worker(name)) for name in ASSIGNMENTS])
def test_what_is_wrong_costs_one_exercise_whatever_stands_beside_it(assignment: str, kind: str) -> None:
    assert [said for one in few(assignment, kind) if (said := problem(trials(assignment), one))] == []


#: Right answers that reach into the parts which stand-ins replace, or that pass their arguments by name.
REACHING = (
    "encoder_lab/embeddings: wrong: M11-zero beside encoder: its layers' parts one by one",
    "encoder_lab/encoder: wrong: M14-first beside classifier: its head's layers one by one",
    "encoder_lab/encoder_layer: wrong: M7-none beside encoder: weights set in __init__",
    "encoder_lab/head_attention: wrong: M3-batch beside multi_head_attention: the heads' layers and method, one by one",
    "numpy_attention/softmax: wrong: axis not kept beside multihead_attention: float64 inside, keyword arguments alone",
)


@pytest.mark.parametrize(
    "assignment",
    [pytest.param(name, marks=one_worker(name)) for name in sorted({one.partition("/")[0] for one in REACHING})],
)
def test_a_part_that_reaches_into_others_does_not_lose_with_them(assignment: str) -> None:
    wanted = [name for name in REACHING if name.startswith(f"{assignment}/")]
    made = [one for one in wrong_beside_right(trials(assignment)) if one.name in wanted]
    assert len(made) == len(wanted)
    assert [said for one in made if (said := problem(trials(assignment), one))] == []


@one_worker("distilbert")
def test_a_wrong_line_between_loop_and_classifier_costs_the_whole_alone() -> None:
    (made,) = (one for one in wrong_seams(trials("distilbert")) if re.search(r"classifier_model.*: output$", one.name))
    assert problem(trials("distilbert"), made) == ""


def test_few_answers_cost_another_exercise_too() -> None:
    found = {(slug, answer.name) for slug in SLUGS for answer in loader.sample_answers(REFERENCES.folder, slug)[1]
             if answer.also_costs}  # fmt: skip
    assert found == set(COST_MORE)
