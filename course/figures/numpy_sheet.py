"""The drawings of the NumPy assignment: heads with matrices of their own, and a classifier on top of BERT."""

from matplotlib.figure import Figure

from course.figures.canvas import Canvas


def stacked_heads() -> Figure:
    """Each head has its own matrices; their outputs are laid end to end and projected back."""
    canvas = Canvas(7.5, 4.3)
    colours, names = ("learned", "compute", "norm"), ("0", "1", "h - 1")
    centres = (2.35, 3.5, 5.05)
    source = canvas.box(3.7, 0.4, "x", "data", 3.7, 0.4)
    joined = canvas.box(3.7, 2.9, "head 0 | head 1 | … | head h - 1", "data", 3.7, 0.4)
    for x, colour, name in zip(centres, colours, names, strict=True):
        matrices = canvas.box(x, 1.2, f"W_q[{name}]\nW_k[{name}]\nW_v[{name}]", colour, 1.0, 0.72)
        attention = canvas.box(x, 2.1, "attention", colour, 1.0, 0.4)
        canvas.arrow((x, source.top[1]), matrices.bottom)
        canvas.arrow(matrices.top, attention.bottom)
        canvas.arrow(attention.top, (x, joined.bottom[1]))
    canvas.label(4.28, 1.2, "…", size=12.0)
    canvas.label(4.28, 2.1, "…", size=12.0)
    output = canvas.box(3.7, 3.6, "@ W_o", "learned", 1.2, 0.4)
    canvas.arrow(joined.top, output.bottom)
    canvas.arrow(output.top, (3.7, 4.1))
    canvas.label(3.9, 4.08, "y", align="left", size=9.0)
    rows = (
        (0.4, "one vector per token", "(n, d_model)"),
        (1.2, "each head projects\nwith its own matrices", "stacks of\n(h, d_model, d_qkv)"),
        (2.1, "and attends\nby itself", "(h, n, d_qkv)"),
        (2.9, "laid end to end", "(n, h · d_qkv)"),
        (3.6, "back to the width\nof the model", "(n, d_model)"),
    )
    for y, text, shape in rows:
        canvas.label(0.1, y, text, align="left", size=8.5)
        canvas.label(7.4, y, shape, align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top. x enters h heads side by side, each with its own matrices W_q, W_k "
        "and W_v; each attends by itself, the results are laid end to end, (n, h · d_qkv), and W_o brings "
        "them back to the width of the model, (n, d_model)."
    )


def classifier_on_top() -> Figure:
    """From a headline to four scores: what is pre-trained, and what starts from nothing."""
    canvas = Canvas(7.5, 4.9)
    x = 3.0
    headline = canvas.box(x, 0.4, "“Shares rise as oil falls”", "data", 2.6, 0.4)
    tokenizer = canvas.box(x, 1.15, "?", "compute", 2.6, 0.4)
    model = canvas.box(x, 2.15, "DistilBERT\nembeddings and 6 blocks", "learned", 3.3, 0.6)
    vectors = [
        canvas.box(x + offset, 3.0, name, "data", 0.62, 0.36)
        for offset, name in ((-1.3, "[CLS]"), (-0.65, "shares"), (0.0, "rise"), (0.65, "…"), (1.3, "[SEP]"))
    ]
    top = canvas.box(x, 3.75, "?", "result", 3.3, 0.4)
    canvas.chain([headline, tokenizer, model])
    for box in vectors:
        canvas.arrow((box.x, model.top[1]), box.bottom)
    canvas.arrow(top.top, (top.x, 4.4))
    canvas.label(top.x, 4.56, "four scores, one per category", size=9.0)
    for y, text in (
        (0.4, "a headline"),
        (1.15, "question 2: ids (1, T), mask (1, T)"),
        (2.15, "pre-trained: 66 million weights"),
        (3.0, "one vector per token: (1, T, 768)"),
        (3.75, "question 1: starts from random weights"),
    ):
        canvas.label(7.4, y, text, align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top. A headline enters a box with a question mark, then DistilBERT with "
        "embeddings and 6 blocks, which gives one vector for each token, [CLS] to [SEP]; a second box with a "
        "question mark makes four scores, one for each category."
    )
