"""References for the ``Transformer`` classifier: its parts, its forward pass, and what it does with padding.

The hidden cell puts fixed functions in place of positions and blocks, so that nothing but ``Transformer`` is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_value

Array = np.ndarray
FORWARD = "transformer_tutorial/classifier_forward"

# --- parts ------------------------------------------------------------------------------------------------------------


def _make_parts(generator: np.random.Generator) -> list[Case]:
    cases = []
    for k, heads, depth, seq_length, num_tokens, num_classes in ((6, 2, 4, 9, 13, 3), (8, 4, 3, 11, 17, 5)):
        config = {"k": k, "heads": heads, "depth": depth, "seq_length": seq_length, "num_tokens": num_tokens,
                  "num_classes": num_classes}  # fmt: skip
        expected = {"token_embedding": np.array([num_tokens, k]), "classification_head": np.array([num_classes, k]),
                    "blocks": np.array(depth), "distinct": np.array(depth), "registered": np.array(depth)}  # fmt: skip
        cases.append(Case(config, expected=expected))
    return cases


PART_MISTAKES = [
    Mistake("M14-list", "The blocks stand in a plain Python list: the model does not know that they belong to it.",
            "nn.ModuleList and nn.Sequential register what they hold; a list does not.",
            lambda case: {"registered": np.array(0)}),
    Mistake("M14-one", "There is a single block, whatever depth says.", "As many as depth says.",
            lambda case: {"blocks": np.array(1), "distinct": np.array(1)}),
    Mistake("M14-repeated", "One and the same block is used at every depth.", "Make a new one each time round.",
            lambda case: {"distinct": np.array(1)}),
    Mistake("M14-heads", "There are as many blocks as heads.", "As many as depth says.",
            lambda case: {"blocks": np.array(case.config["heads"])}),
    Mistake("PART-turned", "The embedding has one row for each of the k dimensions.",
            "One row per entry of the vocabulary, k numbers each.",
            lambda case: {"token_embedding": np.array([case.config["k"], case.config["num_tokens"]])}),
    Mistake("PART-length", "The embedding has one row for each position.",
            "One row per entry of the vocabulary, k numbers each.",
            lambda case: {"token_embedding": np.array([case.config["seq_length"], case.config["k"]])}),
    Mistake("PART-head", "The head's output has the size of a word vector, not one number per class.",
            "k numbers go in, one for each class comes out.",
            lambda case: {"classification_head": np.array([case.config["k"], case.config["k"]])}),
    Mistake("PART-vocabulary", "The head gives one number for every token of the vocabulary.",
            "k numbers go in, one for each class comes out.",
            lambda case: {"classification_head": np.array([case.config["num_tokens"], case.config["k"]])}),
]  # fmt: skip

# --- forward ----------------------------------------------------------------------------------------------------------


def place(x: Array) -> Array:
    """The hidden cell's stand-in for the positions: adds a tenth of the position"""
    return x + 0.1 * np.arange(x.shape[1])[:, None]


def block(x: Array, number: int) -> Array:
    """The hidden cell's stand-in for block ``number`` = 1, 2, …; in another order the result differs"""
    return np.tanh(x / number) + number


@dataclass(frozen=True)
class Knobs:
    """What the model does between ids and log-probabilities; the defaults are right."""

    scale: str = "root"  # root | none | k | divided
    positions: str = "after"  # after | before | none
    blocks: str = "all"  # all | none | first | last | reversed
    pool: str = "real"  # real | all | first | last | max | sum | dims | length
    end: str = "log_softmax"  # log_softmax | logits | softmax | batch | negative | twice


def forward(ids: Array, weights: Mapping[str, Array], depth: int, knobs: Knobs = Knobs()) -> Array:
    """ids (b, t) -> (b, classes), in float64"""
    w = {name: weight.astype(np.float64) for name, weight in weights.items()}
    table = w["token_embedding.weight"]
    factor = {"root": table.shape[1] ** 0.5, "none": 1.0, "k": table.shape[1], "divided": table.shape[1] ** -0.5}
    x = table[ids]
    if knobs.positions == "before":
        x = place(x)
    x = x * factor[knobs.scale]
    if knobs.positions == "after":
        x = place(x)
    numbers = {"all": range(1, depth + 1), "none": [], "first": [1], "last": [depth], "reversed": range(depth, 0, -1)}
    for number in numbers[knobs.blocks]:
        x = block(x, number)
    pooled = _pool(x, (ids != 0).astype(np.float64)[..., None], knobs.pool)
    return _end(pooled @ w["classification_head.weight"].T + w["classification_head.bias"], knobs.end)


