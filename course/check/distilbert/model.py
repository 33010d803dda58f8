"""Notebook 3: the list of blocks, the loop over them, and the classifier, each looked at on its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from course.check import stand_ins
from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert.small import build, part, put_linear, small_config, undisturbed
from course.config import Config

BATCH, TOKENS = 2, 3
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


def classifier_model(kind: Any) -> None:
    """All three checks of the model."""
    for check in (encoder_list, encoder_loop, classifier):
        check(kind)


# --- the list ---------------------------------------------------------------------------------------------------------


@undisturbed
def encoder_list(kind: Any) -> None:
    """As many blocks as the config says, each with weights of its own, and all of them known to the model."""
    name = "encoder_list"
    for layers in (4, 2):
        config = small_config(n_layers=layers)
        model = build(name, kind, config)
        blocks = _blocks(name, model)
        if len(blocks) != layers:
            look = (
                "config.n_layers says how many."
                if len(blocks) in (1, 6)
                else "range(n) counts from 0 to n - 1: that is n steps."
            )
            fail(
                name,
                f"with config.n_layers = {layers}, {layers} blocks are expected.",
                f"Yours has {len(blocks)}.",
                look,
            )
        for number, block in enumerate(blocks):
            if not all(hasattr(block, layer) for layer in ("q_lin", "k_lin", "v_lin", "out_lin", "lin1", "lin2")):
                fail(
                    name,
                    "each entry of the list must be an AttentionBlock.",
                    f"Entry {number} of yours is a {type(block).__name__}.",
                    "AttentionBlock(config) makes one.",
                )
        if len({id(block) for block in blocks}) < layers:
            fail(
                name,
                "each layer needs a block of its own.",
                "Yours holds the same block more than once.",
                "Make a new block for every entry: [block] * n is one block, n times.",
            )
        known = [key for key, _ in model.named_parameters() if key.endswith("q_lin.weight")]
        if len(known) != layers:
            fail(
                name,
                "the model must know the blocks' parameters: else none is loaded, trained or moved.",
                f"It knows those of {len(known)} blocks, not {layers}.",
                "A plain Python list hides its entries from the model; torch.nn has a list that does not.",
            )
    passed(name, "as many blocks as the config says", "each its own", "all known to the model")


def _blocks(name: str, model: nn.Module) -> list[Any]:
    encoder = part(name, model, "attention_layers")
    try:
        return list(encoder)
    except TypeError:
        fail(
            name,
            "attention_layers must be a list of blocks.",
            f"Yours is a {type(encoder).__name__}.",
            "One block for each layer, in a list that torch knows.",
        )


# --- the loop ---------------------------------------------------------------------------------------------------------


@undisturbed
def encoder_loop(kind: Any) -> None:
    """Each block takes what the one before it gave; the last one's output goes on; all weights are kept.

    The blocks are replaced by stand-ins: layer i adds i + 1 to every number.
    """
    name = "encoder_loop"
    config = small_config(n_layers=4)
    model = _model(name, kind, config)
    embedded, dim = torch.randn(BATCH, TOKENS, config.dim), config.dim
    shifts = torch.arange(1.0, config.n_layers + 1)[:, None].expand(-1, dim)
    attention = torch.rand(config.n_layers, BATCH, config.n_heads, TOKENS, TOKENS).softmax(-1)
    with running(name, "a batch of 2 sentences", "What does a block return? Two things: take them apart."):
        record = stand_ins.run_loop(
            model, IDS, embedded, torch.eye(dim).expand(config.n_layers, -1, -1), shifts, attention
        )
    _chain(name, record.layer_inputs, embedded, config.n_layers)
    _goes_on(name, record.pooled, embedded, config.n_layers)
    _attention_kept(name, record, attention)
    passed(
        name,
        "every block once, in order",
        "each takes what the last one gave",
        "the last output goes on",
        "weights kept, layer by layer",
    )


def _model(name: str, kind: Any, config: Config) -> nn.Module:
    with running(name, "making the model", "Look at __init__."):
        return stand_ins.build(kind, config)


def _chain(name: str, inputs: Tensor, embedded: Tensor, layers: int) -> None:
    if len(inputs) != layers:
        fail(
            name,
            f"each of the {layers} blocks is called once.",
            f"In yours there are {len(inputs)} calls.",
            "The loop runs over the whole list.",
        )
    if inputs[0].shape != embedded.shape or not close(inputs[0], embedded):
        fail(
            name,
            "the first block takes the embeddings.",
            "Yours takes something else.",
            "The loop starts from encoder_input.",
        )
    added = [(fed - embedded).mean().item() for fed in inputs]
    if all(abs(value) < 1e-3 for value in added):
        fail(
            name,
            "each block takes what the block before it gave.",
            "In yours every block takes the embeddings.",
            "What a block gives must take the place of what the next one is fed.",
        )
    right = [layer * (layer + 1) / 2 for layer in range(layers)]
    if any(abs(value - want) > 1e-3 for value, want in zip(added, right, strict=True)):
        came = (
            "In yours the blocks come in another order."
            if abs(added[1] - 1) > 1e-3
            else "In yours something else is fed."
        )
        fail(
            name,
            "each block takes what the block before it gave, first to last.",
            came,
            "Print i and encoder_input.shape inside the loop.",
        )


def _goes_on(name: str, pooled: Tensor | None, embedded: Tensor, layers: int) -> None:
    if pooled is None:
        fail(
            name,
            "the last block's output goes on to the classifier.",
            "Nothing arrived there.",
            "It must be called output.",
        )
    steps = layers * (layers + 1) / 2
    same_shape(name, "what is pooled", pooled, tuple(embedded[:, 0].shape), "(batch, dim)")
    if close(pooled, embedded[:, 0] + steps, 1e-3):
        return
    came = "Something else arrives."
    if close(pooled, embedded[:, 0]):
        came = "The embeddings arrive."
    elif close(pooled, embedded[:, 0] + steps - layers, 1e-3):
        came = "The last block's input arrives: one step is missing."
    fail(
        name,
        "the last block's output, called output, goes on to the classifier.",
        came,
        "What is output when the loop ends?",
    )


def _attention_kept(name: str, record: stand_ins.LoopRecord, attention: Tensor) -> None:
    expected = "self.attention_probs[i] holds the weights of block i, (batch, heads, tokens, tokens)."
    if record.attention is None:
        fail(
            name,
            expected,
            "Yours has not one tensor for each layer.",
            "A block returns two things: the weights are the second.",
        )
    if record.attention.shape != attention.shape:
        fail(
            name,
            expected,
            f"Yours have {tuple(record.attention.shape[1:])}, not {tuple(attention.shape[1:])}.",
            "Keep what the block returns as it is.",
        )
    if not close(record.attention, attention):
        came, look = "Yours are others.", "Print the shapes of the two things that a block returns."
        if close(record.attention, attention.flip(0)):
            came, look = "Yours are counted from the end.", "Layer 0 is the first one."
        elif close(record.attention, attention[-1:].expand_as(attention)):
            came, look = (
                "Yours hold the last block's weights for every layer.",
                "Keep them inside the loop, under the loop's own number.",
            )
        fail(name, expected, came, look)
    if record.grown or record.attention_again is None:
        fail(
            name,
            "a second sentence takes the place of the first in attention_probs.",
            "Yours grows with every call.",
            "Assign to attention_probs[i]; nothing needs to be appended.",
        )


# --- the classifier ---------------------------------------------------------------------------------------------------


@undisturbed
def classifier(kind: Any) -> None:
    """pre_classifier, ReLU, classifier: raw scores come out.

    Everything before it is replaced by a stand-in. pre_classifier doubles, the classifier picks the first two
    features and takes 1 from the second, so that the answer is known.
    """
    name = "classifier"
    config = small_config(n_layers=2, n_classes=4)
    model = _model(name, kind, config)
    for layer in ("pre_classifier", "classifier"):
        part(name, model, layer)
    final = torch.full((BATCH, TOKENS, config.dim), 3.0)
    final[:, 0, :2] = torch.tensor([0.5, -1.0])
    put_linear(model, "pre_classifier", 2 * torch.eye(config.dim))
    put_linear(model, "classifier", torch.eye(config.dim)[: config.n_classes], torch.tensor([0.0, -1.0, 0.0, 0.0]))
    with running(name, "a batch of 2 sentences", "pooled_output is (batch, dim): it goes through both layers."):
        logits = stand_ins.run_classifier(model, IDS, final, config.n_layers, config.n_heads)
    same_shape(
        name,
        "the logits",
        logits,
        (BATCH, config.n_classes),
        "(batch, n_classes)",
        "pooled_output holds one vector for each sentence: does the classifier take that?",
    )
    _logits(name, logits.float())
    passed(name, "pre_classifier, ReLU, classifier, in this order", "raw scores, no probabilities")


#: The first two logits of somebody who makes a known mistake; right is (1, -1).
KNOWN = {
    (1.0, -3.0): "the ReLU is missing: a negative number came through.",
    (0.8413, -1.0455): "the activation looks like a GELU.",
    (0.7616, -1.9640): "the activation looks like a tanh.",
    (0.7311, -0.8808): "the activation looks like a sigmoid.",
    (1.0, 0.0): "a ReLU was applied to the logits.",
    (0.5, -1.0): "pre_classifier was left out.",
    (0.5, -2.0): "pre_classifier and ReLU were left out.",
    (6.0, 5.0): "another token than [CLS] was taken.",
}


def _logits(name: str, logits: Tensor) -> None:
    expected = (
        "the first two logits must be 1 and -1 here: features 0.5 and -1, doubled, through the ReLU, minus 0 and 1."
    )
    look = "First pre_classifier, then ReLU, then classifier."
    if close(logits[:, :2], torch.tensor([[1.0, -1.0]] * BATCH), 1e-3):
        return
    sums = logits.sum(-1)
    if close(sums, torch.ones_like(sums), 1e-4) and bool((logits >= 0).all()):
        fail(
            name,
            "logits are raw scores; they need not sum to 1.",
            "Yours are probabilities: a softmax was applied.",
            "Whoever wants probabilities takes the softmax afterwards.",
        )
    if close(logits.exp().sum(-1), torch.ones_like(sums), 1e-4):
        fail(
            name,
            "logits are raw scores.",
            "Yours are log-probabilities: a log-softmax was applied.",
            "Whoever wants probabilities takes the softmax afterwards.",
        )
    first, second = logits[0, 0].item(), logits[0, 1].item()
    came = next(
        (words for (one, two), words in KNOWN.items() if abs(first - one) + abs(second - two) < 2e-3),
        "something else happens on the way.",
    )
    fail(name, expected, f"Yours are {first:.3g} and {second:.3g}: {came}", look)


def prediction(model: Any) -> None:
    """With trained weights the model tells praise from blame."""
    name = "prediction"
    from course.tokenizer import encode

    with torch.no_grad():
        for sentence, label in (("A wonderful film.", 1), ("A terrible film.", 0)):
            with running(name, "a short sentence", "Do the parts pass their own checks?"):
                logits = model(encode(sentence, model.config)["input_ids"])
            if int(logits[0].argmax()) != label:
                fail(
                    name,
                    f"“{sentence}” is {'positive' if label else 'negative'}.",
                    "Your model says the opposite.",
                    "Were the weights loaded, and do the three parts above pass their checks?",
                )
    passed(name, "praise and blame are told apart")
