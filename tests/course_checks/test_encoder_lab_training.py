"""The encoder lab's last part: the student's own classifier is trained, and the text says what comes of it."""

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from course import encoder_parts
from course.check import encoder_lab as check
from course.reviews import paired
from tests.claims.texts import numbers, printed_numbers, says
from tests.grading import ROOT, assignment, without_markers

NOTEBOOK = "encoder_lab/3_attention_visualization"
MODELS = without_markers((ROOT / "source" / "encoder_lab" / "models.py").read_text(encoding="utf-8"))
#: What the part needs of the notebook's other cells.
BEFORE = ("imports", "tokenize-pair", "shown", "separator-share-answer", "previous-token-answer")
TRAINING = ("own-model", "grading-guard", "own-batches", "own-train", "own-bag", "own-accuracy")
LOOKING = ("own-weights", "own-head-view", "own-grid", "own-measures", "own-not")

Run = Callable[..., str]
#: Of the three models that the text tells of: the others (1, 2) were measured like it, and take as long as many tests.
SEEDS = (0,)
#: The models are trained once, not once for each test worker.
ONE_WORKER = pytest.mark.xdist_group("own model")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes this text to ``models.py`` in the working directory."""
    monkeypatch.chdir(tmp_path)
    return lambda text: (tmp_path / "models.py").write_text(text, encoding="utf-8") and None


def run(*cells: str, space: dict[str, Any]) -> str:
    """Execute cells of the notebook's solution with these names; what they print."""
    texts = {one.id: without_markers(one.source) for one in assignment("encoder_lab").source[NOTEBOOK[12:]].cells}
    printed, threads = io.StringIO(), torch.get_num_threads()
    with contextlib.redirect_stdout(printed):
        for cell in cells:
            exec(compile(texts[cell], cell, "exec"), space)
    torch.set_num_threads(threads)
    plt.close("all")
    return printed.getvalue()


def test_the_students_own_model_is_taken_where_every_class_passes(beside: Any, capsys: Any) -> None:
    beside(MODELS)
    assert encoder_parts.own_or_ready(check) is check.load("TransformerForSequenceClassification")
    assert capsys.readouterr().out == "Your own model, from models.py.\n"


def test_where_a_class_is_wrong_the_ready_made_model_takes_its_place_and_the_class_is_named(
    beside: Any, capsys: Any
) -> None:
    beside(MODELS.replace("attended + self.feed_forward", "self.feed_forward"))
    assert encoder_parts.own_or_ready(check) is encoder_parts.ReadySequenceClassifier
    assert "because TransformerEncoderLayer does not pass its check yet (encoder_layer: " in capsys.readouterr().out


def test_without_the_file_the_ready_made_model_takes_its_place(beside: Any, capsys: Any) -> None:
    assert encoder_parts.own_or_ready(check) is encoder_parts.ReadySequenceClassifier
    assert capsys.readouterr().out.endswith("because models.py is not in this folder.\n")


@pytest.mark.parametrize("models", [MODELS, ""])
def test_where_it_is_graded_a_few_steps_are_taken_and_all_cells_run(
    beside: Any, monkeypatch: pytest.MonkeyPatch, models: str
) -> None:
    monkeypatch.setenv("AUTOGRADER_INPUTS", "/nowhere")
    beside(models)
    space: dict[str, Any] = {"__name__": "__main__"}
    run(*BEFORE, *TRAINING, *LOOKING, space=space)
    assert (len(space["film_reviews"].train), space["EPOCHS"]) == (8, 1)
    weights = space["weights_of"](space["own"], space["own_ids"])
    assert weights.shape == (2, 4, 11, 11)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 11))
    assert isinstance(space["own"], encoder_parts.ReadySequenceClassifier) == (not models)


def test_the_hooks_weights_are_those_that_the_model_used(beside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    beside(MODELS)
    space: dict[str, Any] = {"__name__": "__main__"}
    monkeypatch.setenv("AUTOGRADER_INPUTS", "/nowhere")
    run(*BEFORE, "own-model", "grading-guard", "own-batches", "own-weights", space=space)
    model, used = space["own"].eval(), []
    head_class = check.load("AttentionHead")
    attend = head_class.scaled_dot_product_attention
    monkeypatch.setattr(
        head_class, "scaled_dot_product_attention", lambda *given: used.append(attend(*given)) or used[-1]
    )
    model(space["own_ids"])
    monkeypatch.undo()
    expected = torch.cat([weights for _, weights in used]).unflatten(0, (2, 4))
    torch.testing.assert_close(space["weights_of"](model, space["own_ids"]), expected)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], list[float], dict[str, Any]]]:
    """For each seed: the hits of each model, the numbers that the measures print, and the notebook's names."""
    before, found = Path.cwd(), []
    folder = tmp_path_factory.mktemp("own")
    (folder / "models.py").write_text(MODELS, encoding="utf-8")
    inputs = os.environ.pop("AUTOGRADER_INPUTS", None)
    os.chdir(folder)
    try:
        space: dict[str, Any] = {"__name__": "__main__"}
        run(*BEFORE, *TRAINING[:3], space=space)
        for seed in SEEDS:
            space["own"] = space["new_model"](seed)
            run(*TRAINING[3:], "own-weights", space=space)
            found.append((dict(space["right"]), printed_numbers(run("own-measures", space=space)), dict(space)))
    finally:
        os.chdir(before)
        if inputs is not None:
            os.environ["AUTOGRADER_INPUTS"] = inputs
    return found


@pytest.mark.slow
@ONE_WORKER
def test_the_own_model_learns_and_does_not_beat_the_bag_of_words(trained: Any) -> None:
    says(NOTEBOOK, "own-accuracy-notice", "Your model does not beat the bag of words.")
    model, bag = numbers(
        NOTEBOOK, "own-accuracy-notice", "the course's solution scored about # %, and the bag of words # %"
    )
    assert [round(100 * float(hits["bag of words"].mean())) for hits, _, _ in trained] == [bag] * len(SEEDS)
    own = [100 * float(hits["your model"].mean()) for hits, _, _ in trained]
    assert all(abs(accuracy - model) < 2 for accuracy in own), own
    assert sum(own) / len(own) < bag


@pytest.mark.slow
@ONE_WORKER
def test_the_order_of_the_words_is_worth_nothing_to_it(trained: Any) -> None:
    says(
        NOTEBOOK,
        "own-accuracy-notice",
        "Shuffled words change the model's accuracy by about one paired error at most",
    )
    for hits, _, _ in trained:
        apart, error = paired(hits["your model, words shuffled"], hits["your model"])
        assert abs(apart) < 1.25 * error


@pytest.mark.slow
@ONE_WORKER
def test_no_head_looks_back_and_cls_looks_at_telling_words(trained: Any) -> None:
    says(NOTEBOOK, "own-notice", "No head looks one token back")
    says(NOTEBOOK, "own-notice", "[CLS] gives the telling words about twice the weight")
    for _, (back, one_token, telling, even), _ in trained:
        assert back < 1.3 * one_token and 1.6 * even < telling < 2.4 * even


@pytest.mark.slow
@ONE_WORKER
def test_it_does_not_know_not(trained: Any) -> None:
    says(NOTEBOOK, "own-not-notice", "In 6,500 film reviews there are too few.")
    for _, _, space in trained:
        good, not_good, bad, not_bad = printed_numbers(run("own-not", space=space))
        assert not_good > 50 > not_bad and good > 50 > bad
