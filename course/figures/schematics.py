"""The course's drawings of the whole model. They show what flows where, with shapes, and not the code.

Symbols: B sentences in the batch, T tokens in the longest of them.
"""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from course.figures.canvas import Canvas

TOKENS = ("[CLS]", "the", "best", "movies", "[SEP]")


def pipeline() -> Figure:
    """From a sentence to logits: embedding, encoder, pooling, classification."""
    return _pipeline(("embedding", "encoder", "classification"))


def pipeline_embedding() -> Figure:
    """The same where the embedding is built now."""
    return _pipeline(("embedding",))


def pipeline_model() -> Figure:
    """The same where encoder and classification are built now."""
    return _pipeline(("encoder", "classification"))


def _pipeline(built: Sequence[str]) -> Figure:
    """built: the parts that are coloured"""
    kinds = {part: "learned" if part in built else "data" for part in ("embedding", "encoder", "classification")}
    canvas = Canvas(7.5, 2.75)
    y = 1.35
    ids = canvas.box(0.5, y, "token\nids", "data", 0.65, 0.6)
    embedding = canvas.box(1.62, y, "Embedding", kinds["embedding"], 0.9, 0.6)
    canvas.frame(3.62, y, 2.42, 1.75, "Encoder")
    first = canvas.box(2.92, y, "Attention\nblock 1", kinds["encoder"], 0.8, 0.65)
    dots = canvas.box(3.62, y, "…", "data", 0.3, 0.65)
    last = canvas.box(4.32, y, "Attention\nblock L", kinds["encoder"], 0.8, 0.65)
    pooling = canvas.box(5.5, y, "Pooling\n[CLS]", "compute" if "classification" in built else "data", 0.75, 0.6)
    classifier = canvas.box(6.75, y, "Classification", kinds["classification"], 1.1, 0.6)
    chain = [ids, embedding, first, dots, last, pooling, classifier]
    for before, after in pairwise(chain):
        canvas.arrow(before.right, after.left)
    canvas.label(0.5, 2.42, "“one of the\nbest movies”")
    canvas.arrow((0.5, 2.22), ids.top)
    canvas.label(6.75, 2.42, "logits: negative,\npositive")
    canvas.arrow(classifier.top, (6.75, 2.2))
    shapes = ("(B, T)", "(B, T, dim)", "(B, T, dim)", "", "(B, T, dim)", "(B, dim)", "(B, n_classes)")
    for box, shape in zip(chain, shapes, strict=True):
        canvas.label(box.x, y - 0.5, shape)
    coloured = "" if len(built) == len(kinds) else "; coloured: what you build now"
    canvas.label(3.75, 0.17, f"B sentences of T tokens, L blocks; under each box the shape of its output{coloured}")
    return canvas.described(
        "A flow chart from left to right: token ids (B, T), embedding (B, T, dim), an encoder of L attention "
        "blocks (B, T, dim), pooling of [CLS] (B, dim), classification (B, n_classes). A sentence goes in, "
        "the logits for negative and positive come out."
        + (f" Coloured, because they are built now: {' and '.join(built)}." if coloured else "")
    )


def embedding_sum() -> Figure:
    """A word vector and a position vector meet, token by token, and are normalised."""
    canvas = Canvas(7.5, 3.9)
    rows = {"token": 0.3, "word": 0.95, "sum": 1.5, "position": 2.05, "norm": 2.75, "out": 3.5}
    names = {
        "token": "token",
        "word": "word vector\n(B, T, dim)",
        "position": "position vector\n(T, dim)",
        "norm": "each token\nby itself",
        "out": "embedding\n(B, T, dim)",
    }
    for row, name in names.items():
        canvas.label(0.1, rows[row], name, align="left", size=8.5)
    for position, token in enumerate(TOKENS):
        x = 1.9 + 1.15 * position
        canvas.label(x, rows["token"], f"“{token}”", size=9.0)
        word = canvas.box(x, rows["word"], f"word\n{token}", "learned", 0.95, 0.46)
        plus = canvas.circle(x, rows["sum"], "+")
        place = canvas.box(x, rows["position"], f"position\n{position}", "learned", 0.95, 0.46)
        canvas.arrow((x, rows["token"] + 0.12), word.bottom)
        canvas.arrow(word.top, plus.bottom)
        canvas.arrow(place.bottom, plus.top)
        # The sum leaves sideways, past the position vector, to the normalisation.
        canvas.arrow(plus.right, (x + 0.53, rows["sum"]), (x + 0.53, rows["norm"] - 0.19))
        canvas.arrow((x, rows["norm"] + 0.19), (x, rows["out"] - 0.21))
        canvas.box(x, rows["out"], token, "result", 0.95, 0.42)
    canvas.box(1.9 + 1.15 * 2 + 0.05, rows["norm"], "LayerNorm", "norm", 5.75, 0.38)
    return canvas.described(
        "Five columns, one for each of the tokens [CLS], the, best, movies, [SEP]. In each, a word vector and "
        "a position vector are added; all five sums pass through LayerNorm, each token by itself, and give "
        "the embedding (B, T, dim)."
    )


