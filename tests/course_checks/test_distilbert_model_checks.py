"""The visible checks of notebook 3, and the stand-ins behind them."""

from typing import Any

import pytest
import torch
from torch import nn

from course import parts
from course.check import distilbert as check
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
    LOOP.replace("layer(hidden_states)", "layer(hidden_states * 2)"): "layer_inputs",
    LOOP.replace("self.attention_probs[i]", "weights"): "no tensor per layer",
    LOOP.replace("hidden_states, self.attention_probs[i] = ", "hidden_states = "): "take them apart",
    f"{LOOP}\n        return": "output: nothing came",
    f"{LOOP}\n        hidden_states = hidden_states.double()": "float",
    f"given = hidden_states\n        {LOOP}\n        given.zero_()": "changed in place",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_HEADS = {
    "self.classifier(torch.sigmoid(self.pre_classifier(pooled_output)))": "sigmoid",
    "self.classifier(self.pre_classifier(pooled_output[:1]).relu())": "expected shape",
    "self.pre_classifier(self.classifier(pooled_output).relu())": "stopped with",
    "self.classifier(F.dropout(self.pre_classifier(pooled_output).relu()))": "dropout",
    "self.classifier(self.pre_classifier(pooled_output).relu()).squeeze()": "expected shape",
    "self.classifier(self.pre_classifier(pooled_output).relu()) + 0 * pooled_output.zero_().sum()": "changed in place",
}
SEAMS = {"[:, -1]": "Do the three parts above pass", "": "must have shape", "[0]": "must have shape"}


@pytest.mark.parametrize("text", WRONG_LISTS)
def test_a_wrong_list_is_refused_and_costs_nothing_else(text: str) -> None:
    loop = LOOP.replace("attention_layers", "layers") if "self.layers" in text else LOOP
    model = cells.classifier_model(LIST=text, LOOP=loop)
    assert WRONG_LISTS[text] in said(check.encoder_list, model)
    check.encoder_loop(model)
    check.classifier(model)
    check.pretrained_logits(model)


@pytest.mark.parametrize("text", WRONG_LOOPS)
def test_a_wrong_loop_is_refused_and_costs_nothing_else(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = cells.classifier_model(LOOP=text)
    assert WRONG_LOOPS[text] in said(check.encoder_loop, model)
    check.encoder_list(model)
    check.classifier(model)
    check.pretrained_logits(model)
    # who keeps no weights, or changes the embeddings afterwards, has the right logits all the same
    right = WRONG_LOOPS[text] in ("no tensor per layer", "changed in place")
    assert ("ready-made parts" in capsys.readouterr().out) != right


@pytest.mark.parametrize("text", WRONG_HEADS)
def test_a_wrong_classifier_is_refused_and_costs_nothing_else(text: str) -> None:
    model = cells.classifier_model(HEAD=f"return {text}")
    assert WRONG_HEADS[text] in said(check.classifier, model)
    check.encoder_list(model)
    check.encoder_loop(model)
    check.pretrained_logits(model)


@pytest.mark.parametrize("pooled", SEAMS)
def test_a_seam_costs_the_pretrained_logits_alone(pooled: str) -> None:
    model = cells.classifier_model(POOLED=pooled)
    assert SEAMS[pooled] in said(check.pretrained_logits, model)
    check.classifier_model(model)


def test_the_loop_can_be_checked_before_the_classifier_is_written() -> None:
    model = cells.classifier_model(HEAD="raise NotImplementedError()")
    check.encoder_loop(model)
    assert "not filled in yet" in said(check.classifier, model)


def test_where_no_part_is_right_there_are_no_logits() -> None:
    stub = "raise NotImplementedError()"
    said(check.pretrained_logits, cells.classifier_model(LIST=stub, LOOP=stub, HEAD=stub))


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
