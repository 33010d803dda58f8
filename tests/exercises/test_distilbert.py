"""DistilBERT's oracles: the NumPy block, its variants, and how mistakes in one answer are kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from autograder.authoring.texts import texts_of
from autograder.exercise import Answers, Case, Judgement, Mistake
from autograder.references import loader
from tests.grading import REFERENCES, grade_cells, mistakes_of, solution

pytestmark = pytest.mark.slow

Arrays = Mapping[str, np.ndarray]

PACKAGE = f"{loader.package(REFERENCES.folder)}.distilbert"
numpy_block = import_module(f"{PACKAGE}._block")
block_cases = import_module(f"{PACKAGE}._block_cases")
BlockVariant = numpy_block.BlockVariant

SCORES, WEIGHTS, CONTEXT = (f"distilbert/attention_{part}" for part in ("scores", "weights", "context"))


def block_answers(case: Case, variant: object = numpy_block.RIGHT) -> Arrays:
    hidden_states, sizes = case.inputs["hidden_states"].astype(np.float64), case.config
    heads, eps = int(sizes["n_heads"]), float(sizes["eps"])
    output, weights = numpy_block.block(hidden_states, case.weights, heads, eps, variant)
    return {"output": output, "weights": weights}


def made(slug: str) -> Iterator[tuple[Mistake, Case, Arrays]]:
    """(mistake, case, answer of a block with it) for every variant of the catalogue; those of the context have the
    right weights."""
    for case in REFERENCES.cases(slug):
        for mistake in REFERENCES.exercise(slug).mistakes:
            if mistake.variant is not None and slug == SCORES:
                yield mistake, case, block_answers(case, mistake.variant)
            elif mistake.variant is not None:
                weights = block_answers(case, BlockVariant(norm=mistake.variant.norm))["weights"]
                yield mistake, case, {"weights": weights, "output": output_of(case, weights, mistake.variant)}


def output_of(case: Case, weights: np.ndarray, variant: object) -> np.ndarray:
    hidden_states = case.inputs["hidden_states"].astype(np.float64)
    heads, eps = int(case.config["n_heads"]), float(case.config["eps"])
    output: np.ndarray = numpy_block.attention_tail(weights, hidden_states, case.weights, heads, eps, variant)
    return output


def judged(slug: str, case: Case, arrays: Arrays) -> Judgement:
    exercise = REFERENCES.exercise(slug)
    assert exercise.rule is not None
    return exercise.rule(exercise, case, Answers(arrays))


@pytest.mark.parametrize("slug", [SCORES, CONTEXT])
def test_every_variant_is_ten_tolerances_from_the_right_answer(slug: str) -> None:
    exercise, largest = REFERENCES.exercise(slug), dict[str, float]()
    for mistake, case, wrong in made(slug):
        for name, want in case.expected.items():
            apart = np.abs(wrong[name] - want) / (exercise.atol + exercise.rtol * np.abs(want))
            largest[str(mistake.variant)] = max(largest.get(str(mistake.variant), 0.0), float(apart.max()))
    assert {variant for variant, apart in largest.items() if apart < 10} == set()


@pytest.mark.parametrize("slug", [SCORES, CONTEXT])
def test_every_variant_is_called_by_its_own_name_and_by_no_other(slug: str) -> None:
    seen = set()
    for mistake, case, wrong in made(slug):
        called = {check.mistake or check.name for check in judged(slug, case, wrong).checks if not check.passed}
        assert called <= {mistake.id}, f"{mistake.id} is called {called}"
        seen |= {str(mistake.variant)} if called else set()
    assert seen == {str(mistake.variant) for mistake, _, _ in made(slug)}


@pytest.mark.parametrize("number", range(3))
def test_the_default_variant_is_the_block_of_transformers(number: int) -> None:
    case = REFERENCES.cases(CONTEXT)[number]
    output, weights = block_cases.transformers_block(case.inputs["hidden_states"], case.weights, case.config)
    ours = block_answers(case)
    np.testing.assert_allclose(ours["output"], output, atol=1e-10, rtol=1e-10)
    np.testing.assert_allclose(ours["weights"], weights, atol=1e-10, rtol=1e-10)


def test_the_pre_ln_variant_is_the_pre_ln_layer_of_torch() -> None:
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
    np.testing.assert_allclose(block_answers(case, BlockVariant(norm="pre"))["output"], expected, atol=1e-9)


def test_a_mistake_in_the_scores_is_seen_through_a_softmax_over_any_axis() -> None:
    for mistake, case, _ in made(SCORES):
        for axis in (-1, -2, 1, 0):
            wrong = block_answers(case, replace(mistake.variant, softmax_axis=axis))
            (check,) = judged(SCORES, case, wrong).checks
            assert check.mistake == mistake.id


@pytest.mark.slow
def test_several_mistakes_in_one_notebook_cost_each_its_own_points_and_are_all_named() -> None:
    made_here = {"tokens": "M17-special", "head_average": "M17-axis", "figure": "M17-axes"}
    texts: dict[str, str] = {}
    for name, id in made_here.items():
        _, wrong = loader.sample_answers(REFERENCES.folder, f"distilbert/{name}")
        texts |= texts_of(next(answer for answer in wrong if answer.mistake == id), {f"{name}_answer": ""})
    verdict = grade_cells("distilbert", "4_attention_visualization", texts)
    assert {cell.cell: cell.points for cell in verdict.cells if cell.max_points} == dict.fromkeys(made_here, 0)
    assert mistakes_of(verdict) == set(made_here.values())


@pytest.mark.slow
def test_two_mistakes_in_one_cell_cost_their_own_parts() -> None:
    block = solution("distilbert", "2_attention_block", "attention_block_answer")
    block = block.replace("q / math.sqrt(q.shape[-1])", "q").replace("gelu", "relu")
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": block})
    lost = {cell.cell for cell in verdict.cells if cell.points != cell.max_points}
    assert lost == {"attention_scores", "attention_context"}
    assert mistakes_of(verdict) == {"M2", "M12"}
