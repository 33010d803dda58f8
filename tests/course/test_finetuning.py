"""Fine-tuning with few labels: the stored body, the draws, and what the table compares."""

import hashlib
import os
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from course import finetuning
from course.reviews import load_reviews
from tests.grading import ROOT

CARD = (finetuning.FOLDER / "README.md").read_text(encoding="utf-8")
MINILM = Path(os.environ.get("COURSE_DATA", ROOT.parent / "shared" / "data")) / "minilm-l6-v2" / "model.safetensors"


@pytest.mark.slow
def test_the_card_names_the_file_that_is_there() -> None:
    data = (finetuning.FOLDER / "model.safetensors").read_bytes()
    assert hashlib.sha256(data).hexdigest() in CARD and f"{len(data):,} bytes" in CARD
    assert len(data) < 8_000_000
    body = finetuning.make_body(pretrained=True)
    assert f"{sum(weight.numel() for weight in body.parameters()):,}; " not in CARD
    assert f"{sum(weight.numel() for weight in body.parameters()):,}: matrices" in CARD


def test_random_and_pretrained_bodies_have_the_same_sizes_and_other_weights() -> None:
    pretrained = finetuning.make_body(True).state_dict()
    one, same, other = (finetuning.make_body(False, seed).state_dict() for seed in (1, 1, 2))
    assert {name: w.shape for name, w in one.items()} == {name: w.shape for name, w in pretrained.items()}
    name = "transformer.layer.0.attention.q_lin.weight"
    assert torch.equal(one[name], same[name])
    assert not torch.equal(one[name], other[name]) and not torch.equal(one[name], pretrained[name])


@pytest.mark.skipif(not MINILM.is_file(), reason="MiniLM's weights are not in COURSE_DATA")
def test_the_stored_layers_are_minilms_own_rounded() -> None:
    original, stored = load_file(MINILM), finetuning.stored_state()
    rows = load_file(finetuning.FOLDER / "model.safetensors")["token_ids"].long()
    pairs = {
        "transformer.layer.2.ffn.lin1.weight": original["encoder.layer.2.intermediate.dense.weight"],
        "embeddings.word_embeddings.weight": original["embeddings.word_embeddings.weight"][rows],
    }
    for name, tensor in pairs.items():
        assert float(F.cosine_similarity(stored[name], tensor).min()) > 0.999


def test_no_sentence_that_is_drawn_or_tested_has_a_word_that_was_left_out() -> None:
    split, unknown = load_reviews(), 1
    token_ids = load_file(finetuning.FOLDER / "model.safetensors")["token_ids"].tolist()
    assert token_ids[unknown] == finetuning.UNKNOWN
    test = finetuning.first(split.test, finetuning.N_TEST)
    for reviews in (finetuning.first(split.train, finetuning.N_TRAIN), test):
        known = finetuning.renamed(finetuning.encoded(reviews, size=50))
        original = finetuning.encoded(reviews, size=50)
        assert [[token_ids[token] for token in row] for row in known.ids] == [list(row) for row in original.ids]


def test_a_word_that_was_left_out_is_unknown() -> None:
    from course.reviews import Reviews

    rows = finetuning.renamed(finetuning.encoded(Reviews(["a compsognathus film"], [0]), size=1)).ids
    assert finetuning.renamed(finetuning.encoded(Reviews(["a film"], [0]), size=1)).ids[0][1] == rows[0][1]
    assert 1 in rows[0]


def test_a_draw_has_as_many_of_each_label_and_is_the_same_with_the_same_seed() -> None:
    known = finetuning.first(load_reviews().train, finetuning.N_TRAIN)
    few = finetuning.draw(known, 200, seed=3)
    assert sum(few.labels) == 100 and len(set(few.texts)) == 200
    assert few == finetuning.draw(known, 200, seed=3) != finetuning.draw(known, 200, seed=4)


def test_the_mean_leaves_padding_out() -> None:
    model = finetuning.Classifier(finetuning.make_body(True)).eval()
    ids = torch.tensor([[2, 700, 800, 3]])
    with torch.no_grad():
        alone, padded = model.vectors(ids), model.vectors(F.pad(ids, (0, 5)))
    assert torch.allclose(alone, padded, atol=1e-5)


@pytest.mark.slow
def test_a_frozen_body_stays_and_a_trained_one_moves() -> None:
    few = finetuning.draw(finetuning.first(load_reviews().train, finetuning.N_TRAIN), 4, seed=0)
    batches = finetuning.renamed(finetuning.encoded(few, size=4, seed=0))
    for variant, train in zip(finetuning.VARIANTS[2:], (finetuning.train_head, finetuning.train_all), strict=True):
        model = finetuning.Classifier(finetuning.make_body(variant.pretrained))
        before = model.body.state_dict()["transformer.layer.0.ffn.lin1.weight"].clone()
        head = model.head.weight.detach().clone()
        train(model, batches, variant)
        after = model.body.state_dict()["transformer.layer.0.ffn.lin1.weight"]
        assert torch.equal(before, after) == variant.frozen
        assert not torch.equal(head, model.head.weight)


@pytest.mark.slow
def test_the_table_has_a_line_for_each_way_to_train() -> None:
    printed = finetuning.table(load_reviews(), (0, 1), finetuning.VARIANTS[:1], count=4, tested=20)
    assert len(printed.splitlines()) == 2 and "random, frozen" in printed and "±" not in printed


@pytest.mark.slow
def test_pretrained_vectors_say_more_than_random_ones() -> None:
    known, test = load_reviews().train, load_reviews().test
    few = finetuning.draw(finetuning.first(known, finetuning.N_TRAIN), 200, seed=0)
    train = finetuning.renamed(finetuning.encoded(few, size=20, seed=0))
    tests = finetuning.renamed(finetuning.encoded(finetuning.first(test, finetuning.N_TEST), size=50))
    random, _, pretrained, _ = finetuning.VARIANTS
    assert finetuning.accuracy(pretrained, train, tests, 0) > finetuning.accuracy(random, train, tests, 0) + 0.05
