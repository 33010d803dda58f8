"""The visible checks of notebook 3, and the stand-ins behind them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course import parts
from course.check import distilbert as check
from course.check import stand_ins
from course.check.distilbert._small import small_config
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.distilbert_cells import LIST, LOOP
from tests.course_checks.test_distilbert_checks import said

# --- notebook 3 -------------------------------------------------------------------------------------------------------


def test_the_ready_made_model_passes_what_concerns_its_output() -> None:
    model = parts.ReadyClassifier(small_config()).eval()
    logits = model(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    assert logits.shape == (2, 2)
    assert [tuple(weights.shape) for weights in model.attention_probs.values()] == [(2, 3, 3, 3)] * 4
    check.encoder_list(parts.ReadyClassifier)


NEW_BLOCK = "AttentionBlock(config)"
WRONG_LISTS = {
    LIST.replace("nn.ModuleList(", "list("): "plain Python list",
    f"self.attention_layers = {NEW_BLOCK}": "must be a list",
    LIST.replace("attention_layers", "layers"): "a layer called attention_layers",
    LIST.replace(NEW_BLOCK, "nn.Linear(2, 2)"): "does not hold AttentionBlocks",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_LOOPS = {
    LOOP.replace("layer(encoder_input)", "layer(encoder_input * 2)"): "layer_inputs",
    LOOP.replace("self.attention_probs[i]", "weights"): "no tensor per layer",
    LOOP.replace("output, self.attention_probs[i] = ", "output = "): "take them apart",
    LOOP.replace("output, self", "result, self").replace("= output", "= result"): "another name",
    LOOP.replace("encoder_input = output", "encoder_input = output = output.double()"): "float",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_HEADS = {
    "self.classifier(torch.sigmoid(self.pre_classifier(pooled_output)))": "sigmoid",
    "self.classifier(self.pre_classifier(output[:, -1]).relu())": "The last token",
    "self.classifier(self.pre_classifier(output).relu())": "Every token is classified",
    "self.pre_classifier(self.classifier(pooled_output).relu())": "stopped with",
    "self.classifier(F.dropout(self.pre_classifier(pooled_output).relu()))": "dropout",
}


@pytest.mark.parametrize("text", WRONG_LISTS)
def test_a_wrong_list_is_refused_and_costs_neither_the_loop_nor_the_classifier(text: str) -> None:
    loop = LOOP.replace("attention_layers", "layers") if "self.layers" in text else LOOP
    model = cells.classifier_model(LIST=text, LOOP=loop)
    assert WRONG_LISTS[text] in said(check.encoder_list, model)
    check.encoder_loop(model)
    check.classifier(model)


@pytest.mark.parametrize("text", WRONG_LOOPS)
def test_a_wrong_loop_is_refused_and_costs_neither_the_list_nor_the_classifier(text: str) -> None:
    model = cells.classifier_model(LOOP=text)
    assert WRONG_LOOPS[text] in said(check.encoder_loop, model)
    check.encoder_list(model)
    check.classifier(model)


@pytest.mark.parametrize("text", WRONG_HEADS)
def test_a_wrong_classifier_is_refused_and_costs_neither_list_nor_loop(text: str) -> None:
    model = cells.classifier_model(HEAD=f"logits = {text}")
    assert WRONG_HEADS[text] in said(check.classifier, model)
    check.encoder_list(model)
    check.encoder_loop(model)


def test_a_block_whose_two_results_are_not_taken_apart_costs_no_classifier() -> None:
    model = cells.classifier_model(
        LOOP="output = encoder_input\n        for b in self.attention_layers: output = b(output)"
    )
    assert said(check.encoder_loop, model)
    check.classifier(model)


def test_a_classifier_in_a_container_is_no_obstacle_to_the_loop() -> None:
    head = "self.head = nn.Sequential(self.pre_classifier, nn.ReLU(), self.classifier)"
    model = cells.classifier_model(LIST=f"{LIST}; {head}", HEAD="logits = self.head(pooled_output)")
    check.encoder_loop(model)


def test_the_loop_can_be_checked_before_the_classifier_is_written() -> None:
    model = cells.classifier_model(HEAD="raise NotImplementedError()")
    check.encoder_loop(model)
    assert "not filled in yet" in said(check.classifier, model)


def test_a_loop_record_says_what_was_fed_kept_and_pooled() -> None:
    config = small_config(n_layers=2)
    model = stand_ins.build(cells.classifier_model(), config)
    embedded = torch.randn(2, 3, config.dim)
    matrices, shifts = torch.randn(2, config.dim, config.dim), torch.randn(2, config.dim)
    attention = torch.rand(2, 2, config.n_heads, 3, 3)
    record = stand_ins.run_loop(model, torch.ones(2, 3, dtype=torch.long), embedded, matrices, shifts, attention)
    second = embedded @ matrices[0] + shifts[0]
    assert torch.equal(record.layer_inputs, torch.stack([embedded, second]))
    assert record.pooled is not None and torch.equal(record.pooled, (second @ matrices[1] + shifts[1])[:, 0])
    assert record.attention is not None and torch.equal(record.attention, attention)
    assert not record.grown


# --- the padding mask -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise NotImplementedError()", "not filled in yet"),
        ("return scores.masked_fill(attention_mask == 0, -math.inf).softmax(-1)", "Which axes does the mask lack"),
        ("return scores.softmax(-1).log()", "never negative"),
        ("return scores.masked_fill(attention_mask[:, None, None] == 0, -60.0).softmax(-1)", "not low enough"),
        ("return scores.exp() * attention_mask[:, None, None]", "a row no longer sums to 1"),
    ],
)
def test_wrong_masked_weights_are_told_what_they_lack(body: str, words: str) -> None:
    assert words in said(check.padding_mask, cells.function("masked_weights", body, "scores, attention_mask"))


# --- the extension ----------------------------------------------------------------------------------------------------

MASKED = """
class MaskedAttentionBlock(AttentionBlock):
    def forward(self, hidden_states, attention_mask=None):
        bs, heads, size = hidden_states.shape[0], self.config.n_heads, self.config.attention_head_size
        q, k, v = (layer(hidden_states).view(bs, -1, heads, size).transpose(1, 2)
                   for layer in (self.q_lin, self.k_lin, self.v_lin))
        scores = q @ k.mT / math.sqrt(size)
        BEFORE
        weights = scores.softmax(-1)
        AFTER
        context = (weights @ v).transpose(1, 2).reshape(bs, -1, heads * size)
        sa_output = self.sa_layer_norm(self.out_lin(context) + hidden_states)
        x = self.lin2(nn.functional.gelu(self.lin1(sa_output)))
        return self.output_layer_norm(x + sa_output), weights
