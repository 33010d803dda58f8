"""The visible checks of notebooks 3 and 4, and the stand-ins behind them."""

from __future__ import annotations

from typing import Any

import matplotlib
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

matplotlib.use("Agg")

# --- notebook 3 -------------------------------------------------------------------------------------------------------

RIGHT_MODELS: dict[str, dict[str, str]] = {
    "as in the notebook": {},
    "Sequential": {
        "LIST": "self.attention_layers = nn.Sequential(*[AttentionBlock(config) for _ in range(config.n_layers)])"
    },
    "appended to a ModuleList": {
        "LIST": """self.attention_layers = nn.ModuleList()
        for _ in range(config.n_layers):
            self.attention_layers.append(AttentionBlock(config))"""
    },
    "indexed": {
        "LOOP": """for i in range(self.config.n_layers):
            encoder_input, self.attention_probs[i] = self.attention_layers[i](encoder_input)
        output = encoder_input"""
    },
    "the seed's dictionary of lists": {"KEPT": "{i: [] for i in range(config.n_layers)}"},
    "a fresh list every time": {
        "LOOP": """self.attention_probs, output = [], encoder_input
        for layer in self.attention_layers:
            output, weights = layer(output)
            self.attention_probs.append(weights)"""
    },
    "Sequential head": {
        "HEAD": "logits = nn.Sequential(self.pre_classifier, nn.ReLU(), self.classifier)(pooled_output)"
    },
    "clamped": {"HEAD": "logits = self.classifier(self.pre_classifier(pooled_output).clamp(min=0))"},
    "float64 in between": {
        "HEAD": "x = self.pre_classifier(pooled_output).double().relu().float(); logits = self.classifier(x)"
    },
}


@pytest.mark.parametrize("style", RIGHT_MODELS)
def test_a_right_model_passes_all_checks_however_it_is_written(style: str) -> None:
    check.classifier_model(cells.classifier_model(**RIGHT_MODELS[style]))


