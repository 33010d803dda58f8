"""A BERT without token types is a DistilBERT: the assembled encoder gives what ``transformers.BertModel`` gives."""

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from solution import block_outputs, classifier
from torch import Tensor, nn
from transformers import BertConfig, BertModel, DistilBertForSequenceClassification

from course import Config
from tools.train_mini import fold_bert, transformers_config

ROOT = Path(__file__).parents[2]
MINILM = Path(os.environ.get("COURSE_DATA", ROOT.parent / "shared" / "data")) / "minilm-l6-v2"
LENGTHS = (3, 4, 14, 77, 300)


@dataclass
class Pair:
    """One encoder twice: as BERT, and folded into the state dict of a DistilBERT classifier."""

    bert: BertModel
    folded: dict[str, Tensor]
    config: Config


def pair(bert: BertModel) -> Pair:
    sizes = bert.config
    folded = fold_bert(dict(bert.state_dict()))
    torch.manual_seed(1)
    head = DistilBertForSequenceClassification(transformers_config(sizes.to_dict())).to(bert.dtype).state_dict()
    folded |= {name: tensor for name, tensor in head.items() if "classifier" in name}
    config = Config(
        dim=sizes.hidden_size,
        n_heads=sizes.num_attention_heads,
        n_layers=sizes.num_hidden_layers,
        hidden_dim=sizes.intermediate_size,
        max_position_embeddings=sizes.max_position_embeddings,
        vocab_size=sizes.vocab_size,
    )
    return Pair(bert.eval(), folded, config)


def random_pair() -> Pair:
    """Sizes all different, weights large enough for the attention to have structure."""
    sizes = BertConfig(
        vocab_size=211,
        hidden_size=60,
        num_hidden_layers=4,
        num_attention_heads=5,
        intermediate_size=97,
        max_position_embeddings=320,
        initializer_range=0.15,
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    return pair(BertModel(sizes, add_pooling_layer=False))


def minilm_pair() -> Pair:
    if not MINILM.is_dir():
        pytest.skip(f"MiniLM's weights are not in {MINILM}; COURSE_DATA names the folder")
    return pair(BertModel.from_pretrained(MINILM, add_pooling_layer=False, attn_implementation="eager"))


@pytest.fixture(scope="module", params=[random_pair, minilm_pair], ids=["random", "MiniLM"])
def encoders(request: pytest.FixtureRequest) -> Pair:
    make: Callable[[], Pair] = request.param
    return make()


def sentences(config: Config, lengths: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Random ids padded to the longest -> input_ids, attention_mask (sentences, tokens)."""
    generator = torch.Generator().manual_seed(2)
    ids = torch.randint(1, config.vocab_size, (len(lengths), max(lengths)), generator=generator)
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    return ids * mask, mask


def outputs(model: nn.Module, config: Config, **inputs: Tensor) -> tuple[Tensor, Tensor]:
    """-> hidden states (layers + 1, batch, tokens, dim), attention weights (layers, batch, heads, tokens, tokens)"""
    _, states = block_outputs(model, **inputs)
    probabilities: Any = model.attention_probs
    return torch.stack(states), torch.stack([probabilities[layer] for layer in range(config.n_layers)])


def close(got: Tensor, expected: Tensor) -> None:
    """Equal to 1e-5, and for numbers greater than 1 to 1e-5 of their size: single precision has no more to give."""
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("length", LENGTHS)
def test_hidden_states_and_attentions_are_berts(encoders: Pair, length: int) -> None:
    model = classifier(encoders.config, encoders.folded)
    ids, _ = sentences(encoders.config, (length, length))
    states, weights = outputs(model, encoders.config, input_ids=ids)
    with torch.no_grad():
        expected = encoders.bert(ids, output_hidden_states=True, output_attentions=True)
    close(states, torch.stack(expected.hidden_states))
    close(weights, torch.stack(expected.attentions))


def test_in_double_precision_nothing_but_rounding_is_left(encoders: Pair) -> None:
    model = classifier(encoders.config, {name: tensor.double() for name, tensor in encoders.folded.items()})
    ids, _ = sentences(encoders.config, (77, 77))
    states, weights = outputs(model, encoders.config, input_ids=ids)
    with torch.no_grad():
        expected = copy.deepcopy(encoders.bert).double()(ids, output_hidden_states=True, output_attentions=True)
    # 1e-6: the position and token-type vectors were added in single precision
    torch.testing.assert_close(states, torch.stack(expected.hidden_states), atol=1e-6, rtol=0)
    torch.testing.assert_close(weights, torch.stack(expected.attentions), atol=1e-6, rtol=0)


def test_padding_changes_nothing_where_the_mask_is_given(encoders: Pair) -> None:
    model = classifier(encoders.config, encoders.folded)
    ids, mask = sentences(encoders.config, LENGTHS)
    with torch.no_grad():
        expected = encoders.bert(ids, attention_mask=mask, output_hidden_states=True, output_attentions=True)
    hidden_states, attentions = torch.stack(expected.hidden_states), torch.stack(expected.attentions)
    # The assignment's own signature has no mask: each sentence by itself must give what the padded batch gives.
    for row, length in enumerate(LENGTHS):
        states, weights = outputs(model, encoders.config, input_ids=ids[row : row + 1, :length])
        close(states[:, 0], hidden_states[:, row, :length])
        close(weights[:, 0], attentions[:, row, :, :length, :length])


def test_folding_a_bert_loses_nothing(encoders: Pair) -> None:
    """In float64 the folded encoder, run by ``transformers``, equals BERT to the last bit."""
    bert = copy.deepcopy(encoders.bert).double()
    distilbert = DistilBertForSequenceClassification(transformers_config(bert.config.to_dict())).double().eval()
    distilbert.set_attn_implementation("eager")
    distilbert.load_state_dict(encoders.folded | fold_bert(dict(bert.state_dict())))
    ids, _ = sentences(encoders.config, (14, 14))
    with torch.no_grad():
        expected = bert(ids, output_hidden_states=True, output_attentions=True)
        got = distilbert(ids, output_hidden_states=True, output_attentions=True)
    assert torch.equal(torch.stack(got.hidden_states), torch.stack(expected.hidden_states))
    assert torch.equal(torch.stack(got.attentions), torch.stack(expected.attentions))
