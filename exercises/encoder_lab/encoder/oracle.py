"""``TransformerEncoder``: the embeddings, then layer after layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, without_side_effects

from .._arrays import Wrong, normal
from .._attempts import judge_attempts
from .._layers import ENCODER, encoder_sizes, encoder_weights, milder, part_mistakes, torch_encoder
from .._naming import NAMES, with_names

Array = np.ndarray
#: How far an answer may be off.
ATOL, RTOL = 1e-5, 1e-4


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, sizes in ((2, 5, encoder_sizes(23, 9, 12, 3, 17, 5)), (4, 3, encoder_sizes(19, 7, 8, 4, 11, 6))):
        d_model, layers = sizes["d_model"], sizes["num_hidden_layers"]
        weights = milder(encoder_weights(generator, sizes))
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "embedded": normal(generator, batch, tokens, d_model),
            "matrices": normal(generator, layers, d_model, d_model, size=d_model**-0.5),
            "shifts": normal(generator, layers, d_model),
        }
        rows = {"embeddings_arguments": ENCODER[:3], "layer_arguments": ENCODER[2:5]}
        expected = {name: np.array([[sizes[key] for key in keys]]) for name, keys in rows.items()}
        expected |= {name: np.array(layers) for name in ("length", "distinct", "registered")}
        expected["own_parts"] = np.array([True])
        case = Case(sizes, inputs, weights)
        expected["stand_in/output"] = _stack(case, range(layers))
        expected["own/output"] = _encoded(inputs["input_ids"], weights, sizes)
        cases.append(Case(sizes, inputs, weights, {}, expected))
    return cases


def _encoded(ids: Array, weights: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """What the right encoder gives. In float32, as students compute it, it must be far within the tolerance."""
    output = torch_encoder(ids, weights, sizes)
    error = np.abs(torch_encoder(ids, weights, sizes, dtype=np.float32) - output)
    assert (error < 0.25 * (ATOL + RTOL * np.abs(output))).all(), "the right encoder misses its own output in float32"
    return output


def _stack(case: Case, order: range | list[int]) -> Array:
    """The stand-ins for the layers, one on what the other gave, in this order."""
    x = case.inputs["embedded"].astype(np.float64)
    for i in order:
        x = x @ case.inputs["matrices"][i] + case.inputs["shifts"][i]
    return x


def _layers(case: Case) -> int:
    return int(case.config["num_hidden_layers"])


def _run(order: Callable[[int], range | list[int]]) -> Wrong:
    return lambda case: {"output": _stack(case, order(_layers(case)))}


MISTAKES = [
    *part_mistakes("embeddings"),
    Mistake(
        "M14-list",
        "The layers are in a plain Python list: their parameters are invisible to the model.",
        "nn.ModuleList is a list that registers what it holds.",
        lambda case: {"length": np.array(_layers(case)), "registered": np.array(0)},
    ),
    Mistake(
        "M14-same",
        "The list holds one and the same layer several times.",
        "Make a new layer for each place.",
        lambda case: {"length": np.array(_layers(case)), "distinct": np.array(1)},
    ),
    Mistake(
        "M14-one", "There is one layer only.", "num_hidden_layers says how many.", lambda case: {"length": np.array(1)}
    ),
    Mistake(
        "M14-off",
        "One layer is missing.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) - 1)},
    ),
    Mistake(
        "M14-more",
        "There is one layer too many.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_layers(case) + 1)},
    ),
    Mistake(
        "M14-heads",
        "There are as many layers as heads.",
        "num_hidden_layers says how many.",
        lambda case: {"length": np.array(case.config["num_attention_heads"])},
    ),
    Mistake(
        "M14-first",
        "Every layer was fed the embeddings: only the last one's work is left.",
        "What one layer gives, the next one takes.",
        _run(lambda n: [n - 1]),
    ),
    Mistake(
        "M14-behind", "The last layer did not run.", "The loop visits every layer once.", _run(lambda n: range(n - 1))
    ),
    Mistake(
        "M14-late", "The first layer did not run.", "The loop visits every layer once.", _run(lambda n: range(1, n))
    ),
    Mistake(
        "M14-order",
        "The layers run in reverse order.",
        "The first one first.",
        _run(lambda n: list(reversed(range(n)))),
    ),
    Mistake(
        "M14-return",
        "The encoder returned after its first layer.",
        "Is the return inside the loop?",
        _run(lambda n: [0]),
    ),
    Mistake(
        "M14-embedded",
        "What comes out are the embeddings: no layer's work is kept.",
        "The loop must keep what each layer gives.",
        _run(lambda n: []),
    ),
    Mistake(
        "encoder-order",
        "A layer got its arguments in the wrong order: heads and width have changed places.",
        "d_model, num_attention_heads, intermediate_size.",
        lambda case: {"layer_arguments": case.expected["layer_arguments"][:, [0, 2, 1]]},
    ),
    Mistake(
        "encoder-tables",
        "Embeddings got its arguments in the wrong order.",
        "vocab_size, max_position_embeddings, d_model.",
        lambda case: {"embeddings_arguments": case.expected["embeddings_arguments"][:, [1, 0, 2]]},
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
    "encoder_lab/embeddings",
    "encoder_lab/encoder_layer",
)
_judge = with_names(
    without_side_effects(judge_attempts, unless=EARLIER),
    embeddings_arguments="Embeddings",
    layer_arguments="A TransformerEncoderLayer",
)
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch", atol=ATOL, rtol=RTOL)
