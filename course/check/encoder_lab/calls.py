"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name. An answer ``stand_in/…`` comes
from a class with stand-ins for its parts, so that a mistake in an earlier class is paid for once. Its own parts are
put together in the whole model.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import several
from course.check.encoder_lab._attempts import (
    Answers,
    arguments,
    attempts,
    effects,
    kept_factor,
    learned,
    listed,
    own_norms,
    parts,
    values,
)
from course.check.encoder_lab._models_file import module_of, require_whole
from course.check.encoder_lab._stand_ins import (
    FirstToken,
    Fixed,
    OpenAttention,
    OpenAttentionHead,
    OpenHead,
    OpenLayer,
    OpenNetwork,
    ReachedInto,
    StandIn,
    first,
    like,
    selects_first_token,
    stand_in_class,
)
from course.check.limits import attempt_limit
from course.check.side_effects import changed
from course.check.with_ready_parts import both_ways, meaning

HEAD = ("d_model", "d_k", "d_q", "d_v")
ATTENTION = ("d_model", "num_attention_heads")
FEED_FORWARD = ("d_model", "intermediate_size")
EMBEDDINGS = ("vocab_size", "max_position_embeddings", "d_model")
LAYER = ("d_model", "num_attention_heads", "intermediate_size")
ENCODER = (*EMBEDDINGS, "num_attention_heads", "intermediate_size", "num_hidden_layers")
CLASSIFICATION = ("d_model", "num_classes", "dropout_prob")
MODEL = (*ENCODER, *CLASSIFICATION[1:])
#: A part gives a tensor; some solutions' parts give a pair, and a class that is made of them takes its first.
FORMS = (False, True)


def attention_scores(function: Any, case: Any) -> Answers:
    noted = changed(lambda *given: first(function(*given)), case.query, case.key)
    return {"scores": first(function(case.query, case.key)), "changed": noted}


def attention_weights(function: Any, case: Any) -> Answers:
    noted = changed(lambda scores: first(function(scores)), case.scores)
    return {"weights": first(function(case.scores)), "changed": noted}


