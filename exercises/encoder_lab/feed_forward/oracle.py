"""``FeedForward``: linear, GELU, linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import gelu, linear
from .._arrays import Wrong, normal
from .._layers import feed_forward_weights
from .._naming import NAMES, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    import torch
    from torch import nn

    cases = []
    for batch, tokens, d_model, wide in ((2, 5, 6, 17), (3, 4, 7, 11)):
        weights = feed_forward_weights(generator, d_model, wide)
        x = normal(generator, batch, tokens, d_model, size=1.2)
        network = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model)).double()
        names = {"0": "linear_1", "2": "linear_2"}
        network.load_state_dict(
            {
                f"{place}.{kind}": torch.from_numpy(weights[f"{name}.{kind}"].astype(np.float64))
                for place, name in names.items()
                for kind in ("weight", "bias")
            }
        )
        with torch.no_grad():
            output = network(torch.from_numpy(x.astype(np.float64))).numpy()
        expected = {"linear_1": np.array([wide, d_model]), "linear_2": np.array([d_model, wide]), "output": output}
        cases.append(Case({"d_model": d_model, "intermediate_size": wide}, {"hidden_states": x}, weights, {}, expected))
    return cases


def _fed(
    activate: Callable[[Array], Array],
    finish: Callable[[Array, Array], Array] | None = None,
) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        x = case.inputs["hidden_states"].astype(np.float64)
        output = linear(activate(linear(x, case.weights, "linear_1")), case.weights, "linear_2")
        return {"output": output if finish is None else finish(output, x)}

    return answers


MISTAKES = [
    Mistake(
        "M12", "The activation is a ReLU; the assignment asks for a GELU.", "nn.GELU", _fed(lambda x: gelu(x, "relu"))
    ),
    Mistake(
        "M12-tanh",
        "This is GELU's tanh approximation; the assignment asks for the exact one.",
        "nn.GELU without further arguments is exact.",
        _fed(lambda x: gelu(x, "tanh")),
    ),
    Mistake(
        "M12-none",
        "There is no activation: two linear layers are one.",
        "A GELU belongs between them.",
        _fed(lambda x: x),
    ),
    Mistake(
        "M12-twice",
        "A second GELU comes after the second layer.",
        "One, between the two layers.",
        _fed(gelu, lambda output, x: gelu(output)),
    ),
    Mistake(
        "M12-late",
        "The GELU comes after the second layer.",
        "It belongs between the two layers.",
        _fed(lambda x: x, lambda output, x: gelu(output)),
    ),
    Mistake(
        "M12-early",
        "The GELU comes before the first layer.",
        "It belongs between the two layers.",
        lambda case: _fed(lambda x: x)(
            replace(case, inputs={"hidden_states": gelu(case.inputs["hidden_states"].astype(np.float64))})
        ),
    ),
    Mistake(
        "M12-sigmoid",
        "The activation is a sigmoid; the assignment asks for a GELU.",
        "nn.GELU",
        _fed(lambda x: 1 / (1 + np.exp(-x))),
    ),
    Mistake(
        "M12-silu",
        "The activation is a SiLU (swish); the assignment asks for a GELU.",
        "nn.GELU",
        _fed(lambda x: x / (1 + np.exp(-x))),
    ),
    Mistake(
        "M7-early",
        "The input was added to the output.",
        "The skip belongs to the layer, not to the network.",
        _fed(gelu, lambda output, x: output + x),
    ),
    Mistake(
        "M12-sizes",
        "The two layers have each other's sizes.",
        "From narrow to wide and back again.",
        lambda case: {"linear_1": case.expected["linear_2"], "linear_2": case.expected["linear_1"]},
    ),
    *NAMES,
    *SIDE_EFFECTS,
]


_judge = with_names(without_side_effects(compare_case), linear_1="linear_1", linear_2="linear_2")
EXERCISE = Exercise(_make, _judge, MISTAKES, framework="torch")
