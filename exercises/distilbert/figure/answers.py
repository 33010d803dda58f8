"""Attention figures that are right, in many styles, or wrong."""

from __future__ import annotations

from textwrap import indent

from autograder.exercise import SampleAnswer

LABELS = """
    ax.set_xlabel("Keys (attended to)")
    ax.set_ylabel("Queries (from)")
    ax.set_xticks(range(len(tokens)), tokens, rotation=90)
    ax.set_yticks(range(len(tokens)), tokens)
"""
MATSHOW = (
    """
layers = len(attention_per_layer)
figure, axes = plt.subplots(2, (layers + 1) // 2, figsize=(11, 7))
for layer, ax in enumerate(axes.flat[:layers]):
    ax.matshow(attention_per_layer[layer])
    ax.set_title(f"Layer {layer + 1}")
"""
    + LABELS
    + "return figure"
)
PCOLORMESH = """
figure = plt.figure(figsize=(12, 4))
for layer, weights in enumerate(attention_per_layer.numpy()):
    ax = figure.add_subplot(1, len(attention_per_layer), layer + 1)
    mesh = ax.pcolormesh(weights, cmap="viridis", vmin=0, vmax=1)
    ax.invert_yaxis()
    ax.set_title("layer %d" % layer)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    ax.set_xticks([i + 0.5 for i in range(len(tokens))])
    ax.set_xticklabels(tokens, rotation=90)
    ax.set_yticks([i + 0.5 for i in range(len(tokens))])
    ax.set_yticklabels(tokens)
    figure.colorbar(mesh, ax=ax)
figure.tight_layout()
return figure
"""
SHARED = """
layers = len(attention_per_layer)
figure, axes = plt.subplots(1, layers, sharex=True, sharey=True, layout="constrained")
for layer, ax in enumerate(axes.ravel()):
    ax.imshow(attention_per_layer[layer], cmap="Blues")
    ax.set_title(f"Attention of layer {layer}")
    ax.set_xticks(range(len(tokens)), tokens, rotation=90)
    ax.set_yticks(range(len(tokens)), tokens)
figure.supxlabel("key")
figure.supylabel("query")
return figure
"""
OUTER = """
layers = len(attention_per_layer)
figure, axes = plt.subplots(1, layers, figsize=(3 * layers, 4))
for layer, ax in enumerate(axes):
    picture = ax.imshow(attention_per_layer[layer], vmin=0, vmax=1, aspect="auto")
    ax.set(title=f"L{layer}", xlabel="key position", ylabel="query position")
    ax.set_xticks(range(len(tokens)))
    ax.set_xticklabels(tokens, rotation=45)
    ax.set_yticks(range(len(tokens)))
    ax.set_yticklabels(tokens)
    ax.label_outer()
figure.colorbar(picture, ax=axes)
return figure
"""
PYPLOT = """
plt.figure(figsize=(10, 10))
for layer in range(len(attention_per_layer)):
    plt.subplot(3, 2, layer + 1)
    plt.imshow(attention_per_layer[layer].detach().cpu().numpy())
    plt.title(f"layer {layer}")
    plt.xlabel("keys")
    plt.ylabel("queries")
    plt.xticks(range(len(tokens)), tokens, rotation=90)
    plt.yticks(range(len(tokens)), tokens)
return plt.gcf()
"""
MOSAIC = """
import string

names = string.ascii_uppercase[: len(attention_per_layer)]
figure, panels = plt.subplot_mosaic([[name] for name in names], figsize=(4, 4 * len(names)))
for (name, panel), (i, layer) in zip(panels.items(), enumerate(attention_per_layer), strict=True):
    panel.imshow(X=layer, origin="upper", interpolation="nearest")
    panel.set(title=f"layer {i}", xlabel="key", ylabel="query")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_ticks(range(len(tokens)), labels=tokens)
return figure
"""
EXTENT = """
from matplotlib.figure import Figure

figure = Figure(figsize=(9, 3))
size = len(tokens)
middles = [place + 0.5 for place in range(size)]
for place, panel in enumerate(figure.subplots(1, len(attention_per_layer), squeeze=False)[0]):
    panel.imshow(attention_per_layer[place], extent=(0, size, size, 0))
    panel.set_title("Layer no. " + str(place + 1), loc="left")
    panel.set_xlabel("Key tokens")
    panel.set_ylabel("Query tokens")
    panel.set_xticks(middles, tokens, rotation="vertical")
    panel.set_yticks(middles, tokens)
return figure
"""
TICKER = """
from matplotlib.ticker import FixedFormatter, FixedLocator

figure = plt.figure()
grid = figure.add_gridspec(nrows=1, ncols=(count := len(attention_per_layer)))
panels: list = [figure.add_subplot(grid[0, i]) for i in range(count)]
[panel.matshow(weights) for panel, weights in zip(panels, attention_per_layer, strict=True)]
for i, panel in enumerate(panels):
    panel.set_title(label=f"{i}: layer")
    panel.set_xlabel(xlabel="keys")
    panel.set_ylabel(ylabel="queries")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(FixedLocator(range(len(tokens))))
        axis.set_major_formatter(FixedFormatter(tokens))
return figure
"""
BOTH = SHARED.replace("return figure", "return figure, axes")


