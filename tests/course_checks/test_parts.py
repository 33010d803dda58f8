"""Earlier parts: the student's own where it passes its check, else the ready-made one; never a crash."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from course import parts, pretrained
from course.check import distilbert as check
from tests.course_checks.distilbert_cells import EMBEDDINGS, EMBEDDINGS_DEFAULTS

RIGHT = EMBEDDINGS
for place, code in EMBEDDINGS_DEFAULTS.items():
    RIGHT = RIGHT.replace(place, code)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes 1_embedding.ipynb with these code cells into the working directory, and looks for Embeddings there."""
    monkeypatch.chdir(tmp_path)

    def write(*sources: str) -> Any:
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "1_embedding.ipynb")
        return parts.earlier("1_embedding.ipynb", "Embeddings", check.embedding_layer, ready=parts.ReadyEmbeddings)

    return write


def test_a_right_part_is_the_students_own(beside: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert beside("import torch", RIGHT) is not parts.ReadyEmbeddings
    assert capsys.readouterr().out == "Embeddings: your own, from 1_embedding.ipynb.\n"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (RIGHT.replace("words + positions", "words - positions"), "does not pass its check yet"),
        (
            RIGHT.replace("return words + positions", "raise NotImplementedError()"),
            "not filled in",
        ),
        (RIGHT.replace("nn.Module", "nn.Modul"), "does not define it"),
        (RIGHT.replace("def forward(self", "def forward(self,,"), "does not define it"),
        ("print('nothing')", "does not define it"),
    ],
)
def test_a_wrong_part_is_replaced_and_the_reason_said(
    beside: Any, source: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert beside(source) is parts.ReadyEmbeddings
    said = capsys.readouterr().out
    assert why in said and said.count("\n") == 1


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", '{"cells": 3}', '{"cells": [{"cell_type": "code", "source": 3}]}', "\udcff"]
)
def test_a_notebook_that_is_missing_or_damaged_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("1_embedding.ipynb").write_bytes(content.encode("utf-8", "surrogateescape"))
    found = parts.earlier("1_embedding.ipynb", "Embeddings", check.embedding_layer, ready=parts.ReadyEmbeddings)
    assert found is parts.ReadyEmbeddings
    assert "ready-made" in capsys.readouterr().out


def test_helpers_constants_and_imports_of_other_cells_are_there_but_nothing_else_is_run(beside: Any) -> None:
    helper = "import operator\ndef together(a, b):\n    return operator.add(a, b)\nSTART = 0"
    own = RIGHT.replace("words + positions", "together(words, positions)").replace("arange(", "arange(START, ")
    assert (
        beside("%matplotlib inline\n!pip list", helper, own, "raise SystemExit", "1 / 0") is not parts.ReadyEmbeddings
    )


def test_the_last_definition_counts(beside: Any) -> None:
    assert beside(RIGHT.replace("words + positions", "words * positions"), RIGHT) is not parts.ReadyEmbeddings


def test_an_older_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cell = nbformat.v4.new_code_cell("class DistillBertAttention(nn.Module):\n    known = Embeddings")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), "3.ipynb")
    found = parts.earlier(
        "3.ipynb",
        "DistilBertClassifier",
        lambda part: None,
        ready=None,
        given={"Embeddings": 5},
    )
    assert found.known == 5


def test_notebooks_saved_with_lists_of_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cell = {"cell_type": "code", "source": RIGHT.splitlines(keepends=True)}
    Path("1.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert parts.earlier("1.ipynb", "Embeddings", check.embedding_layer, ready=None) is not None


def test_ready_made_parts_take_the_trained_weights_and_give_transformers_logits() -> None:
    model = pretrained.load(parts.ReadyClassifier, "mini").eval()
    ids = torch.tensor([[101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102]])
    with torch.no_grad():
        logits = model(ids)
        hidden = model.embeddings(ids)
        for layer, block in enumerate(model.attention_layers):
            hidden, weights = block(hidden)
            assert torch.allclose(weights, model.attention_probs[layer], atol=1e-6)
        by_hand = model.classifier(model.pre_classifier(hidden[:, 0]).relu())
    assert logits[0, 1] > logits[0, 0]
    assert torch.allclose(logits, by_hand, atol=1e-5)


def test_every_notebook_finds_the_instructors_own_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "source" / "distilbert")
    given = {}
    for notebook, name, look in (
        ("1_embedding.ipynb", "Embeddings", check.embedding_layer),
        ("2_attention_block.ipynb", "AttentionBlock", check.encoder_block),
        ("3_model_assembly.ipynb", "DistilBertClassifier", check.classifier_model),
    ):
        given[name] = parts.earlier(notebook, name, look, ready=None, given=given)
        assert given[name] is not None
