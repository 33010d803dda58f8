"""One mistake costs its own points and no more, inside a notebook too: each submission through the real stages."""

from collections.abc import Mapping

import pytest

from autograder.model.verdict import NotebookVerdict
from tests.exercises import models_file as lab_file
from tests.exercises.models_file import models_file, solution_file
from tests.exercises.test_answers import one_worker, trials
from tests.grading import cell_of, grade_cells, solution

pytestmark = [pytest.mark.slow, one_worker("encoder_lab")]


def lost(verdict: NotebookVerdict) -> dict[str, float]:
    """Graded cell -> points that are missing; written answers, which wait for a human, are left out."""
    judged = [cell for cell in verdict.cells if cell.status not in ("manual", "missing")]
    return {cell.cell: cell.max_points - (cell.points or 0) for cell in judged if cell.points != cell.max_points}


# --- numpy_attention --------------------------------------------------------------------------------------------------


def numpy_lost(answers: Mapping[str, str]) -> dict[str, float]:
    return lost(grade_cells("numpy_attention", "1_attention", answers))


def test_a_softmax_that_is_wrong_on_purpose_forgives_no_missing_one() -> None:
    nothing = "def softmax(x):\n    return x"
    without = "def apply_self_attention(x, W_q, W_k, W_v, W_o):\n    s = x @ W_q @ (x @ W_k).T / W_q.shape[1] ** 0.5\n"
    answers = {"softmax_answer": nothing, "self_attention_answer": without + "    return s @ (x @ W_v) @ W_o"}
    assert numpy_lost(answers) == {"softmax": 2, "self_attention": 2}


# --- encoder_lab ------------------------------------------------------------------------------------------------------


def lab(models: str) -> NotebookVerdict:
    return lab_file.graded({"models.py": models.encode()})


def said(verdict: NotebookVerdict, cell: str) -> str:
    return " ".join(check.message for check in cell_of(verdict, cell).checks if not check.passed)


def test_what_python_cannot_read_in_one_class_costs_that_class_and_is_named_with_its_line() -> None:
    models = solution_file().replace("self.linear_1 = nn.Linear(d_model, intermediate_size)", "self.linear_1 = (")
    line = models.split("\n").index("        self.linear_1 = (") + 1
    models = models.replace("(self, pooled: Tensor)", "(self, pooled: Tensr)")
    graded = lab(models)
    assert lost(graded) == {"feed_forward": 3, "classification_head": 2, "whole_model": 2}
    assert said(graded, "feed_forward").startswith(f"Line {line} of models.py is not valid Python")
    assert "so class FeedForward was not read" in said(graded, "feed_forward")
    assert "NameError: name 'Tensr' is not defined" in said(graded, "classification_head")


def test_a_loop_that_never_ends_costs_the_class_it_is_in() -> None:
    impatient = "from course.check import limits\nlimits.ATTEMPT_SECONDS, limits.CHECK_SECONDS = 0.3, 2.0\n"
    endless = models_file({("MultiHeadAttention", "forward"): "while True:\n    pass"})
    parts = ("multi_head_init", "multi_head_attention", "encoder_layer", "encoder", "classifier")
    tried = trials("encoder_lab").run({"models.py": impatient + endless}, only=parts)
    missing = {name for name, verdict in tried.verdicts.items() if verdict.points != verdict.max_points}
    assert len(tried.verdicts) == len(parts) and missing == {"multi_head_attention"}


def test_a_loop_that_never_ends_outside_of_any_function_costs_the_whole_model_which_needs_the_file() -> None:
    models = solution_file().replace("class FeedForward(", "while True:\n    pass\n\n\nclass FeedForward(")
    assert lost(lab(models)) == {"whole_model": 2.0}


# --- transformer_tutorial ---------------------------------------------------------------------------------------------

ONLY_SCORES = """class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def calculate_score(self, queries, keys):
        return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])

    def forward(self, queries, keys, values, b, h, t, k, mask=None):
        raise NotImplementedError()
"""
FORGOTTEN = ONLY_SCORES.replace("return torch.bmm", "score = torch.bmm")


def tutorial_lost(text: str) -> dict[str, float]:
    return lost(grade_cells("transformer_tutorial", "1_queries_keys_values", {"dot_product_attention_answer": text}))


def test_scores_written_alone_have_their_points() -> None:
    rest = {"attention_output": 1, "attention_dropout": 1, "attention_heads": 2, "attention_mask": 1}
    assert tutorial_lost(ONLY_SCORES) == rest
    assert tutorial_lost(FORGOTTEN) == rest | {"attention_scores": 2}


def test_a_class_that_is_not_valid_python_costs_none_of_the_class_that_uses_it() -> None:
    parts = {"attention_output": 1, "attention_dropout": 1, "attention_heads": 2, "attention_mask": 1}
    assert tutorial_lost("class Dot(:") == parts | {"attention_scores": 2}


# --- distilbert -------------------------------------------------------------------------------------------------------


def distilbert(notebook: str, cell: str, *changes: tuple[str, str]) -> NotebookVerdict:
    text = solution("distilbert", notebook, cell)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return grade_cells("distilbert", notebook, {cell: text})


@pytest.mark.parametrize(("old", "new", "told"), [
    ("return hidden_states", "encoder_output = hidden_states", "nothing came"),
    ("for i, block in", "raise NotImplementedError()\n        for i, block in", "Not filled in yet"),
])  # fmt: skip
def test_a_loop_that_is_missing_or_returns_nothing_costs_neither_the_classifier_nor_the_whole(
    old: str, new: str, told: str
) -> None:
    graded = distilbert("3_model_assembly", "classifier_model_answer", (old, new))
    assert lost(graded) == {"encoder_loop": 4}
    assert told in said(graded, "encoder_loop")


INIT = "".join(f"self.{name}_lin = nn.Linear(config.dim, config.dim)\n        " for name in "qkv").rstrip()
SCORES = "return q @ k.transpose(-2, -1)"
WEIGHTS = "return scores.softmax(dim=-1)"


@pytest.mark.parametrize(
    ("changes", "costs"),
    [
        ([(INIT, "raise NotImplementedError()")], {"attention_init": 4}),
        ([(SCORES, "return q @ k.T")], {"attention_scores": 4}),
        ([(INIT, "pass"), (SCORES, "return q @ k.T")], {"attention_init": 4, "attention_scores": 4}),
        ([(WEIGHTS, "pass")], {"attention_weights": 4}),
    ],
    ids=["part 1 empty", "k.T", "no part 1, and k.T", "part 3 empty"],
)
def test_a_part_of_the_block_that_is_missing_or_stops_costs_that_part_alone(
    changes: list[tuple[str, str]], costs: dict[str, float]
) -> None:
    assert lost(distilbert("2_attention_block", "attention_block_answer", *changes)) == costs
