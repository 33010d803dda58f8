"""The instructor's model gives the logits of ``transformers``, for both checkpoints."""

import pytest
import torch
from solution import classifier, masked_weights
from torch import Tensor, nn
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from course import pretrained
from course.mask_parts import with_mask
from course.names import to_transformers_names
from course.tokenizer import encode

SENTENCES = [
    "This was one of the best movies I have ever seen.",
    "Bad.",
    "I hate this so much!",
    "The plot is thin, the dialogue thinner, and yet one leaves the theatre strangely moved by its two leads.",
    "an hour too long " * 40,
]
CHECKPOINTS = [
    "mini",
    pytest.param(
        "distilbert",
        marks=pytest.mark.skipif(not pretrained.available("distilbert"), reason="DistilBERT's 268 MB are not here"),
    ),
]
REVIEW = [1045, 1005, 2310, 2042, 3403, 2005, 1037, 17662, 12172, 2607, 2026, 2878, 2166, 1012]
HATE = [101, 1045, 5223, 2023, 2061, 2172, 999, 102]
# input ids, attention mask, logits as published; the sources are the assignment and the Hugging Face course, chapter 2
PUBLISHED: list[tuple[list[int], list[int] | None, list[float]]] = [
    ([101, 2023, 2001, 2028, 1997, 1996, 2190, 5691, 1045, 2031, 2412, 2464, 1012, 102], None, [-4.1982, 4.5568]),
    ([101, *REVIEW, 102], None, [-1.5607, 1.6123]),
    (HATE + [0] * 8, [1] * 8 + [0] * 8, [4.1692, -3.3464]),
    (REVIEW, None, [-2.7276, 2.8789]),
    ([200, 200, 200], None, [1.5694, -1.3895]),
    ([200, 200], None, [0.5803, -0.4125]),
    ([200, 200, 0], None, [1.3373, -1.2163]),
    ([200, 200, 0], [1, 1, 0], [0.5803, -0.4125]),
]


def both(name: str) -> tuple[nn.Module, nn.Module]:
    """A checkpoint in the instructor's model and in that of ``transformers``."""
    state = to_transformers_names(pretrained.load_state_dict(name))
    config = pretrained.config_of(name)
    sizes = DistilBertConfig(dim=config.dim, hidden_dim=config.hidden_dim, n_layers=config.n_layers)
    theirs = DistilBertForSequenceClassification(sizes).eval()
    theirs.load_state_dict(state)
    return classifier(config, state), theirs


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_each_sentence_has_the_logits_of_transformers(name: str) -> None:
    ours, theirs = both(name)
    for sentence in SENTENCES:
        ids = encode(sentence, pretrained.config_of(name))["input_ids"]
        with torch.no_grad():
            torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_padded_batch_has_the_logits_of_transformers(name: str) -> None:
    ours, theirs = both(name)
    batch = encode(SENTENCES, pretrained.config_of(name))
    ids, mask = batch["input_ids"], batch["attention_mask"]
    with torch.no_grad():
        expected = theirs(ids, attention_mask=mask).logits
    torch.testing.assert_close(masked_logits(ours, ids, mask), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(not pretrained.available("distilbert"), reason="DistilBERT's 268 MB are not here")
def test_the_published_logits_come_out() -> None:
    model, _ = both("distilbert")
    for ids, mask, logits in PUBLISHED:
        got = masked_logits(model, torch.tensor([ids]), torch.tensor([mask or [1] * len(ids)]))
        torch.testing.assert_close(got, torch.tensor([logits]), atol=2e-4, rtol=0)


def masked_logits(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """-> (sentences, classes), by the instructor's layers and the instructor's masked weights"""
    with torch.no_grad():
        logits: Tensor = with_mask(model, masked_weights())(ids, mask)
    return logits
