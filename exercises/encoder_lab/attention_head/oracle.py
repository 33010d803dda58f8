"""``AttentionHead.forward``: three projections, then the method."""

from __future__ import annotations

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, without_side_effects

from ..._attention import linear
from .._arrays import linear_weight, normal
from .._attempts import judge_attempts
from .._naming import NAMES, with_names
from .._scaled_attention import torch_attention


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, d_model, d_k, d_v in ((2, 5, 12, 4, 3), (3, 6, 10, 3, 7)):
        weights = {
            f"w{letter}.weight": linear_weight(generator, size, d_model)
            for letter, size in (("q", d_k), ("k", d_k), ("v", d_v))
        }
        hidden_states = normal(generator, batch, tokens, d_model)
        inputs = {
            "hidden_states": hidden_states,
            "mixed": normal(generator, batch, tokens, d_v),
            "mixing": generator.dirichlet(np.ones(tokens), (batch, tokens)).astype(np.float32),
        }
        q, k, v = (linear(hidden_states, weights, name) for name in ("wq", "wk", "wv"))
        expected = {
            "wq": np.array([d_k, d_model]),
            "wk": np.array([d_k, d_model]),
            "wv": np.array([d_v, d_model]),
            "separate": np.array(True),
            "stand_in/q": q,
            "stand_in/k": k,
            "stand_in/v": v,
            "stand_in/output": inputs["mixed"],
            "own/output": torch_attention(q, k, v),
        }
        cases.append(Case({"d_model": d_model, "d_k": d_k, "d_q": d_k, "d_v": d_v}, inputs, weights, {}, expected))
    return cases


MISTAKES = [
    Mistake(
        "head-shared",
        "Two of wq, wk and wv are one and the same layer: they can never learn different things.",
        "Make a new nn.Linear for each of them.",
        lambda case: {"separate": np.array(False)},
    ),
    Mistake(
        "head-qk",
        "Query and key have changed places.",
        "The method takes q, k, v, in this order.",
        lambda case: {"q": case.expected["stand_in/k"], "k": case.expected["stand_in/q"]},
    ),
    Mistake(
        "head-raw-q",
        "The queries are the hidden states themselves: wq was not used.",
        "Project first, then attend.",
        lambda case: {"q": case.inputs["hidden_states"]},
    ),
    Mistake(
        "head-raw-k",
        "The keys are the hidden states themselves: wk was not used.",
        "Project first, then attend.",
        lambda case: {"k": case.inputs["hidden_states"]},
    ),
    Mistake(
        "head-raw-v",
        "The values are the hidden states themselves: wv was not used.",
        "Project first, then attend.",
        lambda case: {"v": case.inputs["hidden_states"]},
    ),
    Mistake(
        "head-same",
        "Queries and keys are both made by wq.",
        "Three layers, each with its own work.",
        lambda case: {"q": case.expected["stand_in/q"], "k": case.expected["stand_in/q"]},
    ),
    Mistake(
        "head-same-k",
        "Queries and keys are both made by wk.",
        "Three layers, each with its own work.",
        lambda case: {"q": case.expected["stand_in/k"], "k": case.expected["stand_in/k"]},
    ),
    Mistake(
        "head-weights",
        "forward returns the weights.",
        "The method gives two things; the first one is the output.",
        lambda case: {"output": case.inputs["mixing"]},
    ),
    Mistake(
        "head-sizes",
        "wq and wv have each other's sizes.",
        "The arguments come in the order d_model, d_k, d_q, d_v.",
        lambda case: {"wv": case.expected["wq"], "wq": case.expected["wv"]},
    ),
    *NAMES,
    *SIDE_EFFECTS,
]


#: A class that uses other classes is cut off where one of them is: that has had its price.
EARLIER = ("encoder_lab/head_attention",)
_judge = with_names(without_side_effects(judge_attempts, unless=EARLIER), wq="wq", wk="wk", wv="wv")
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")
