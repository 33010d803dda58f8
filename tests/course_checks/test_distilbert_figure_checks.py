"""The visible checks of notebook 4."""

from __future__ import annotations

import matplotlib
import pytest

from course.check import distilbert as check
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.test_distilbert_checks import said

matplotlib.use("Agg")

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
