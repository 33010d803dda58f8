"""Examples that can be computed by hand, in words that teach. Told where an answer is wrong in no known way."""

from math import log, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import as_array, close, fail, finite, same_shape, to_numpy
from course.check.encoder_lab._by_hand import (
    LONG,
    LOOK_AXES,
    attention_properties,
    in_words,
    rows_sum_to_one,
)
from course.check.encoder_lab._stand_ins import Fixed, StandIn, first, like
from course.check.modules import part


def attention_scores(function: Any) -> None:
    score = float(function(torch.ones(1, 2, LONG), torch.ones(1, 3, LONG))[0, 0, 0])
    if abs(score - sqrt(LONG)) > 1e-3:
        came = f"Yours is {score:.4g}: {in_words(score / sqrt(LONG))}"
        look = "What are the scores divided by, and how often?"
        fail("attention_scores", f"{LONG} products of 1 and 1 make a score of {sqrt(LONG):g}, scaled.", came, look)
    if not close(function(torch.eye(4)[None, :3], torch.eye(4)[None])[0], torch.eye(4)[:3] / 2):
        fail("attention_scores", "vectors that have nothing in common must score 0.", "Yours do not.", LOOK_AXES)


def attention_weights(function: Any) -> None:
    rows_sum_to_one("attention_weights", function(torch.randn(2, 3, 5)))
    thirds, halves = function(torch.tensor([[[0.0, log(3.0)], [5.0, 5.0]]]))[0]
    if not close(thirds, [0.25, 0.75]) or not close(halves, [0.5, 0.5]):
        want = "scores of 0 and log 3 must make weights of 1/4 and 3/4, equal scores equal weights."
        came = f"Yours are {_row(thirds)} and {_row(halves)}."
        fail("attention_weights", want, came, "Scores become weights by one softmax.")


def scaled_dot_product_attention(function: Any) -> None:
    attention_properties("scaled_dot_product_attention", lambda *given: first(function(*given)))
    output = first(function(torch.randn(2, 7, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)))
    axes, look = "(batch, n, d_v)", "Every query has an output, however many keys there are."
    same_shape("scaled_dot_product_attention", "the output for 7 queries", output, (2, 7, 6), axes, look)


def masked_attention(function: Any) -> None:
    """What holds without a mask; then what a mask hides, and what it leaves."""
    name = "masked_attention"
    attention_properties(name, lambda *given: first(function(*given)))
    given = torch.randn(2, 5, 4), torch.randn(2, 5, 4), torch.eye(5).expand(2, 5, 5)
    weights = first(function(*given, torch.ones(5, 5).tril()[None]))
    same_shape(name, "the output", weights, (2, 5, 5), "(batch, queries, size of a value)")
    finite(name, "the output", weights, "0 times infinity is nan. Is a whole row masked, or the mask flipped?")
    hidden, shown = float(weights.triu(1).abs().max()), float(weights.tril(-1).abs().max())
    if hidden > 1e-6:
        flipped = "The mask is flipped: only what it hides is seen."
        came = flipped if shown < 1e-6 else f"Weights of up to {hidden:.2g} are left there."
        look = "What must a score be, for the softmax to make exactly 0 of it? And does that happen before the softmax?"
        fail(name, "where the mask is 0, the weight must be 0.", came, look)
    rows_sum_to_one(name, weights, "The mask must come before the softmax: then the other weights share what is left.")
    if not close(first(function(*given, torch.ones(1, 5, 5))), first(function(*given))):
        fail(name, "a mask of ones hides nothing and must change nothing.", "It changes your output.")


def causal_mask(function: Any) -> None:
    mask = torch.as_tensor(function(4))
    same_shape("causal_mask", "the mask", mask, (1, 4, 4), "(1, queries, keys)", "One mask for a whole batch.")
    other = mask[(mask != 0) & (mask != 1)]
    if len(other):
        fail("causal_mask", "the mask holds ones and zeros.", f"Yours also holds {other[0].item():g}.")
    if bool(mask[0].triu(1).any()):
        fail("causal_mask", "no token may look at a later one.", "In yours, not all above the diagonal is 0.")
    if bool((mask[0] == 0).tril().any()):
        fail("causal_mask", "every token may look at itself and at all earlier ones.", "In yours it may not.")


