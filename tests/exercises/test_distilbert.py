"""Several mistakes in DistilBERT's notebooks: each costs its own points, and all are named."""

from __future__ import annotations

import pytest

from autograder.authoring.trial import texts_of
from autograder.references import loader
from tests.grading import REFERENCES, grade_cells, mistakes_of, solution

pytestmark = pytest.mark.slow


def test_several_mistakes_in_one_notebook_cost_each_its_own_points_and_are_all_named() -> None:
    made_here = {"tokens": "M17-special", "head_average": "M17-axis", "figure": "M17-axes"}
    texts: dict[str, str] = {}
    for name, id in made_here.items():
        _, wrong = loader.sample_answers(REFERENCES.folder, f"distilbert/{name}")
        solved = {f"{name}_answer": solution("distilbert", "4_attention_visualization", f"{name}_answer")}
        texts |= texts_of(next(answer for answer in wrong if answer.mistake == id), solved)
    verdict = grade_cells("distilbert", "4_attention_visualization", texts)
    assert {cell.cell: cell.points for cell in verdict.cells if cell.max_points} == dict.fromkeys(made_here, 0)
    assert mistakes_of(verdict) == set(made_here.values())


def test_two_mistakes_in_one_cell_cost_their_own_parts() -> None:
    block = solution("distilbert", "2_attention_block", "attention_block_answer")
    block = block.replace("scores.softmax(dim=-1)", "scores.sigmoid()").replace("gelu", "relu")
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": block})
    lost = {cell.cell for cell in verdict.cells if cell.points != cell.max_points}
    assert lost == {"attention_weights", "attention_block"}
    assert mistakes_of(verdict) == {"M1-sigmoid", "M12"}