def _pool(x: Array, real: Array, how: str) -> Array:
    ways: dict[str, Callable[[], Array]] = {
        "real": lambda: (x * real).sum(1) / real.sum(1),
        "all": lambda: x.mean(1),
        "length": lambda: (x * real).mean(1),
        "first": lambda: x[:, 0],
        "last": lambda: x[:, -1],
        "max": lambda: x.max(1),
        "sum": lambda: (x * real).sum(1),
    }
    return ways[how]()


def _end(logits: Array, how: str) -> Array:
    if how == "logits":
        return logits
    axis = 0 if how == "batch" else 1
    shifted = logits - logits.max(axis, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return {"softmax": np.exp(logs), "negative": -logs}.get(how, logs)


def _case(generator: np.random.Generator, b: int, t: int, k: int, depth: int, lengths: tuple[int, ...]) -> Case:
    num_tokens, num_classes = 4 * k + 1, depth + 1
    config = {"k": k, "heads": 2, "depth": depth, "seq_length": t + 4, "num_tokens": num_tokens,
              "num_classes": num_classes}  # fmt: skip
    weights = {
        "token_embedding.weight": generator.normal(0, 0.7, (num_tokens, k)).astype(np.float32),
        "classification_head.weight": generator.normal(0, 2 * k**-0.5, (num_classes, k)).astype(np.float32),
        "classification_head.bias": generator.normal(0, 0.5, num_classes).astype(np.float32),
    }
    ids = generator.integers(1, num_tokens, (b, t)) * (np.arange(t)[None] < np.array(lengths)[:, None])
    return Case(config, {"input_ids": ids}, weights, {}, {"log_probabilities": _torch_forward(ids, weights, depth)})


def _torch_forward(ids: Array, weights: Mapping[str, Array], depth: int) -> Array:
    """torch's own functions in float64, the stand-ins in NumPy; one sentence at a time, cut to its real tokens."""
    import torch

    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
    rows = []
    for sentence in ids:
        x = torch.nn.functional.embedding(torch.from_numpy(sentence[sentence != 0]), w["token_embedding.weight"])
        states = place((x * x.shape[1] ** 0.5)[None].numpy())
        for number in range(1, depth + 1):
            states = block(states, number)
        pooled = torch.from_numpy(states).mean(1)
        logits = torch.nn.functional.linear(pooled, w["classification_head.weight"], w["classification_head.bias"])
        rows.append(logits.log_softmax(1)[0].numpy())
    return np.stack(rows)


def _make_forward(generator: np.random.Generator) -> list[Case]:
    """No padding: whether it is left out is another exercise's business."""
    return [_case(generator, 3, 5, 6, 4, (5, 5, 5)), _case(generator, 4, 7, 8, 2, (7, 7, 7, 7))]


def _make_padding(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, 3, 5, 6, 4, (5, 2, 3)), _case(generator, 4, 7, 8, 2, (1, 7, 4, 5))]


