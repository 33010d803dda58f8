"""The drawings of the transformer tutorial. Symbols: b sentences, t tokens, h heads, vectors of k numbers."""

import math
from itertools import pairwise

from matplotlib.figure import Figure
from matplotlib.patches import Circle

from course.figures.canvas import FAINT, Canvas


def lookup() -> Figure:
    """Attention as a soft dictionary lookup: every entry answers, in proportion to how well its key fits."""
    canvas = Canvas(7.5, 3.5)
    query = canvas.box(0.85, 1.75, "query\n“music”", "result", 1.1, 0.6)
    value = canvas.box(6.65, 1.75, "what comes\nback", "result", 1.15, 0.6)
    canvas.label(0.85, 3.3, "what I look for", size=9.0)
    canvas.label(2.75, 3.3, "what each entry\noffers: its key", size=9.0)
    canvas.label(3.9, 3.3, "how well\nit fits", size=9.0)
    canvas.label(5.0, 3.3, "what it holds:\nits value", size=9.0)
    canvas.label(6.65, 3.3, "a mixture", size=9.0)
    for number, (y, word) in enumerate(((2.65, "song"), (2.05, "piano"), (1.45, "stone"), (0.85, "paper")), start=1):
        key = canvas.box(2.75, y, word, "learned", 0.85, 0.38)
        held = canvas.box(5.0, y, word, "compute", 0.85, 0.38)
        canvas.arrow(query.right, key.left)
        canvas.line(key.right, (3.62, y))
        canvas.label(3.9, y, f"× $w_{number}$", size=9.0)
        canvas.arrow((4.18, y), held.left)
        canvas.arrow(held.right, value.left)
    canvas.label(3.75, 0.2, "every entry answers; the weights $w_1$ to $w_4$ are positive and sum to 1")
    return canvas.described(
        "From left to right: the query “music” points to four keys, song, piano, stone and paper; each key's "
        "fit, w1 to w4, weights the value of the same word, and the four values mix into what comes back."
    )


def folding_heads() -> Figure:
    """Heads become rows of the batch: one matrix product then serves all of them, and they never meet."""
    canvas = Canvas(7.5, 3.6)
    y = 2.75
    steps = (
        (0.95, "(b, t, h, k)", "token by token,\nheads side by side"),
        (2.85, "(b, h, t, k)", "head by head,\ntokens in order"),
        (4.75, "(b · h, t, k)", "each head a row\nof a longer batch"),
        (6.6, "(b, t, h · k)", "each token's heads\nend to end"),
    )
    boxes = [canvas.box(x, y, shape, "data", 1.2, 0.42) for x, shape, _ in steps]
    for first, second in pairwise(boxes):
        canvas.arrow(first.right, second.left)
    for x, _, words in steps:
        canvas.label(x, y - 0.5, words, size=8.5)
    for x, word in ((1.9, "exchange"), (3.8, "fold"), (5.68, "attend,\nthen back")):
        canvas.label(x, y + 0.38, word, size=8.5)
    canvas.label(0.1, 1.45, "rows of the batch\nafter folding,\nb = 2, h = 3", align="left", size=8.5)
    for row in range(6):
        sentence, head = divmod(row, 3)
        x = 2.05 + 0.95 * row
        canvas.box(x, 1.35, f"sentence {sentence}\nhead {head}", ("learned", "compute", "norm")[head], 0.86, 0.46)
        canvas.label(x, 0.95, f"row {row}", size=8.0)
    canvas.label(4.4, 0.45, "all heads of sentence 0, then all heads of sentence 1", size=8.5)
    return canvas.described(
        "Above, four shapes in a row: (b, t, h, k), (b, h, t, k), (b · h, t, k), (b, t, h · k), joined by "
        "exchange, fold, and attend, then back. Below, the six rows of the folded batch for b = 2 and h = 3: "
        "heads 0, 1, 2 of sentence 0, then heads 0, 1, 2 of sentence 1."
    )


def self_attention() -> Figure:
    """One input, three maps, attention in every head, and one map back."""
    canvas = Canvas(7.5, 4.2)
    x = 3.7
    source = canvas.box(x, 0.35, "x", "data", 0.8, 0.38)
    maps = [
        canvas.box(x + offset, 1.25, name, "learned", 1.15, 0.42)
        for offset, name in ((-1.4, "to_queries"), (0.0, "to_keys"), (1.4, "to_values"))
    ]
    attention = canvas.box(x, 2.35, "DotProductAttention, every head by itself", "compute", 3.95, 0.42)
    unify = canvas.box(x, 3.2, "unify_heads", "learned", 1.3, 0.42)
    canvas.line(source.top, (x, 0.8))
    for box in maps:
        canvas.arrow((x, 0.8), (box.x, 0.8), box.bottom)
        canvas.arrow(box.top, (box.x, attention.bottom[1]))
    canvas.arrow(attention.top, unify.bottom)
    canvas.arrow(unify.top, (x, 3.8))
    canvas.label(x, 3.98, "one vector of size k per token, which has looked at all others", size=8.5)
    for at, shape in (
        (0.35, "(b, t, k)"),
        (1.25, "each (b, t, h · k)"),
        (1.8, "split: (b, t, h, k)"),
        (2.35, "(b, t, h · k)"),
        (3.2, "(b, t, k)"),
    ):
        canvas.label(7.4, at, shape, align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top: x (b, t, k) enters to_queries, to_keys and to_values, each of which "
        "gives (b, t, h · k); attention works in every head by itself, and unify_heads brings the result back "
        "to (b, t, k)."
    )


