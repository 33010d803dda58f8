"""The loop that sends the embeddings through all blocks, and keeps each block's attention weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, named

from .._sizes import config

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Stand-in layers: layer i gives ``x @ matrix[i] + shift[i]`` and the stored weights, so only the loop is seen."""
    cases = []
    for batch, tokens, layers in ((2, 5, 4), (3, 4, 2)):
        sizes = config(3, 2, 7, n_layers=layers)
        dim, heads = sizes["dim"], sizes["n_heads"]
        inputs: dict[str, Array] = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "embedded": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32),
            "matrices": generator.normal(0, dim**-0.5, (layers, dim, dim)).astype(np.float32),
            "shifts": generator.normal(0, 1, (layers, dim)).astype(np.float32),
            "attention": generator.dirichlet(np.ones(tokens), (layers, batch, heads, tokens)).astype(np.float32),
        }
        x = inputs["embedded"].astype(np.float64)
        seen = [x]
        for matrix, shift in zip(inputs["matrices"], inputs["shifts"], strict=True):
            seen.append(seen[-1] @ matrix + shift)
        expected = {
            "layer_inputs": np.stack(seen[:-1]),
            "pooled": seen[-1][:, 0],
            "attention": inputs["attention"],
            "attention_again": inputs["attention"][:, ::-1],
        }
        cases.append(Case(sizes, inputs, expected=expected))
    return cases


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    given = answers.arrays
    layers = int(case.config["n_layers"])
    inputs = given.get("layer_inputs")
    if inputs is not None and not inputs.ndim:
        return compare_case(exercise, case, answers)
    if inputs is not None and len(inputs) != layers:
        calls = {0: "No layer was", 1: "1 layer was"}.get(len(inputs), f"{len(inputs)} layers were")
        return named(exercise, "M14-count", calls=calls, layers=layers)
    if inputs is not None and layers > 1 and all(np.array_equal(inputs[0], later) for later in inputs[1:]):
        return named(exercise, "M14-first")
    if ("attention" in given and "attention_again" not in given) or _grown(given):
        return named(exercise, "M14-appended")
    judgement = compare_case(exercise, case, answers)
    if [check.name for check in judgement.checks if not check.passed] == ["attention_again"]:
        return named(exercise, "M14-again")
    if "pooled" not in given and inputs is not None and all(c.passed for c in judgement.checks if c.name != "pooled"):
        return named(exercise, "M14-name")
    failed = [check for check in judgement.checks if not check.passed]
    if failed and failed[0].name == "attention" and "attention" not in given:
        return named(exercise, "M14-kept")
    return judgement


def _grown(given: Mapping[str, Array]) -> bool:
    return "grown" in given and bool(np.any(given["grown"]))


def _backwards(case: Case) -> Mapping[str, Array]:
    seen = [case.inputs["embedded"].astype(np.float64)]
    for matrix, shift in zip(case.inputs["matrices"][::-1], case.inputs["shifts"][::-1], strict=True):
        seen.append(seen[-1] @ matrix + shift)
    return {"layer_inputs": np.stack(seen[:-1]), "pooled": seen[-1][:, 0]}


def _reversed(case: Case) -> Mapping[str, Array]:
    return {"attention": case.inputs["attention"][::-1], "layer_inputs": case.expected["layer_inputs"]}


MISTAKES = [
    Mistake(
        "M14-count",
        "{calls} called in one forward pass; the list has {layers}.",
        "The loop visits every block of the list once.",
    ),
    Mistake("M14-first", "Every block was fed the embeddings.", "What one block gives is what the next one takes."),
    Mistake(
        "M14-appended",
        "attention_probs grows with every call of the model.",
        "Store this call's weights under the layer's number, in place of the last call's.",
    ),
    Mistake(
        "M14-again",
        "attention_probs still holds the first sentences' weights after a second call.",
        "Assign to attention_probs[i], whatever stands there.",
    ),
    Mistake(
        "M14-name",
        "The loop is right, but nothing after it is called output: the result has another name.",
        "The given line below takes output[:, 0]: the comment asks for that name.",
    ),
    Mistake(
        "M14-kept",
        "The attention weights were not kept: attention_probs has no tensor per layer.",
        "A block returns two things; the second one belongs into self.attention_probs[i].",
    ),
    Mistake(
        "M14-output",
        "What is pooled is not the last block's output but the embeddings.",
        "The name output must hold what the last block gave.",
        lambda case: {"pooled": case.inputs["embedded"][:, 0]},
    ),
    Mistake(
        "M14-behind",
        "What is pooled is the last block's input: one step is missing.",
        "The name output must hold what the last block gave.",
        lambda case: {"pooled": case.expected["layer_inputs"][-1][:, 0]},
    ),
    Mistake(
        "M14-backwards",
        "The blocks were called from the last to the first.",
        "The first block of the list takes the embeddings.",
        _backwards,
    ),
    Mistake("M14-order", "attention_probs counts the layers from the end.", "Layer 0 is the first one.", _reversed),
    Mistake(
        "M17-early",
        "attention_probs keeps an average over the heads.",
        "Keep what the block returns, all heads: (batch, heads, tokens, tokens). The average comes later.",
        lambda case: {"attention": case.inputs["attention"].mean(2)},
    ),
    Mistake(
        "M14-last",
        "attention_probs holds the last layer's weights for every layer.",
        "Store inside the loop, under the loop's own index.",
        lambda case: {"attention": np.broadcast_to(case.inputs["attention"][-1], case.inputs["attention"].shape)},
    ),
]

EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")
