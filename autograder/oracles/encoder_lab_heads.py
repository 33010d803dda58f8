"""References for ``MultiHeadAttention``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case
from autograder.oracles.encoder_lab_attempts import judge_attempts
from autograder.oracles.encoder_lab_drawing import (
    Wrong,
    linear_weight,
    normal,
    project,
)

Array = np.ndarray


def _make_init(generator: np.random.Generator) -> list[Case]:
    cases = []
    for heads, size in ((3, 4), (4, 5)):
        d_model = heads * size
        expected = {
            "length": np.array(heads),
            "distinct": np.array(heads),
            "registered": np.array(heads),
            "head_arguments": np.array([[d_model, size, size, size]] * heads),
            "output_linear": np.array([d_model, d_model]),
            "refuses_uneven": np.array(True),
        }
        cases.append(Case({"d_model": d_model, "num_attention_heads": heads}, expected=expected))
    return cases


def _heads(case: Case) -> int:
    return int(case.config["num_attention_heads"])


def _sizes(change: Callable[[Array, int], Array]) -> Wrong:
    return lambda case: {"head_arguments": change(case.expected["head_arguments"], _heads(case))}


def judge_init(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given = answers.arrays.get("head_arguments")
    if given is not None and given.dtype.kind == "f":
        message = "A head's size is a number with a decimal point."
        return Judgement([Check("heads-float", False, message, "Whole numbers are divided by //.", "heads-float")])
    return compare_case(exercise, case, answers)


INIT_MISTAKES = [
    Mistake(
        "M14-list",
        "The heads stand in a plain Python list: their parameters are invisible to the model.",
        "nn.ModuleList is a list that registers what it holds.",
        lambda case: {"length": np.array(_heads(case)), "registered": np.array(0)},
    ),
    Mistake(
        "M14-same",
        "The list holds one and the same head several times.",
        "Make a new AttentionHead for each of them.",
        lambda case: {"length": np.array(_heads(case)), "distinct": np.array(1)},
    ),
    Mistake(
        "M14-one", "There is one head only.", "num_attention_heads says how many.", lambda case: {"length": np.array(1)}
    ),
    Mistake(
        "M14-off",
        "One head is missing.",
        "range(n) counts from 0 to n - 1: that is n steps.",
        lambda case: {"length": np.array(_heads(case) - 1)},
    ),
    Mistake(
        "M14-size",
        "There are as many heads as a head has numbers.",
        "num_attention_heads says how many.",
        lambda case: {"length": case.expected["head_arguments"][0, 1]},
    ),
    Mistake(
        "heads-whole",
        "Every head works on d_model numbers.",
        "The heads share d_model among them.",
        _sizes(lambda rows, heads: np.repeat(rows[:, :1], 4, axis=1)),
    ),
    Mistake(
        "heads-narrow",
        "Every head is made with its own size as d_model: it cannot read a whole vector.",
        "d_model is the length of the vector that goes in; it stays whole.",
        _sizes(lambda rows, heads: np.repeat(rows[:, 1:2], 4, axis=1)),
    ),
    Mistake(
        "heads-count",
        "A head's size is the number of heads.",
        "d_model, shared by the heads.",
        _sizes(lambda rows, heads: np.array([[row[0], heads, heads, heads] for row in rows])),
    ),
    Mistake(
        "heads-uneven",
        "A vector that cannot be cut into equal parts is taken without a word, and an output comes.",
        "10 numbers for 3 heads: say in an error what does not fit.",
        lambda case: {**case.expected, "refuses_uneven": np.array(False)},
    ),
]


def _make_forward(generator: np.random.Generator) -> list[Case]:
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
            "stand_in/output": project(_laid_out(case), weights, "output_linear"),
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
        return {"output": project(merged, case.weights, "output_linear")}

    return answers


FORWARD_MISTAKES = [
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
        "A ReLU stands somewhere behind the heads.",
        "Nothing but a linear layer.",
        lambda case: {"output": np.maximum(case.expected["stand_in/output"], 0)},
    ),
]


EXERCISES = [
    Exercise(_make_init, judge_init, INIT_MISTAKES, framework="torch", slug="encoder_lab/multi_head_init"),
    Exercise(
        _make_forward, judge_attempts, FORWARD_MISTAKES, framework="torch", slug="encoder_lab/multi_head_attention"
    ),
]
