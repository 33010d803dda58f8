"""The visible checks of the encoder lab: they reject what is wrong, in words, and accept what is right."""

import re
import sys
from pathlib import Path

import pytest

from autograder.authoring.trial import texts_of
from autograder.references import loader
from course.check import encoder_lab as check
from course.check.base import CheckFailed
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES

pytestmark = one_worker("encoder_lab")

#: Exercise and name of a wrong answer that nobody knows by its numbers -> what its visible check says.
SAYS = {
    "scaled_dot_product_attention: weights transposed": "It stopped with RuntimeError",
    "head_attention: keys not transposed": "It stopped with RuntimeError",
    "multi_head_attention: concatenated along the batch": "head",
    "classification_head: squeezed: a batch of one is lost": r"\(1, 6\) = \(batch, num_classes\), but yours is \(6,\)",
    "sentence_b_start: wrong axis": "one position is expected",
    "encoder: a layer where a list belongs": "a single layer, no list",
    "embeddings: M13": "layer norm.s eps",
    "head_attention: exp alone, which overflows": "must be finite numbers",
}


@pytest.mark.parametrize("answer", SAYS)
def test_a_wrong_answer_is_refused_in_words_and_costs_points(answer: str) -> None:
    exercise, _, name = answer.partition(": ")
    _, wrong = loader.sample_answers(REFERENCES.folder, f"encoder_lab/{exercise}")
    (found,) = [one for one in wrong if one.name == name]
    tried = trials("encoder_lab").run(texts_of(found, trials("encoder_lab").solutions), only=[exercise])
    assert tried.visible[exercise].startswith("CheckFailed: ")
    assert tried.verdicts[exercise].points < tried.verdicts[exercise].max_points
    assert re.search(SAYS[answer], tried.visible[exercise])


def test_a_dropout_is_judged_by_what_it_does_in_training() -> None:
    right, _ = loader.sample_answers(REFERENCES.folder, "encoder_lab/classification_head")
    (found,) = [one for one in right if one.name == "a function that is told the share"]
    tried = trials("encoder_lab").run(texts_of(found, trials("encoder_lab").solutions), only=["classification_head"])
    assert tried.verdicts["classification_head"].points == 2 and not tried.visible["classification_head"]


def test_a_right_answer_is_told_what_was_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    check.causal_mask(lambda n: [[[float(j <= i) for j in range(n)] for i in range(n)]])
    assert capsys.readouterr().out.startswith("✓ causal_mask")


# --- models.py as a file ----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "models", raising=False)
    yield tmp_path
    sys.modules.pop("models", None)


def test_a_missing_file_is_said_to_be_missing(folder: Path) -> None:
    with pytest.raises(CheckFailed, match="same folder as this notebook"):
        check.load("AttentionHead")


def test_a_line_that_python_cannot_read_is_named(folder: Path) -> None:
    (folder / "models.py").write_text("import torch\n\nclass AttentionHead(torch.nn.Module\n    pass\n")
    with pytest.raises(CheckFailed, match=r"Line 3 of models.py is not valid Python"):
        check.load("AttentionHead")


def test_a_class_that_is_missing_is_named(folder: Path) -> None:
    (folder / "models.py").write_text("import torch\n")
    with pytest.raises(CheckFailed, match="a class called FeedForward is expected"):
        check.load("FeedForward")


def test_a_change_counts_as_soon_as_it_is_saved(folder: Path) -> None:
    (folder / "models.py").write_text("class FeedForward: size = 1\n")
    assert check.load("FeedForward").size == 1
    (folder / "models.py").write_text("class FeedForward: size = 1000\n")
    assert check.load("FeedForward").size == 1000


def test_a_package_that_is_missing_is_not_taken_for_the_file(folder: Path) -> None:
    (folder / "models.py").write_text("import no_such_package\n")
    with pytest.raises(CheckFailed, match="no_such_package"):
        check.load("FeedForward")


def test_a_class_that_was_renamed_is_no_longer_found_under_its_old_name(folder: Path) -> None:
    (folder / "models.py").write_text("class FeedForward: pass\n")
    check.load("FeedForward")
    (folder / "models.py").write_text("class FeedForwards: pass\n")
    with pytest.raises(CheckFailed, match="a class called FeedForward is expected"):
        check.load("FeedForward")


def test_a_class_beside_one_that_python_cannot_read_is_found_and_the_other_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "models.py").write_text("class Embeddings:\n    size = (1\n\n\nclass FeedForward: size = 1\n")
    assert check.load("FeedForward").size == 1
    assert "Line 2 of models.py is not valid Python" in capsys.readouterr().out
