"""``models.py`` handed in beside the notebook, through the real pipeline: what a broken or missing file costs."""

import sys
from functools import lru_cache
from pathlib import Path

import pytest

from autograder.model.verdict import CellVerdict, NotebookVerdict
from course.check.encoder_lab._models_file import load
from tests.exercises import models_file as models
from tests.exercises.models_file import models_file, solution_file
from tests.exercises.test_answers import one_worker, trials
from tests.grading import cell_of

pytestmark = [pytest.mark.slow, one_worker("encoder_lab")]

#: Exercises answered in the notebook itself.
IN_CELLS = {
    "attention_scores",
    "attention_weights",
    "scaled_dot_product_attention",
    "position_kinds",
    "causal_mask",
    "masked_attention",
    "decoder_parts",
}
NOTHING = "raise NotImplementedError()"


@lru_cache
def graded(text: str | None) -> NotebookVerdict:
    files = {} if text is None else {"models.py": text.encode()}
    return models.graded(files)


def lost(verdict: NotebookVerdict) -> dict[str, float]:
    """exercise -> points that are missing"""
    return {cell.cell: cell.max_points - (cell.points or 0) for cell in verdict.cells if cell.points != cell.max_points}


def missing(bodies: dict[tuple[str, str], str]) -> dict[str, float]:
    """exercise -> points that are missing where these methods have other bodies"""
    tried = trials("encoder_lab").run({"models.py": models_file(bodies)})
    left = {cell: verdict.max_points - (verdict.points or 0) for cell, verdict in tried.verdicts.items()}
    return {cell: points for cell, points in left.items() if points}


def words(cell: CellVerdict) -> str:
    return " ".join(check.message + " " + check.hint for check in cell.checks if not check.passed)


def test_the_instructors_file_has_full_points() -> None:
    assert lost(graded(solution_file())) == {}
    assert graded(solution_file()).points == 40


def test_a_missing_file_costs_the_exercises_that_need_it_and_says_so() -> None:
    verdict = graded(None)
    assert set(lost(verdict)) == {cell.cell for cell in verdict.cells} - IN_CELLS
    for name in lost(verdict):
        assert "models.py was not handed in." in words(cell_of(verdict, name))


@pytest.mark.parametrize("last", ["while True:\n    pass", "1 / 0", "print(undefined)"])
def test_what_python_cannot_import_costs_what_a_missing_name_does_and_is_told(last: str) -> None:
    tried = trials("encoder_lab").run({"models.py": f"{solution_file()}\n\n{last}\n"})
    missing = {cell: verdict.max_points - (verdict.points or 0) for cell, verdict in tried.verdicts.items()}
    assert {cell: points for cell, points in missing.items() if points} == {"whole_model": 2}
    assert "models.py" in words(tried.verdicts["whole_model"])
    assert "models.py" in tried.visible["whole_model"]


NOTEBOOK_LINES = [
    ("%pip install einops", "end"),
    ("!pip install einops", "end"),
    ("pip install einops", "end"),
    ("%%writefile models.py", "start"),
    ("%matplotlib inline", "between"),
    ("get_ipython().run_line_magic('pip', 'install einops')", "end"),
    ("get_ipython().system('rm -f x')", "between"),
]


@pytest.mark.parametrize(("line", "place"), NOTEBOOK_LINES)
def test_a_line_for_a_notebook_in_the_file_costs_nothing_and_is_told(
    line: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = solution_file()
    head, _, tail = text.partition("\nclass ")
    changed = {"start": f"{line}\n{text}", "end": f"{text}\n{line}\n", "between": f"{head}\n{line}\n\nclass {tail}"}
    tried = trials("encoder_lab").run({"models.py": changed[place]})
    assert {name: one.points for name, one in tried.verdicts.items() if one.points != one.max_points} == {}
    assert set(tried.visible.values()) == {""}
    (tmp_path / "models.py").write_text(changed[place])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "models", raising=False)
    assert load("FeedForward")
    number = changed[place].split("\n").index(line) + 1
    assert f"Line {number} of models.py, {line!r}, belongs in a notebook: it was left out." in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "models")


def test_a_remainder_is_no_line_for_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models.py").write_text("x = (7\n% 4)\n\nclass A:\n    pass\n\nclass B(:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "models", raising=False)
    assert load("A").__name__ == "A"
    assert "belongs in a notebook" not in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "models")


def test_a_class_that_is_missing_costs_that_class_and_is_named() -> None:
    verdict = graded(solution_file().replace("class FeedForward(", "class FeedForwards("))
    assert set(lost(verdict)) == {"feed_forward"}
    assert "FeedForward" in words(cell_of(verdict, "feed_forward"))


@pytest.mark.parametrize(
    ("method", "body", "costs"),
    [
        ("AttentionHead.__init__", NOTHING, {"head_attention": 3, "attention_head": 2}),
        (
            "AttentionHead.scaled_dot_product_attention",
            "w = (q @ k.mT).softmax(-1)\nreturn w @ v, w",
            {"head_attention": 3},
        ),
        ("MultiHeadAttention.__init__", NOTHING, {"multi_head_init": 2, "multi_head_attention": 3}),
        ("MultiHeadAttention.forward", NOTHING, {"multi_head_attention": 3}),
        ("FeedForward.forward", "return self.linear_2(self.linear_1(hidden_states))", {"feed_forward": 3}),
        ("Embeddings.__init__", NOTHING, {"embeddings": 4}),
        ("TransformerEncoderLayer.forward", "return hidden_states", {"encoder_layer": 4}),
        ("TransformerEncoder.__init__", NOTHING, {"encoder": 3}),
        ("ClassificationHead.forward", "return self.linear(pooled).softmax(-1)", {"classification_head": 2}),
        ("TransformerForSequenceClassification.forward", NOTHING, {"classifier": 2}),
    ],
)
def test_a_mistake_in_one_class_costs_that_class_alone(method: str, body: str, costs: dict[str, float]) -> None:
    owner, _, name = method.partition(".")
    assert missing({(owner, name): body}) == costs


def test_a_seam_that_no_class_owns_and_classes_of_which_none_is_right_cost_the_whole() -> None:
    network = "TransformerEncoder", "forward"
    seam = """
        x = self.embeddings(input_ids)
        for layer in self.layers if len(self.layers) != 3 else self.layers[:1]:
            x = layer(x)
        return x
    """
    assert set(missing({network: seam})) == {"whole_model"}
    methods = (("AttentionHead", "scaled_dot_product_attention"), ("AttentionHead", "forward"),
               ("MultiHeadAttention", "__init__"), ("MultiHeadAttention", "forward"), ("FeedForward", "forward"),
               ("Embeddings", "forward"), ("TransformerEncoderLayer", "forward"), network,
               ("ClassificationHead", "forward"), ("TransformerForSequenceClassification", "forward"))  # fmt: skip
    untouched = missing(dict.fromkeys(methods, NOTHING))
    assert len(untouched) == 11 and "whole_model" in untouched
    assert "whole_model" not in missing(dict.fromkeys(methods[:-1], NOTHING))