def sentence_b_start(function: Any) -> None:
    start = to_numpy(function(torch.tensor([[0, 0, 0, 0, 0, 1, 1]])))
    if start.size != 1:
        came = f"{start.size} numbers came."
        fail("sentence_b_start", "one position is expected.", came, "Which axis are the tokens?")
    if int(start.reshape(())) != 5:
        want = "with five tokens in the first sentence the second begins at position 5."
        fail("sentence_b_start", want, f"Yours begins at {int(start.reshape(()))}.")


def separator_share(function: Any) -> None:
    attention = torch.tensor([[[0.2, 0.0, 0.5, 0.05, 0.25]] * 5, [[1.0, 0, 0, 0, 0]] * 4 + [[0, 0, 0, 0, 1.0]]])
    share = as_array(function(attention, ["[CLS]", "dog", "[SEP]", "cat", "[SEP]"]))
    same_shape("separator_share", "the shares", share, (2,), "(heads,)", "One number per head.")
    for head, want, words in (
        (0, 0.75, "where every query gives half to one [SEP] and a quarter to the other, the share is 0.75."),
        (1, 0.2, "where one query of five gives all to [SEP], the share is 0.2."),
    ):
        if abs(float(share[head]) - want) > 1e-6:
            fail("separator_share", words, f"Yours is {float(share[head]):.3g}.", "An average over the queries.")
    three = torch.tensor([[[0.0, 0.0, 0.1, 0.0, 0.2, 0.4, 0.3], [1.0, 0, 0, 0, 0, 0, 0]]])
    share = as_array(function(three, ["[CLS]", "dog", "[SEP]", "cat", "[SEP]", "[SEP]", "man"]))
    if abs(float(share[0]) - 0.35) > 1e-6:
        example = "where one query of two gives 0.1, 0.2 and 0.4 to three [SEP], the share is 0.35."
        look = "Every [SEP] counts, wherever it stands; the average is over the queries, here fewer than the keys."
        fail("separator_share", example, f"Yours is {float(share[0]):.3g}.", look)


def previous_token(function: Any) -> None:
    back = torch.eye(5)[[0, 0, 1, 2, 3]]  # the token before; the first one, which has none, itself
    weight = as_array(function(torch.stack([back, torch.eye(5), torch.full((5, 5), 0.2)])[None]))
    same_shape("previous_token", "the weights", weight, (1, 3), "(layers, heads)", "One number for each head.")
    for head, want, words in (
        (0, 1.0, "a head that always looks one token back has a weight of 1."),
        (1, 0.0, "a head that looks at itself alone has a weight of 0."),
        (2, 0.2, "a head that looks everywhere alike gives each token 1/5."),
    ):
        if abs(float(weight[0, head]) - want) > 1e-6:
            look = "Row i is query i; which column is the token before it? The first query has none."
            fail("previous_token", words, f"Yours has {float(weight[0, head]):.3g}.", look)


def products(function: Any) -> None:
    query = torch.tensor([2.0, 0.0, -1.0, 4.0])
    came = torch.as_tensor(as_array(function(query, torch.eye(4)[:3])))
    same_shape("products", "the products", came, (3, 4), "(tokens, d)", "The sum over the dimensions comes later.")
    if not close(came.sum(-1), query[:3] / 2):
        want = "for keys that are unit vectors the sums must be 1, 0 and -0.5: the query's numbers, scaled."
        fail("products", want, f"Yours are {_row(came.sum(-1))}.", "What is a score divided by?")


