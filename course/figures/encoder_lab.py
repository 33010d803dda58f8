"""The encoder lab's drawings: heads side by side, the feed-forward network, a pre-LN layer in its stack."""

from matplotlib.figure import Figure

from course.figures.canvas import Canvas


def heads_side_by_side() -> Figure:
    """Three heads, each with its own layers, and the linear layer that mixes what they found."""
    canvas = Canvas(7.5, 4.3)
    middle = 3.7
    source = canvas.box(middle, 0.4, "hidden states", "data", 1.3)
    merged = canvas.box(middle, 3.0, "laid end to end", "compute", 3.4)
    mixed = canvas.box(middle, 3.8, "output_linear", "learned", 1.3)
    canvas.line(source.top, (middle, 0.85))
    for number in range(3):
        x = middle + (number - 1) * 1.5
        head = canvas.box(x, 1.75, f"heads[{number}]\nwq, wk, wv\nattention", "learned", 1.25, 0.95)
        canvas.arrow((middle, 0.85), (x, 0.85), head.bottom)
        canvas.arrow(head.top, (x, merged.bottom[1]))
    canvas.arrow(merged.top, mixed.bottom)
    for y, shape in (
        (0.4, "(B, T, d_model)"),
        (2.5, "each (B, T, d_model / heads)"),
        (3.0, "(B, T, d_model)"),
        (3.8, "(B, T, d_model)"),
    ):
        canvas.label(7.4, y, shape, align="right", size=8.5)
    canvas.label(0.1, 1.75, "every head reads\nwhole vectors", align="left", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top. The hidden states enter three heads side by side, each with its own "
        "wq, wk and wv; their results, each (B, T, d_model / heads), are laid end to end and pass through "
        "output_linear."
    )


def feed_forward() -> Figure:
    """From narrow to wide and back, for each token by itself."""
    canvas = Canvas(7.5, 3.6)
    boxes = [
        canvas.box(3.7, 0.35, "a token's vector", "data", 1.5),
        canvas.box(3.7, 1.1, "linear_1", "learned", 3.4),
        canvas.box(3.7, 1.8, "GELU", "compute", 3.4),
        canvas.box(3.7, 2.5, "linear_2", "learned", 1.5),
        canvas.box(3.7, 3.2, "a token's vector", "data", 1.5),
    ]
    canvas.chain(boxes)
    for y, shape in ((0.35, "d_model"), (1.1, "intermediate_size"), (1.8, "intermediate_size"), (2.5, "d_model")):
        canvas.label(7.4, y, shape, align="right", size=8.5)
    canvas.label(0.1, 1.8, "the same layers\nfor every token", align="left", size=8.5)
    return canvas.described(
        "Five boxes from bottom to top: a token's vector of width d_model, the wide linear_1 and GELU of "
        "width intermediate_size, linear_2, and a vector of width d_model again. The same layers serve every "
        "token."
    )


def encoder_layer() -> Figure:
    """One layer of the stack: two norms, two sublayers, two skips."""
    canvas = Canvas(7.5, 5.6)
    x = 3.7
    start = canvas.box(x, 0.35, "hidden states", "data", 1.3)
    first_norm = canvas.box(x, 1.2, "layer_norm_1", "norm", 1.3)
    attention = canvas.box(x, 1.9, "attention", "learned", 1.3)
    first_sum = canvas.circle(x, 2.5, "+")
    second_norm = canvas.box(x, 3.4, "layer_norm_2", "norm", 1.3)
    network = canvas.box(x, 4.1, "feed_forward", "learned", 1.3)
    second_sum = canvas.circle(x, 4.7, "+")
    canvas.chain([start, first_norm, attention, first_sum, second_norm, network, second_sum])
    canvas.arrow(second_sum.top, (x, 5.25))
    canvas.label(x, 5.4, "to the next layer", size=9.0)
    for low, plus in ((0.78, first_sum), (2.9, second_sum)):
        canvas.skip(x, low, x + 1.25, plus, "skip: past norm\nand sublayer")
    for y, words in (
        (1.2, "each token gets\nmean 0, variance 1"),
        (1.9, "the tokens look\nat each other"),
        (4.1, "each token is worked\non by itself"),
    ):
        canvas.label(0.1, y, words, align="left", size=8.5)
    canvas.label(7.4, 0.35, "everywhere (B, T, d_model)", align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top: hidden states, layer_norm_1, attention, plus, layer_norm_2, "
        "feed_forward, plus. Two skips lead from below each norm past the sublayer to the plus. The shape is "
        "(B, T, d_model) everywhere."
    )
