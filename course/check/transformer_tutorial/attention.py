"""Notebook 1: dot-product attention, one property after the other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed
from course.check.transformer_tutorial.small import attend, make, undisturbed

LOOK_AT_AXES = "Which axis of the keys must meet which axis of the queries? Write both shapes down."


def dot_product_attention(kind: Any) -> None:
    """All five checks."""
    for check in (attention_scores, attention_output, attention_dropout, attention_heads, attention_mask):
        check(kind)


@undisturbed
def attention_scores(kind: Any) -> None:
    """A dot product of s makes a score of s / √k, for every query with every key."""
    name = "attention_scores"
    attention = make(name, kind, 0.0).eval()
    t, k = 4, 5
    # Key j is a 1 at place j: query i's dot product with it is the query's number at place j.
    queries = torch.tensor([[1.0, 0, 2, 0, 0], [0, 3, 0, 0, 0], [0, 0, 0, -1, 0], [1, 1, 0, 4, 0]])
    eye = torch.eye(t, k)
    weights = attend(name, attention, queries[None, :, None], eye[None, :, None], eye[None, :, None])[0, :, :t]
    logs = _logs(weights)
    expected = queries[:, :t]
    factor = _factor(logs, expected)
    if factor is None and _factor(logs, expected.T) is not None:
        fail(
            name,
            "row i must hold the scores of query i.",
            "In yours it holds what the others' queries find in key i.",
            "Rows are queries, columns are keys.",
        )
    if factor is None:
        fail(
            name,
            "the score of query i for key j is their dot product, divided by √k.",
            "The scores behind your weights are something else.",
            LOOK_AT_AXES,
        )
    if abs(factor - k**-0.5) > 1e-3:
        fail(
            name,
            f"with k = {k}, a dot product of 3 must make a score of 3 / √{k} = {3 / k**0.5:.2f}.",
            f"Yours makes {3 * factor:.2f}.",
            "Divided, once, by the square root of the length of a key.",
        )
    passed(name, "every query meets every key", "divided by √k")


def _logs(weights: Tensor) -> Tensor:
    """What stands in the exponent; the numbers themselves where no softmax was applied."""
    positive = bool((weights > 0).all())
    return weights.log() if positive else weights


def _factor(seen: Tensor, pattern: Tensor) -> float | None:
    """The number that turns the pattern into what is seen, whatever was added to a row or column; None if none does."""

    def centred(x: Tensor) -> Tensor:
        return x - x.mean(-1, keepdim=True) - x.mean(-2, keepdim=True) + x.mean()

    x, y = centred(pattern), centred(seen)
    factor = float((x * y).sum() / (x * x).sum())
    return factor if abs(factor) > 1e-3 and bool(torch.isfinite(seen).all()) and close(y, factor * x, 1e-3) else None


@undisturbed
def attention_output(kind: Any) -> None:
    """The values are mixed with weights that sum to 1 for each query."""
    name = "attention_output"
    attention = make(name, kind, 0.0).eval()
    b, t, k = 2, 4, 5
    queries, keys = torch.randn(b, t, 1, k), torch.randn(b, t, 1, k)
    value = torch.linspace(-2, 3, k)
    alike = attend(name, attention, queries, keys, value.expand(b, t, 1, k).clone())
    if not close(alike, value.expand(b, t, k)):
        _explain_sums(name, attention, queries, keys)
    eye = torch.eye(t, k).expand(b, t, k)[:, :, None]
    weights = attend(name, attention, queries, keys, eye)[..., :t]
    if not close(weights.sum(-1), torch.ones(b, t)) or float(weights.min()) < 0:
        _explain_sums(name, attention, queries, keys)
    # strong scores: query i finds key i + 1 and nothing else
    strong = 400 * torch.eye(k).roll(1, 1)[:t].expand(b, t, k)[:, :, None]
    found = attend(name, attention, strong, eye, eye)
    finite(name, "the output for very large scores", found, "torch's own softmax takes away the largest score first.")
    if not close(found[:, : t - 1, :t], torch.eye(t).roll(1, 1)[: t - 1].expand(b, t - 1, t)):
        fail(
            name,
            "a query that fits one key far better than all the others must collect that key's value.",
            "Yours collects something else.",
            "Row i of the weights mixes the values for query i.",
        )
    passed(name, "each query's weights sum to 1", "the values are mixed by them", "large scores do no harm")


def _explain_sums(name: str, attention: Any, queries: Tensor, keys: Tensor) -> None:
    b, t, _, k = queries.shape
    weights = attend(name, attention, queries, keys, torch.eye(t, k).expand(b, t, k)[:, :, None])[..., :t]
    expected = "each query's weights must sum to 1 over the keys."
    for axis, words in ((1, "the queries"), (0, "the batch")):
        if close(weights.sum(axis), torch.ones_like(weights.sum(axis))):
            fail(name, expected, f"Yours sum to 1 over {words}.", "Is the softmax told which axis to use?")
    fail(
        name,
        expected,
        f"In yours the first row sums to {float(weights[0, 0].sum()):.3g}.",
        "Scores become weights by one softmax; then the weights mix the values.",
    )


@undisturbed
def attention_dropout(kind: Any) -> None:
    """In train mode some weights become 0 and the others grow; in eval mode nothing happens."""
    name = "attention_dropout"
    b, t, k = 4, 8, 10
    queries, keys = torch.randn(b, t, 1, k), torch.randn(b, t, 1, k)
    values = torch.eye(t, k).expand(b, t, k)[:, :, None].clone()
    values[..., t] = 1  # one more number, which sums up the weights as they were used
    attention = make(name, kind, 0.5).eval()
    calm, again = (attend(name, attention, queries, keys, values) for _ in range(2))
    if not torch.equal(calm, again):
        fail(
            name,
            "in eval mode two calls must give the same.",
            "Yours differ.",
            "Use the dropout layer that __init__ made: it knows the mode.",
        )
    trained = attend(name, attention.train(), queries, keys, values)
    if close(trained, calm):
        fail(
            name,
            "in train mode some weights must be dropped.",
            "Yours drops nothing.",
            "__init__ made a dropout layer: which tensor should go through it?",
        )
    used = trained[..., :t]
    if not bool((used == 0).any()):
        fail(
            name,
            "what is dropped are weights: some of them must become exactly 0.",
            "In yours the weights change, and none is 0.",
            "Is the dropout applied behind the softmax?",
        )
    if not close(trained[..., t], used.sum(-1)):
        fail(
            name,
            "it is weights that are dropped, before the values are mixed.",
            "Yours drops numbers of the output.",
            "Which tensor has one number for each query and key?",
        )
    kept = used[used != 0] / calm[..., :t][used != 0]
    if not close(kept, torch.full_like(kept, 2.0), 1e-2):
        fail(
            name,
            "where one half is dropped, the other half is doubled, so that the average stays.",
            f"Yours multiplies it by {float(kept.mean()):.3g}.",
            "The dropout layer that __init__ made does this, at the rate that it was made with.",
        )
    passed(name, "weights are dropped in train mode", "nothing is in eval mode")


@undisturbed
def attention_heads(kind: Any) -> None:
    """Several heads at once give what each gives by itself."""
    name = "attention_heads"
    attention = make(name, kind, 0.0).eval()
    b, t, h, k = 2, 5, 3, 4
    queries, keys, values = (torch.randn(b, t, h, k) for _ in range(3))
    together = attend(name, attention, queries, keys, values)
    for head in range(h):
        alone = attend(name, attention, *(x[:, :, head : head + 1].contiguous() for x in (queries, keys, values)))
        if not close(together[..., head * k : (head + 1) * k], alone):
            _explain_heads(name, attention, queries, keys, values, head)
    passed(name, "each head gives what it gives alone", "heads stand one after the other")


def _explain_heads(name: str, attention: Any, queries: Tensor, keys: Tensor, values: Tensor, head: int) -> None:
    _, _, h, k = queries.shape
    before = attend(name, attention, queries, keys, values)
    changed = values.clone()
    changed[0, :, head] += 1  # head `head` of sentence 0, and nothing else
    moved = (attend(name, attention, queries, keys, changed) - before).abs() > 1e-4
    if bool(moved[1:].any()):
        fail(
            name,
            "the sentences of a batch must not touch each other.",
            f"A change in sentence 0, head {head}, moved the output of sentence 1.",
            "Fold and unfold must agree on the order of batch and heads.",
        )
    heads = moved[0].unflatten(-1, (h, k)).any(-1).any(0).nonzero().flatten().tolist()
    if heads != [head]:
        fail(
            name,
            f"a change in head {head} must move the numbers from {head * k} to {head * k + k - 1} of the output.",
            f"In yours it moves the places of the heads {heads}.",
            "In which order must the axes stand before two of them can become one?",
        )
    fail(
        name,
        "several heads at once must give what each gives by itself.",
        f"Head {head} of yours differs.",
        "Are queries, keys and values all folded alike?",
    )


@undisturbed
def attention_mask(kind: Any) -> None:
    """With a mask, padding has no say: the rest comes out as if it were not there."""
    name = "attention_mask"
    attention = make(name, kind, 0.0).eval()
    t, h, k, lengths = 5, 2, 3, (5, 3, 2)
    queries, keys, values = (torch.randn(len(lengths), t, h, k) for _ in range(3))
    mask = torch.arange(t) < torch.tensor(lengths)[:, None]
    masked = attend(name, attention, queries, keys, values, mask)
    for sentence, length in enumerate(lengths):
        finite(
            name,
            "what the real tokens collect",
            masked[sentence, :length],
            "A softmax over nothing but minus infinity is nan; so is minus infinity times 0.",
        )
        short = [x[sentence : sentence + 1, :length].contiguous() for x in (queries, keys, values)]
        if close(masked[sentence, :length], attend(name, attention, *short)[0]):
            continue
        bare = attend(name, attention, queries, keys, values)
        came = (
            "The mask changes nothing in yours."
            if close(masked, bare)
            else f"Sentence {sentence} of yours is different."
        )
        fail(
            name,
            "a sentence with padding must give what it gives without, on its real tokens.",
            came,
            "True marks a real token. A padded key must end with the weight 0, in every head of its sentence.",
        )
    passed(name, "padding gets no attention", "the real tokens' weights still sum to 1")