def moved(function: Any) -> None:
    original, order = torch.randn(3, 4, 6), torch.tensor([2, 0, 3, 1])
    near = as_array(function(original.clone(), original[:, order], order))
    same_shape("moved", "the distances", near, (3,), "(layers,)", "One number per layer.")
    if not close(near, torch.zeros(3)):
        want = "where every token keeps its vector, and only its position changes, nothing has moved."
        look = "Token i of the shuffled sentence is token order[i] of the original."
        fail("moved", want, f"Yours has moved by {float(near[0]):.3g}.", look)
    step = torch.tensor([1.0, 2, 3, 2])[:, None] * torch.tensor([3.0, -4, 0, 0, 0, 0])  # each a multiple of 5 long
    far = as_array(function(original.clone(), original[:, order] + step, order))
    if not close(far, torch.full((3,), 10.0)):
        want = "tokens that move by 5, 10, 15 and 10 move by 10 on average."
        fail("moved", want, f"Yours is {float(far[0]):.3g}.", "The length of a difference, averaged.")


def _row(row: Any) -> str:
    return "(" + ", ".join(f"{float(number):.3g}" for number in row) + ")"


def head_attention(student_class: Any) -> None:
    def attend(*given: Tensor) -> Tensor:
        found = student_class(7, LONG, LONG, 5).eval().scaled_dot_product_attention(*given)
        if not isinstance(found, tuple | list) or len(found) != 2:
            came = f"Yours returns one {type(found).__name__}."
            fail("head_attention", "the method returns two things: output, weights.", came, "return output, weights")
        return found[0]

    attention_properties("head_attention", attend, LONG)


def attention_head(student_class: Any) -> None:
    _parts("attention_head", student_class(6, 4, 4, 5), "wq", "wk", "wv")


def attention_head_notes(student_class: Any) -> list[str]:
    head = student_class(6, 4, 4, 5)
    biased = [name for name in ("wq", "wk", "wv") if getattr(getattr(head, name), "bias", None) is not None]
    return [f"but {', '.join(biased)} with a bias, which eq. (1) does not have (no points lost)"] if biased else []


def multi_head_init(student_class: Any) -> None:
    _parts("multi_head_init", student_class(15, 3), "heads", "output_linear")


def multi_head_init_notes(student_class: Any) -> list[str]:
    """What costs nothing, but is worth a word: sizes that do not fit are best refused at once."""
    try:
        student_class(10, 3)
    except Exception as refused:
        return [f"10 numbers for 3 heads are refused: “{refused}”"] if str(refused) else []
    return ["but MultiHeadAttention(10, 3) is not refused with a message of your own: who meets it later will wonder"]


def multi_head_attention(student_class: Any) -> None:
    attention = _parts("multi_head_attention", student_class(15, 3), "heads", "output_linear")
    attention.heads = nn.ModuleList(StandIn(torch.zeros(15, 5), float(number)) for number in (1, -2, 3))
    attention.output_linear.weight.data.copy_(torch.eye(15))
    if attention.output_linear.bias is not None:
        attention.output_linear.bias.data.zero_()
    output = first(attention(torch.randn(2, 4, 15)))
    want = "a token's vector must be: all of head 1, then all of head 2, then all of head 3."
    look = "The heads' vectors (2, 4, 5) are laid end to end, along the last axis."
    same_shape("multi_head_attention", "the output", output, (2, 4, 15), "(batch, tokens, d_model)", look)
    if not close(output, torch.tensor([1.0, -2, 3]).repeat_interleave(5).expand(2, 4, 15)):
        came = f"With heads that give 1s, -2s and 3s yours begins {_row(output[0, 0, :6])}."
        fail("multi_head_attention", want, came, "Concatenate along the last axis.")


