"""Several mistakes in DistilBERT's notebooks: each costs its own points, and all are named."""

import numpy as np
import pytest

from autograder.authoring.trial import texts_of
from autograder.exercise import Answers
from autograder.model.course_file import read_course_file
from autograder.model.verdict import CellVerdict, SubmissionVerdict
from autograder.references import loader
from autograder.report.page import ready_made
from tests.grading import REFERENCES, ROOT, grade_cells, mistakes_of, solution

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


TORCHS = "scaled_dot_product_attention(weights[..., :1] * 0, v[..., :1] * 0, v, attn_mask=weights.log())"
WHOLE, CONTEXT, SCORES, WEIGHTS = (f"attention_{one}" for one in ("block", "context", "scores", "weights"))


@pytest.mark.parametrize(
    ("before", "context", "part", "cells"),
    [
        ("", "weights @ v", "", ()),
        ("import sys", f"sys.modules['torch'].nn.functional.{TORCHS}", TORCHS[:28], (WHOLE, CONTEXT)),
        ("", f"torch.ops.aten.{TORCHS}", TORCHS[:28], (WHOLE, CONTEXT)),
        ("mix = parts.ReadyAttentionBlock.attention_context", "mix(self, weights, v)", "course.parts", (CONTEXT,)),
        ("Mine = type(parts.ReadyAttentionBlock(config))", "0", "course.parts", (WHOLE, CONTEXT, SCORES, WEIGHTS)),
    ],
)
def test_a_ready_made_part_is_shown_where_it_answers_and_takes_no_points(
    before: str, context: str, part: str, cells: tuple[str, ...]
) -> None:
    block = solution("distilbert", "2_attention_block", "attention_block_answer").replace("weights @ v", context)
    after = "AttentionBlock = Mine" if "Mine" in before else ""
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": f"{before}\n{block}\n{after}"})
    lost = [cell.cell for cell in verdict.cells if cell.judged == "reference" and cell.points != cell.max_points]
    assert lost == []
    found = ready_made([SubmissionVerdict("a", "distilbert", (verdict,))], read_course_file(ROOT).ready_made)
    assert [(label, cell) for label, cell, _ in found] == [(part, cell) for cell in cells]


PARTS = ("encoder_list", "encoder_loop", "classifier")


@pytest.mark.parametrize(
    ("checkpoint", "given", "charged", "earned"),
    [
        ("mini", ("right", "right"), PARTS, 1),
        ("mini", ("wrong", "right"), (), 0),
        ("mini", ("wrong", "right"), ("encoder_loop",), 1),
        ("mini", ("wrong", "right"), ("embeddings",), 1),
        ("mini", ("wrong", "wrong"), ("encoder_loop",), 0),
        ("mini", ("wrong", "right"), PARTS, 0),
        ("mini", (), (), 0),
        ("distilbert", (), (), 1),
        ("distilbert", ("wrong", "right"), (), 0),
    ],
)
def test_the_logits_count_as_they_stand_or_where_a_part_lost_points_with_ready_made_parts(
    checkpoint: str, given: tuple[str, ...], charged: tuple[str, ...], earned: float
) -> None:
    """given: the logits as they stand, and with ready-made parts; nothing where the checkpoint is absent."""
    slug = "distilbert/pretrained_logits"
    exercise = REFERENCES.exercise(slug)
    case = next(case for case in REFERENCES.cases(slug) if case.config["checkpoint"] == checkpoint)
    logits = {"right": case.expected["logits"].astype(np.float32), "wrong": np.zeros((1, 2), np.float32)}
    arrays = {name: logits[one] for name, one in zip(("logits", "ready_logits"), given, strict=False)}
    earlier = {f"distilbert/{name}": CellVerdict(name, "failed", 0.0, 3.0) for name in charged}
    assert exercise.rule is not None
    assert exercise.rule(exercise, case, Answers(arrays or {"absent": np.array(True)}, "", earlier)).earned == earned
