"""Notebooks 3 and 4: the classifier around the blocks, and the probability of a word."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import close, fail, finite, passed, running, same_shape
from course.check.transformer_tutorial.small import Fixed, make, replace_part, undisturbed

K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES = 6, 2, 3, 9, 11, 4


def _model(name: str, kind: Any) -> Any:
    return make(name, kind, K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES).eval()


@undisturbed
def classifier_parts(kind: Any) -> None:
    """An embedding, as many blocks as depth says, and a head."""
    name = "classifier_parts"
    model = _model(name, kind)
    for part in ("token_embedding", "pos_enc", "transformer_blocks", "classification_head"):
        if not hasattr(model, part):
            fail(name, f"the model must have a part called {part}.", "Yours has none.", "Look at __init__.")
    embedding, head = model.token_embedding, model.classification_head
    for part, layer, shape in (
        ("token_embedding", embedding, (TOKENS, K)),
        ("classification_head", head, (CLASSES, K)),
    ):
        got = tuple(getattr(getattr(layer, "weight", None), "shape", ()))
        if got != shape:
            fail(
                name,
                f"with k = {K}, {TOKENS} tokens and {CLASSES} classes, the weight of {part} has shape {shape}.",
                f"Yours has {got}.",
                "One row per token, k numbers each; k numbers in, one per class out.",
            )
    blocks = [*model.transformer_blocks]
    if len(blocks) != DEPTH:
        fail(name, f"with depth = {DEPTH} there are {DEPTH} blocks.", f"Yours are {len(blocks)}.")
    if len({id(block) for block in blocks}) < DEPTH:
        fail(
            name,
            "every block has weights of its own.",
            "In yours one block is there several times.",
            "Make a new one each time.",
        )
    if not {id(p) for block in blocks for p in block.parameters()} <= {id(p) for p in model.parameters()}:
        fail(
            name,
            "the model must know that the blocks belong to it.",
            "To yours their weights are unknown, and would not be trained.",
            "A plain list does not register what it holds.",
        )
    passed(name, "embedding", f"{DEPTH} blocks for depth {DEPTH}", "head")


def _bare(name: str, kind: Any) -> tuple[Any, list[Fixed]]:
    """A model whose positions add nothing and whose blocks add 1, 10 and 100."""
    model = _model(name, kind)
    blocks = [Fixed(lambda x, *_, step=10.0**number, **__: x + step) for number in range(DEPTH)]
    replace_part(name, model, "pos_enc", Fixed(lambda x: x))
    replace_part(name, model, "transformer_blocks", nn.Sequential(*blocks))
    return model, blocks


def _run(name: str, model: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape (b, t) = {tuple(ids.shape)}", "Print the shape after every step."):
        out = model(ids)
    same_shape(
        name, "the output", out, (len(ids), CLASSES), "(b, classes)", "One vector per sentence must reach the head."
    )
    finite(name, "the output", out)
    result: Tensor = out
    return result


@undisturbed
def classifier_forward(kind: Any) -> None:
    """ids -> vectors times √k -> positions -> blocks -> average -> head -> log-probabilities"""
    name = "classifier_forward"
    model, blocks = _bare(name, kind)
    ids = torch.randint(1, TOKENS, (3, 5))
    out = _run(name, model, ids)
    if not close(out.exp().sum(1), torch.ones(3)):
        came = (
            "Yours are probabilities already."
            if close(out.sum(1), torch.ones(3))
            else f"Yours sum to {float(out.exp().sum(1)[0]):.3g}."
        )
        fail(
            name,
            "the output holds log-probabilities: e to the power of each, they sum to 1 over the classes.",
            came,
            "log_softmax comes last, over the classes.",
        )
    vectors = model.token_embedding(ids)
    entered = model.pos_enc.seen[0][0] if model.pos_enc.seen else None
    if entered is None:
        fail(name, "the positions are added by pos_enc.", "Yours never calls it.")
    if not close(entered, vectors * K**0.5):
        fail(
            name,
            "what enters pos_enc are the token vectors times √k.",
            "Yours are not.",
            "First the factor, then the positions.",
        )
    seen = [block.seen[0][0] if block.seen else None for block in blocks]
    for number, given in enumerate(seen):
        want = entered + sum(10.0**before for before in range(number))
        if given is None or not close(given, want, 1e-3):
            fail(
                name,
                f"block {number} takes what came before it.",
                "In yours it takes something else, or is never called.",
                "What one block gives is what the next one takes.",
            )
    swapped = _run(name, model, ids.flip(1))
    if not close(swapped, out, 1e-3):
        fail(
            name,
            "the head takes the average over all tokens, whose order does not matter.",
            "In yours it matters.",
            "Which axis counts the tokens?",
        )
    twice = _run(name, model, torch.tensor([[3, 3, 5], [3, 5, 5]]))
    if close(twice[0], twice[1], 1e-5):
        fail(name, "all tokens count alike: a word that comes twice counts twice.", "In yours it does not.", "Average.")
    passed(name, "√k, then positions", "every block in its turn", "average", "log-probabilities")


@undisturbed
def classifier_padding(kind: Any) -> None:
    """A sentence gets the same answer with and without padding, and the blocks are told what is padding."""
    name = "classifier_padding"
    model, blocks = _bare(name, kind)
    short = torch.randint(1, TOKENS, (2, 3))
    long = torch.cat([short, torch.zeros(2, 4, dtype=torch.long)], dim=1)
    if not close(_run(name, model, short), _run(name, model, long), 1e-3):
        fail(
            name,
            "four tokens of padding (id 0) must not change the answer.",
            "They change yours.",
            "Average over real tokens only.",
        )
    for number, block in enumerate(blocks):
        masks = [given for given in block.seen[-1][1:] if isinstance(given, Tensor)] if block.seen else []
        if not masks or not torch.equal(masks[0].bool(), long != 0):
            came = f"Block {number} of yours gets {'a different one' if masks else 'none'}."
            look = "A block takes the states and the mask."
            fail(name, "each block is given the mask: true for a real token.", came, look)
    passed(name, "padding does not change the answer", "the blocks get the mask")


@undisturbed
def masked_word_probability(function: Any) -> None:
    """Probabilities over the whole vocabulary, read at the mask."""
    name = "masked_word_probability"
    logits = torch.randn(6, 9)
    position, words = 2, [3, 7]
    with running(name, "logits of shape (tokens, vocabulary) = (6, 9)", "One row belongs to the mask."):
        got = torch.as_tensor(function(logits, position, words)).float()
    same_shape(name, "the result", got, (2,), "(words,)", "One probability for each word.")
    every = torch.as_tensor(function(logits, position, list(range(9)))).float()
    if not close(every.sum(), torch.tensor(1.0)) or float(every.min()) < 0:
        fail(
            name,
            "the probabilities of all words of the vocabulary sum to 1.",
            f"Yours sum to {float(every.sum()):.3g}.",
            "A softmax over the vocabulary, at the mask.",
        )
    if not close(got, every[words]):
        fail(
            name,
            "a word's probability does not depend on which other words are asked for.",
            "In yours it does.",
            "First the softmax over the whole vocabulary, then pick.",
        )
    elsewhere = logits.clone()
    elsewhere[[0, 1, 3, 4, 5]] += torch.randn(5, 9)
    if not close(torch.as_tensor(function(elsewhere, position, words)).float(), got):
        fail(name, "only the logits at the mask matter.", "In yours others do, too.", "Choose the mask's row first.")
    ratio = float((got[0] / got[1]).log()) - float(logits[position, 3] - logits[position, 7])
    if abs(ratio) > 1e-3:
        fail(
            name,
            "the ratio of two probabilities is e to the power of the difference of their logits.",
            "Yours is not.",
            "Is it a softmax, once, and of the right row?",
        )
    finite(
        name,
        "the result for large logits",
        function(logits + 900, position, words),
        "torch's own softmax does no harm there.",
    )
    passed(name, "all words together sum to 1", "read at the mask", "large logits do no harm")