def transformer_block() -> Figure:
    """Attention and feed-forward network, each followed by add and norm."""
    canvas = Canvas(7.5, 5.0)
    x = 3.5
    source = canvas.box(x, 0.35, "x", "data", 0.8, 0.38)
    attention = canvas.box(x, 1.25, "attention", "learned", 1.4)
    first = canvas.box(x, 2.05, "add, then norm_1", "norm", 1.5)
    network = canvas.box(x, 3.05, "mlp: k → 2k, ReLU, 2k → k", "learned", 2.2)
    second = canvas.box(x, 3.85, "add, then norm_2", "norm", 1.5)
    canvas.chain([source, attention, first, network, second])
    canvas.arrow(second.top, (x, 4.45))
    canvas.label(x, 4.65, "to the next block", size=9.0)
    canvas.skip(x, 0.8, x + 1.6, first)
    canvas.skip(x, 2.58, x + 1.6, second)
    canvas.label(0.1, 1.25, "the tokens look\nat each other", align="left", size=8.5)
    canvas.label(0.1, 3.05, "each token\nfor itself", align="left", size=8.5)
    for at in (0.35, 1.25, 2.05, 3.05, 3.85):
        canvas.label(7.4, at, "(b, t, k)", align="right", size=8.5)
    return canvas.described(
        "A flow chart from bottom to top: x, attention, add then norm_1, mlp (k to 2k, ReLU, 2k to k), add "
        "then norm_2. A skip leads past the attention and another past the mlp. The shape is (b, t, k) "
        "everywhere."
    )


def three_attentions() -> Figure:
    """Where attention stands in an encoder with a decoder: who asks, and who is asked."""
    canvas = Canvas(7.5, 4.1)
    canvas.frame(1.85, 1.85, 2.9, 2.7, "encoder")
    canvas.frame(5.55, 1.85, 3.5, 2.7, "decoder")
    words_in = canvas.box(1.85, 0.25, "n input words", "data", 1.4, 0.36)
    words_out = canvas.box(5.55, 0.25, "the output words so far, up to m", "data", 2.6, 0.36)
    own = canvas.box(1.85, 1.2, "1 self-attention\ninput asks input", "learned", 1.7, 0.55)
    masked = canvas.box(5.55, 1.2, "2 self-attention\noutput asks earlier output", "compute", 2.1, 0.55)
    cross = canvas.box(5.55, 2.4, "3 cross-attention\noutput asks input", "norm", 2.1, 0.55)
    canvas.chain([words_in, own])
    canvas.chain([words_out, masked, cross])
    canvas.arrow(own.top, (1.85, 2.4), cross.left)
    canvas.label(2.58, 2.54, "keys and values", size=8.5)
    canvas.arrow(cross.top, (5.55, 3.5))
    canvas.label(5.55, 3.72, "the next output word", size=9.0)
    canvas.label(1.85, 3.72, "(feed-forward networks, skips and norms left out)", size=8.0)
    return canvas.described(
        "An encoder on the left and a decoder on the right. In the encoder the n input words ask each other. "
        "In the decoder the output words ask earlier output words; above that, cross-attention asks the "
        "input, with keys and values from the encoder, and the next output word comes out."
    )


def classifier() -> Figure:
    """From ids to log-probabilities, with the shape of what leaves each part."""
    canvas = Canvas(7.5, 2.4)
    y = 1.35
    parts = (
        (0.4, "ids", "data", 0.55, "(b, t)"),
        (1.4, "token\nembedding\n× √k", "learned", 0.95, "(b, t, k)"),
        (2.55, "positions", "compute", 0.85, "(b, t, k)"),
        (3.75, "blocks,\ndepth many", "learned", 1.0, "(b, t, k)"),
        (4.95, "average of\nreal tokens", "compute", 0.95, "(b, k)"),
        (6.0, "head", "learned", 0.7, "(b, classes)"),
        (7.0, "log_\nsoftmax", "result", 0.75, "(b, classes)"),
    )
    boxes = [canvas.box(x, y, text, kind, width, 0.72) for x, text, kind, width, _ in parts]
    for first, second in pairwise(boxes):
        canvas.arrow(first.right, second.left)
    for x, *_, shape in parts:
        canvas.label(x, y - 0.55, shape)
    canvas.arrow((0.4, 1.72), (0.4, 2.05), (4.95, 2.05), boxes[4].top)
    canvas.arrow((3.75, 2.05), boxes[3].top)
    canvas.label(2.2, 2.2, "mask: which ids are real tokens, (b, t)")
    canvas.label(3.75, 0.3, "b sentences, t tokens in the longest; under each part the shape of what leaves it")
    return canvas.described(
        "A flow chart from left to right: ids (b, t), token embedding times √k, positions, blocks (b, t, k), "
        "average of the real tokens (b, k), head and log_softmax (b, classes). The mask of real tokens leads "
        "from the ids to the blocks and to the average."
    )


