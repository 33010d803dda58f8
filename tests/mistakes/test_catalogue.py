"""The catalogue of known mistakes: each is told from the right answer, and from every other, on the stored cases."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from autograder.exercise.compare import compare_case
from autograder.exercise.model import Answers, Case
from autograder.oracles import attention
from autograder.oracles.attention import Knobs
from autograder.oracles.distilbert_block import oracle
from autograder.oracles.distilbert_context import CONTEXT_MISTAKES
from autograder.oracles.distilbert_scores import SCORE_MISTAKES
from tests.grading import REFERENCES, ROOT

Arrays = Mapping[str, np.ndarray]
CONTEXT = "distilbert/attention_context"
STEPS = {"distilbert/attention_scores": SCORE_MISTAKES, CONTEXT: CONTEXT_MISTAKES}


def wrong_answers(slug: str) -> Iterator[tuple[str, Case, Arrays]]:
    """(mistake, case, what somebody who makes it hands over) for every stored case"""
    for case in REFERENCES.cases(slug):
        for mistake in REFERENCES.exercise(slug).mistakes:
            yield mistake.id, case, {**case.expected, **mistake.answers(case)}
        for turned in STEPS.get(slug, ()):
            knobs = turned.knobs
            weights = block_answers(case, Knobs(norm=knobs.norm) if slug == CONTEXT else knobs)["weights"]
            yield turned.id, case, {"weights": weights, "output": tail(case, weights, knobs)}


def tail(case: Case, weights: np.ndarray, knobs: Knobs) -> np.ndarray:
    """The output of somebody who makes a mistake behind the softmax, and none before it."""
    hidden_states = case.inputs["hidden_states"].astype(np.float64)
    heads, eps = int(case.config["n_heads"]), float(case.config["eps"])
    return attention.attention_tail(weights, hidden_states, case.weights, heads, eps, knobs)


def block_answers(case: Case, knobs: Knobs) -> Arrays:
    hidden_states = case.inputs["hidden_states"].astype(np.float64)
    sizes = case.config
    output, weights = attention.block(hidden_states, case.weights, int(sizes["n_heads"]), float(sizes["eps"]), knobs)
    return {"output": output, "weights": weights}


def distance(got: Arrays, want: Arrays, exercise_slug: str) -> float:
    """How many tolerances apart the two are; infinite where their shapes or texts differ."""
    exercise, worst = REFERENCES.exercise(exercise_slug), 0.0
    for name in want.keys() & got.keys():
        if got[name].shape != want[name].shape or got[name].dtype.kind == "u":
            worst = max(worst, 0.0 if np.array_equal(got[name], want[name]) else np.inf)
        else:
            allowed = exercise.atol + exercise.rtol * np.abs(want[name])
            apart = np.abs(got[name].astype(float) - want[name].astype(float))
            worst = max(worst, float((apart / allowed).max()))
    return worst


SLUGS = [slug for slug in REFERENCES.exercises("distilbert") if REFERENCES.exercise(slug).mistakes or slug in STEPS]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_known_mistake_is_ten_tolerances_from_the_right_answer(slug: str) -> None:
    largest: dict[str, float] = {}
    for mistake, case, wrong in wrong_answers(slug):
        largest[mistake] = max(largest.get(mistake, 0.0), distance(wrong, case.expected, slug))
    assert {mistake for mistake, apart in largest.items() if apart < 10} == set()


@pytest.mark.parametrize("slug", SLUGS)
def test_every_known_mistake_is_called_by_its_own_name_and_by_no_other(slug: str) -> None:
    exercise, seen = REFERENCES.exercise(slug), set()
    for mistake, case, wrong in wrong_answers(slug):
        judgement = (exercise.rule or compare_case)(exercise, case, Answers(wrong))
        called = {check.mistake or check.name for check in judgement.checks if not check.passed}
        assert called <= {mistake}, f"{slug}: {mistake} is called {called}"
        if called:
            seen.add(mistake)
    assert seen == {mistake for mistake, _, _ in wrong_answers(slug)}


@pytest.mark.parametrize("slug", list(REFERENCES.exercises("distilbert")))
def test_the_stored_answer_itself_is_right(slug: str) -> None:
    exercise = REFERENCES.exercise(slug)
    for case in REFERENCES.cases(slug):
        answers = dict(case.expected)
        if slug.startswith("distilbert/attention_") and slug != "distilbert/attention_init":
            answers = {name: array.astype(np.float32) for name, array in answers.items()}
        if slug == "distilbert/figure":
            continue  # its words stand in the case, not among the expected answers
        assert (exercise.rule or compare_case)(exercise, case, Answers(answers)).earned == 1


@pytest.mark.parametrize("number", range(3))
def test_the_block_with_every_knob_at_rest_is_transformers_block(number: int) -> None:
    case = REFERENCES.cases(CONTEXT)[number]
    output, weights = oracle(case.inputs["hidden_states"], case.weights, case.config)
    ours = block_answers(case, Knobs())
    np.testing.assert_allclose(ours["output"], output, atol=1e-10, rtol=1e-10)
    np.testing.assert_allclose(ours["weights"], weights, atol=1e-10, rtol=1e-10)


def test_the_pre_ln_knob_is_the_pre_ln_layer_of_torch() -> None:
    import torch

    case = REFERENCES.cases(CONTEXT)[0]
    dim, heads = int(case.config["dim"]), int(case.config["n_heads"])
    layer = torch.nn.TransformerEncoderLayer(
        dim, heads, int(case.config["hidden_dim"]), 0.0, "gelu", 1e-12, batch_first=True, norm_first=True
    ).double()
    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in case.weights.items()}
    names = {"linear1": "lin1", "linear2": "lin2", "norm1": "sa_layer_norm", "norm2": "output_layer_norm"}
    names |= {"self_attn.out_proj": "out_lin"}
    state = {f"{theirs}.{kind}": w[f"{own}.{kind}"] for theirs, own in names.items() for kind in ("weight", "bias")}
    for kind in ("weight", "bias"):
        state[f"self_attn.in_proj_{kind}"] = torch.cat([w[f"{part}_lin.{kind}"] for part in "qkv"])
    layer.load_state_dict(state)
    with torch.no_grad():
        expected = layer.train()(torch.from_numpy(case.inputs["hidden_states"].astype(np.float64))).numpy()
    np.testing.assert_allclose(block_answers(case, Knobs(norm="pre"))["output"], expected, atol=1e-9)


def test_judging_imports_neither_torch_nor_transformers() -> None:
    assignments = sorted(path.name for path in (ROOT / "source").iterdir() if any(path.glob("*.ipynb")))
    code = (
        "from autograder.pipeline import judge\nfrom tests.grading import REFERENCES\nimport sys\n"
        f"for assignment in {assignments}:\n"
        "    REFERENCES.exercises(assignment)\n"
        "    found = [name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules]\n"
        "    assert not found, f'the oracles of {assignment} import {found}'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_mistake_in_the_scores_is_seen_through_a_softmax_over_any_axis() -> None:
    exercise = REFERENCES.exercise("distilbert/attention_scores")
    for case in REFERENCES.cases(exercise.slug):
        for axis in (-1, -2, 1, 0):
            for turned in SCORE_MISTAKES:
                wrong = block_answers(case, replace(turned.knobs, softmax_axis=axis))
                assert exercise.rule is not None
                (check,) = exercise.rule(exercise, case, Answers(wrong)).checks
                assert check.mistake == turned.id