def ready_scores(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("bnd,bmd->bnm", query, key) * key.shape[-1] ** -0.5


def ready_weights(scores: Tensor) -> Tensor:
    return scores.softmax(-1)


def scaled_dot_product_attention(function: Any, case: Any) -> Answers:
    return _by_steps(function, output=(case.query, case.key, case.value))


def masked_attention(function: Any, case: Any) -> Answers:
    given = case.query, case.key, case.value
    return _by_steps(function, output=(*given, case.mask), unmasked=given)


def _by_steps(function: Any, **asked: tuple[Tensor, ...]) -> Answers:
    """What the function gives for each of these arguments, by its own earlier steps and by ready-made ones."""

    def attend(*given: Tensor) -> Tensor:
        return first(function(*given))

    def call() -> Answers:
        found = {name: attend(*(x.clone() for x in given)) for name, given in asked.items()}
        return found | {"changed": changed(attend, *asked["output"])}

    return both_ways(function, call, {"attention_scores": ready_scores, "attention_weights": ready_weights})


def causal_mask(function: Any, case: Any) -> Answers:
    return {"mask": torch.as_tensor(function(case.config.n)).double()}


def sentence_b_start(function: Any, case: Any) -> Answers:
    return {"start": int(torch.as_tensor(function(case.token_type_ids)))}


def separator_share(function: Any, case: Any) -> Answers:
    return {"share": function(case.attention, list(case.tokens))}


def previous_token(function: Any, case: Any) -> Answers:
    return {"weight": function(case.attentions)}


def products(function: Any, case: Any) -> Answers:
    return {"products": function(case.query, case.keys)}


def moved(function: Any, case: Any) -> Answers:
    return {"moved": function(case.original, case.shuffled, case.order)}


def head_attention(student_class: Any, case: Any) -> Answers:
    head = student_class(*values(case.config, HEAD)).eval()
    output, weights = several(head.scaled_dot_product_attention(case.query, case.key, case.value), "output", "weights")
    return {"output": output, "weights": weights}


def attention_head(student_class: Any, case: Any) -> Answers:
    """AttentionHead.forward, with its method scaled_dot_product_attention ready-made, and what that is given."""
    head = student_class(*values(case.config, HEAD))
    weights = {name: getattr(head, name).weight for name in ("wq", "wk", "wv")}
    shapes = {name: list(weight.shape) for name, weight in weights.items()}
    separate = {"separate": len({id(weight) for weight in weights.values()}) == 3}
    received: list[tuple[Tensor, ...]] = []

    def attend(q: Tensor, k: Tensor, v: Tensor, *others: Any, **named: Any) -> tuple[Tensor, Tensor]:
        received.append((q, k, v))
        if q.shape[-1] != k.shape[-1]:  # a mistake that q and k themselves show
            return v, v
        weights = ready_weights(ready_scores(q, k))
        return weights @ v, weights

    case.load(head).scaled_dot_product_attention = attend
    output = first(head(case.hidden_states.clone()))
    handed = dict(zip("qkv", received[0], strict=True)) if received else {}
    return shapes | separate | handed | {"output": output} | effects(lambda: head, given=case.hidden_states)


def multi_head_init(student_class: Any, case: Any) -> Answers:
    """MultiHeadAttention.__init__: which heads there are, and of which sizes."""
    part, made = stand_in_class(HEAD, [StandIn(torch.eye(2)) for _ in range(99)])
    models = module_of(student_class)
    try:
        with meaning(vars(models), {"AttentionHead": part}):
            attention = student_class(*values(case.config, ATTENTION))
    except ReachedInto:  # to set its heads' weights, say
        made.clear()
        attention = student_class(*values(case.config, ATTENTION))
    sizes = arguments("head", HEAD, made) or {"head_arguments": [_sizes_of(head) for head in attention.heads]}
    output_linear = {"output_linear": list(attention.output_linear.weight.shape)}
    return (
        listed(attention, attention.heads) | sizes | output_linear | {"refuses_uneven": _refuses_uneven(student_class)}
    )


def _sizes_of(head: Any) -> list[int]:
    """The arguments a head must have been made with, read off its layers."""
    queries, keys, offers = head.wq, head.wk, head.wv
    return [queries.in_features, keys.out_features, queries.out_features, offers.out_features]


def _refuses_uneven(student_class: Any) -> bool:
    """Does a MultiHeadAttention stop, when made or when called, where its vector cannot be cut into equal parts?"""
    part, _ = stand_in_class(HEAD, [StandIn(torch.eye(10)[:, :3])])
    with meaning(vars(module_of(student_class)), {"AttentionHead": part}):
        try:
            student_class(10, 3)(torch.ones(2, 4, 10))
        except ReachedInto:
            pass
        except Exception:
            return True
        else:
            return False
    try:
        student_class(10, 3)(torch.ones(2, 4, 10))
    except Exception:
        return True
    return False


def multi_head_attention(student_class: Any, case: Any) -> Answers:
    """MultiHeadAttention.forward, with stand-ins for the heads."""
    sizes = values(case.config, ATTENTION)

    def stand_in(pair: bool) -> nn.Module:
        parts = _stand_ins(OpenAttentionHead, case, pair)
        attention = _made(student_class, sizes, AttentionHead=stand_in_class(HEAD, parts)[0])
        attention.heads = nn.ModuleList(parts)
        return case.load(attention)

    return _tried(stand_in, FORMS, case.hidden_states, within=("output_linear.",))


def feed_forward(student_class: Any, case: Any) -> Answers:
    network = student_class(*values(case.config, FEED_FORWARD))
    shapes = {name: list(getattr(network, name).weight.shape) for name in ("linear_1", "linear_2")}
    output = {"output": first(case.load(network)(case.hidden_states.clone()))}
    return shapes | output | effects(lambda: network, given=case.hidden_states)


def embeddings(student_class: Any, case: Any) -> Answers:
    """Embeddings; also what it does in training, and to a sentence that is too long."""
    module = student_class(*values(case.config, EMBEDDINGS))
    shapes = {name: list(getattr(module, name).weight.shape) for name in ("token_embeddings", "position_embeddings")}
    norm = {"own_norms": [learned(module, "layer_norm")]}
    output = first(case.load(module)(case.input_ids.clone()))
    more = effects(lambda: module, given=case.input_ids)
    torch.default_generator.manual_seed(0)
    in_training = first(module.train()(case.input_ids.clone()))
    module.eval()
    try:
        module(torch.ones(2, case.config.max_position_embeddings + 1, dtype=torch.long))
        refuses = False
    except Exception:
        refuses = True
    return shapes | norm | more | {"output": output, "in_training": in_training, "refuses_long": refuses}


def encoder_layer(student_class: Any, case: Any) -> Answers:
    """TransformerEncoderLayer, with stand-ins for the attention and the feed-forward network."""
    sizes = values(case.config, LAYER)
    asked: Answers = {}

    def stand_in(pair: bool) -> nn.Module:
        attention = OpenAttention(case.stand_in_attention, case.stand_in_attention_shift, pair, heads=sizes[1])
        network = OpenNetwork(case.stand_in_network, case.stand_in_network_shift)
        attention_class, attention_calls = stand_in_class(ATTENTION, [attention])
        network_class, network_calls = stand_in_class(FEED_FORWARD, [network])
        layer = _made(student_class, sizes, MultiHeadAttention=attention_class, FeedForward=network_class)
        asked.update(arguments("attention", ATTENTION, attention_calls))
        asked.update(arguments("feed_forward", FEED_FORWARD, network_calls))
        asked["own_parts"] = parts(layer, "attention", "feed_forward")
        asked["own_norms"] = [learned(layer, "layer_norm_1"), learned(layer, "layer_norm_2")]
        asked["different_norms"] = own_norms(layer)
        layer.attention, layer.feed_forward = attention, network
        for name in ("layer_norm_1", "layer_norm_2"):
            if not isinstance(getattr(layer, name, None), nn.Module):
                setattr(layer, name, nn.LayerNorm(case.config.d_model))
        return case.load(layer)

    return _tried(stand_in, FORMS, case.hidden_states) | asked


def encoder(student_class: Any, case: Any) -> Answers:
    """TransformerEncoder, with stand-ins for the embeddings and the layers."""
    sizes = values(case.config, ENCODER)
    asked: Answers = {}

    def stand_in(pair: bool) -> nn.Module:
        layers = _stand_ins(OpenLayer, case, pair)
        # for whoever makes too many: each an object of its own
        spare = [StandIn(case.stand_in_matrices[0]) for _ in range(20)]
        embeddings_class, embeddings_calls = stand_in_class(EMBEDDINGS, [Fixed(case.stand_in_embedded)])
        layer_class, layer_calls = stand_in_class(LAYER, [*layers, *spare])
        module = _made(student_class, sizes, Embeddings=embeddings_class, TransformerEncoderLayer=layer_class)
        asked.update(listed(module, module.layers))
        asked.update(arguments("embeddings", EMBEDDINGS, embeddings_calls))
        asked.update(arguments("layer", LAYER, layer_calls[:1]))
        asked["own_parts"] = parts(module, "embeddings")
        module.embeddings, module.layers = Fixed(case.stand_in_embedded), like(module.layers, layers)
        return module.eval()

    return _tried(stand_in, FORMS, case.input_ids, within=("embeddings.output",)) | asked


def classification_head(student_class: Any, case: Any) -> Answers:
    """ClassificationHead; also what it does in training, as it is and with its weights at zero."""
    head = student_class(*values(case.config, CLASSIFICATION))
    asked: Answers = {"linear": list(head.linear.weight.shape)}
    asked["has_bias"] = getattr(head.linear, "bias", None) is not None  # loading makes one
    case.load(head)
    # a head that picks the first token itself wants the whole sentence
    vectors = case.hidden_states if selects_first_token(head, case.config.d_model) else case.pooled
    logits = first(head(vectors.clone()))
    asked |= effects(lambda: head, given=vectors)
    torch.default_generator.manual_seed(0)
    drops = not torch.equal(first(head.train()(vectors)), logits)
    head.linear.weight.data.zero_()
    in_training = first(head(vectors))
    factor = {"factor": kept_factor(head, vectors)}
    return asked | factor | {"logits": logits, "drops": drops, "in_training": in_training}


def classifier(student_class: Any, case: Any) -> Answers:
    """TransformerForSequenceClassification, with stand-ins for the encoder and the classification head."""
    sizes = values(case.config, MODEL)
    asked: Answers = {}

    def stand_in(form: tuple[bool, type[StandIn]]) -> nn.Module:
        pair, made = form
        whole, head = Fixed(case.stand_in_encoded, pair), made(case.stand_in_head, case.stand_in_head_shift)
        encoder_class, encoder_calls = stand_in_class(ENCODER, [whole])
        head_class, head_calls = stand_in_class(CLASSIFICATION, [head])
        model = _made(student_class, sizes, TransformerEncoder=encoder_class, ClassificationHead=head_class)
        asked.update(arguments("encoder", ENCODER, encoder_calls))
        asked.update(arguments("head", CLASSIFICATION, head_calls))
        asked["own_parts"] = parts(model, "transformer_encoder", "classifier")
        model.transformer_encoder, model.classifier = whole, head
        return model.eval()

    selects = _head_selects(module_of(student_class), case)
    made: list[type[StandIn]] = [OpenHead, FirstToken] if selects is None else [FirstToken if selects else OpenHead]
    ways = [(form, one) for form in FORMS for one in made]
    return _tried(stand_in, ways, case.input_ids, "logits", ("transformer_encoder.output",)) | asked


def whole_model(models: ModuleType, case: Any) -> Answers:
    """``logits`` of the model that the student's classes make; or the ``problem``: what it stopped with.

    Raises NotRead where Python could not import the file.
    """
    require_whole(models)
    try:
        with torch.no_grad(), attempt_limit():
            logits = first(
                case.load(models.TransformerForSequenceClassification(*values(case.config, MODEL)))(case.input_ids)
            )
            if not isinstance(logits, Tensor):
                raise TypeError(f"the model must give a tensor, but gave {type(logits).__name__}")
            return {"logits": logits}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"[:300]}


def _tried(
    stand_in: Callable[[Any], nn.Module],
    ways: Sequence[Any],
    given: Tensor,
    name: str = "output",
    within: tuple[str, ...] = ("",),
) -> Answers:
    """What a class gives in each attempt, and its side effects in the first one that runs.

    within: how the names of the weights begin that a gradient must come back to.
    """

    def output(module: Callable[[], nn.Module]) -> Answers:
        return {name: first(module()(given.clone()))}

    made = [partial(stand_in, way) for way in ways]
    return attempts([partial(output, one) for one in made]) | effects(*made, given=given, within=within)


def _made(student_class: Any, sizes: Sequence[Any], **stand_ins: type) -> nn.Module:
    """An object of the class, with stand-ins for its parts; with the student's own where ``__init__`` sets weights."""
    try:
        with meaning(vars(module_of(student_class)), stand_ins):
            made: nn.Module = student_class(*sizes)
    except ReachedInto:
        made = student_class(*sizes)
    return made


def _stand_ins(part: type[StandIn], case: Any, pair: bool) -> list[StandIn]:
    maps = zip(case.stand_in_matrices, case.stand_in_shifts, strict=True)
    return [part(matrix, shift, pair) for matrix, shift in maps]


def _head_selects(models: ModuleType, case: Any) -> bool | None:
    try:
        head = models.ClassificationHead(*values(case.config, CLASSIFICATION))
        return selects_first_token(head, case.config.d_model)
    except Exception:
        return None