SLIPS = [
    ("M15-logits", "These are raw scores; log-probabilities are asked for.", "log_softmax over the classes comes last.",
     Knobs(end="logits")),
    ("M15-softmax", "These are probabilities; their logarithms are asked for.", "nll_loss wants log-probabilities.",
     Knobs(end="softmax")),
    ("M15-axis", "The log_softmax runs over the sentences of the batch.", "Each sentence's probabilities sum to 1.",
     Knobs(end="batch")),
    ("M15-negative", "The sign is wrong: log-probabilities are never positive.", "nll_loss brings its own minus.",
     Knobs(end="negative")),
    ("M15-all", "The average is not taken over the tokens.", "Which axis counts the tokens?", Knobs(pool="max")),
    ("M15-first", "Only the first token reaches the classifier.", "Average over all real tokens.", Knobs(pool="first")),
    ("M15-last", "Only the last token reaches the classifier.", "Average over all real tokens.", Knobs(pool="last")),
    ("M15-sum", "The tokens are summed, not averaged.", "A long sentence must not count more than a short one.",
     Knobs(pool="sum")),
    ("EMB-scale", "The token vectors were not multiplied by √k.", "They are, before the positions are added.",
     Knobs(scale="none")),
    ("EMB-scale-k", "The token vectors were multiplied by k; by its square root they should be.", "√k.",
     Knobs(scale="k")),
    ("EMB-divided", "The token vectors were divided by √k.", "Multiplied they should be.", Knobs(scale="divided")),
    ("M11-none", "The positions were not added.", "pos_enc does it.", Knobs(positions="none")),
    ("M11-before", "The positions were added before the factor √k, and so they grew with it.",
     "First the factor, then the positions.", Knobs(positions="before")),
    ("M14-none", "No block was called.", "Each block of transformer_blocks, one after the other.",
     Knobs(blocks="none")),
    ("M14-first", "Only the first block was used.", "What one block gives is what the next one takes.",
     Knobs(blocks="first")),
    ("M14-last", "Every block got the same input, and the last one's output was kept.",
     "What one block gives is what the next one takes.", Knobs(blocks="last")),
    ("M14-reversed", "The blocks were called from the last to the first.", "Block 0 comes first.",
     Knobs(blocks="reversed")),
]  # fmt: skip


def _fits(case: Case, got: Array, knobs: Knobs) -> bool:
    wrong = forward(case.inputs["input_ids"], case.weights, int(case.config["depth"]), knobs)
    return got.shape == wrong.shape and np.allclose(got, wrong, atol=1e-4, rtol=1e-3)


def judge_forward(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("log_probabilities")
    check = compare_value("log_probabilities", got, case.expected["log_probabilities"], exercise)
    if check.passed or got is None or got.shape != case.expected["log_probabilities"].shape:
        return Judgement([check])
    for name, message, hint, knobs in SLIPS:
        if _fits(case, got, knobs):
            return Judgement([Check(name, False, message, hint, name)])
    return Judgement([check])


def _forgiven(pool: str) -> Iterator[Knobs]:
    """One kind of pooling behind each known mistake of the forward pass."""
    yield Knobs(pool=pool)
    for *_, knobs in SLIPS:
        yield replace(knobs, pool=pool)


def judge_padding(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Half of the points for the average, half for telling every block which tokens are padding."""
    got = answers.arrays.get("log_probabilities")
    want = case.expected["log_probabilities"]
    check = compare_value("average", got, want, exercise)
    if not check.passed and got is not None and got.shape == want.shape:
        if answers.charged(FORWARD) and any(_fits(case, got, knobs) for knobs in _forgiven("real")):
            check = Check("average", True)
        elif any(_fits(case, got, knobs) for pool in ("all", "length") for knobs in _forgiven(pool)):
            check = Check(
                "M15-padding",
                False,
                "The average still counts padding.",
                "Only real tokens count, above and below the fraction bar.",
                "M15-padding",
            )
    masks, real = answers.arrays.get("masks"), case.inputs["input_ids"] != 0
    told = masks is not None and masks.shape == (int(case.config["depth"]), *real.shape) and bool((masks == real).all())
    passed_on = Check("mask", True)
    if not told:
        passed_on = Check(
            "M10-unsaid",
            False,
            "The blocks were not told which tokens are padding.",
            "A block takes two arguments: the states, and the mask (true for a real token).",
            "M10-unsaid",
        )
        if masks is not None and masks.shape[1:] == real.shape and bool((masks == ~real).all()):
            passed_on = Check(
                "M10-inverted",
                False,
                "The blocks got the mask the wrong way round.",
                "True marks a real token.",
                "M10-inverted",
            )
    return Judgement([check, passed_on], (check.passed + passed_on.passed) / 2)


EXERCISES = [
    Exercise(_make_parts, mistakes=PART_MISTAKES, framework="torch", slug="transformer_tutorial/classifier_parts"),
    Exercise(_make_forward, judge_forward, framework="torch", slug=FORWARD),
    Exercise(_make_padding, judge_padding, framework="torch", slug="transformer_tutorial/classifier_padding"),
]
