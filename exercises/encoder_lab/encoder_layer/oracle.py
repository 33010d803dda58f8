"""``TransformerEncoderLayer``: pre-LN, with two skips."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, without_side_effects

from ..._attention import layer_norm
from .._arrays import Wrong, normal
from .._attempts import judge_attempts
from .._layers import LAYER_EPS, layer_weights, norm_mistake, part_mistakes, torch_layer
from .._naming import NAMES, with_names

Array = np.ndarray
Step = Callable[[Array], Array]
#: (hidden states, norm 1, attention, norm 2, network) -> output
Forward = Callable[[Array, Step, Step, Step, Step], Array]


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, heads, size, wide in ((2, 5, 3, 4, 17), (3, 6, 4, 2, 11)):
        d_model = heads * size
        weights = layer_weights(generator, d_model, heads, wide)
        inputs = {
            "hidden_states": normal(generator, batch, tokens, d_model, size=1.5) + np.float32(0.7),
            "attention_matrix": normal(generator, d_model, d_model, size=d_model**-0.5),
            "attention_shift": normal(generator, d_model),
            "network_matrix": normal(generator, d_model, d_model, size=d_model**-0.5),
            "network_shift": normal(generator, d_model),
        }
        inputs |= {name.replace(".", "_"): weight for name, weight in weights.items() if name.startswith("layer_norm")}
        sizes = {"d_model": d_model, "num_attention_heads": heads, "intermediate_size": wide}
        expected = {
            "attention_arguments": np.array([[d_model, heads]]),
            "feed_forward_arguments": np.array([[d_model, wide]]),
            "own_parts": np.array([True, True]),
            "own_norms": np.array([2, 2]),
            "different_norms": np.array(True),
            "own/output": torch_layer(inputs["hidden_states"], weights, heads),
        }
        case = Case(sizes, inputs, weights)
        expected["stand_in/output"] = _layer(lambda x, n1, a, n2, f: _skipped(_skipped(x, n1, a), n2, f))(case)[
            "output"
        ]
        cases.append(Case(sizes, inputs, weights, {}, expected))
    return cases


def _skipped(x: Array, norm: Step, sublayer: Step) -> Array:
    return x + sublayer(norm(x))


def _layer(forward: Forward) -> Wrong:
    """The output of a layer that puts norm 1, attention, norm 2 and network (the stand-ins) together in this way."""

    def answers(case: Case) -> Mapping[str, Array]:
        def step(name: str) -> Step:
            return lambda x: x @ case.inputs[f"{name}_matrix"].astype(np.float64) + case.inputs[f"{name}_shift"]

        def norm(name: str) -> Step:
            return lambda x: layer_norm(x, case.weights, name, LAYER_EPS)

        x = case.inputs["hidden_states"].astype(np.float64)
        return {"output": forward(x, norm("layer_norm_1"), step("attention"), norm("layer_norm_2"), step("network"))}

    return answers


def _wrong(name: str, message: str, hint: str, forward: Forward) -> Mistake:
    return Mistake(name, message, hint, _layer(forward))


def _from_norm(x: Array, norm: Step, sublayer: Step) -> Array:
    return norm(x) + sublayer(norm(x))


def _post(x: Array, norm: Step, sublayer: Step) -> Array:
    return norm(x + sublayer(x))


LOOK_SKIP = "Each skip goes around norm and sublayer: what went in is added to what came out."

MISTAKES = [
    *part_mistakes("attention", "feed_forward"),
    norm_mistake(2),
    Mistake(
        "norm-shared",
        "layer_norm_1 and layer_norm_2 are one and the same layer.",
        "Make a new nn.LayerNorm for each sublayer.",
        lambda case: {"different_norms": np.array(False)},
    ),
    _wrong(
        "M8-post",
        "This is post-LN: the norms come after the additions.",
        "Pre-LN: each norm comes before its sublayer.",
        lambda x, n1, a, n2, f: _post(_post(x, n1, a), n2, f),
    ),
    _wrong(
        "M7-attention",
        "The skip around the attention is missing.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _skipped(a(n1(x)), n2, f),
    ),
    _wrong(
        "M7-network",
        "The skip around the feed-forward network is missing.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: f(n2(_skipped(x, n1, a))),
    ),
    _wrong("M7-none", "Both skips are missing.", LOOK_SKIP, lambda x, n1, a, n2, f: f(n2(a(n1(x))))),
    _wrong(
        "M7-normed",
        "The skips start behind the norms: what is added is the normalised input.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _from_norm(_from_norm(x, n1, a), n2, f),
    ),
    _wrong(
        "M7-first-normed",
        "The first skip starts behind its norm: what is added is the normalised input.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _skipped(_from_norm(x, n1, a), n2, f),
    ),
    _wrong(
        "M7-second-normed",
        "The second skip starts behind its norm: what is added is the normalised input.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _from_norm(_skipped(x, n1, a), n2, f),
    ),
    _wrong(
        "M7-place",
        "The second skip starts at the layer's input: what the attention added is lost.",
        "It starts from the result of the first addition.",
        lambda x, n1, a, n2, f: x + f(n2(_skipped(x, n1, a))),
    ),
    _wrong(
        "M7-parallel",
        "The network works on the layer's input, side by side with the attention.",
        "It works on the result of the first addition.",
        lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)),
    ),
    _wrong(
        "M8-none",
        "Both layer norms are missing.",
        "One before each sublayer.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, lambda y: y, a), lambda y: y, f),
    ),
    _wrong(
        "M8-first",
        "layer_norm_1 is missing.",
        "One before each sublayer.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, lambda y: y, a), n2, f),
    ),
    _wrong(
        "M8-second",
        "layer_norm_2 is missing.",
        "One before each sublayer.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n1, a), lambda y: y, f),
    ),
    _wrong(
        "M8-shared",
        "layer_norm_1 was used twice.",
        "Each sublayer has a norm of its own.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n1, a), n1, f),
    ),
    _wrong(
        "M8-swapped",
        "The two norms have changed places.",
        "layer_norm_1 comes before the attention.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n2, a), n1, f),
    ),
    _wrong(
        "M8-output",
        "The norms come after the sublayers, before the additions.",
        "Pre-LN: before the sublayer.",
        lambda x, n1, a, n2, f: (lambda y: y + n2(f(y)))(x + n1(a(x))),
    ),
    _wrong(
        "M8-first-post",
        "The first half is post-LN: layer_norm_1 comes after the addition.",
        "Pre-LN: each norm comes before its sublayer.",
        lambda x, n1, a, n2, f: _skipped(_post(x, n1, a), n2, f),
    ),
    _wrong(
        "M8-second-post",
        "The second half is post-LN: layer_norm_2 comes after the addition.",
        "Pre-LN: each norm comes before its sublayer.",
        lambda x, n1, a, n2, f: _post(_skipped(x, n1, a), n2, f),
    ),
    _wrong(
        "M8-first-output",
        "layer_norm_1 comes after the attention, not before it.",
        "Pre-LN: before the sublayer.",
        lambda x, n1, a, n2, f: _skipped(x + n1(a(x)), n2, f),
    ),
    _wrong(
        "M8-second-output",
        "layer_norm_2 comes after the feed-forward network, not before it.",
        "Pre-LN: before the sublayer.",
        lambda x, n1, a, n2, f: (lambda y: y + n2(f(y)))(_skipped(x, n1, a)),
    ),
    _wrong(
        "M8-second-twice",
        "layer_norm_2 was used twice.",
        "Each sublayer has a norm of its own.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n2, a), n2, f),
    ),
    _wrong(
        "M7-first-minus",
        "What the attention gives was subtracted.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _skipped(x - a(n1(x)), n2, f),
    ),
    _wrong(
        "M7-second-minus",
        "What the feed-forward network gives was subtracted.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: (lambda y: y - f(n2(y)))(_skipped(x, n1, a)),
    ),
    _wrong(
        "M7-first-times",
        "The attention's input was multiplied by what it gives.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: _skipped(x * a(n1(x)), n2, f),
    ),
    _wrong(
        "M7-second-times",
        "The network's input was multiplied by what it gives.",
        LOOK_SKIP,
        lambda x, n1, a, n2, f: (lambda y: y * f(n2(y)))(_skipped(x, n1, a)),
    ),
    _wrong(
        "no-attention",
        "What the attention gives is lost.",
        "Normalise, attend, add; normalise, feed forward, add.",
        lambda x, n1, a, n2, f: _skipped(x, n2, f),
    ),
    _wrong(
        "no-network",
        "What the feed-forward network gives is lost.",
        "Normalise, attend, add; normalise, feed forward, add.",
        lambda x, n1, a, n2, f: _skipped(x, n1, a),
    ),
    _wrong(
        "norm-for-attention",
        "The normalised input was added, without the attention.",
        "Normalise, attend, add; normalise, feed forward, add.",
        lambda x, n1, a, n2, f: _skipped(x + n1(x), n2, f),
    ),
    _wrong(
        "norm-for-network",
        "The normalised input was added, without the feed-forward network.",
        "Normalise, attend, add; normalise, feed forward, add.",
        lambda x, n1, a, n2, f: (lambda y: y + n2(y))(_skipped(x, n1, a)),
    ),
    _wrong(
        "attention-twice",
        "The attention stands where the feed-forward network belongs.",
        "Normalise, attend, add; normalise, feed forward, add.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n1, a), n2, a),
    ),
    _wrong(
        "order",
        "The feed-forward network comes before the attention.",
        "Attention first.",
        lambda x, n1, a, n2, f: _skipped(_skipped(x, n1, f), n2, a),
    ),
    Mistake(
        "layer-wide",
        "The feed-forward network was made with d_model as its inner width.",
        "intermediate_size is its width in the middle.",
        lambda case: {"feed_forward_arguments": np.array([[case.config["d_model"]] * 2])},
    ),
    Mistake(
        "layer-swapped",
        "FeedForward got its arguments in the wrong order.",
        "d_model first, then intermediate_size.",
        lambda case: {"feed_forward_arguments": case.expected["feed_forward_arguments"][:, ::-1]},
    ),
    *NAMES,
    *SIDE_EFFECTS,
]

#: A class that uses other classes is cut off where one of them is: that has had its price.
EARLIER = (
    "encoder_lab/head_attention",
    "encoder_lab/attention_head",
    "encoder_lab/multi_head_init",
    "encoder_lab/multi_head_attention",
    "encoder_lab/feed_forward",
)
_judge = with_names(
    without_side_effects(judge_attempts, unless=EARLIER),
    attention_arguments="MultiHeadAttention",
    feed_forward_arguments="FeedForward",
)
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")