def test_the_ready_made_model_passes_what_concerns_its_output() -> None:
    model = parts.ReadyClassifier(small_config()).eval()
    logits = model(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    assert logits.shape == (2, 2)
    assert [tuple(weights.shape) for weights in model.attention_probs.values()] == [(2, 3, 3, 3)] * 4
    check.encoder_list(parts.ReadyClassifier)


NEW_BLOCK = "AttentionBlock(config)"
WRONG_LISTS = {
    LIST.replace("nn.ModuleList(", "list("): "plain Python list",
    f"self.attention_layers = nn.ModuleList([{NEW_BLOCK}] * config.n_layers)": "same block more than once",
    LIST.replace("config.n_layers", "6"): "Yours has 6",
    LIST.replace("config.n_layers", "config.n_layers - 1"): "n steps",
    LIST.replace("config.n_layers", "config.n_layers + 1"): "n steps",
    f"self.attention_layers = nn.ModuleList([{NEW_BLOCK}])": "says how many",
    f"self.attention_layers = {NEW_BLOCK}": "must be a list",
    LIST.replace("attention_layers", "layers"): "a layer called attention_layers",
    LIST.replace(NEW_BLOCK, "nn.Linear(2, 2)"): "must be an AttentionBlock",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_LOOPS = {
    LOOP.replace("\n            encoder_input = output", ""): "every block takes the embeddings",
    LOOP.replace("enumerate(self", "enumerate(list(self").replace("layers)", "layers)[:-1])"): "3 calls",
    LOOP.replace("self.attention_layers", "reversed(self.attention_layers)"): "another order",
    LOOP.replace("layer(encoder_input)", "layer(encoder_input * 2)"): "something else",
    LOOP + "\n        output = hidden_states": "The embeddings arrive",
    LOOP.replace("encoder_input = output", "last, encoder_input = encoder_input, output") + "\n        output = last": (
        "one step is missing"
    ),
    LOOP.replace("self.attention_probs[i]", "weights"): "not one tensor for each layer",
    LOOP.replace("self.attention_probs[i]", "self.attention_probs[len(self.attention_layers) - 1 - i]"): "from the end",
    LOOP.replace("encoder_input = output", "encoder_input = output; probs = self.attention_probs[i]")
    + "\n        for i in self.attention_probs: self.attention_probs[i] = probs": "last block's weights",
    LOOP.replace("self.attention_probs[i]", "weights").replace(
        "encoder_input = output", "encoder_input = output; self.attention_probs.setdefault(i, []).append(weights)"
    ): "grows with every call",
    LOOP.replace("encoder_input = output", "encoder_input = output; self.attention_probs[i] = weights.mean(1)").replace(
        "self.attention_probs[i] = layer", "weights = layer"
    ): "as it is",
    LOOP.replace("output, self.attention_probs[i] = ", "output = "): "both things that the last block gave",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_HEADS = {
    "self.classifier(self.pre_classifier(pooled_output))": "ReLU is missing",
    "self.classifier(F.gelu(self.pre_classifier(pooled_output)))": "GELU",
    "self.classifier(torch.tanh(self.pre_classifier(pooled_output)))": "tanh",
    "self.classifier(torch.sigmoid(self.pre_classifier(pooled_output)))": "sigmoid",
    "self.classifier(pooled_output.relu())": "pre_classifier was left out",
    "self.classifier(pooled_output)": "pre_classifier and ReLU were left out",
    "self.classifier(self.pre_classifier(pooled_output).relu()).softmax(-1)": "a softmax was applied",
    "self.classifier(self.pre_classifier(pooled_output).relu()).log_softmax(-1)": "log-softmax",
    "self.classifier(self.pre_classifier(pooled_output).relu()).relu()": "applied to the logits",
    "self.classifier(self.pre_classifier(output[:, -1]).relu())": "another token",
    "self.classifier(self.pre_classifier(output).relu())": "(batch, n_classes)",
    "self.classifier(self.pre_classifier(output.mean(1)).relu())": "something else",
    "self.pre_classifier(self.classifier(pooled_output).relu())": "stopped with",
    "self.classifier(F.dropout(self.pre_classifier(pooled_output).relu()))": "dropout",
}


@pytest.mark.parametrize("text", WRONG_LISTS)
def test_a_wrong_list_is_named(text: str) -> None:
    assert WRONG_LISTS[text] in said(check.encoder_list, cells.classifier_model(LIST=text))


@pytest.mark.parametrize("text", WRONG_LISTS)
def test_a_wrong_list_costs_neither_the_loop_nor_the_classifier(text: str) -> None:
    loop = LOOP.replace("attention_layers", "layers") if "self.layers" in text else LOOP
    model = cells.classifier_model(LIST=text, LOOP=loop)
    check.encoder_loop(model)
    check.classifier(model)


@pytest.mark.parametrize("text", WRONG_LOOPS)
def test_a_wrong_loop_is_named_and_costs_no_list(text: str) -> None:
    model = cells.classifier_model(LOOP=text)
    assert WRONG_LOOPS[text] in said(check.encoder_loop, model)
    check.encoder_list(model)


@pytest.mark.parametrize("text", WRONG_HEADS)
def test_a_wrong_classifier_is_named_and_costs_neither_list_nor_loop(text: str) -> None:
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


# --- notebook 4 -------------------------------------------------------------------------------------------------------

RIGHT_TOKENS = [
    "return tokenizer.convert_ids_to_tokens(input_ids[0])",
    "return [tokenizer.convert_ids_to_tokens(int(i)) for i in input_ids.squeeze(0)]",
    "words = {i: w for w, i in tokenizer.get_vocab().items()}\nreturn [words[i] for i in input_ids[0].tolist()]",
]
WRONG_TOKENS = {
    "return tokenizer.decode(input_ids[0])": "one text for the whole sentence",
    "return tokenizer.batch_decode(input_ids)": "[CLS]",
    "return [tokenizer.convert_ids_to_tokens(input_ids[0])]": "a list in a list",
    "return tokenizer.convert_ids_to_tokens(input_ids[0], skip_special_tokens=True)": "Special tokens",
    "return [t.replace('##', '') for t in tokenizer.convert_ids_to_tokens(input_ids[0])]": "marked with ##",
    "return input_ids[0].tolist()": "every entry is text",
    "return input_ids": "a list of text",
    "return tokenizer.convert_ids_to_tokens(input_ids)": "",
    "raise NotImplementedError()": "not filled in yet",
}


@pytest.mark.parametrize("body", RIGHT_TOKENS)
def test_right_tokens_pass(body: str) -> None:
    check.tokens(cells.function("ids_to_tokens", body, "tokenizer, input_ids"))


@pytest.mark.parametrize("body", WRONG_TOKENS)
def test_wrong_tokens_are_named(body: str) -> None:
    assert WRONG_TOKENS[body] in said(check.tokens, cells.function("ids_to_tokens", body, "tokenizer, input_ids"))


STACK = "p = torch.stack([attention_probs[i] for i in range(len(attention_probs))])"  # (layers, 1, heads, T, T)
RIGHT_AVERAGES = [
    f"{STACK}\nreturn p.mean(2).squeeze(1)",
    "return torch.cat(list(attention_probs.values())).mean(dim=1)",
    "return torch.stack([sum(p[0]) / len(p[0]) for p in attention_probs.values()])",
    f"{STACK}\nreturn torch.einsum('lbhqk->lqk', p.double()).float() / p.shape[2]",
]
WRONG_AVERAGES = {
    f"{STACK}\nreturn p.mean(2)": "batch axis is still there",
    f"{STACK}\nreturn p[:, 0].mean(-1)": "over queries or keys",
    f"{STACK}\nreturn p[:, 0].mean(0)": "over the layers",
    f"{STACK}\nreturn p.mean((0, 1, 2))": "each layer keeps its own",
    f"{STACK}\nreturn p[:, 0]": "average over their axis",
    f"{STACK}\nreturn p.sum(2)[:, 0]": "added up",
    f"{STACK}\nreturn p[:, 0, 0]": "one head alone",
    f"{STACK}\nreturn p.mean(2)[:, 0].mT": "axis 1, the queries",
    f"{STACK}\nreturn p.mean(2)[:, 0].flip(0)": "reverse order",
    f"{STACK}\nreturn p.mean(2)[:1, 0].expand(len(p), -1, -1)": "layer 0",
    "return [p.mean(1)[0] for p in attention_probs.values()]": "torch.stack",
    "raise NotImplementedError()": "not filled in yet",
}


@pytest.mark.parametrize("body", RIGHT_AVERAGES)
def test_a_right_average_passes(body: str) -> None:
    check.head_average(cells.function("average_heads", body, "attention_probs"))


@pytest.mark.parametrize("body", WRONG_AVERAGES)
def test_a_wrong_average_is_named(body: str) -> None:
    assert WRONG_AVERAGES[body] in said(check.head_average, cells.function("average_heads", body, "attention_probs"))


DRAW = """
figure, panels = plt.subplots(1, len(attention_per_layer))
for i, panel in enumerate(panels.flat):
    panel.imshow(attention_per_layer[i])
    panel.set_title(f"layer {i}")
    panel.set_xlabel("key"); panel.set_ylabel("query")
    panel.set_xticks(range(len(tokens)), tokens); panel.set_yticks(range(len(tokens)), tokens)
return figure
"""
RIGHT_FIGURES = {
    "imshow": DRAW,
    "layers counted from 1": DRAW.replace("layer {i}", "Layer {i + 1} of {len(panels)}"),
    "with colour bars": DRAW.replace(
        "    panel.set_title", "    figure.colorbar(panel.images[0])\n    panel.set_title"
    ),
    "matshow": DRAW.replace("imshow", "matshow"),
    "pcolormesh": DRAW.replace("imshow", "pcolormesh").replace(
        "range(len(tokens))", "[i + 0.5 for i in range(len(tokens))]"
    ),
    "shared axes": DRAW.replace("(attention_per_layer))", "(attention_per_layer), sharex=True, sharey=True)"),
    "two rows, the last place empty": DRAW.replace("1, len(attention_per_layer)", "2, 3").replace(
        "panels.flat", "panels.flat[: len(attention_per_layer)]"
    ),
    "labels of the whole figure": DRAW.replace('panel.set_xlabel("key"); panel.set_ylabel("query")', "pass").replace(
        "return figure", 'figure.supxlabel("keys"); figure.supylabel("queries")\nreturn figure'
    ),
    "labels set apart": DRAW.replace(
        "panel.set_xticks(range(len(tokens)), tokens);",
        "panel.set_xticks(range(len(tokens))); panel.set_xticklabels(tokens);",
    ),
    "the current figure": DRAW.replace("return figure", "return plt.gcf()"),
    "the axes": DRAW.replace("return figure", "return panels"),
}
WRONG_FIGURES = {
    DRAW.replace("attention_per_layer[i]", "attention_per_layer[i].T"): "queries and keys have changed places",
    DRAW.replace("attention_per_layer[i]", "attention_per_layer[0]"): "every panel shows layer 0",
    DRAW.replace("attention_per_layer[i]", "attention_per_layer[-1 - i]"): "reverse order",
    DRAW.replace("attention_per_layer[i]", "attention_per_layer[i] ** 2"): "other numbers",
    DRAW.replace('f"layer {i}"', '"attention"'): "which layer it shows",
    DRAW.replace('"key"', '"x"').replace('"query"', '"key"').replace('"x"', '"query"'): "exchanged",
    DRAW.replace('panel.set_xlabel("key"); panel.set_ylabel("query")', "pass"): "labelled as the keys",
    DRAW.replace("panel.set_yticks(range(len(tokens)), tokens)", "pass"): "the ticks of the y axis",
    DRAW.replace("panel.set_xticks(range(len(tokens)), tokens);", "pass;"): "the ticks of the x axis",
    DRAW.replace("set_xticks(range(len(tokens)), tokens)", "set_xticks(range(len(tokens)), tokens[::-1])"): "x axis",
    DRAW.replace("1, len(attention_per_layer)", "2, 2"): "Yours has 4",
    "figure, panel = plt.subplots()\npanel.imshow(attention_per_layer[0])\nreturn figure": "Yours has 1",
    "figure, panel = plt.subplots()\npanel.imshow(attention_per_layer.mean(0))\nreturn figure": "Yours has 1",
    DRAW.replace("return figure", "plt.show()"): "returns NoneType",
    "raise NotImplementedError()": "not filled in yet",
}


@pytest.mark.parametrize("style", RIGHT_FIGURES)
def test_a_right_figure_passes_however_it_is_drawn(style: str) -> None:
    check.figure(cells.function("plot_attention", RIGHT_FIGURES[style], "attention_per_layer, tokens"))
    assert not cells.plt.get_fignums(), "a checked figure is closed, so that the notebook does not show it"


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("body", WRONG_FIGURES)
def test_a_wrong_figure_is_named(body: str) -> None:
    drawn = cells.function("plot_attention", body, "attention_per_layer, tokens")
    assert WRONG_FIGURES[body] in said(check.figure, drawn)
    cells.plt.close("all")