def clock_hands() -> Figure:
    """Positions as hands of clocks: each pair of columns is one hand, each slower than the one before."""
    canvas = Canvas(7.5, 2.9)
    rows = ((2.3, "columns 0 and 1", 1.0), (1.55, "columns 2 and 3", 0.3), (0.8, "columns 4 and 5", 0.09))
    for y, name, step in rows:
        canvas.label(0.1, y, name, align="left", size=8.5)
        for position in range(8):
            x = 1.85 + 0.73 * position
            _dial(canvas, x, y, 0.28, position * step)
    for position in range(8):
        canvas.label(1.85 + 0.73 * position, 0.3, f"position {position}", size=8.0)
    canvas.label(0.1, 2.75, "a hand's height and its distance to the right are the two numbers", align="left", size=8.5)
    return canvas.described(
        "Three rows of eight clock dials, one column for each of the positions 0 to 7. The hand of columns 0 "
        "and 1 turns far from one position to the next, that of columns 2 and 3 less, and that of columns 4 "
        "and 5 hardly."
    )


def _dial(canvas: Canvas, x: float, y: float, radius: float, angle: float) -> None:
    canvas.axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=FAINT, linewidth=1.0))
    canvas.arrow((x, y), (x + radius * math.cos(angle), y + radius * math.sin(angle)))


def padded_average() -> Figure:
    """Two sentences of different length in one batch, and which of their vectors count."""
    canvas = Canvas(7.5, 2.3)
    for y, words, divisor in (
        (1.65, ("[CLS]", "a", "good", "film", "[SEP]"), 5),
        (0.95, ("[CLS]", "dull", "[SEP]", "[PAD]", "[PAD]"), 3),
    ):
        for place, word in enumerate(words):
            real = word != "[PAD]"
            canvas.box(1.0 + 0.92 * place, y, word, "learned" if real else "data", 0.84, 0.42)
            canvas.label(1.0 + 0.92 * place, y - 0.33, "True" if real else "False", size=8.0)
        canvas.arrow((5.2, y), (5.75, y))
        canvas.box(6.55, y, f"sum of {divisor}, by {divisor}", "result", 1.5, 0.42)
    canvas.label(0.1, 2.15, "hidden states (b, t, k), the mask below them", align="left", size=8.5)
    canvas.label(6.55, 2.15, "pooled (b, k)", size=8.5)
    canvas.label(3.75, 0.2, "what stands in the white boxes is not zero: it is whatever the blocks made of padding")
    return canvas.described(
        "A batch of two sentences with the mask below the words: [CLS] a good film [SEP], five times True, "
        "and [CLS] dull [SEP] [PAD] [PAD], three times True and twice False. The sum of the five vectors is "
        "divided by 5, the sum of the three real ones by 3."
    )


def masked_row() -> Figure:
    """Logits of a masked language model: one row per position, one column for each word of the vocabulary."""
    canvas = Canvas(7.5, 2.75)
    words = ("…", "bag", "her", "his", "…")
    for column, word in enumerate(words):
        canvas.label(2.2 + 0.72 * column, 2.5, word, size=8.5)
    for row, token in enumerate(("picked", "up", "[MASK]", "bag")):
        y = 2.1 - 0.48 * row
        canvas.label(1.6, y, token, align="right", size=8.5)
        for column in range(len(words)):
            kind = "compute" if token == "[MASK]" else "data"
            canvas.box(2.2 + 0.72 * column, y, "", kind, 0.66, 0.38)
    canvas.arrow((5.5, 1.14), (6.0, 1.14))
    canvas.box(6.7, 1.14, "softmax over\nthis row", "result", 1.3, 0.5)
    canvas.label(6.7, 0.62, "sums to 1", size=8.0)
    canvas.label(3.65, 0.2, "logits (tokens, vocabulary): one number per position and word")
    return canvas.described(
        "A table of logits with the tokens picked, up, [MASK] and bag down and words of the vocabulary "
        "across, bag, her and his among them. The row of [MASK] is highlighted: an arrow leads from it to a "
        "softmax over this row, which sums to 1."
    )
