"""Sentences with a gap, and a masked language model from a stand-in file of BERT's form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import save_file

from course import hub, masked_words
from course.errors import CheckpointError, SentenceError
from course.masked_words import Gap, parse

if TYPE_CHECKING:
    from transformers import BertConfig, BertForMaskedLM


def test_a_slash_becomes_a_gap_with_its_words() -> None:
    assert parse("The doctor picked up his/her bag.") == Gap("The doctor picked up [MASK] bag.", ("his", "her"))


def test_punctuation_stays_outside_of_the_gap() -> None:
    assert parse("They are (old/young).").text == "They are ([MASK])."


@pytest.mark.parametrize("sentence", ["no choice at all", "one/two and three/four"])
def test_one_choice_is_needed(sentence: str) -> None:
    with pytest.raises(SentenceError, match="once"):
        parse(sentence)


@pytest.mark.parametrize("sentence", ["the tiger/compsognathus sleeps", "his// bag/"])
def test_a_word_of_several_tokens_or_none_is_refused(sentence: str) -> None:
    with pytest.raises(SentenceError):
        parse(sentence)


@pytest.fixture
def small() -> tuple[BertConfig, BertForMaskedLM]:
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    config = BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
    model = BertForMaskedLM(config).eval()
    torch.nn.init.normal_(model.cls.predictions.bias)
    return config, model


def stored(model: BertForMaskedLM, path: Path) -> Path:
    """The model's tensors under the names of 2018, with the parts that a masked language model has no use for."""
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor.clone()
        for name, tensor in model.state_dict().items()
        if not name.startswith("cls.predictions.decoder.")
    }
    old |= {"bert.pooler.dense.weight": torch.zeros(16, 16), "cls.seq_relationship.bias": torch.zeros(2)}
    save_file(old, path)
    return path


def test_a_file_of_berts_form_gives_the_same_logits(
    small: tuple[BertConfig, BertForMaskedLM], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, model = small
    path = stored(model, tmp_path / "model.safetensors")
    monkeypatch.setattr(hub, "fetch", lambda file: path)
    loaded = masked_words.load(config=config)
    gap = parse("The doctor picked up his/her bag.")
    logits, position, word_ids = masked_words.logits_of(loaded, gap)
    want, _, _ = masked_words.logits_of(model, gap)
    assert torch.allclose(logits, want, atol=1e-6)
    assert (logits.shape, position, word_ids) == ((9, 30522), 5, [2010, 2014])
    assert not loaded.training


def test_a_file_of_another_model_is_refused(
    small: tuple[BertConfig, BertForMaskedLM], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file({"bert.embeddings.word_embeddings.weight": torch.zeros(30522, 16)}, tmp_path / "model.safetensors")
    monkeypatch.setattr(hub, "fetch", lambda file: tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match="masked language model"):
        masked_words.load(config=small[0])


def test_nothing_is_downloaded_to_find_out_whether_the_model_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "fetch", lambda file: pytest.fail("a download was started"))
    monkeypatch.setattr(hub, "cached", lambda file: None)
    assert not masked_words.available()


# --- what is stored ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_thirty_sentences_are_stored_and_their_words_are_those_with_the_slash() -> None:
    pairs = masked_words.stored_pairs()
    assert len(pairs) == 15
    for pair in pairs:
        for stored in pair:
            assert tuple(stored.words) == parse(stored.sentence).words
            assert len(stored.top) == 5 and sorted(stored.top.values(), reverse=True) == list(stored.top.values())
            assert all(0 < value < 1 for value in {**stored.words, **stored.top}.values())
            assert max(stored.words.values()) <= max(stored.top.values())


def test_the_softmax_of_stored_logits_is_what_was_stored() -> None:
    for pair in masked_words.stored_pairs():
        for stored in pair:
            logits, position, word_ids = stored.logits()
            found = logits[position].softmax(-1)
            assert torch.allclose(found[word_ids], torch.tensor(list(stored.words.values())), atol=1e-6)


@pytest.mark.slow
def test_the_script_writes_rows_of_whatever_model_it_is_given(
    tmp_path: Path, small: tuple[BertConfig, BertForMaskedLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools import make_masked_words

    small[1].save_pretrained(tmp_path / "model")
    monkeypatch.setattr("sys.argv", ["make", str(tmp_path / "model"), "--out", str(tmp_path / "rows.json")])
    make_masked_words.main()
    monkeypatch.setattr(masked_words, "STORED", tmp_path / "rows.json")
    people, control = masked_words.stored_pairs()[0]
    gap = parse(people.sentence)
    logits, position, ids = masked_words.logits_of(small[1], gap)
    assert torch.allclose(torch.tensor(list(people.words.values())), logits[position].softmax(-1)[ids], atol=1e-6)
    assert [people.sentence, control.sentence] == list(make_masked_words.PAIRS[0])
