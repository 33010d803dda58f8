"""The numbers in the texts of ``distilbert`` are those of the models."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch

from course import Config, hub, mask_parts, parts, pretrained
from course.figures.attention_schematics import FOUR_MATRICES
from course.tokenizer import encode, load_tokenizer
from tests.claims.texts import numbers, printed_numbers, run, says, tells

SENTENCE = "This was one of the best movies I have ever seen."
BLOCK, MODEL, FIGURES = (
    f"distilbert/{name}" for name in ("2_attention_block", "3_model_assembly", "4_attention_visualization")
)


def test_tokens_of_the_first_notebook() -> None:
    ids = load_tokenizer()(SENTENCE)["input_ids"]
    says("distilbert/1_embedding", "tokens-notice", "Eleven words and a full stop, but 14 ids")
    assert len(SENTENCE.split()) == 11 and len(ids) == 14
    tells("distilbert/1_embedding", "tokens-notice", "put `[CLS]` (#) in front and `[SEP]` (#)", ids[0], ids[-1])
    assert numbers("distilbert/1_embedding", "tokens", "fixed list of # entries") == [load_tokenizer().vocab_size]


def test_greedy_pieces_are_not_always_the_fewest() -> None:
    says("distilbert/1_embedding", "word-pieces-notice", "*disappoints* has five, and these four are in the vocabulary")
    pieces, fewer = load_tokenizer().tokenize("disappoints"), ("d", "##is", "##ap", "##points")
    assert len(pieces) == 5 and "".join(fewer).replace("##", "") == "disappoints"
    assert all(piece in load_tokenizer().get_vocab() for piece in fewer)
    assert numbers("distilbert/1_embedding", "stretch", "The vocabulary has # entries") == [load_tokenizer().vocab_size]


@pytest.fixture(scope="module")
def in_the_block() -> dict[str, Any]:
    config = Config.distilbert()
    torch.manual_seed(0)
    embeddings = parts.ReadyEmbeddings(config)(encode(SENTENCE, config)["input_ids"])
    return {"torch": torch, "parts": parts, "config": config, "embeddings": embeddings}


def test_without_the_division_one_key_takes_more_than_half_of_the_weight(in_the_block: dict[str, Any]) -> None:
    says(BLOCK, "scaling-block-notice", "Without the division one key takes more than half of the weight")
    _, divided, _, undivided = printed_numbers(run(BLOCK, "scaling-block", given=in_the_block))
    assert divided < 0.15 and undivided > 0.5


def test_the_feed_forward_network_has_the_share_of_weights_that_a_cell_computes(in_the_block: dict[str, Any]) -> None:
    whole, percent = printed_numbers(run(BLOCK, "block-weights", given=in_the_block))
    block = parts.ReadyAttentionBlock(in_the_block["config"])
    network = sum(p.numel() for layer in (block.lin1, block.lin2) for p in layer.parameters())
    assert whole == sum(p.numel() for p in block.parameters())
    assert percent == round(100 * network / whole)


def test_the_real_model_has_as_many_weights_as_the_text_says() -> None:
    with torch.device("meta"):
        model = parts.ReadyClassifier(Config.distilbert())
    weights = sum(p.numel() for p in model.parameters())
    text = "twice the length and # million weights in all; its file has # MB"
    tells(MODEL, "real-text", text, round(weights / 1e6), round(4 * weights / 1e6))
    assert Config.distilbert().dim == 2 * pretrained.config_of("mini").dim


@pytest.fixture(scope="module")
def with_mini() -> dict[str, Any]:
    """What the cells after part 4 find, with the ready-made model in place of the student's."""
    config = pretrained.config_of("mini")
    model = pretrained.load(parts.ReadyClassifier, "mini").eval()
    names = {"model": model, "chosen": model, "chosen_name": "mini", "config": config, "sentence": SENTENCE}
    return names | {"torch": torch, "encode": encode, "mask_parts": mask_parts}


def test_with_mini_only_the_signs_of_the_published_logits_agree(with_mini: dict[str, Any]) -> None:
    says(MODEL, "real-notice", "With `mini` only the signs agree")
    printed = [line for line in run(MODEL, "real-run", given=with_mini).splitlines() if "published" in line]
    assert len(printed) == 2
    for line in printed:
        negative, positive, *published = printed_numbers(line)
        assert negative < 0 < positive and published[0] < 0 < published[1]
        assert abs(negative - published[0]) > 0.5 and abs(positive - published[1]) > 0.5


def test_the_hub_has_as_many_seconds_as_the_text_says() -> None:
    seconds = inspect.signature(hub.answers).parameters["seconds"].default
    tells(MODEL, "real-text", "if the hub answers within # seconds", seconds)


def test_a_neighbour_changes_the_logits_until_its_padding_is_masked(with_mini: dict[str, Any]) -> None:
    says(MODEL, "padding-mask-task", "The same sentence gets other logits when it stands beside a longer one.")
    alone, beside = np.split(np.array(printed_numbers(run(MODEL, "padding-problem", given=with_mini))), 2)
    assert np.abs(alone - beside).max() > 0.3
    says(MODEL, "padding-real", "The two agree, except for rounding")
    with_mini["masked_weights"] = lambda scores, mask: scores.masked_fill(mask[:, None, None] == 0, -1e9).softmax(-1)
    masked = np.array(printed_numbers(run(MODEL, "padding-solved", given=with_mini))).reshape(2, 2)
    assert np.abs(masked - alone).max() < 2e-4


@pytest.fixture(scope="module")
def maps() -> torch.Tensor:
    """(layers, queries, keys): averaged over the heads."""
    config = pretrained.config_of("mini")
    model = pretrained.load(parts.ReadyClassifier, "mini").eval()
    with torch.no_grad():
        model(encode(SENTENCE, config)["input_ids"])
    return torch.cat([model.attention_probs[layer] for layer in range(config.n_layers)]).mean(1)


def test_there_are_as_many_weights_as_the_text_multiplies(maps: torch.Tensor) -> None:
    layers, heads, queries, keys, product = numbers(FIGURES, "look-notice", "# × # × # × # = #")
    assert layers * heads * queries * keys == product
    assert maps.shape == (layers, queries, keys)


def test_what_the_text_sees_in_the_figure_is_there(maps: torch.Tensor) -> None:
    tokens = load_tokenizer().tokenize(SENTENCE, add_special_tokens=True)
    says(FIGURES, "figure-notice", "Here it is `[CLS]`")
    assert maps.mean((0, 1)).argmax() == tokens.index("[CLS]")
    says(FIGURES, "figure-notice", "each token attends to the one before it")
    assert (maps[0, 1:].argmax(-1) == torch.arange(13)).float().mean() > 0.5
    says(FIGURES, "figure-notice", "It looks at `best`")
    assert maps[-1, 0].argmax() == tokens.index("best")


def test_of_the_four_matrices_only_d_can_come_out_of_an_attention() -> None:
    a, b, c, d = (torch.tensor(matrix) for matrix in FOUR_MATRICES.values())
    possible = [bool((m >= 0).all() and torch.allclose(m.sum(-1), torch.ones(3))) for m in (a, b, c, d)]
    assert possible == [False, False, False, True]
    says(BLOCK, "possible-answer", "In A one weight is negative")
    assert (a < 0).sum() == 1
    says(BLOCK, "possible-answer", "In B the *columns* sum to 1")
    assert torch.allclose(b.sum(0), torch.ones(3))
    tells(BLOCK, "possible-answer", "In C the row of *good* sums to #.", round(float(c[1].sum()), 2))
