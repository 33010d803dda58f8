"""The decoder with a cache: transformers' GPT-2 with its own DynamicCache, fed the same pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    named,
    without_side_effects,
)

from ..._attention import softmax
from .._decoder import draw_block, draw_norm, run_model
from .._gpt2 import cached_logits

Array = np.ndarray
PLACE = "How many tokens does a cache hold? Its keys are (batch, heads, tokens, head_size)."


def make(generator: np.random.Generator) -> list[Case]:
    """A prompt and single tokens; a prompt in pieces; one token after the other from the start."""
    cases = []
    for batch, pieces, config in (
        (3, (5, 1, 1), {"vocabulary": 11, "context": 14, "dim": 12, "heads": 2, "layers": 4}),
        (2, (2, 4, 3), {"vocabulary": 13, "context": 12, "dim": 10, "heads": 5, "layers": 3}),
        (2, (1, 1, 1, 1), {"vocabulary": 7, "context": 9, "dim": 9, "heads": 3, "layers": 2}),
    ):
        dim = config["dim"]
        weights = draw_norm(generator, dim, "final_norm")
        for name, rows in (("token_embedding", config["vocabulary"]), ("position_embedding", config["context"])):
            weights[f"{name}.weight"] = generator.normal(0, 0.7, (rows, dim)).astype(np.float32)
        for number in range(config["layers"]):
            weights |= draw_block(generator, dim, f"blocks.{number}.")
        ids = generator.integers(0, config["vocabulary"], (batch, sum(pieces)))
        logits, keys = cached_logits(weights, ids, config, pieces)
        expected = {"logits": logits, "keys": keys}
        cases.append(Case({**config, "pieces": list(pieces)}, {"input_ids": ids}, weights, expected=expected))
    return cases


def _by(
    start: Callable[[int, dict[str, Any]], int] = lambda past, config: past,
    *,
    alone: bool = False,
    change: Callable[[Array], Array] = lambda logits: logits,
    **settings: Any,
) -> Callable[[Case], Mapping[str, Array]]:
    """start: how many tokens were cached -> the first position of a piece; alone: no piece sees an earlier one"""

    def answers(case: Case) -> Mapping[str, Array]:
        config, ids, table = case.config, case.inputs["input_ids"], case.weights["position_embedding.weight"]
        pasts = np.cumsum([0, *config["pieces"]])
        cached = [0, *config["pieces"]] if alone else pasts  # without its caches, a block keeps one piece only
        places = [
            np.arange(size) + start(int(past), config) for past, size in zip(cached, config["pieces"], strict=False)
        ]
        if alone:
            parts = zip(np.split(ids, pasts[1:-1], 1), places, strict=True)
            found = [run_model(case.weights, part, config, positions=lambda _, at=at: table[at]) for part, at in parts]
            return {"logits": np.concatenate(found, 1)}
        at = np.concatenate(places)
        given = {"positions": lambda _: table[at]} | settings
        return {"logits": change(run_model(case.weights, ids, config, **given))}

    return answers


MISTAKES = [
    Mistake("K2-restart", "The positions of every piece begin with 0.", PLACE, _by(lambda past, config: 0)),
    Mistake("K2-late", "The positions are one too large behind a cache.", PLACE,
            _by(lambda past, config: past + (past > 0))),
    Mistake("K2-early", "The positions are one too small behind a cache.", PLACE,
            _by(lambda past, config: past - (past > 0))),
    Mistake("K2-layers", "The positions go on from the number of blocks.", PLACE,
            _by(lambda past, config: config["layers"] * (past > 0))),
    Mistake("K2-heads", "The positions go on from the number of heads.", PLACE,
            _by(lambda past, config: config["heads"] * (past > 0))),
    Mistake("K2-alone", "The blocks get no cache: a piece does not see the ones before.", "block(x, its cache)",
            _by(alone=True)),
    Mistake("K2-forgotten", "Every piece is read as if it were the first one.", "Give back the caches, and use them.",
            _by(lambda past, config: 0, alone=True)),
    Mistake("K2-positions", "No positions are added.", "Words plus positions.", _by(positions=lambda rows: 0 * rows)),
    Mistake("K2-norm", "The last norm is missing.", "It stands behind all blocks.", _by(norm=False)),
    Mistake("K2-softmax", "These are probabilities.", "The model gives logits.", _by(change=softmax)),
    Mistake("K2-keys", "The logits are right, but the caches do not hold the keys of all tokens.",
            "What each block gives back, block by block."),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    logits = Case(case.config, case.inputs, case.weights, expected={"logits": case.expected["logits"]})
    judgement = compare_case(exercise, logits, answers)
    if judgement.earned < 1:
        return judgement
    whole = compare_case(exercise, case, answers)
    return whole if whole.earned == 1 else named(exercise, "K2-keys")


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch", rtol=3e-4, atol=3e-5)
