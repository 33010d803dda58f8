"""The attention figure: its data, panel by panel, and the text on it."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import figure_rule
from ._sentences import SENTENCES, tokens_of


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for layers, ids in ((6, SENTENCES[1][-5:]), (3, SENTENCES[0][:4])):  # few words: each takes two ticks in each panel
        tokens = len(ids)
        stored = generator.dirichlet(np.full(tokens, 0.5), (layers, tokens)).astype(np.float32)
        made.append(
            Case(
                {"n_layers": layers},
                {"attention_per_layer": stored},
                {},
                {"tokens": tokens_of(ids)},
                {"panels": stored.astype(np.float64)},
            )
        )
    return made


# Lines of the solution that mistakes change.
SHOWN = "attention_per_layer[layer]"
XTICKS = "panel.set_xticks(range(len(tokens)), tokens, rotation=90)"
YTICKS = "panel.set_yticks(range(len(tokens)), tokens)"
XLABEL = 'panel.set_xlabel("key")'
YLABEL = 'panel.set_ylabel("query")'
TITLE = 'panel.set_title(f"layer {layer}")'
ROWS = "rows = (n_layers + 1) // 2"
IMAGE = "image = panel.imshow(attention_per_layer[layer], vmin=0)"
COLORBAR = "figure.colorbar(image, ax=panel, shrink=0.8)"
SAME = Mistake("M17-same", "Every panel shows one and the same layer.", "Inside the loop, take the loop's own layer.")


def shifted(ticks: str) -> tuple[str, str]:
    return ticks, ticks.replace("range(len(tokens))", "range(1, 1 + len(tokens))")


MISTAKES = [
    Mistake("M17-axes", "Queries and keys are swapped in the picture.",
            "Rows (y) are the queries, columns (x) the keys: no transposition is needed.").by((SHOWN, f"{SHOWN}.T")),
    Mistake("M17-order", "The panels stand in reverse order.", "The first layer comes first.").by(
        (SHOWN, "attention_per_layer[-1 - layer]")),
    SAME.by((SHOWN, "attention_per_layer[0]")),
    SAME.by((SHOWN, "attention_per_layer[-1]")),
    Mistake("M17-labels", "The axis labels are exchanged: x are the keys, y the queries.",
            "set_xlabel and set_ylabel, with these two words.").by(
        (XLABEL, XLABEL.replace("key", "query")), (YLABEL, YLABEL.replace("query", "key"))),
    Mistake("", "ticks beside their rows", "", shifted(XTICKS), shifted(YTICKS)),
    Mistake("", "an even number of panels alone", "", (ROWS, "rows = n_layers // 2")),
    Mistake("", "no labels", "", (XLABEL, "pass"), (YLABEL, "pass")),
    Mistake("", "no titles", "", (TITLE, "pass")),
    Mistake("", "the same title everywhere", "", (TITLE, 'panel.set_title("attention")')),
    Mistake("", "titles without a number", "", (TITLE, 'panel.set_title("layer")')),
    Mistake("", "no tick labels", "", (XTICKS, "pass"), (YTICKS, "pass")),
    Mistake("", "no tick labels on x", "", (XTICKS, "panel.set_xticks([])")),
    Mistake("", "tick labels reversed", "", (YTICKS, YTICKS.replace("tokens)", "tokens[::-1])"), )),
    Mistake("", "one panel", "", ("n_layers = len(attention_per_layer)", "n_layers = 1")),
    Mistake("", "nothing is drawn", "", (IMAGE, "pass"), (COLORBAR, "pass")),
    Mistake("", "logarithms", "", (SHOWN, f"{SHOWN}.log()")),
    Mistake("", "a figure without a height", "", ("figsize=(10, 4.8 * rows)", "figsize=(10, 0)")),
    Mistake("", "nothing is returned", "", ("return figure", "pass")),
]  # fmt: skip

HEAD = "def plot_attention(attention_per_layer, tokens):"
# What right answers write.
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

RIGHT = {
    "pcolor, rows downwards": variant(HEAD, PCOLOR),
    "a mosaic, one under the other": variant(HEAD, MOSAIC),
    "a Figure without pyplot, cells from 0 to n": variant(HEAD, EXTENT),
    "locators and formatters, matshow in a comprehension": variant(HEAD, TICKER),
    "matshow, layers counted from one": variant(HEAD, MATSHOW),
    "pcolormesh with colour bars": variant(HEAD, PCOLORMESH),
    "shared axes, labels of the whole figure": variant(HEAD, SHARED),
    "outer labels and one colour bar": variant(HEAD, OUTER),
    "pyplot's current figure": variant(HEAD, PYPLOT),
    "figure and axes returned": variant(HEAD, BOTH),
}

EXERCISE = Exercise(
    cases, figure_rule, MISTAKES, right=RIGHT, framework="torch",
    accepted={
        "figure-8164040d": "The label must hold the word, and may say more: 'keys', 'key tokens'.",
        "figure-46ef6230": "The label must hold the word, and may say more: 'queries', 'query tokens'.",
        "figure-53145e80": "The panels know their figure: what plt.subplots gives is as right.",
    },
    shows=("one panel for each layer", "rows are queries, columns are keys", "titles, axes and tokens are named"),
)  # fmt: skip
