"""Sinusoidal positions, by what must be true of them, and their addition to the tokens."""

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, in_float32, passed, running, same_shape
from course.check.modules import make, undisturbed
from course.check.side_effects import check_side_effects

SIZE, LENGTH, RATE = 8, 40, 0.5


def _made_with_table(name: str, student_class: Any) -> tuple[Any, Tensor]:
    """The module, and its table (LENGTH, SIZE)"""
    encoding = make(name, student_class, SIZE, max_len=LENGTH)
    pe = getattr(encoding, "pe", None)
    if not isinstance(pe, Tensor):
        fail(name, "the module must have a tensor called pe.", f"Yours has {type(pe).__name__}.", "Look at __init__.")
    table = pe.detach().squeeze()
    same_shape(name, "pe", table, (LENGTH, SIZE), "(max_len, emb_size)", "One row for each position.")
    return encoding, table


@undisturbed
def positional_values(student_class: Any) -> None:
    """Pairs of sine and cosine, each pair slower than the one before; not learned, but part of the module."""
    name = "positional_values"
    encoding, pe = _made_with_table(name, student_class)
    in_float32(name, "pe", pe)
    start = torch.tensor([0.0, 1.0]).repeat(SIZE // 2)
    if not close(pe[0], start):
        fail(
            name,
            "position 0 must read 0, 1, 0, 1, …: sin 0 in the even columns, cos 0 in the odd ones.",
            f"Yours reads {', '.join(f'{number:.2g}' for number in pe[0, :4].tolist())}, …",
            "Positions are counted from 0.",
        )
    pairs = pe.unflatten(1, (-1, 2))  # (positions, pairs, 2)
    if not close(pairs.norm(dim=-1), torch.ones(LENGTH, SIZE // 2)):
        fail(
            name,
            "columns 2i and 2i + 1 are sine and cosine of one angle: their squares sum to 1.",
            "Yours do not.",
            "Both columns of a pair share one frequency.",
        )
    steps = torch.atan2(pairs[1, :, 0], pairs[1, :, 1])  # the angle from one position to the next
    if abs(float(steps[0]) - 1) > 1e-3:
        fail(
            name,
            "the first pair turns by an angle of 1 from each position to the next.",
            f"Yours turns by {float(steps[0]):.3g}.",
            "10000 to the power of 0 is 1.",
        )
    ratios = steps[1:] / steps[:-1]
    if not close(ratios, ratios[:1].expand_as(ratios), 1e-3) or float(ratios[0]) >= 1:
        fail(
            name,
            "each pair turns more slowly than the one before, always by the same factor.",
            f"Yours turn by {', '.join(f'{step:.3g}' for step in steps.tolist())}.",
            "Look at the exponent.",
        )
    if abs(float(steps[-1]) - 0.001) > 2e-8:  # a base of 10001 is 75e-9 away
        fail(
            name,
            f"with emb_size = {SIZE}, the last pair turns by 10000 to the power of -6/8, which is 1/1000.",
            f"Yours turns by {float(steps[-1]):.6g}.",
            "Which numbers does 2i run through, and what is the base?",
        )
    turned = pe[2:12] @ pe[5:15].T
    if not close(turned.diagonal(), turned.diagonal()[:1].expand(10)):
        fail(name, "how alike two positions are depends on their distance alone.", "In yours it does not.")
    _is_a_buffer(name, encoding)
    passed(name, "starts with 0, 1, 0, 1", "pairs of sine and cosine", "ever slower", "a buffer")


def _is_a_buffer(name: str, encoding: Any) -> None:
    """Neither learned nor left out when the module moves."""
    if "pe" in {word for word, _ in encoding.named_parameters()}:
        look = "A buffer travels with the module, unlearned."
        fail(name, "pe is computed, not learned.", "Yours is a parameter.", look)
    if "pe" not in {word for word, _ in encoding.named_buffers()}:
        came = "Yours is a plain attribute and would be left out."
        look = "nn.Module can register a tensor that is no parameter."
        fail(name, "pe must move to the GPU with its module.", came, look)


@undisturbed
def positional_forward(student_class: Any) -> None:
    """Token i of every sentence gets row i; sentences of a batch are treated alike."""
    name = "positional_forward"
    encoding, pe = _made_with_table(name, student_class)
    encoding.pe.data = encoding.pe.data.float()  # that of the table has its own check
    b, t = 3, 5
    torch.default_generator.manual_seed(7)  # whatever the class draws when it is made
    x = torch.randn(b, t, SIZE)
    check_side_effects(name, encoding, x)
    with running(
        name,
        f"x of shape (b, t, emb_size) = ({b}, {t}, {SIZE})",
        "How many rows of pe are needed, and along which axis?",
    ):
        out = encoding(x)
    same_shape(name, "the output", out, (b, t, SIZE), "(b, t, emb_size)", "The batch comes first.")
    in_float32(name, "the output", out)
    same_shape(name, "for one sentence, the output", encoding(x[:1]), (1, t, SIZE), "(1, t, emb_size)")
    added = out - x
    if close(added, added[:, :1].expand_as(added)):
        fail(
            name,
            "each token gets the row of its own position.",
            "In yours all tokens of a sentence get the same.",
            "Which axis of x counts the tokens? The batch comes first.",
        )
    if not close(added, added[:1].expand_as(added)):
        fail(
            name,
            "all sentences of a batch get the same positions.",
            "Yours get different ones.",
            "Or was something dropped in eval mode?",
        )
    if not close(added[0], pe[:t]):
        fail(name, "token i gets row i of pe added.", "Yours gets something else.", "Added, as it is, from row 0 on.")
    encoding = make(name, student_class, SIZE, dropout=RATE, max_len=LENGTH).train()
    share = float((encoding(x.new_full((40, t, SIZE), 3.0)) == 0).float().mean())  # no sum of 3 and a sine is 0
    if abs(share - RATE) > 0.1:
        look = "nn.Dropout(dropout) and self.dropout(x), the last line, are given."
        expected = f"made with dropout={RATE}, half of the numbers are dropped in training."
        fail(name, expected, f"In yours {share:.0%} are.", look)
    passed(name, "token i gets row i", "every sentence the same", "dropped in train mode alone")
