"""Notebook 2: what is measured on attentions, on small ones whose answer can be seen."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape, to_numpy
from course.check.distilbert.small import undisturbed
from course.check.encoder_lab.questions import choices

PATTERNS = ("previous", "next", "same word", "separator")
TOKENS = ["[CLS]", "dog", "[SEP]", "cat", "[SEP]"]


def sentence_b_start(function: Any) -> None:
    """Where the second sentence begins."""
    name = "sentence_b_start"
    with running(name, "sentence_b_start(token_type_ids)", "token_type_ids has shape (1, tokens)."):
        start = to_numpy(function(torch.tensor([[0, 0, 0, 0, 0, 1, 1]])))
    if start.size != 1:
        fail(name, "one position is expected.", f"{start.size} numbers came.", "Which axis are the tokens?")
    if int(start.reshape(())) != 5:
        words = {4: "That is the first [SEP].", 6: "Positions count from 0.", 7: "That is how many tokens there are."}
        fail(
            name,
            "with five tokens in the first sentence the second begins at position 5.",
            f"Yours begins at {int(start.reshape(()))}.",
            words.get(int(start.reshape(())), ""),
        )
    passed(name, "the second sentence begins right behind the first")


@undisturbed
def separator_share(function: Any) -> None:
    """How much of each head's weight goes to [SEP]."""
    name = "separator_share"
    attention = torch.zeros(3, 5, 5)
    attention[0, :, 1] = 1.0  # head 0: everybody looks at "dog"
    attention[1, :, 2], attention[1, :, 4] = 0.5, 0.25  # head 1: half on the first [SEP], a quarter on the second
    attention[1, :, 0], attention[1, :, 3] = 0.2, 0.05
    attention[2, 4, 4] = 1.0  # head 2: only the last token looks at [SEP]
    attention[2, :4, 0] = 1.0
    with running(name, "separator_share(attention, tokens)", "Which columns belong to [SEP]?"):
        share = function(attention, list(TOKENS))
    same_shape(name, "the shares", share, (3,), "(heads,)", "One number a head.")
    if abs(float(share[0])) > 1e-6:
        fail(
            name,
            "a head in which nobody looks at [SEP] has a share of 0.",
            f"Yours has {float(share[0]):.3g}.",
            "Rows are queries, columns are keys.",
        )
    if abs(float(share[1]) - 0.75) > 1e-6:
        words = {
            0.5: "Only the first [SEP] was counted.",
            0.25: "Only the last [SEP] was counted.",
            0.375: "Both [SEP] count in full.",
            3.75: "The queries were added up.",
        }
        fail(
            name,
            "where every query gives half to one [SEP] and a quarter to the other, the share is 0.75.",
            f"Yours is {float(share[1]):.3g}.",
            words.get(round(float(share[1]), 3), ""),
        )
    if abs(float(share[2]) - 0.2) > 1e-6:
        fail(
            name,
            "where one query of five gives all to [SEP], the share is 0.2.",
            f"Yours is {float(share[2]):.3g}.",
            "An average over the queries.",
        )
    passed(name, "both [SEP] count", "averaged over the queries")


def separator_heads(heads: Any) -> None:
    """One head a layer. Which ones are right, grading says."""
    name = "separator_heads"
    with running(name, "a list of six numbers"):
        numbers = [int(head) for head in heads]
    if len(numbers) != 6 or not all(0 <= head < 12 for head in numbers):
        fail(name, "six numbers are expected, one head (0 to 11) for each layer.", f"Yours are {numbers}.")
    passed(name, "six heads, one a layer", "whether they are right, you learn with your points")


