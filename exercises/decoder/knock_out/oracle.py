"""Silenced heads. Right answers come from a model whose o_proj has zeros where it would read these heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._small import LEFT_MISTAKES, draw_model, leaving_nothing, logits_of, model_of

Array = np.ndarray
#: (layer, silent heads) of the hidden cell's calls, by number of heads
CALLS = {3: [(0, [1]), (1, [0, 2]), (0, [2]), (1, [])], 4: [(1, [3]), (2, [0, 1]), (0, [0])]}


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for shape, sizes in (
        ((2, 6), {"vocabulary": 9, "dim": 12, "heads": 3, "layers": 2}),
        ((3, 5), {"vocabulary": 7, "dim": 16, "heads": 4, "layers": 3}),
    ):
        weights = draw_model(generator, sizes)
        ids = generator.integers(0, sizes["vocabulary"], shape)
        case = Case({"sizes": sizes, "calls": CALLS[sizes["heads"]]}, {"ids": ids}, weights)
        cases.append(Case(case.config, case.inputs, weights, {}, _silenced(case, _zero)))
    return cases


def _zero(weight: Any, heads: int, silent: list[int]) -> None:
    """Zeros in the columns of o_proj's weight (dim, heads * head_size) that read the silent heads."""
    for head in silent:
        weight.unflatten(1, (heads, -1))[:, head] = 0


def _silenced(case: Case, edit: Callable[[Any, int, list[int]], None], shift: int = 0) -> Mapping[str, Array]:
    found = []
    for layer, silent in case.config["calls"]:
        model = model_of(case)
        layers = case.config["sizes"]["layers"]
        edit(model.layers[(layer + shift) % layers].self_attn.o_proj.weight.data, case.config["sizes"]["heads"], silent)
        found.append(logits_of(model, case.inputs["ids"]))
    return {"logits": np.stack(found)}


def _known(edit: Callable[[Any, int, list[int]], None], shift: int = 0) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: _silenced(case, edit, shift)


def _interleaved(weight: Any, heads: int, silent: list[int]) -> None:
    for head in silent:
        weight.unflatten(1, (-1, heads))[:, :, head] = 0


def _others(weight: Any, heads: int, silent: list[int]) -> None:
    _zero(weight, heads, [head for head in range(heads) if head not in silent])


def _all(weight: Any, heads: int, silent: list[int]) -> None:
    weight.zero_()


def _next(weight: Any, heads: int, silent: list[int]) -> None:
    _zero(weight, heads, [(head + 1) % heads for head in silent])


def _first(weight: Any, heads: int, silent: list[int]) -> None:
    _zero(weight, heads, silent[:1])


def _rows(weight: Any, heads: int, silent: list[int]) -> None:
    for head in silent:
        weight.unflatten(0, (heads, -1))[head] = 0


MISTAKES = [
    Mistake("KNOCK-none", "Nothing falls silent: these are the model's own logits.",
            "What a pre-hook returns takes the inputs' place.", _known(lambda weight, heads, silent: None)),
    Mistake("KNOCK-layout", "Every third or fourth number was silenced, not the numbers of one head.",
            "The heads stand end to end: unflatten the last axis to (heads, head_size).", _known(_interleaved)),
    Mistake("KNOCK-others", "The heads in the list go on, and all others fall silent.", "The other way round.",
            _known(_others)),
    Mistake("KNOCK-all", "All heads of the layer fall silent.", "Only those in the list.", _known(_all)),
    Mistake("KNOCK-first", "Only the first head of the list falls silent.", "All in the list.", _known(_first)),
    Mistake("KNOCK-next", "The head behind each of the list falls silent.", "Heads count from 0.", _known(_next)),
    Mistake("KNOCK-layer", "Heads of another layer fall silent.", "Layers count from 0.", _known(_zero, 1)),
    Mistake("KNOCK-behind", "Numbers behind o_proj were silenced; there the heads are mixed already.",
            "The hook sits in front of o_proj.", _known(_rows)),
    *LEFT_MISTAKES,
]  # fmt: skip

EXERCISE = Exercise(make, leaving_nothing(), MISTAKES, framework="torch", atol=2e-5)
