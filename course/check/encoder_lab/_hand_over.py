"""What the hidden cells of ``1_models.ipynb`` run: a class on stored inputs, its answers under fixed names.

An answer ``stand_in_0/…`` comes from the class with stand-ins for its parts, ``own/…`` from the class with the
student's own parts and stored weights in all of them. Either earns the points: the first, so that a mistake in an
earlier class is paid for once; the second, so that a solution may reach into its parts as it likes.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from course.check.encoder_lab._attempts import Answers, arguments, attempts, listed, values
from course.check.encoder_lab._own import effects, kept_factor, learned, own_norms, parts
from course.check.encoder_lab._stand_ins import (
    FirstToken,
    Fixed,
    ReachedInto,
    StandIn,
    first,
    forms,
    like,
    replaced,
    returns_pair,
    selects_first_token,
    stand_in_class,
)
from course.check.side_effects import side_effects

HEAD = ("d_model", "d_k", "d_q", "d_v")
ATTENTION = ("d_model", "num_attention_heads")
FEED_FORWARD = ("d_model", "intermediate_size")
EMBEDDINGS = ("vocab_size", "max_position_embeddings", "d_model")
LAYER = ("d_model", "num_attention_heads", "intermediate_size")
ENCODER = (*EMBEDDINGS, "num_attention_heads", "intermediate_size", "num_hidden_layers")
CLASSIFICATION = ("d_model", "num_classes", "dropout_prob")
MODEL = (*ENCODER, *CLASSIFICATION[1:])


def attention_head(models: ModuleType, case: Any) -> Answers:
    """AttentionHead.forward, with its method scaled_dot_product_attention stood in for."""
    head = models.AttentionHead(*values(case.config, HEAD))
    weights = {name: getattr(head, name).weight for name in ("wq", "wk", "wv")}
    shapes = {name: list(weight.shape) for name, weight in weights.items()}
    separate = {"separate": len({id(weight) for weight in weights.values()}) == 3}
    case.load(head)

    def stand_in() -> Answers:
        received: list[tuple[Tensor, ...]] = []

        def method(q: Tensor, k: Tensor, v: Tensor, *others: Any, **named: Any) -> tuple[Tensor, Tensor]:
            received.append((q, k, v))
            return case.mixed, case.mixing

        head.scaled_dot_product_attention = method
        try:
            output = first(head(case.hidden_states))
        finally:
            del head.scaled_dot_product_attention
        return {"output": output, **dict(zip("qkv", received[0], strict=True))} if received else {}

    answers = attempts([stand_in], lambda: {"output": first(head(case.hidden_states))})
    return shapes | separate | answers | effects(lambda: head, case.hidden_states)


def multi_head_init(models: ModuleType, case: Any) -> Answers:
    """MultiHeadAttention.__init__: which heads there are, and of which sizes."""
    part, made = stand_in_class(HEAD, [StandIn(torch.eye(2)) for _ in range(99)])
    try:
        with replaced(models, AttentionHead=part):
            attention = models.MultiHeadAttention(*values(case.config, ATTENTION))
    except ReachedInto:  # to set its heads' weights, say
        made.clear()
        attention = models.MultiHeadAttention(*values(case.config, ATTENTION))
    sizes = arguments("head", HEAD, made) or {"head_arguments": [_sizes_of(head) for head in attention.heads]}
    output_linear = {"output_linear": list(attention.output_linear.weight.shape)}
    return listed(attention, attention.heads) | sizes | output_linear | {"refuses_uneven": refuses_uneven(models)}


def _sizes_of(head: Any) -> list[int]:
    """The arguments a head must have been made with, read off its layers."""
    queries, keys, offers = head.wq, head.wk, head.wv
    return [queries.in_features, keys.out_features, queries.out_features, offers.out_features]


def refuses_uneven(models: ModuleType) -> bool:
    """Does a MultiHeadAttention stop, when made or when called, where its vector cannot be cut into equal parts?"""
    part, _ = stand_in_class(HEAD, [StandIn(torch.eye(10)[:, :3])])
    with replaced(models, AttentionHead=part):
        try:
            models.MultiHeadAttention(10, 3)(torch.ones(2, 4, 10))
        except ReachedInto:
            pass
        except Exception:
            return True
        else:
            return False
    try:
        models.MultiHeadAttention(10, 3)(torch.ones(2, 4, 10))
    except Exception:
        return True
    return False


def multi_head_attention(models: ModuleType, case: Any) -> Answers:
    """MultiHeadAttention.forward, with stand-ins for the heads."""
    sizes = values(case.config, ATTENTION)
    d_head = sizes[0] // sizes[1]

    def stand_in(pair: bool) -> Answers:
        parts = [StandIn(matrix, shift, pair) for matrix, shift in zip(case.matrices, case.shifts, strict=True)]
        with replaced(models, AttentionHead=stand_in_class(HEAD, parts)[0]):
            attention = models.MultiHeadAttention(*sizes)
        attention.heads = nn.ModuleList(parts)
        return {"output": first(case.load(attention)(case.hidden_states))}

    def own() -> Answers:
        return {"output": first(case.load(models.MultiHeadAttention(*sizes))(case.hidden_states))}

    pair = returns_pair(lambda: models.AttentionHead(sizes[0], d_head, d_head, d_head), case.hidden_states)
    answers = attempts([partial(stand_in, form) for form in forms(pair)], own)
    return answers | effects(lambda: case.load(models.MultiHeadAttention(*sizes)), case.hidden_states)


def feed_forward(models: ModuleType, case: Any) -> Answers:
    network = models.FeedForward(*values(case.config, FEED_FORWARD))
    shapes = {name: list(getattr(network, name).weight.shape) for name in ("linear_1", "linear_2")}
    output = {"output": first(case.load(network)(case.hidden_states.clone()))}
    return shapes | output | effects(lambda: network, case.hidden_states)


def embeddings(models: ModuleType, case: Any) -> Answers:
    """Embeddings; also what it does in training, and to a sentence that is too long."""
    module = models.Embeddings(*values(case.config, EMBEDDINGS))
    shapes = {name: list(getattr(module, name).weight.shape) for name in ("token_embeddings", "position_embeddings")}
    norm = {"own_norms": [learned(module, "layer_norm")]}
    output = first(case.load(module)(case.input_ids))
    more = effects(lambda: module, case.input_ids)
    torch.manual_seed(0)
    in_training = first(module.train()(case.input_ids))
    module.eval()
    try:
        module(torch.ones(2, case.config.max_position_embeddings + 1, dtype=torch.long))
        refuses = False
    except Exception:
        refuses = True
    return shapes | norm | more | {"output": output, "in_training": in_training, "refuses_long": refuses}


def encoder_layer(models: ModuleType, case: Any) -> Answers:
    """TransformerEncoderLayer, with stand-ins for the attention and the feed-forward network."""
    sizes = values(case.config, LAYER)
    asked: Answers = {}

    def stand_in(pair: bool) -> Answers:
        attention = StandIn(case.attention_matrix, case.attention_shift, pair)
        network = StandIn(case.network_matrix, case.network_shift)
        attention_class, attention_calls = stand_in_class(ATTENTION, [attention])
        network_class, network_calls = stand_in_class(FEED_FORWARD, [network])
        with replaced(models, MultiHeadAttention=attention_class, FeedForward=network_class):
            layer = models.TransformerEncoderLayer(*sizes)
        asked.update(arguments("attention", ATTENTION, attention_calls))
        asked.update(arguments("feed_forward", FEED_FORWARD, network_calls))
        asked["own_parts"] = parts(layer, "attention", "feed_forward")
        asked.update(norms(layer))
        layer.attention, layer.feed_forward = attention, network
        _put_norms(layer, case)
        return {"output": first(layer.eval()(case.hidden_states))}

    def norms(layer: nn.Module) -> Answers:
        counts = [learned(layer, "layer_norm_1"), learned(layer, "layer_norm_2")]
        return {"own_norms": counts, "different_norms": own_norms(layer)}

    def own() -> Answers:
        layer = models.TransformerEncoderLayer(*sizes)
        asked.update({name: found for name, found in norms(layer).items() if name not in asked})
        return {"output": first(case.load(layer)(case.hidden_states))}

    pair = returns_pair(lambda: models.MultiHeadAttention(*sizes[:2]), case.hidden_states)
    more = effects(lambda: case.load(models.TransformerEncoderLayer(*sizes)), case.hidden_states)
    return attempts([partial(stand_in, form) for form in forms(pair)], own) | asked | more


def _put_norms(layer: nn.Module, case: Any) -> None:
    """The stored scale and shift for both layer norms, whatever their eps."""
    for name in ("layer_norm_1", "layer_norm_2"):
        weight, bias = getattr(case, f"{name}_weight"), getattr(case, f"{name}_bias")
        if not isinstance(getattr(layer, name, None), nn.Module):
            setattr(layer, name, nn.LayerNorm(len(weight)))
        norm = getattr(layer, name)
        norm.weight, norm.bias = nn.Parameter(weight), nn.Parameter(bias)


def encoder(models: ModuleType, case: Any) -> Answers:
    """TransformerEncoder, with stand-ins for the embeddings and the layers."""
    sizes = values(case.config, ENCODER)
    asked: Answers = {}

    def stand_in(pair: bool) -> Answers:
        layers = [StandIn(matrix, shift, pair) for matrix, shift in zip(case.matrices, case.shifts, strict=True)]
        spare = [StandIn(case.matrices[0]) for _ in range(20)]  # for whoever makes too many: each an object of its own
        embeddings_class, embeddings_calls = stand_in_class(EMBEDDINGS, [Fixed(case.embedded)])
        layer_class, layer_calls = stand_in_class(LAYER, [*layers, *spare])
        with replaced(models, Embeddings=embeddings_class, TransformerEncoderLayer=layer_class):
            module = models.TransformerEncoder(*sizes)
        asked.update(listed(module, module.layers))
        asked.update(arguments("embeddings", EMBEDDINGS, embeddings_calls))
        asked.update(arguments("layer", LAYER, layer_calls[:1]))
        asked["own_parts"] = parts(module, "embeddings")
        module.embeddings, module.layers = Fixed(case.embedded), like(module.layers, layers)
        return {"output": first(module.eval()(case.input_ids))}

    def own() -> Answers:
        module = models.TransformerEncoder(*sizes)
        asked.update({name: count for name, count in listed(module, module.layers).items() if name not in asked})
        return {"output": first(case.load(module)(case.input_ids))}

    pair = returns_pair(lambda: models.TransformerEncoderLayer(*values(case.config, LAYER)), case.embedded)
    more = effects(lambda: case.load(models.TransformerEncoder(*sizes)), case.input_ids, "embeddings.token")
    return attempts([partial(stand_in, form) for form in forms(pair)], own) | asked | more


def classification_head(models: ModuleType, case: Any) -> Answers:
    """ClassificationHead; also what it does in training, as it is and with its weights at zero."""
    head = models.ClassificationHead(*values(case.config, CLASSIFICATION))
    asked = {"linear": list(head.linear.weight.shape), "p": float(getattr(getattr(head, "dropout", None), "p", -1))}
    asked["has_bias"] = getattr(head.linear, "bias", None) is not None  # loading makes one
    case.load(head)
    # a head that picks the first token itself wants the whole sentence
    vectors = case.hidden_states if selects_first_token(head, case.config.d_model) else case.pooled
    logits = first(head(vectors.clone()))
    asked |= effects(lambda: head, vectors)
    torch.manual_seed(0)
    drops = not torch.equal(first(head.train()(vectors)), logits)
    head.linear.weight.data.zero_()
    in_training = first(head(vectors))
    factor = {"factor": kept_factor(head, vectors)}
    return asked | factor | {"logits": logits, "drops": drops, "in_training": in_training}


def classifier(models: ModuleType, case: Any) -> Answers:
    """TransformerForSequenceClassification, with stand-ins for the encoder and the classification head."""
    sizes = values(case.config, MODEL)
    asked: Answers = {}

    def stand_in(pair: bool, kind: type[StandIn]) -> Answers:
        whole, head = Fixed(case.encoded, pair), kind(case.head_matrix, case.head_shift)
        encoder_class, encoder_calls = stand_in_class(ENCODER, [whole])
        head_class, head_calls = stand_in_class(CLASSIFICATION, [head])
        with replaced(models, TransformerEncoder=encoder_class, ClassificationHead=head_class):
            model = models.TransformerForSequenceClassification(*sizes)
        asked.update(arguments("encoder", ENCODER, encoder_calls))
        asked.update(arguments("head", CLASSIFICATION, head_calls))
        asked["own_parts"] = parts(model, "transformer_encoder", "classifier")
        model.transformer_encoder, model.classifier = whole, head
        logits = first(model.eval()(case.input_ids.clone()))
        asked.update(side_effects(lambda ids: first(model(ids)), case.input_ids, weights=[whole.output]))
        return {"logits": logits}

    def own() -> Answers:
        return {"logits": first(case.load(models.TransformerForSequenceClassification(*sizes))(case.input_ids.clone()))}

    pair = returns_pair(lambda: models.TransformerEncoder(*values(case.config, ENCODER)), case.input_ids)
    selects = _head_selects(models, case)
    kinds: list[type[StandIn]] = [StandIn, FirstToken] if selects is None else [FirstToken if selects else StandIn]
    return attempts([partial(stand_in, form, kind) for form in forms(pair) for kind in kinds], own) | asked


def _head_selects(models: ModuleType, case: Any) -> bool | None:
    try:
        head = models.ClassificationHead(*values(case.config, CLASSIFICATION))
        return selects_first_token(head, case.config.d_model)
    except Exception:
        return None
