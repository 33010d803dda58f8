"""Notebook 4: tokens, averages and figures that are right, each in another style than the course's own."""

from __future__ import annotations

from textwrap import indent

from tests.mistakes.distilbert_answer import PICTURE, StudentAnswer


def _tokens(name: str, body: str) -> StudentAnswer:
    text = "def ids_to_tokens(tokenizer, input_ids):\n" + indent(body, "    ") + "\n"
    return StudentAnswer(name, PICTURE, "tokens_answer", text)


def _average(name: str, body: str) -> StudentAnswer:
    text = "def average_heads(attention_probs):\n" + indent(body, "    ") + "\n"
    return StudentAnswer(name, PICTURE, "head_average_answer", text)


def _figure(name: str, body: str, fast: bool = False) -> StudentAnswer:
    text = "def plot_attention(attention_per_layer, tokens):\n" + indent(body.strip("\n"), "    ") + "\n"
    return StudentAnswer(name, PICTURE, "figure_answer", text, fast=fast)


TOKENS = [
    _tokens("a tensor of ids", "return tokenizer.convert_ids_to_tokens(input_ids[0])"),
    _tokens("id by id", "return [tokenizer.convert_ids_to_tokens(int(i)) for i in input_ids[0]]"),
    _tokens("batch axis squeezed away", "return tokenizer.convert_ids_to_tokens(input_ids.squeeze().numpy())"),
    _tokens(
        "the vocabulary turned round",
        "words = {i: word for word, i in tokenizer.get_vocab().items()}\n"
        "return tuple(words[i] for i in input_ids.flatten().tolist())",
    ),
]

AVERAGES = [
    _average("stack of means", "return torch.stack([p.mean(dim=1).squeeze(0) for p in attention_probs.values()])"),
    _average(
        "mean of a stack",
        "return torch.stack([attention_probs[i] for i in sorted(attention_probs)]).squeeze(1).mean(1)",
    ),
    _average(
        "NumPy",
        "import numpy as np\n"
        "return np.stack([attention_probs[i].detach().numpy()[0] for i in range(len(attention_probs))]).mean(axis=1)",
    ),
    _average(
        "sum and division, in place",
        "layers, heads = len(attention_probs), attention_probs[0].shape[1]\n"
        "average = torch.zeros(layers, *attention_probs[0].shape[2:])\n"
        "for i in range(layers):\n    for head in range(heads):\n        average[i] += attention_probs[i][0, head] / heads\n"
        "return average",
    ),
    _average(
        "einsum in float64",
        "layers = torch.cat(list(attention_probs.values())).double()\n"
        'return torch.einsum("lhqk->lqk", layers) / layers.shape[1]',
    ),
]

WORDS = """
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
    + WORDS
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
figure, axes = plt.subplots(2, layers // 2, sharex=True, sharey=True, layout="constrained")
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
BOTH = SHARED.replace("return figure", "return figure, axes")

FIGURES = [
    _figure("matshow, layers counted from one", MATSHOW, fast=True),
    _figure("pcolormesh with colour bars", PCOLORMESH),
    _figure("shared axes, labels of the whole figure", SHARED),
    _figure("outer labels and one colour bar", OUTER),
    _figure("pyplot's current figure", PYPLOT),
    _figure("figure and axes returned", BOTH),
]

RIGHT = [*TOKENS, *AVERAGES, *FIGURES]
