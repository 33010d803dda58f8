"""Notebook 1: how ``MultiHeadAttention`` is made."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed
from course.check.encoder_lab._hand_over import HEAD, refuses_uneven
from course.check.encoder_lab._heads import with_heads
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import StandIn
from course.check.modules import part, undisturbed


@undisturbed
def multi_head_init(kind: Any) -> None:
    """The list of heads, and their sizes."""
    name = "multi_head_init"
    attention, heads, made = with_heads(name, kind, 15, 3, [StandIn(torch.eye(2)) for _ in range(30)])
    if len(heads) != 3:
        fail(name, "MultiHeadAttention(d_model=15, num_attention_heads=3) has 3 heads.", f"Yours has {len(heads)}.")
    known = {id(module) for module in attention.modules()}
    if not all(id(head) in known for head in heads):
        fail(
            name,
            "the model must know of its heads, or their parameters are never trained.",
            "Yours stand in a plain Python list.",
            "nn.ModuleList is a list that registers what it holds.",
        )
    if len({id(head) for head in heads}) != 3:
        fail(
            name,
            "each head has parameters of its own.",
            "Yours are one and the same object.",
            "Make a new AttentionHead for each of them.",
        )
    for sizes in ([call.get(key) for key in HEAD] for call in made):
        if sizes != [15, 5, 5, 5] or not all(isinstance(size, int) for size in sizes):
            fail(
                name,
                "3 heads share d_model = 15: each is made with d_model = 15 and d_k = d_q = d_v = 5.",
                f"Yours is made with {dict(zip(HEAD, sizes, strict=True))}.",
            )
    if tuple(part(name, attention, "output_linear").weight.shape) != (15, 15):
        fail(
            name,
            "output_linear takes all heads' vectors, laid end to end, and makes d_model numbers of them.",
            f"Yours is {attention.output_linear}.",
        )
    if not refuses_uneven(module_of(kind)):
        fail(
            name,
            "MultiHeadAttention(10, 3) must not give an output: 10 numbers make no 3 equal parts.",
            "Yours gives one.",
            "d_model must be a multiple of num_attention_heads; say so in an error.",
        )
    passed(name, "3 heads, each its own", "sizes", _says_what_does_not_fit(kind))


def _says_what_does_not_fit(kind: Any) -> str:
    """Costs nothing, but is worth a word: sizes that do not fit are best refused at once."""
    try:
        with_heads("multi_head_init", kind, 10, 3, [StandIn(torch.eye(2))])
    except Exception as failed:
        if failed.__cause__ is not None and str(failed.__cause__):
            return f"10 numbers for 3 heads are refused: “{failed.__cause__}”"
    return "but MultiHeadAttention(10, 3) is not refused with a message of your own: who meets it later will wonder"
