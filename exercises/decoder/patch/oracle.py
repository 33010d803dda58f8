"""Activation patching. Right answers come from a loop over the layers, in which one vector is exchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._small import LEFT_MISTAKES, draw_model, leaving_nothing, logits_of, model_of

Array = np.ndarray
#: (the stream of the clean run, of the corrupted run, token) -> the stream that goes on
Exchange = Callable[[Any, Any, int], Any]


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for shape, sizes, calls in (
        ((2, 6), {"vocabulary": 9, "dim": 12, "heads": 3, "layers": 2}, [(0, 2), (1, 4), (0, 5)]),
        ((3, 5), {"vocabulary": 7, "dim": 16, "heads": 4, "layers": 3}, [(1, 0), (2, 3), (1, 2)]),
    ):
        inputs = {name: generator.integers(0, sizes["vocabulary"], shape) for name in ("clean", "corrupted")}
        case = Case({"sizes": sizes, "calls": calls}, inputs, draw_model(generator, sizes))
        cases.append(Case(case.config, inputs, case.weights, {}, _patched(case, _one)))
    return cases


def _one(clean: Any, corrupted: Any, token: int) -> Any:
    found = corrupted.clone()
    found[:, token] = clean[:, token]
    return found


def _patched(case: Case, exchange: Exchange, shift: int = 0, swap: bool = False) -> Mapping[str, Array]:
    model, found = model_of(case), []
    names = ("corrupted", "clean") if swap else ("clean", "corrupted")
    clean, corrupted = (case.inputs[name] for name in names)
    for layer, token in case.config["calls"]:
        kept: dict[int, Any] = {}
        logits_of(model, clean, lambda number, x, kept=kept: kept.setdefault(number, x))
        place = layer + shift

        def edit(number: int, x: Any, place: int = place, token: int = token, kept: dict[int, Any] = kept) -> Any:
            return exchange(kept[number], x, token) if number == place else x

        found.append(logits_of(model, corrupted, edit))
    return {"logits": np.stack(found)}


def _known(exchange: Exchange, shift: int = 0, swap: bool = False) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: _patched(case, exchange, shift, swap)


def _added(clean: Any, corrupted: Any, token: int) -> Any:
    found = corrupted.clone()
    found[:, token] += clean[:, token]
    return found


def _batch(clean: Any, corrupted: Any, token: int) -> Any:
    found = corrupted.clone()
    found[:, token] = clean[:1, token]
    return found


def _from(clean: Any, corrupted: Any, token: int) -> Any:
    found = corrupted.clone()
    found[:, token:] = clean[:, token:]
    return found


MISTAKES = [
    Mistake("PATCH-none", "Nothing was patched: these are the corrupted run's logits.",
            "What a hook returns takes the output's place.", _known(lambda clean, corrupted, token: corrupted)),
    Mistake("PATCH-swap", "Clean and corrupted have changed places.",
            "Keep from the clean run, put into the corrupted one.",
            _known(_one, swap=True)),
    Mistake("PATCH-all", "All tokens were patched.", "Only the one that is asked for: output[:, token].",
            _known(lambda clean, corrupted, token: clean)),
    Mistake("PATCH-before", "What goes into the layer was patched, not what comes out.",
            "A forward hook sees the output.",
            _known(_one, shift=-1)),
    Mistake("PATCH-added", "The clean vector was added.", "It takes the corrupted one's place.", _known(_added)),
    Mistake("PATCH-batch", "All sentences got the vector of the first.", "Each sentence has its own.", _known(_batch)),
    Mistake("PATCH-from", "The tokens behind it were patched, too.", "One token: output[:, token].", _known(_from)),
    Mistake("PATCH-zero", "The vector was replaced by zeros.", "It is replaced by the clean run's.",
            _known(lambda clean, corrupted, token: _one(clean * 0, corrupted, token))),
    *LEFT_MISTAKES,
]  # fmt: skip

EXERCISE = Exercise(make, leaving_nothing(), MISTAKES, framework="torch", atol=2e-5)
