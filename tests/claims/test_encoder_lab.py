"""The numbers in the texts of ``encoder_lab`` are those of its model and of the stored measurements."""

import importlib.util
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from safetensors.torch import load_file

from course import Config, parts, pretrained
from course.parts import ReadyClassifier
from course.tokenizer import load_tokenizer
from tests.claims.texts import cell, numbers, printed_numbers, run, says
from tests.grading import ROOT, solution

HEADS, MODELS, LOOKING = (f"encoder_lab/{name}" for name in ("1_attention", "2_encoder", "3_attention_visualization"))
DATA = Path(str(files("course"))) / "data" / "encoder_lab"


@pytest.fixture(scope="module")
def models_file() -> Any:
    spec = importlib.util.spec_from_file_location("solved_models", ROOT / "source" / "encoder_lab" / "models.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def test_half_of_the_layers_are_more_than_half_of_the_weights(models_file: Any) -> None:
    given = {"torch": torch, "config": Config.distilbert(), "TransformerEncoder": models_file.TransformerEncoder}
    six, six_size, twelve, twelve_size = printed_numbers(run(MODELS, "encoder-size", given=given))
    says(MODELS, "encoder-size-notice", "Half of the layers is more than half of the weights")
    assert (six, twelve) == (6, 12) and six_size > twelve_size / 2
    layers, millions = numbers(MODELS, "encoder-size-notice", "BERT-base has # layers and # million weights")
    assert layers == 12 and abs(twelve_size - millions) < 2


def test_multi_head_attention_has_the_weights_that_the_text_counts(models_file: Any) -> None:
    (count,) = numbers(HEADS, "heads-notice", "768 · 768 + 768 for `output_linear`: #")
    assert count == sum(p.numel() for p in models_file.MultiHeadAttention(768, 12).parameters())


def test_the_stack_has_no_last_layer_norm(models_file: Any) -> None:
    says(MODELS, "encoder-task", "This lab's encoder leaves it out")
    encoder = models_file.TransformerEncoder(50, 8, 12, 3, 24, 2)
    assert {name.split(".")[0] for name, _ in encoder.named_parameters()} == {"embeddings", "layers"}


def test_one_head_looks_back_with_a_weight_of_nearly_1() -> None:
    layer, head = numbers(LOOKING, "previous-notice", "nearly 1: layer #, head #")
    weights = load_file(DATA / "attentions.safetensors")["attentions"].diagonal(offset=-1, dim1=-2, dim2=-1).mean(-1)
    assert int(weights.argmax()) == layer * 12 + head
    assert weights.max() > 0.9 > weights.flatten().topk(2).values[1]


@pytest.fixture(scope="module")
def experiment() -> dict[str, Any]:
    """The notebook's own cells on shuffled words, run."""
    names = {"torch": torch, "pretrained": pretrained, "parts": parts, "plt": plt,
             "tokenizer": load_tokenizer(), "ReadyClassifier": ReadyClassifier, "json": json, "files": files,
             "math": math}  # fmt: skip
    names["moved"] = lambda original, shuffled, order: (original[:, order] - shuffled).norm(dim=-1).mean(-1)
    names["printed"] = run(LOOKING, "load-model", "two-models", "two-reviews", "hidden-states", "shuffle", given=names)
    return names


def test_only_with_positions_the_order_of_the_words_decides(experiment: dict[str, Any]) -> None:
    says(LOOKING, "two-reviews-notice", "Without positions, both get the same answer")
    bad_end, good_end, one, other = (printed_numbers(line)[0] for line in experiment["printed"].splitlines())
    assert bad_end < 50 < good_end and one == other


def test_the_distance_grows_in_the_first_layers_only(experiment: dict[str, Any]) -> None:
    says(LOOKING, "moved-notice", "The distance then grows for the first layers")
    says(LOOKING, "moved-notice", "In the last layers it hardly changes any more.")
    ids, order = experiment["input_ids"], experiment["order"]
    for positions, model in ((True, experiment["models"]["with positions"]),
                             (False, experiment["models"]["without positions"])):  # fmt: skip
        states = [experiment["hidden_states"](model, one) for one in (ids, ids[:, order])]
        distances = experiment["moved"](*states, order)
        if positions:
            assert (distances[1:5] > distances[:4]).all()
            assert (distances[4:] - distances[4]).abs().max() < 1
        else:
            assert distances.max() < 1e-3


def test_shuffling_and_leaving_positions_out_do_not_differ_by_more_than_chance(experiment: dict[str, Any]) -> None:
    printed = run(LOOKING, "accuracy", given=experiment)
    plt.close("all")
    with_positions, without, spread = (printed_numbers(line) for line in printed.splitlines())
    says(LOOKING, "accuracy-notice", "Order adds about ten points here")
    assert 8 < with_positions[0] - with_positions[1] < 12
    says(LOOKING, "accuracy-notice", "the difference is smaller than one standard deviation")
    assert 0 < without[0] - with_positions[1] < spread[-1]
    assert without[0] == without[1]
    stored = json.loads((DATA / "word_order.json").read_text())
    assert len(stored["accuracy"]["with positions"]["shuffled"]) == 5
    assert numbers(LOOKING, "accuracy-text", "all # sentences") == [stored["sentences"]]


def test_the_rollout_by_hand_is_what_its_cell_shows() -> None:
    given: dict[str, Any] = {"torch": torch}
    *first, last = cell(LOOKING, "rollout-by-hand").splitlines()
    exec("\n".join(first), given)
    assert eval(last, given).tolist() == [[1 / 2, 1 / 2], [1 / 4, 3 / 4]]
    says(LOOKING, "rollout", "is (1/2, 1/2; 1/4, 3/4): token 1 ends with 1/4 of token 0, and 3/4 of itself")


def test_the_rollout_finds_as_much_of_the_special_tokens_as_the_text_says() -> None:
    given: dict[str, Any] = {"torch": torch}
    exec(solution("encoder_lab", "3_attention_visualization", "attention_rollout_answer"), given)
    attentions = load_file(DATA / "attentions.safetensors")["attentions"]
    rolled = given["attention_rollout"](attentions)
    last, all_layers = (100 * matrix.mean(0) for matrix in (attentions[-1].mean(0), rolled))
    sentence = "[CLS] has # % of the last layer's weights, but # % of the rollout; for [SEP] it is # % and # %"
    found = [float(part.round()) for part in (last[0], all_layers[0], last[[6, 12]].sum(), all_layers[[6, 12]].sum())]
    assert numbers(LOOKING, "rollout-notice", sentence) == found
    says(LOOKING, "rollout-notice", "The rows of R are nearly the same, although the tokens are not")
    assert (rolled - rolled.mean(0)).abs().max() < 0.1