def attention_block() -> Figure:
    """One block of the encoder, from hidden states to hidden states, with both skips."""
    canvas = Canvas(7.5, 8.1)
    x = 3.6
    source = canvas.box(x, 0.35, "hidden states", "data", 1.3)
    projections = [
        canvas.box(x + offset, 1.25, name, "learned", 0.9)
        for offset, name in ((-1.2, "q_lin"), (0.0, "k_lin"), (1.2, "v_lin"))
    ]
    query, key, value = projections
    for box in projections:
        canvas.arrow((x, 0.8), (box.x, 0.8), box.bottom)
    canvas.line(source.top, (x, 0.8))
    scores = canvas.box(x - 0.6, 2.15, "scores", "compute")
    softmax = canvas.box(x - 0.6, 2.95, "softmax", "compute")
    context = canvas.box(x, 3.75, "context", "compute")
    out_lin = canvas.box(x, 4.45, "out_lin", "learned")
    first_norm = canvas.box(x, 5.15, "add, then LayerNorm", "norm", 1.7)
    lin1 = canvas.box(x, 5.95, "lin1, GELU", "learned")
    lin2 = canvas.box(x, 6.55, "lin2", "learned")
    second_norm = canvas.box(x, 7.2, "add, then LayerNorm", "norm", 1.7)
    canvas.arrow(query.top, (query.x, 1.65), (scores.x - 0.3, 1.65), (scores.x - 0.3, 1.94))
    canvas.arrow(key.top, (key.x, 1.65), (scores.x + 0.3, 1.65), (scores.x + 0.3, 1.94))
    canvas.arrow(scores.top, softmax.bottom)
    canvas.arrow(softmax.top, (softmax.x, 3.35), (x - 0.3, 3.35), (x - 0.3, 3.54))
    canvas.arrow(value.top, (value.x, 3.35), (x + 0.3, 3.35), (x + 0.3, 3.54))
    canvas.chain([context, out_lin, first_norm, lin1, lin2, second_norm])
    canvas.arrow(second_norm.top, (x, 7.75))
    canvas.label(x, 7.9, "hidden states of the next block", size=9.0)
    canvas.skip(x, 0.8, x + 1.92, first_norm)
    canvas.skip(x, 5.62, x + 1.92, second_norm)
    canvas.label(0.1, 2.95, "attention weights\n(B, heads, T, T)", align="left", size=8.5)
    canvas.arrow(softmax.left, (1.3, 2.95))
    for at, shape in (
        (0.35, "(B, T, dim)"),
        (1.25, "each (B, T, dim), then split\ninto (B, heads, T, head size)"),
        (2.15, "(B, heads, T, T)"),
        (3.75, "heads merged: (B, T, dim)"),
        (4.45, "(B, T, dim)"),
        (5.15, "(B, T, dim)"),
        (5.95, "(B, T, hidden_dim)"),
        (6.55, "(B, T, dim)"),
        (7.2, "(B, T, dim)"),
    ):
        canvas.label(7.4, at, shape, align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top. Hidden states enter q_lin, k_lin and v_lin; queries and keys give "
        "scores, a softmax gives the attention weights (B, heads, T, T), and with the values the context; "
        "then out_lin, add and LayerNorm, lin1 with GELU, lin2, add and LayerNorm. One skip leads past the "
        "attention, one past lin1 and lin2."
    )


def pre_and_post_norm() -> Figure:
    """LayerNorm stands in one of two ways: after the addition (DistilBERT) or before the sublayer."""
    canvas = Canvas(7.5, 4.3)
    for x, title, names in (
        (1.95, "post-norm: after the addition", ("sublayer", "+", "LayerNorm")),
        (5.55, "pre-norm: before the sublayer", ("LayerNorm", "sublayer", "+")),
    ):
        canvas.label(x, 4.12, title, size=10.0)
        start = canvas.box(x, 0.5, "x", "data", 0.7)
        boxes = [start]
        for name, y in zip(names, (1.4, 2.2, 3.0), strict=True):
            if name == "+":
                boxes.append(canvas.circle(x, y, "+"))
            else:
                boxes.append(canvas.box(x, y, name, "norm" if name == "LayerNorm" else "learned", 1.1))
        canvas.chain(boxes)
        canvas.skip(x, 0.9, x + 1.0, boxes[1 + names.index("+")])
        canvas.arrow(boxes[-1].top, (x, 3.75))
        canvas.label(x, 3.88, "output", size=8.5)
    canvas.label(1.95, 0.12, "the output is normalised")
    canvas.label(5.55, 0.12, "the skip is untouched from end to end")
    return canvas.described(
        "Two flow charts from bottom to top, each with a skip. Left, post-norm: sublayer, plus, LayerNorm, so "
        "that the output is normalised. Right, pre-norm: LayerNorm, sublayer, plus, so that the skip is "
        "untouched from end to end."
    )
