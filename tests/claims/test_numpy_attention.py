"""The numbers in the texts of ``numpy_attention`` are those of its arrays and of the arithmetic beside them."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import DistilBertConfig, DistilBertModel

import course
from course import finetuning
from course.pretrained import MINI
from course.tokenizer import load_tokenizer
from course.word_vectors import trained_head
from tests.claims.texts import cell, numbers, printed_numbers, run, says

DATA = Path(course.__file__).parent / "data" / "numpy_attention"
ATTENTION, FINETUNING = "numpy_attention/1_attention", "numpy_attention/2_finetuning"


def self_attention(x, W_q, W_k, W_v, W_o):
    scores = (x @ W_q) @ (x @ W_k).T / np.sqrt(W_q.shape[1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ (x @ W_v) @ W_o


def test_saturated_attention_is_saturated_and_that_of_the_assignment_is_not() -> None:
    x, W_q, W_k = (np.load(DATA / f"{name}.npy") for name in ("x", "W_q", "W_k"))
    given = {"np": np, "x": x, "W_q": W_q, "W_k": W_k, "see_through": np.linalg.pinv(x),
             "apply_self_attention": self_attention}  # fmt: skip
    given["weights"] = self_attention(x, W_q, W_k, given["see_through"], np.eye(32))
    printed = run(ATTENTION, "saturated", given=given)
    here, saturated = (printed_numbers(line)[-1] for line in printed.splitlines())
    says(ATTENTION, "see-through-notice", "a single token would get almost all of the weight")
    assert saturated > 0.97 and here < 0.5
    assert numbers(ATTENTION, "see-through-notice", "the scores would be # times as large") == [16 * 16]


def test_the_weights_are_drawn_with_the_variance_that_the_text_says() -> None:
    says(ATTENTION, "see-through-notice", "drawn with variance 1 / d_model")
    for name in ("W_q", "W_k", "W_v"):
        assert 0.9 < np.load(DATA / f"{name}.npy").var() * 256 < 1.1


def test_attention_has_six_matrix_products() -> None:
    says(ATTENTION, "title", "It takes six matrix products and a softmax")
    products = []

    class Counted(np.ndarray):
        def __matmul__(self, other):
            products.append(1)
            return np.asarray(self).__matmul__(np.asarray(other)).view(Counted)

    arrays = (np.load(DATA / f"{name}.npy").view(Counted) for name in ("x", "W_q", "W_k", "W_v", "W_o"))
    self_attention(*arrays)
    assert len(products) == 6


def test_a_trained_head_looks_from_bank_to_river_and_muddy() -> None:
    words = ["the", "river", "bank", "was", "muddy", "when", "the", "bank", "closed"]
    x, A_q, A_k = trained_head(words, layer=0, head=4)
    given = {"np": np, "trained_head": trained_head}
    run(ATTENTION, "words", given=given)
    assert given["words"] == words and (given["A_q"] == A_q).all()
    weights = self_attention(x, A_q, A_k, np.linalg.pinv(x), np.eye(len(words)))
    row = {word: dict(zip(words, weights[i], strict=True)) for i, word in enumerate(words)}
    text = "The query of *bank* finds *river* (#) and *muddy* (#), and *river* finds both banks (# each)"
    shown = [row["bank"]["river"], row["bank"]["muddy"], row["river"]["bank"]]
    assert numbers(ATTENTION, "words-map-notice", text) == [round(float(weight), 2) for weight in shown]
    (closed,) = numbers(ATTENTION, "words-map-notice", "*Closed* looks at *river* (#)")
    assert closed == round(float(row["closed"]["river"]), 2)
    says(ATTENTION, "words-map-notice", "The two rows of *bank* are equal")
    assert np.allclose(weights[2], weights[7], atol=1e-6)


def test_fine_tuning_takes_as_many_steps_as_the_closing_says() -> None:
    headlines, steps, _ = printed_numbers(run(FINETUNING, "steps", given={}))
    assert numbers(FINETUNING, "walk-through", "80 % of them (#) to learn from") == [headlines]
    assert numbers(FINETUNING, "closing", "which is # steps here") == [steps]


def test_the_scores_of_a_long_text_fill_the_memory_that_the_text_says() -> None:
    tokens, gigabytes = numbers(ATTENTION, "blocks", "For # tokens they fill # GB")
    printed = printed_numbers(run(ATTENTION, "blocks-size", given={}).splitlines()[-1])
    assert printed[:2] == [tokens, 1000 * gigabytes]


def test_the_table_of_running_sums_is_what_its_cell_prints() -> None:
    rows = [printed_numbers(line) for line in run(ATTENTION, "blocks-by-hand", given={"np": np}).splitlines()]
    assert rows == [[1, 2, 1, 6, 6], [2, 6, 1.333, 4, 3], [3, 6, 2, 10, 5]]
    for sentence in ("| key 1 | ln 2 | 1 | 6 | 6 |",
                     "| key 2 | ln 6 | 1 · 1/3 + 1 = 4/3 | 6 · 1/3 + 1 · 2 = 4 | 3 |",
                     "| key 3 | ln 6 | 4/3 + 2/3 = 2 | 4 + 2/3 · 9 = 10 | 5 |",
                     "gives the weights 2/12, 6/12 and 4/12, and the same result: 1 + 1 + 3 = 5"):  # fmt: skip
        says(ATTENTION, "blocks-idea", sentence)
    assert (2 * 6 + 6 * 2 + 4 * 9) / 12 == 5


def test_of_the_five_changes_on_top_only_one_leaves_a_single_linear_layer() -> None:
    (right,) = re.findall(r"- \*\*(.)\*\* `torch.relu` is left out", cell(FINETUNING, "classifier-on-top-question"))
    assert right == "c"
    torch.manual_seed(0)
    hidden, first, last = torch.randn(4, 6, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 4)
    dropout = torch.nn.Dropout(0.3)
    after, before = (torch.manual_seed(1) and work(first(hidden[:, 0])) for work in (
        lambda x: dropout(torch.relu(x)), lambda x: torch.relu(dropout(x))))  # fmt: skip
    assert torch.equal(after, before) and (after == 0).any()  # b
    one = torch.nn.functional.linear(hidden[:, 0], last.weight @ first.weight, last.weight @ first.bias + last.bias)
    assert torch.allclose(last(first(hidden[:, 0])), one, atol=1e-6)  # c
    with pytest.raises(RuntimeError, match="target size"):  # e
        torch.nn.functional.cross_entropy(last(torch.relu(first(hidden))), torch.tensor([0, 1, 2, 3]))


def test_of_the_five_changes_of_the_text_only_one_lets_padding_in() -> None:
    (right,) = re.findall(r"- \*\*(.)\*\* `self.l1\(input_ids\)\[0\]`", cell(FINETUNING, "text-preparation-question"))
    assert right == "d"
    tokenizer, title = load_tokenizer(), "  Shares rise as oil falls "
    assert tokenizer(title)["input_ids"] == tokenizer(title.strip())["input_ids"]  # e
    config = DistilBertConfig(vocab_size=30522, dim=12, n_heads=3, hidden_dim=24, n_layers=2)
    torch.manual_seed(0)
    model = DistilBertModel(config).eval()

    def first(length: int, mask: bool = True) -> torch.Tensor:
        inputs = tokenizer(title, max_length=length, padding="max_length", return_tensors="pt")
        return model(inputs["input_ids"], inputs["attention_mask"] if mask else None)[0][:, 0]

    assert torch.allclose(first(64), first(512), atol=1e-5)  # b
    assert not torch.allclose(first(64), first(64, mask=False), atol=1e-3)  # d
    with pytest.raises(RuntimeError, match="equal size"):  # a
        torch.stack([torch.tensor(tokenizer(text)["input_ids"]) for text in ("oil falls", title)])


def test_the_fine_tuning_is_as_large_as_the_text_says() -> None:
    (labels,) = numbers(FINETUNING, "fine-tune", "with only **# labels**")
    assert labels == finetuning.N_LABELS
    says(FINETUNING, "fine-tune", "a small Transformer of three blocks")
    assert len(finetuning.make_body(pretrained=True).transformer.layer) == 3
    (phrases,) = numbers(FINETUNING, "fine-tune", "after* it was fine-tuned on # labelled phrases of film reviews")
    assert f"{phrases:,.0f} phrases" in " ".join((MINI / "README.md").read_text(encoding="utf-8").split())
    says(FINETUNING, "fine-tune-predict", "trains twelve classifiers, three of each kind")
    given = {"finetuning": finetuning, "os": __import__("types").SimpleNamespace(environ={})}
    run(FINETUNING, "fine-tune-guard", given=given)
    assert len(given["DRAWS"]) == 3 and 3 * len(given["VARIANTS"]) == 12 and given["LABELS"] == labels
    (tested,) = numbers(FINETUNING, "fine-tune-predict", "tests each on the same # sentences")
    assert tested == given["TESTED"] == finetuning.N_TEST


def test_what_the_fine_tuning_showed_is_what_the_card_records() -> None:
    """The table in the card is what the notebook's cell printed; training all of it anew takes minutes."""
    card = (finetuning.FOLDER / "README.md").read_text(encoding="utf-8")
    rows = {variant.name: printed_numbers(card.split(f"| {variant.name} |")[1].split("\n")[0]) for variant in
            finetuning.VARIANTS}  # fmt: skip
    random_frozen, random, frozen, pretrained = (rows[variant.name][0] for variant in finetuning.VARIANTS)
    said = numbers(FINETUNING, "fine-tune-notice", "On our machine the four were # %, # %, # % and # %")
    assert said == [random_frozen, random, frozen, pretrained]
    says(FINETUNING, "fine-tune-notice", "training the body along gains about four more points")
    assert 3.5 < pretrained - frozen < 4.5 and frozen - random > 2 * (pretrained - frozen)
    gains = numbers(FINETUNING, "fine-tune-notice", "with the three draws of labels #, # and #.")
    frozen_draws, pretrained_draws = (rows[variant.name][1:] for variant in finetuning.VARIANTS[2:])
    assert gains == [round(b - a, 1) for a, b in zip(frozen_draws, pretrained_draws, strict=True)]
    says(FINETUNING, "fine-tune-notice", "± 2 points over reviews for each line")
    assert 1.5 < 100 * (0.7 * 0.3 / finetuning.N_TEST) ** 0.5 < 2.5