def feed_forward(student_class: Any) -> None:
    network, x = _parts("feed_forward", student_class(3, 7), "linear_1", "linear_2").eval(), torch.tensor([1.0, -1, 3])
    for factor, layer in ((1, network.linear_1), (2, network.linear_2)):
        layer.weight.data.copy_(factor * torch.eye(7)[: layer.weight.shape[0], : layer.weight.shape[1]])
        if layer.bias is not None:
            layer.bias.data.zero_()
    output = first(network(x.expand(2, 1, 3)))[0, 0]
    if not torch.allclose(output, torch.tensor([1.6827, -0.3173, 5.9919]), atol=1e-4, rtol=0):
        want = "where linear_1 passes all on and linear_2 doubles it, 1, -1, 3 come out as 1.6827, -0.3173, 5.9919."
        fail("feed_forward", want, f"Yours are {_row(output)}.", "Is it a GELU, once, between the two layers?")


def embeddings(student_class: Any) -> None:
    module = _parts(
        "embeddings", student_class(11, 8, 6).eval(), "token_embeddings", "position_embeddings", "layer_norm"
    )
    output = first(module(torch.tensor([[3, 7, 3], [3, 7, 3]])))
    same_shape("embeddings", "the output", output, (2, 3, 6), "(batch, tokens, d_model)", "One vector for every token.")
    if close(output[0, 0], output[0, 2]):
        look = "Are the position vectors added, and does every position have its own?"
        fail("embeddings", "the same word at two positions must get two different vectors.", "Yours are equal.", look)
    if not close(output[0], output[1]):
        came = "In yours the position in the batch matters."
        fail("embeddings", "two equal sentences must get equal vectors.", came, "The position is axis 1.")


def embeddings_notes(student_class: Any) -> list[str]:
    share = getattr(getattr(student_class(11, 8, 6), "dropout", None), "p", None)
    return [] if share == 0.1 else [f"but the dropout's share is {share or 'nothing'}, not 0.1 (no points lost)"]


def encoder_layer(student_class: Any) -> None:
    layer, x = student_class(6, 3, 8).eval(), 3 + 2 * torch.randn(2, 4, 6)
    _parts("encoder_layer", layer, "layer_norm_1", "attention", "layer_norm_2", "feed_forward")
    for shifts, words in (
        ((0.0, 0.0), "where attention and network give 0, nothing but the skips is left: the layer returns its input."),
        ((500.0, 7000.0), "what attention and network give, here 500 and 7000 everywhere, is added to the input."),
    ):
        layer.attention, layer.feed_forward = (StandIn(torch.zeros(6, 6), shift) for shift in shifts)
        output = first(layer(x))
        same_shape("encoder_layer", "the output", output, (2, 4, 6), "(batch, tokens, d_model)")
        if not close(output, x + sum(shifts), 1e-2):
            came = f"Yours adds {float((output - x).mean()):.4g} on average, and not to every number the same."
            look = "Each skip goes around the norm as well: from before it to after the sublayer."
            fail("encoder_layer", words, came, look)


def encoder(student_class: Any) -> None:
    module = _parts("encoder", student_class(11, 8, 6, 3, 10, 4).eval(), "embeddings", "layers")
    if not hasattr(module.layers, "__len__"):
        fail("encoder", "num_hidden_layers=4 makes a list of 4 layers.", "Yours is a single layer, no list.")
    # layer number n doubles what comes and adds n: 0 -> 1 -> 4 -> 11 -> 26
    module.embeddings = Fixed(torch.zeros(2, 3, 6))
    module.layers = like(module.layers, [StandIn(2 * torch.eye(6), float(number)) for number in range(1, 5)])
    if not close(first(module(torch.ones(2, 3, dtype=torch.long))), torch.full((2, 3, 6), 26.0)):
        came = "Yours do not: the layers do not run once each, in order."
        fail("encoder", "each layer works on what the one before it gave, and nothing is added to that.", came)


def classification_head(student_class: Any) -> None:
    _parts("classification_head", student_class(6, 4, 0.25), "linear")


def classifier(student_class: Any) -> None:
    _parts("classifier", student_class(11, 8, 6, 3, 10, 4, 5, 0.25), "transformer_encoder", "classifier")


def _parts(name: str, module: Any, *names: str) -> Any:
    """The module, which has these parts; a missing one is a failed check."""
    for one in names:
        part(name, module, one)
    return module
