"""The gated feed-forward network, judged against transformers' own LlamaMLP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import gelu, linear, sigmoid
from .._llama import loaded, network_weights, tensor
from .._made import MADE_MISTAKES, with_parts
from .._modern import silu

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    from course.modern_parts import ReadySwiGLU

    cases = []
    for shape, hidden in (((2, 3, 6), 10), ((4, 3, 8), 5)):
        weights = network_weights(generator, shape[-1], hidden)
        x = generator.normal(0, 1.5, shape).astype(np.float32)
        output = loaded(ReadySwiGLU(shape[-1], hidden), weights)(tensor(x)).detach().numpy()
        cases.append(Case({"dim": shape[-1], "hidden": hidden}, {"x": x}, weights, {}, {"output": output}))
    return cases


def _known(compute: Callable[[Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: gate, up, both (..., hidden) and without activation -> what goes into down_proj"""

    def answers(case: Case) -> Mapping[str, Array]:
        gate, up = (
            linear(case.inputs["x"].astype(np.float64), case.weights, f"{name}_proj") for name in ("gate", "up")
        )
        return {"output": linear(compute(gate, up), case.weights, "down_proj")}

    return answers


MISTAKES = [
    Mistake("SWI-relu", "The activation is ReLU.", "SwiGLU's is SiLU.", _known(lambda g, u: np.maximum(g, 0) * u)),
    Mistake("SWI-gelu", "The activation is GELU.", "SwiGLU's is SiLU.", _known(lambda g, u: gelu(g) * u)),
    Mistake("SWI-sigmoid", "The gate is a plain sigmoid.", "SiLU is x · sigmoid(x).",
            _known(lambda g, u: sigmoid(g) * u)),
    Mistake("SWI-tanh", "The activation is tanh.", "SwiGLU's is SiLU.", _known(lambda g, u: np.tanh(g) * u)),
    Mistake("SWI-none", "The activation is missing.", "The gate goes through SiLU.", _known(lambda g, u: g * u)),
    Mistake("SWI-up", "The activation is on the wrong side: up_proj has none.", "The gate goes through SiLU.",
            _known(lambda g, u: g * silu(u))),
    Mistake("SWI-both", "Both sides go through the activation.", "Only the gate does.",
            _known(lambda g, u: silu(g) * silu(u))),
    Mistake("SWI-product", "The activation was applied to the product.", "Activate the gate, then multiply.",
            _known(lambda g, u: silu(g * u))),
    Mistake("SWI-plus", "Gate and up were added.", "They are multiplied, number by number.",
            _known(lambda g, u: silu(g) + u)),
    Mistake("SWI-no-up", "up_proj is not used.", "The activated gate is multiplied by it.",
            _known(lambda g, u: silu(g))),
    Mistake("SWI-no-gate", "gate_proj is not used.", "Activated, it is multiplied by up_proj's output.",
            _known(lambda g, u: silu(u))),
    Mistake("SWI-softmax", "The gate is a softmax.", "SwiGLU's activation is SiLU.",
            _known(lambda g, u: np.exp(g) / np.exp(g).sum(-1, keepdims=True) * u)),
    *MADE_MISTAKES,
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, with_parts(without_side_effects(compare_case)), MISTAKES, framework="torch")
