"""``MultiHeadAttention.forward``: the heads' vectors end to end, then a projection."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, without_side_effects

from ..._attention import linear
from .._arrays import Wrong, linear_weight, normal
from .._attempts import judge_attempts
from .._naming import DROPPED, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, heads, size in ((2, 5, 3, 4), (3, 6, 4, 2)):
        d_model = heads * size
        weights = {
            f"heads.{i}.w{letter}.weight": linear_weight(generator, size, d_model)
            for i in range(heads)
            for letter in "qkv"
        }
        weights |= {
            "output_linear.weight": linear_weight(generator, d_model, d_model),
            "output_linear.bias": normal(generator, d_model, size=0.4),
        }
        inputs = {
            "hidden_states": normal(generator, batch, tokens, d_model),
            "matrices": normal(generator, heads, d_model, size, size=d_model**-0.5),
            "shifts": normal(generator, heads, 1, size),
        }
        case = Case({"d_model": d_model, "num_attention_heads": heads}, inputs, weights)
        expected = {
            "stand_in/output": linear(_laid_out(case), weights, "output_linear"),
            "own/output": torch_multi_head(inputs["hidden_states"], weights, heads),
        }
        cases.append(Case(case.config, inputs, weights, {}, expected))
    return cases


def torch_multi_head(x: Array, weights: Mapping[str, Array], heads: int) -> Array:
    """torch's own multi-head attention in float64, no bias in front of the heads: -> (batch, tokens, d_model)"""
    import torch
    from torch import nn

    attention = nn.MultiheadAttention(x.shape[-1], heads, batch_first=True).double().eval()
    stacked = [np.concatenate([weights[f"heads.{i}.w{letter}.weight"] for i in range(heads)]) for letter in "qkv"]
    state = {
        "in_proj_weight": np.concatenate(stacked),
        "in_proj_bias": np.zeros(3 * x.shape[-1]),
        "out_proj.weight": weights["output_linear.weight"],
        "out_proj.bias": weights["output_linear.bias"],
    }
    attention.load_state_dict({name: torch.from_numpy(array.astype(np.float64)) for name, array in state.items()})
    tensor = torch.from_numpy(x.astype(np.float64))
    with torch.no_grad():
        return attention(tensor, tensor, tensor)[0].numpy()


def _found(case: Case) -> Array:
    """What the stand-ins for the heads give: (heads, batch, tokens, size)"""
    x = case.inputs["hidden_states"].astype(np.float64)
    return np.stack(
        [x @ matrix + shift for matrix, shift in zip(case.inputs["matrices"], case.inputs["shifts"], strict=True)]
    )


def _laid_out(case: Case) -> Array:
    return np.concatenate(list(_found(case)), axis=-1)


def _merged(change: Callable[[Array], Array]) -> Wrong:
    """The output of somebody who puts the heads' vectors (heads, batch, tokens, size) together in another way."""

    def answers(case: Case) -> Mapping[str, Array]:
        found = _found(case)
        merged = change(found).reshape(*found.shape[1:3], -1)
        return {"output": linear(merged, case.weights, "output_linear")}

    return answers


MISTAKES = [
    Mistake(
        "heads-reversed",
        "The heads are laid end to end in reverse order.",
        "The first head comes first.",
        _merged(lambda found: np.concatenate(list(found[::-1]), -1)),
    ),
    Mistake(
        "M5-inter",
        "The heads' vectors are interleaved: number by number, not head by head.",
        "Concatenate along the last axis; a stacked axis would have to come before it.",
        _merged(lambda found: np.moveaxis(found, 0, -1)),
    ),
    Mistake(
        "M6",
        "The heads were put together along the tokens: numbers of different tokens are mixed.",
        "Concatenate along the last axis.",
        _merged(lambda found: np.concatenate(list(found), axis=1)),
    ),
    Mistake(
        "M6-batch",
        "The heads were stacked in front of the batch and reshaped: sentences are mixed.",
        "Concatenate along the last axis.",
        _merged(lambda found: found),
    ),
    Mistake(
        "heads-first",
        "What the first head found was taken for all of them.",
        "Call each head once.",
        _merged(lambda found: np.concatenate([found[0]] * len(found), -1)),
    ),
    Mistake(
        "heads-mean",
        "The heads were averaged.",
        "They are laid end to end, each keeps its numbers.",
        _merged(lambda found: np.concatenate([found.mean(0)] * len(found), -1)),
    ),
    Mistake(
        "heads-unmixed",
        "output_linear is missing: the heads' vectors come out as they are.",
        "The last step is a projection of all heads together.",
        lambda case: {"output": _laid_out(case)},
    ),
    Mistake(
        "M7-early",
        "The input was added to the output.",
        "The skip belongs to the layer, not to the attention.",
        lambda case: {"output": case.expected["stand_in/output"] + case.inputs["hidden_states"]},
    ),
    Mistake(
        "heads-activated",
        "A ReLU is applied somewhere after the heads.",
        "Nothing but a linear layer.",
        lambda case: {"output": np.maximum(case.expected["stand_in/output"], 0)},
    ),
    DROPPED,
    *SIDE_EFFECTS,
]


#: A class that uses other classes is cut off where one of them is: that has had its price.
EARLIER = (
    "encoder_lab/head_attention",
    "encoder_lab/attention_head",
    "encoder_lab/multi_head_init",
)
EXERCISE = Exercise(
    _make,
    with_names(
        without_side_effects(judge_attempts, unless=EARLIER),
    ),
    MISTAKES,
    framework="torch",
)
