"""Notebook 4: wrong tokens, averages and figures, each with one mistake."""

from __future__ import annotations

from tests.mistakes.distilbert_answer import PICTURE, StudentAnswer


def _tokens(name: str, mistake: str | None, returned: str) -> StudentAnswer:
    text = f"def ids_to_tokens(tokenizer, input_ids):\n    return {returned}\n"
    return StudentAnswer(name, PICTURE, "tokens_answer", text, (), ("tokens",), mistake)


def _average(name: str, mistake: str | None, returned: str, fast: bool = False) -> StudentAnswer:
    text = f"""
def average_heads(attention_probs):
    layers = torch.cat([attention_probs[i] for i in range(len(attention_probs))])
    return {returned}
"""
    return StudentAnswer(name, PICTURE, "head_average_answer", text, (), ("head_average",), mistake, fast=fast)


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


def _figure(
    name: str, mistake: str | None, *changes: tuple[str, str], unseen: bool = False, fast: bool = False
) -> StudentAnswer:
    text = PLOT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return StudentAnswer(name, PICTURE, "figure_answer", text, (), ("figure",), mistake, unseen, fast)


SHOWN = "ax.imshow(attention_per_layer[layer])"
TITLE = 'ax.set_title(f"layer {layer}")'
XTICKS = "ax.set_xticks(range(len(tokens)), tokens, rotation=90)"
YTICKS = "ax.set_yticks(range(len(tokens)), tokens)"

TOKENS = [
    _tokens("a list in a list", "M17-nested", "[tokenizer.convert_ids_to_tokens(ids) for ids in input_ids.tolist()]"),
    _tokens(
        "special tokens left out",
        "M17-special",
        "tokenizer.convert_ids_to_tokens(input_ids[0], skip_special_tokens=True)",
    ),
    _tokens("one sentence", "M17-sentence", "tokenizer.decode(input_ids[0])"),
    _tokens("the tokens joined", "M17-sentence", '" ".join(tokenizer.convert_ids_to_tokens(input_ids[0]))'),
    _tokens("the ids themselves", None, "input_ids[0].tolist()"),
    _tokens("reversed", None, "tokenizer.convert_ids_to_tokens(input_ids[0])[::-1]"),
    _tokens(
        "pieces without their marks",
        None,
        '[token.lstrip("#") for token in tokenizer.convert_ids_to_tokens(input_ids[0])]',
    ),
]

AVERAGES = [
    _average("over the keys", None, "layers.mean(-1)"),
    _average("over the queries", "M17-axis", "layers.mean(2)", fast=True),
    _average("over the layers", "M17-layers", "layers.mean(0)"),
    _average("over layers and heads", "M17-all", "layers.mean((0, 1))"),
    _average("batch axis kept", "M17-batch", "layers.mean(1, keepdim=True)"),
    _average("added up", "M17-sum", "layers.sum(1)"),
    _average("the largest weight", "M17-max", "layers.amax(1)"),
    _average("the first head alone", "M17-head", "layers[:, 0]"),
    _average("queries and keys exchanged", "M17-transposed", "layers.mean(1).transpose(1, 2)"),
    _average("layers reversed", None, "layers.mean(1).flip(0)"),
    _average("the last layer alone", None, "layers.mean(1)[-1]"),
]

FIGURES = [
    _figure("axes exchanged", "M17-axes", (SHOWN, "ax.imshow(attention_per_layer[layer].T)"), fast=True),
    _figure("panels reversed", "M17-order", (SHOWN, "ax.imshow(attention_per_layer[-1 - layer])")),
    _figure("the same panel again and again", "M17-same", (SHOWN, "ax.imshow(attention_per_layer[0])")),
    _figure("the last layer in every panel", "M17-same", (SHOWN, "ax.imshow(attention_per_layer[-1])")),
    _figure(
        "labels exchanged", "M17-labels", ('xlabel("key")', 'xlabel("query")'), ('ylabel("query")', 'ylabel("key")')
    ),
    _figure("no labels", None, ('ax.set_xlabel("key")', "pass"), ('ax.set_ylabel("query")', "pass")),
    _figure("no titles", None, (TITLE, "pass")),
    _figure("the same title everywhere", None, (TITLE, 'ax.set_title("attention")')),
    _figure("titles without a number", None, (TITLE, 'ax.set_title("layer")')),
    _figure("no tick labels", None, (XTICKS, "pass"), (YTICKS, "pass")),
    _figure("no tick labels on x", None, (XTICKS, "ax.set_xticks([])")),
    _figure("tick labels reversed", None, (YTICKS, "ax.set_yticks(range(len(tokens)), tokens[::-1])")),
    _figure(
        "one panel",
        None,
        ("1, len(attention_per_layer), figsize=(14, 4))", "1, 1, squeeze=False)"),
        ("enumerate(axes)", "enumerate(axes[0])"),
    ),
    _figure("nothing is drawn", None, (SHOWN, "pass")),
    _figure("logarithms", None, (SHOWN, "ax.imshow(attention_per_layer[layer].log())")),
    _figure("nothing is returned", None, ("    return figure\n", "")),
]

WRONG = [*TOKENS, *AVERAGES, *FIGURES]