@undisturbed
def previous_token(function: Any) -> None:
    """Each head's average weight on the token before."""
    name = "previous_token"
    n = 5
    attentions = torch.zeros(2, 3, n, n)
    attentions[0, 0] = torch.eye(n)  # itself
    attentions[0, 1] = torch.eye(n)[[0, *range(n - 1)]]  # the one before; the first one, which has none, itself
    attentions[0, 2] = torch.eye(n)[[*range(1, n), 0]]  # the next
    attentions[1] = 1 / n
    attentions[1, 2] = torch.eye(n)[[0, 0, 0, 2, 2]]  # one token back for queries 1 and 3 alone
    with running(name, "previous_token(attentions)", "Row i is query i; which column is the token before it?"):
        weight = function(attentions)
    same_shape(name, "the weights", weight, (2, 3), "(layers, heads)", "One number for every layer and head.")
    if abs(float(weight[0, 1]) - 1) > 1e-6:
        fail(
            name,
            "a head that always looks one token back has a weight of 1.",
            f"Yours has {float(weight[0, 1]):.3g}.",
            "Average over the queries that have a token before them: the first one has none.",
        )
    for head, words in ((0, "itself"), (2, "the next token")):
        if abs(float(weight[0, head])) > 1e-6:
            fail(
                name,
                f"a head that looks at {words} alone has a weight of 0.",
                f"Yours has {float(weight[0, head]):.3g}.",
                "Row i is query i; which column is the token before it?",
            )
    if abs(float(weight[1, 0]) - 1 / n) > 1e-6:
        fail(name, "a head that looks everywhere alike gives each token 1/5.", f"Yours has {float(weight[1, 0]):.3g}.")
    if abs(float(weight[1, 2]) - 0.5) > 1e-6:
        fail(
            name,
            "a head that looks one token back for every other query has a weight of 0.5.",
            f"Yours has {float(weight[1, 2]):.3g}.",
            "An average over the queries.",
        )
    passed(name, "one token back", "averaged over the queries that have one")


@undisturbed
def products(function: Any) -> None:
    """Query times key, dimension by dimension."""
    name = "products"
    query, keys = torch.tensor([2.0, 0.0, -1.0, 4.0]), torch.eye(4)[:3]
    with running(name, "products(query, keys)", "query (d,), keys (tokens, d)"):
        came = function(query, keys)
    same_shape(
        name,
        "the products",
        came,
        (3, 4),
        "(tokens, d)",
        "One number for every key and dimension; the sum comes later.",
    )
    if close(came, query * keys):
        fail(name, "the sums over the dimensions must be the scores, which are scaled.", "Yours are not scaled.")
    if not close(came.sum(-1), torch.tensor([2.0, 0.0, -1.0]) / sqrt(4)):
        fail(
            name,
            "for keys that are unit vectors the sums must be 1, 0 and -0.5: the query's numbers, scaled.",
            f"Yours are {', '.join(f'{value:.3g}' for value in came.sum(-1).tolist())}.",
            "What is a score divided by?",
        )
    if abs(float(came[0, 3])) > 1e-6:
        fail(name, "where the key is 0, the product is 0.", f"Yours is {float(came[0, 3]):.3g}.")
    passed(name, "a number for every key and dimension", "their sums are the scores")


@undisturbed
def moved(function: Any) -> None:
    """How far the tokens' vectors are from where they were, layer by layer."""
    name = "moved"
    original = torch.randn(3, 4, 6)
    order = torch.tensor([2, 0, 3, 1])
    step = torch.zeros(6)
    step[0], step[1] = 3.0, -4.0  # a step of length 5
    far = _run_moved(
        name, function, original, original[:, order] + torch.tensor([1.0, 2.0, 3.0, 2.0])[:, None] * step, order
    )
    same_shape(name, "the distances", far, (3,), "(layers,)", "One number a layer.")
    near = _run_moved(name, function, original, original[:, order], order)
    if not close(near, torch.zeros(3)):
        fail(
            name,
            "where every token keeps its vector, and only its place changes, nothing has moved.",
            f"Yours has moved by {float(near[0]):.3g}.",
            "Token i of the shuffled sentence is token order[i] of the original.",
        )
    if not close(far, torch.full((3,), 10.0)):
        fail(
            name,
            "tokens that move by 5, 10, 15 and 10 move by 10 on average.",
            f"Yours is {float(far[0]):.3g}.",
            "The length of a difference, averaged over the tokens.",
        )
    passed(name, "tokens are compared with themselves", "averaged over the tokens")


def _run_moved(name: str, function: Any, original: Tensor, shuffled: Tensor, order: Tensor) -> Any:
    with running(name, "moved(original, shuffled, order)", "original and shuffled are (layers, tokens, dim)."):
        return function(original.clone(), shuffled.clone(), order.clone())


def readings(answers: Any) -> None:
    choices("readings", answers, [PATTERNS] * 4 + [("kept", "lost")] * 2)
