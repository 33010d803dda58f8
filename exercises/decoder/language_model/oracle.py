"""GPT-2 as a whole, with the embedding's own vectors in place of a last layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import softmax
from .._decoder import draw_block, draw_norm, run_model
from .._gpt2 import model_logits

Array = np.ndarray
ORDER = "Words plus positions, every block, the last norm, then the embedding's own vectors."


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, config in (
        (2, 5, {"vocabulary": 11, "context": 9, "dim": 12, "heads": 3, "layers": 3}),
        (3, 7, {"vocabulary": 13, "context": 7, "dim": 10, "heads": 2, "layers": 2}),
    ):
        dim = config["dim"]
        weights = draw_norm(generator, dim, "final_norm")
        for name, rows in (("token_embedding", config["vocabulary"]), ("position_embedding", config["context"])):
            weights[f"{name}.weight"] = generator.normal(0, 0.7, (rows, dim)).astype(np.float32)
        for number in range(config["layers"]):
            weights |= draw_block(generator, dim, f"blocks.{number}.")
        ids = generator.integers(0, config["vocabulary"], (batch, tokens))
        expected = {"logits": model_logits(weights, ids, config)}
        cases.append(Case(config, {"input_ids": ids}, weights, expected=expected))
    return cases


def _by(
    change: Callable[[Array], Array] = lambda logits: logits, **settings: object
) -> Callable[[Case], Mapping[str, Array]]:
    def answers(case: Case) -> Mapping[str, Array]:
        logits = run_model(case.weights, case.inputs["input_ids"], case.config, **settings)  # type: ignore[arg-type]
        return {"logits": change(logits)}

    return answers


def _some_blocks(choose: Callable[[range], range | list[int]]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: _by(blocks=tuple(choose(range(case.config["layers"]))))(case)


MISTAKES = [
    Mistake("D3-positions", "No positions are added.", ORDER, _by(positions=lambda rows: 0 * rows)),
    Mistake("D3-first", "Every word gets the first position.", "The first tokens rows of the table, in order.",
            _by(positions=lambda rows: rows[:1])),
    Mistake("D3-reversed", "The positions count from the end.", "The first word gets the first row.",
            _by(positions=lambda rows: rows[::-1])),
    Mistake("D3-next", "The positions begin with the second row.", "The first word gets the first row.",
            _by(positions=lambda rows: np.roll(rows, -1, 0))),
    Mistake("D3-root", "The word vectors are multiplied by √dim.", "GPT-2 does not do that.",
            lambda case: _by(words=case.config["dim"] ** 0.5)(case)),
    Mistake("D3-norm", "The last norm is missing.", ORDER, _by(norm=False)),
    Mistake("D3-no-block", "No block is used.", ORDER, _some_blocks(lambda all: [])),
    Mistake("D3-one-block", "Only the first block is used.", "A for loop over self.blocks.",
            _some_blocks(lambda all: all[:1])),
    Mistake("D3-last-block", "Only the last block counts.", "What one block gives is what the next one takes.",
            _some_blocks(lambda all: all[-1:])),
    Mistake("D3-backwards", "The blocks work in reverse order.", "The first one first.",
            _some_blocks(lambda all: all[::-1])),
    Mistake("D3-softmax", "These are probabilities.", "The model gives logits; the loss does the rest.", _by(softmax)),
    Mistake("D3-logs", "These are log-probabilities.", "The model gives logits; the loss does the rest.",
            _by(lambda logits: np.log(softmax(logits)))),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch", rtol=3e-4, atol=3e-5)