"""
MASKED_MODEL = """
class MaskedDistilBertClassifier(DistilBertClassifier):
    def __init__(self, config):
        super().__init__(config)
        self.attention_layers = nn.ModuleList(MaskedAttentionBlock(config) for _ in range(config.n_layers))

    def forward(self, input_ids, attention_mask=None):
        x = self.embeddings(input_ids)
        for layer in self.attention_layers:
            x, _ = layer(x, MASK)
        return self.classifier(self.pre_classifier(x[:, 0]).relu())
"""
FILL = "if attention_mask is not None: scores = scores.masked_fill(attention_mask[:, None, None] == 0, -1e30)"


def masked(before: str = FILL, after: str = "", mask: str = "attention_mask") -> tuple[Any, Any]:
    space: dict[str, Any] = {
        "AttentionBlock": cells.attention_block(),
        "DistilBertClassifier": cells.classifier_model(),
        "torch": torch,
        "nn": nn,
        "math": __import__("math"),
    }
    exec(MASKED.replace("BEFORE", before).replace("AFTER", after) + MASKED_MODEL.replace("MASK)", f"{mask})"), space)
    return space["MaskedAttentionBlock"], space["MaskedDistilBertClassifier"]


@pytest.mark.parametrize("before", [FILL, FILL.replace("-1e30", "float('-inf')")])
def test_a_right_mask_passes(before: str) -> None:
    check.padding(*masked(before))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"before": FILL.replace("-1e30", "0.0")}, "a score of 0 is not small"),
        ({"before": FILL.replace("== 0", "== 1")}, "1 marks a real token"),
        ({"before": FILL.replace("[:, None, None]", "[:, None, :, None]")}, "padded key gets no weight"),
        (
            {"before": "", "after": "if attention_mask is not None: weights = weights * attention_mask[:, None, None]"},
            "before the softmax",
        ),
        ({"before": ""}, "padded key gets no weight"),
        ({"mask": "None"}, "hand the mask to every block"),
    ],
)
def test_a_wrong_mask_is_named(arguments: dict[str, str], words: str) -> None:
    assert words in said(check.padding, *masked(**arguments))