def _right(name: str, body: str) -> SampleAnswer:
    text = "def plot_attention(attention_per_layer, tokens):\n" + indent(body.strip("\n"), "    ") + "\n"
    return SampleAnswer(name, text)


PCOLOR = """
count = len(tokens)
figure, axes = plt.subplots(len(attention_per_layer), squeeze=False, figsize=(5, 5 * len(attention_per_layer)))
for layer, ax in enumerate(axes[:, 0]):
    ax.pcolor(attention_per_layer[layer].numpy())
    ax.set_ylim(count, 0)
    ax.set(title=f"layer {layer}", xlabel="keys", ylabel="queries")
    ax.set_xticks(torch.arange(count) + 0.5, tokens)
    ax.set_yticks(torch.arange(count) + 0.5, tokens)
return figure
"""

RIGHT = [
    _right("pcolor, rows downwards", PCOLOR),
    _right("a mosaic, one under the other", MOSAIC),
    _right("a Figure without pyplot, cells from 0 to n", EXTENT),
    _right("locators and formatters, matshow in a comprehension", TICKER),
    _right("matshow, layers counted from one", MATSHOW),
    _right("pcolormesh with colour bars", PCOLORMESH),
    _right("shared axes, labels of the whole figure", SHARED),
    _right("outer labels and one colour bar", OUTER),
    _right("pyplot's current figure", PYPLOT),
    _right("figure and axes returned", BOTH),
]

PLOT = """
def plot_attention(attention_per_layer, tokens):
    figure, axes = plt.subplots(1, len(attention_per_layer), figsize=(14, 4))
    for layer, ax in enumerate(axes):
        ax.imshow(attention_per_layer[layer])
        ax.set_title(f"layer {layer}")
        ax.set_xlabel("key")
        ax.set_ylabel("query")
        ax.set_xticks(range(len(tokens)), tokens, rotation=90)
        ax.set_yticks(range(len(tokens)), tokens)
    return figure
"""
SHOWN = "ax.imshow(attention_per_layer[layer])"
TITLE = 'ax.set_title(f"layer {layer}")'
XTICKS = "ax.set_xticks(range(len(tokens)), tokens, rotation=90)"
YTICKS = "ax.set_yticks(range(len(tokens)), tokens)"


def _wrong(name: str, mistake: str, *changes: tuple[str, str]) -> SampleAnswer:
    text = PLOT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return SampleAnswer(name, text, mistake=mistake, points=0)


WRONG = [
    _wrong(
        "ticks beside their rows",
        "",
        (XTICKS, "ax.set_xticks(range(1, 1 + len(tokens)), tokens, rotation=90)"),
        (YTICKS, "ax.set_yticks(range(1, 1 + len(tokens)), tokens)"),
    ),
    _wrong(
        "an even number of panels alone",
        "",
        ("1, len(attention_per_layer), figsize=(14, 4))", "2, len(attention_per_layer) // 2, figsize=(14, 4))"),
        ("enumerate(axes)", "enumerate(axes.flat)"),
    ),
    _wrong("axes exchanged", "M17-axes", (SHOWN, "ax.imshow(attention_per_layer[layer].T)")),
    _wrong("panels reversed", "M17-order", (SHOWN, "ax.imshow(attention_per_layer[-1 - layer])")),
    _wrong("the same panel again and again", "M17-same", (SHOWN, "ax.imshow(attention_per_layer[0])")),
    _wrong("the last layer in every panel", "M17-same", (SHOWN, "ax.imshow(attention_per_layer[-1])")),
    _wrong(
        "labels exchanged", "M17-labels", ('xlabel("key")', 'xlabel("query")'), ('ylabel("query")', 'ylabel("key")')
    ),
    _wrong("no labels", "", ('ax.set_xlabel("key")', "pass"), ('ax.set_ylabel("query")', "pass")),
    _wrong("no titles", "", (TITLE, "pass")),
    _wrong("the same title everywhere", "", (TITLE, 'ax.set_title("attention")')),
    _wrong("titles without a number", "", (TITLE, 'ax.set_title("layer")')),
    _wrong("no tick labels", "", (XTICKS, "pass"), (YTICKS, "pass")),
    _wrong("no tick labels on x", "", (XTICKS, "ax.set_xticks([])")),
    _wrong("tick labels reversed", "", (YTICKS, "ax.set_yticks(range(len(tokens)), tokens[::-1])")),
    _wrong(
        "one panel",
        "",
        ("1, len(attention_per_layer), figsize=(14, 4))", "1, 1, squeeze=False)"),
        ("enumerate(axes)", "enumerate(axes[0])"),
    ),
    _wrong("nothing is drawn", "", (SHOWN, "pass")),
    _wrong("logarithms", "", (SHOWN, "ax.imshow(attention_per_layer[layer].log())")),
    _wrong("a figure without a height", "", ("figsize=(14, 4)", "figsize=(14, 0)")),
    _wrong("nothing is returned", "", ("    return figure\n", "")),
]

ACCEPTED = {
    "figure-8164040d": "The label must hold the word, and may say more: 'keys', 'key tokens'.",
    "figure-46ef6230": "The label must hold the word, and may say more: 'queries', 'query tokens'.",
    "figure-53145e80": "The panels know their figure: what plt.subplots gives is as right.",
}
